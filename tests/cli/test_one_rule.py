"""A measure of a model is one number, whichever command tells it: without the labels of random pairs, and with them."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from eds.cli import cli
from eds.errors import InputError
from eds.metrics import Measure
from eds.metrics.measures.incomplete import persistence_for
from eds.project import Project
from eds.tables import Provenance
from tests.metrics.projects import MAKERS, MODELS, measured, project_in

HR, AUC, MICRO = "VSD-HR@5", "ROC-AUC(average=macro,negatives=annotated)", "ROC-AUC(average=micro,negatives=annotated)"
BPREF, JUDGED = "bpref", "Judged@5"
RBP = str(Measure("RBP", p=persistence_for(3)))  # of the report: its persistence follows from the pool's depth
RBP_OF_K = str(Measure("RBP", p=persistence_for(5)))  # of the bias table: its persistence follows from k
Told = dict[tuple[str, str], float]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Two generators, an outsider, 80 random pairs that are judged, too, so that the rule makes a difference."""
    return project_in(tmp_path_factory.mktemp("rule") / "shop", seed=2)


def answer(project: Project, *words: str) -> Any:
    options = ["--json", "-q", "-p", str(project.root)]
    return json.loads(CliRunner().invoke(cli, [*words, *options], catch_exceptions=False).stdout)


def by_metrics(project: Project, *words: str) -> Told:
    asked = [word for name in (HR, AUC, MICRO, RBP, RBP_OF_K, BPREF, JUDGED) for word in ("-M", name)]
    rows = answer(project, "metrics", "score", *asked, "--resamples", "0", *words)["scores"]
    return {(row["model"], row["measure"]): row["value"] for row in rows if row["query_id"] is None}


def by_analysis(project: Project, *words: str) -> Told:
    found: Told = {}
    for row in answer(project, "analysis", "bias", "-k", "5", *words)["result"]["models"]:
        keys = {HR: "hr", AUC: "auc", RBP_OF_K: "rbp", JUDGED: "judged"}
        found |= {(row["model"], name): row[key] for name, key in keys.items()}
    for one in answer(project, "analysis", "leave-one-out", "--mode", "unique", *words)["result"]:
        if one["measure"] == MICRO:
            found |= {(model, MICRO): value for model, value in one["full"].items()}
    for row in answer(project, "analysis", "reusability", *words)["result"]["models"]:
        known = found.setdefault((row["model"], row["measure"]), row["full"])
        assert row["full"] == pytest.approx(known, abs=1e-12)
    return found


def by_report(project: Project, *words: str) -> Told:
    answer(project, "reports", "write", "--resamples", "0", "--no-pictures", *words)
    found: Told = {}
    told = json.loads((project.root / "report.json").read_text(encoding="utf-8"))
    tables = {block["key"]: block for part in told["sections"] for block in part["blocks"] if block["kind"] == "table"}
    for key in ("lists_5", "incomplete", "auc_annotated"):
        for row in tables[key]["rows"]:
            found |= {(row["model"], name): row[name] for name in (HR, AUC, MICRO, RBP, BPREF, JUDGED) if name in row}
    for name in (HR, AUC, BPREF):
        for row in tables[f"models_{name}"]["rows"]:
            assert row["value"] == pytest.approx(found[row["model"], name], abs=1e-12)
    for row in tables["shifts"]["rows"]:
        if row["measure"] in (HR, AUC, BPREF):
            assert row["value"] == pytest.approx(found[row["model"], row["measure"]], abs=1e-12)
    return found


@pytest.mark.parametrize("words", [(), ("--with-random",)])
def test_three_commands_tell_one_number(project: Project, words: tuple[str, ...]) -> None:
    metrics, analysis, report = (tell(project, *words) for tell in (by_metrics, by_analysis, by_report))
    assert set(metrics) == {
        (model, name) for model in MODELS for name in (HR, AUC, MICRO, RBP, RBP_OF_K, BPREF, JUDGED)
    }
    assert set(report) == {key for key in metrics if key[1] != RBP_OF_K}
    for key, value in metrics.items():
        assert report.get(key, value) == pytest.approx(value, abs=1e-12)
        if key in analysis:
            assert analysis[key] == pytest.approx(value, abs=1e-12)
    assert {(model, name) for model in MODELS for name in (HR, AUC, MICRO, RBP_OF_K, JUDGED)} <= set(analysis)
    assert {(model, BPREF) for model in MAKERS} <= set(analysis)


def test_rank_biased_precision_looks_as_deep_as_the_pool_unless_told_otherwise(project: Project) -> None:
    words = ("metrics", "score", "--resamples", "0", "-M", "trec", "-M", "RBP")
    names = {row["measure"] for row in answer(project, *words)["scores"]}
    assert {name for name in names if name.startswith("RBP")} == {RBP, RBP.replace("RBP", "RBP-residual")}
    names = {row["measure"] for row in answer(project, *words, "-M", "RBP(p=0.8)")["scores"]}
    assert {RBP, "RBP(p=0.8)"} <= names


def test_random_pairs_are_left_out_unless_they_are_asked_for(project: Project) -> None:
    usual, everything = by_metrics(project), by_metrics(project, "--with-random")
    assert all(everything[model, AUC] != usual[model, AUC] for model in MODELS)
    assert project.state("scores").condition == "fresh"
    assert project.state("scores").made_by.endswith("--with-random")
    suspects, truth = project.read("suspects"), project.read("truth")
    try:
        project.write(measured(project), "truth", Provenance("test"))
        assert by_metrics(project) == usual
        project.write(truth, "truth", Provenance("test"))
        once = suspects.drop_duplicates(["query_id", "candidate_id"])
        project.write(once.assign(origin="pool"), "suspects", Provenance("test"))
        assert project.state("scores").condition == "stale", "which labels count hangs on the suspects"
        assert by_metrics(project) == everything
    finally:
        project.write(suspects, "suspects", Provenance("test"))
        project.write(truth, "truth", Provenance("test"))


@pytest.mark.parametrize("words", [(), ("--with-random",)])
def test_formats_without_origins_hold_the_labels_that_models_are_measured_on(
    project: Project, tmp_path: Path, words: tuple[str, ...]
) -> None:
    """Whoever reads the export, the official evaluator too, sees the numbers that we tell of the project."""
    found = by_metrics(project, *words)
    for kind in ("vsd", "trec"):
        told = answer(project, "benchmarks", "export", kind, str(tmp_path / kind), *words)
        assert any("labels of random pairs" in one for one in told["not_held"]) is (not words)
        there = Project.create(tmp_path / f"{kind}-again", {"neighbors.k": 12})
        files = (
            [
                "--metadata",
                str(tmp_path / kind / "metadata.json"),
                "--seeds",
                str(tmp_path / kind / "seeds.json"),
                "--annotations",
                str(tmp_path / kind / "annotations.json"),
                "--manifest",
                str(tmp_path / kind / "manifest.json"),
            ]
            if kind == "vsd"
            else [str(tmp_path / kind)]
        )
        answer(there, "benchmarks", "import", kind, *files)
        for model in MODELS:
            shutil.copytree(project.path("embeddings", model), there.path("embeddings", model), dirs_exist_ok=True)
        assert by_metrics(there) == pytest.approx(found, abs=1e-12)


def test_the_delta_pool_takes_labels_of_random_pairs_in(project: Project) -> None:
    """What a random draw has told already is not asked again, and counts for the new model from then on."""
    suspects = project.read("suspects")
    before = by_metrics(project)["new", JUDGED]
    try:
        told = answer(project, "suspects", "add-model", "new", "-k", "5")
        assert told["labelled_at_random"] > 0
        assert told["judged"] + told["labelled_at_random"] + told["added"] + told["waiting"] == told["pairs"]
        after = by_metrics(project)["new", JUDGED]
        assert before == pytest.approx(told["judged"] / told["pairs"])
        assert after == pytest.approx((told["judged"] + told["labelled_at_random"]) / told["pairs"])
        assert answer(project, "suspects", "add-model", "new", "-k", "5")["labelled_at_random"] == 0
    finally:
        project.write(suspects, "suspects", Provenance("test"))


def test_labels_of_random_pairs_alone_are_refused(project: Project) -> None:
    suspects = project.read("suspects")
    try:
        once = suspects.drop_duplicates(["query_id", "candidate_id"])
        project.write(once.assign(origin="random"), "suspects", Provenance("test"))
        with pytest.raises(InputError, match="only random pairs are labelled"):
            answer(project, "metrics", "score")
        answer(project, "reports", "write", "--resamples", "0", "--no-pictures")
        told = json.loads((project.root / "report.json").read_text(encoding="utf-8"))
        assert any("nly random pairs are labelled" in json.dumps(part) for part in told["sections"])
    finally:
        project.write(suspects, "suspects", Provenance("test"))
