"""A new model on an old benchmark, as a curator types it: scored, told what is fair, its delta pool judged, decided."""

import hashlib
import json
import re
import shutil
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import click
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from eds.benchmarks.benchmark import truth_from_pairs
from eds.cli import cli
from eds.cli.metrics import metrics
from eds.errors import EdsError, InputError, ProjectError
from eds.labels.simulate import fill
from eds.labels.store import open_store
from eds.project import Project
from eds.tables import Provenance
from eds.vectors import Vectors
from tests.embeddings.toy import catalogue
from tests.metrics.projects import project_in

PAIR = ["query_id", "candidate_id"]
HR = "VSD-HR@5"
AUC = "ROC-AUC(average=macro,negatives=annotated)"
Eds = Callable[..., Any]
Pairs = dict[tuple[str, str], int]


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A benchmark in TREC's files: qrels of a pool that m0 and m1 made, and a run of a third model besides."""
    root = tmp_path_factory.mktemp("exported")
    project = project_in(root / "source")
    for words in (["neighbors", "mine", "-m", "new", "-k", "12"], ["benchmarks", "export", "trec", str(root / "trec")]):
        done = CliRunner().invoke(cli, [*words, "-p", str(project.root)], catch_exceptions=False)
        assert done.exit_code == 0, done.output
    (root / "trec" / "runs" / "new.run.gz").rename(root / "new.run.gz")
    (root / "trec" / "SHA256SUMS").unlink()
    return root


@pytest.fixture
def project(tmp_path: Path, exported: Path) -> Project:
    """The benchmark imported, with the lists of its makers."""
    for words in (
        ["init", str(tmp_path / "p")],
        ["benchmarks", "import", "trec", str(exported / "trec"), "-p", str(tmp_path / "p")],
    ):
        CliRunner().invoke(cli, words, catch_exceptions=False)
    return Project.open(tmp_path / "p")


@pytest.fixture
def eds(project: Project) -> Eds:
    def run(*words: Any) -> Any:
        options = ["--json", "-q", "-p", str(project.root)]
        return json.loads(CliRunner().invoke(cli, [*map(str, words), *options], catch_exceptions=False).stdout)

    return run


def labels_of(project: Project) -> Pairs:
    truth = project.read("truth")
    return dict(zip(zip(truth["query_id"], truth["candidate_id"], strict=True), truth["value"].tolist(), strict=True))


def lists_of(project: Project, model: str) -> dict[str, list[str]]:
    lists = project.read("neighbors", model).sort_values("rank")
    return {str(query): part["candidate_id"].tolist() for query, part in lists.groupby("query_id")}


def slow_interval(lists: dict[str, list[str]], labels: Pairs, k: int) -> tuple[float, float, float]:
    """Precision at k, what it is at most, both over queries with a positive, and judged@k, by loops."""
    queries = sorted({query for (query, _), value in labels.items() if value})
    known = np.mean([sum((q, c) in labels for c in lists[q][:k]) / k for q in queries])
    hits = np.mean([sum(labels.get((q, c), 0) for c in lists[q][:k]) / k for q in queries])
    every = sorted({query for query, _ in labels})
    judged = np.mean([sum((q, c) in labels for c in lists[q][:k]) / k for q in every])
    return float(hits), float(hits + 1 - known), float(judged)


def similar(pairs: pd.DataFrame) -> "pd.Series[int]":
    """What the experts here say: a third of all pairs are similar."""
    told = [hashlib.sha256(f"{q} {c}".encode()).digest()[0] % 3 == 0 for q, c in pairs[PAIR].to_numpy()]
    return pd.Series(told, pairs.index).astype("int64")


def judge(project: Project, campaign: str) -> None:
    """Let the whole panel answer everything."""
    moment = pd.Timestamp("2026-05-01", tz="UTC")
    with closing(open_store(project.path("labels"), create=False)) as store:
        fill(
            store,
            campaign,
            lambda _, pairs: pairs.assign(
                value=similar(pairs),
                seconds=3.0,
                session_id="s",
                created_at=[moment + pd.Timedelta(seconds=n) for n in range(len(pairs))],
            ),
        )


def part_of(document: dict[str, Any], measure: str = HR) -> dict[str, Any]:
    """The comparison of all models by a measure."""
    part: dict[str, Any]
    (part,) = [part for part in document["comparison"]["measures"] if part["measure"] == measure]
    return part


def compared(document: dict[str, Any], model: str, measure: str = HR) -> dict[str, Any]:
    """A model in the comparison by a measure."""
    item: dict[str, Any]
    (item,) = [item for item in part_of(document, measure)["models"] if item["model"] == model]
    return item


def undecided_with(document: dict[str, Any], model: str, measure: str = HR) -> list[str]:
    """The models with which the labels cannot compare this one."""
    pairs = [pair for pair in part_of(document, measure)["pairs"] if model in (pair["first"], pair["second"])]
    open_pairs = [pair for pair in pairs if pair["verdict"] == "the labels cannot say"]
    return sorted({pair[side] for pair in open_pairs for side in ("first", "second")} - {model})


def of(document: dict[str, Any], model: str, measure: str = HR) -> dict[str, Any]:
    row: dict[str, Any]
    (row,) = [row for row in document["scores"] if (row["model"], row["measure"]) == (model, measure)]
    return row


def test_from_a_run_to_a_decision(project: Project, eds: Eds, exported: Path) -> None:
    words = ["-g", "m0", "-g", "m1", "--resamples", 0, "-M", HR, "-M", "RR@5", "-M", "bpref"]
    files = ["--new", f"ours={exported / 'new.run.gz'}", "--ids", f"ours={exported / 'trec' / 'ids.tsv'}"]
    rows = eds("metrics", "score", *files, *words)
    before = labels_of(project)
    lists = {model: lists_of(project, model) for model in ("m0", "m1", "ours")}
    slow = {model: slow_interval(lists[model], before, 5) for model in lists}
    mine = of(rows, "ours")
    assert mine["value"] == pytest.approx(slow["ours"][0], abs=1e-12)
    assert mine["side"] == "newcomer"
    item = compared(rows, "ours")
    assert item["ceiling"] == pytest.approx(slow["ours"][1], abs=1e-12)
    assert item["judged"] == pytest.approx(slow["ours"][2], abs=1e-12)
    assert not item["ranked"]
    assert item["low"] is None
    assert undecided_with(rows, "ours") == ["m0", "m1"]
    (sentence,) = part_of(rows)["undecided"]
    open_places = {
        model: sum((q, c) not in before for q in lists[model] for c in lists[model][q][:5]) for model in lists
    }
    assert sentence["to_judge"] == open_places["ours"] + min(open_places["m0"], open_places["m1"])
    assert of(rows, "m0")["side"] == "generator"
    assert set(project.read("scores")["measure"]) == {HR, "RR@5", "bpref"}

    for model in ("ours", "m0", "m1"):  # against the others, too, nothing is decided before their places are judged
        added = eds("suspects", "add-model", model, "-k", 5)
        assert added["added"] + added["judged"] + added["waiting"] == added["pairs"] == 5 * len(lists[model])
    added = eds("suspects", "add-model", "ours", "-k", 5)
    assert (added["added"], added["left"]) == (0, 0)
    suspects = project.read("suspects")
    delta = suspects[suspects["stratum"].str.startswith("delta:")]
    chosen = set(zip(delta["query_id"], delta["candidate_id"], strict=True))
    assert chosen == {(q, c) for told in lists.values() for q, part in told.items() for c in part[:5]} - before.keys()
    for name in ("ann", "bob", "cid"):
        eds("labels", "experts", "add", name)
    panel = [word for name in ("ann", "bob", "cid") for word in ("--expert", name)]
    status = eds("labels", "campaigns", "add", "delta", "--undecided", *panel)
    assert {row["left"] for row in status} == {len(chosen)}
    judge(project, "delta")
    told = eds("truth", "decide")
    assert (told["stored"], told["imported"], told["pairs"]) == (True, len(before), len(before) + len(chosen))
    after = labels_of(project)
    assert {pair: after[pair] for pair in before} == before
    assert after.keys() - before.keys() == chosen
    assert eds("truth", "decide")["pairs"] == len(after)  # again: what came with the benchmark stays

    rows = eds("metrics", "score", *words)
    mine = of(rows, "ours")
    slow = {model: slow_interval(lists[model], after, 5) for model in lists}
    assert mine["value"] == pytest.approx(slow["ours"][0], abs=1e-12)
    item = compared(rows, "ours")
    assert (item["judged"], item["ranked"], item["lower_bound"]) == (1.0, True, False)
    assert undecided_with(rows, "ours") == []
    assert {pair["basis"] for pair in part_of(rows)["pairs"] if "ours" in (pair["first"], pair["second"])} == {
        "judged lists"
    }
    with pytest.raises(InputError, match="every suspect has a label"):
        eds("labels", "campaigns", "add", "more", "--undecided", *panel)


def test_some_of_the_delta_pool_with_what_it_costs(project: Project, eds: Eds) -> None:
    first = eds("suspects", "add-model", "m1", "-k", 5, "-n", 7)
    assert first["added"] == 7
    assert first["price"]["judgements"] == 21
    assert first["price"]["hours"] == pytest.approx(21 * 15 / 3600)
    suspects = project.read("suspects")
    new = suspects[suspects["stratum"] == "delta:m1"]
    ranks = {(q, c): rank for q, part in lists_of(project, "m1").items() for rank, c in enumerate(part)}
    took = [ranks[pair] for pair in zip(new["query_id"], new["candidate_id"], strict=True)]
    open_pairs = [rank for pair, rank in ranks.items() if rank < 5 and pair not in labels_of(project)]
    assert took == sorted(open_pairs)[:7]
    assert first["left"] == len(open_pairs) - 7
    assert new["probability"].iloc[-1] == pytest.approx(took.count(took[-1]) / open_pairs.count(took[-1]))
    rest = eds("suspects", "add-model", "m1", "-k", 5)
    assert (rest["waiting"], rest["added"]) == (7, first["left"])
    assert project.state("suspects").made_by.endswith("eds suspects add-model m1 -k 5")


def test_in_a_pool_of_ones_own_the_new_model_is_the_one_no_source_names(tmp_path: Path) -> None:
    project = project_in(tmp_path / "own")

    def eds(*words: Any) -> Any:
        line = [*map(str, words), "--json", "-q", "-p", str(project.root)]
        return json.loads(CliRunner().invoke(cli, line, catch_exceptions=False).stdout)

    rows = eds("metrics", "score", "--resamples", 0)
    assert rows["comparison"]["newcomers"] == ["new"]
    assert {pair["basis"] for pair in part_of(rows, AUC)["pairs"] if pair["second"] == "new"} == {"reduced pools"}
    before = compared(rows, "new", AUC)
    assert before["ranked"]
    graded = {item["measure"]: item for item in rows["fairness"]}
    assert {shift["model"] for shift in graded[AUC]["shifts"]} == {"m0", "m1"}
    told = eds("suspects", "add-model", "new", "-k", 5)
    suspects, truth = project.read("suspects"), project.read("truth")
    delta = suspects.loc[suspects["stratum"] == "delta:new", PAIR]
    assert told["added"] + told["labelled_at_random"] == len(delta) > 0
    known = set(zip(truth["query_id"], truth["candidate_id"], strict=True))
    delta = delta[[pair not in known for pair in zip(delta["query_id"], delta["candidate_id"], strict=True)]]
    more = delta.assign(value=similar(delta), votes_for=0, votes_against=0, unsure=0, tie=False, rule="majority")
    project.write(pd.concat([truth, more], ignore_index=True), "truth", Provenance("truth.decide"))
    rows = eds("metrics", "score", "--resamples", 0)
    assert rows["comparison"]["newcomers"] == ["new"]  # its pairs were chosen later than the others'
    assert compared(rows, "new")["judged"] == 1
    after = compared(rows, "new", AUC)  # by now its own mistakes are labelled, too: they are left out as its own finds
    assert after["value"] != before["value"]
    assert after["self_removed"] == pytest.approx(before["self_removed"], abs=1e-12)


def test_vectors_are_copied_and_scored(project: Project, eds: Eds, tmp_path: Path) -> None:
    images = project.read("images")["image_id"].tolist()
    vectors = np.random.default_rng(1).normal(0, 1, (len(images), 6)).astype(np.float32)
    np.save(tmp_path / "v.npy", vectors)
    (tmp_path / "ids.txt").write_text("".join(f"{name}\n" for name in images))
    words = ["--new", f"mine={tmp_path / 'v.npy'}", "--ids", f"mine={tmp_path / 'ids.txt'}", "-m", "m0"]
    rows = eds("metrics", "score", *words, "--resamples", 0)
    assert {row["model"] for row in rows["scores"]} == {"m0", "mine"}
    assert {item["grade"] for item in rows["fairness"]} == {"not known"}
    assert not rows["comparison"]["makers_known"]
    assert Vectors.open(project.path("embeddings", "mine")).ids.tolist() == images
    again = eds("metrics", "score", "--resamples", 0)  # it is here now, and scored with all others
    assert {row["model"] for row in again["scores"]} == {"m0", "m1", "mine"}
    assert of(again, "mine")["value"] == of(rows, "mine")["value"]


@pytest.mark.parametrize("kind", ["spec", "checkpoint"])
def test_a_backbone_is_computed_as_by_embeddings_compute(tmp_path: Path, kind: str) -> None:
    made = Project.create(tmp_path / "p")
    images = catalogue(made.image_root, 8).assign(role="both")
    made.write(images, "images", Provenance("benchmarks.import"))
    names = images["image_id"].tolist()
    pairs = pd.DataFrame(
        [(q, c, int(n % 3 == 0)) for n, (q, c) in enumerate((q, c) for q in names for c in names if q != c)][::2],
        columns=[*PAIR, "value"],
    )
    made.write(truth_from_pairs(pairs, "imported trec"), "truth", Provenance("benchmarks.import"))
    text = "own=descriptor:hsv"
    if kind == "checkpoint":
        from tests.backbones.pictures import timm_file

        text = f"own=checkpoint:{timm_file(tmp_path, 'test_resnet', classes=0)}?arch=timm:test_resnet"
    shutil.copytree(tmp_path / "p", tmp_path / "other")
    for words in (
        ["metrics", "score", "--new", text, "-m", "own", "-M", "Success@3", "-p", str(tmp_path / "p")],
        ["embeddings", "compute", "-m", text, "-p", str(tmp_path / "other")],
    ):
        done = CliRunner().invoke(cli, words, catch_exceptions=False)
        assert done.exit_code == 0, done.output
    first, second = (Vectors.open(Project.open(tmp_path / name).path("embeddings", "own")) for name in ("p", "other"))
    assert first.ids.tolist() == second.ids.tolist()
    own, others = (np.concatenate([block for _, block in one.blocks(64)]) for one in (first, second))
    assert own.shape[0] == len(names)
    assert np.array_equal(own, others)
    made_by = Project.open(tmp_path / "p").state("embeddings", "own").made_by
    assert made_by == Project.open(tmp_path / "other").state("embeddings", "own").made_by
    assert set(made.read("scores")["model"]) == {"own"}


def test_mistakes_are_told_before_anything_is_computed(
    project: Project, eds: Eds, exported: Path, tmp_path: Path
) -> None:
    run = exported / "new.run.gz"
    cases = {
        ("--new", f"o/urs={run}"): "cannot name a model",
        ("--new", f"ours={tmp_path / 'no.run'}"): "is neither a backbone nor a file",
        ("--new", f"ours={tmp_path}.csv"): "is neither a backbone nor a file",
        ("--ids", f"ours={run}"): "ids without a new model of that name",
        ("--new", f"ours={run}", "--ids", f"ours={tmp_path / 'no.tsv'}"): "there is no file",
        ("--new", f"m0={run}"): "neighbors/m0.parquet was made by eds benchmarks import trec",
        ("-m", "nobody", "--new", f"ours={run}"): "no vectors or lists of model nobody",
        ("--new", "own=descriptor:hsv"): "60 of 60 pictures are missing, as 'i00', and own=descriptor:hsv needs them",
        ("--new", "own=moco@/w=1.pth"): "60 of 60 pictures are missing, as 'i00', and own=moco@/w=1.pth needs them",
        ("--new", "own=moco@w.pth"): "60 of 60 pictures are missing, as 'i00', and own=moco@w.pth needs them",
    }
    for words, told in cases.items():
        with pytest.raises(EdsError, match=re.escape(told)):
            eds("metrics", "score", *words)
    for typed in (["--new", "ours"], ["--new", f"ours={run}", "--new", f"ours={run}"]):
        with pytest.raises(click.BadParameter):
            metrics.main(["score", *typed, "-p", str(project.root)], standalone_mode=False)
    assert project.models("neighbors") == ["m0", "m1"]
    assert project.models("embeddings") == []
    with pytest.raises(InputError, match="no vectors or lists of model nobody"):
        eds("suspects", "add-model", "nobody")
    empty = Project.create(tmp_path / "empty")
    with pytest.raises(ProjectError, match="there are no decided labels yet"):
        CliRunner().invoke(
            cli, ["metrics", "score", "--new", f"x={run}", "-p", str(empty.root)], catch_exceptions=False
        )


def test_a_run_that_cannot_be_scored_is_not_kept(project: Project, eds: Eds, tmp_path: Path) -> None:
    lists = lists_of(project, "m1")
    for words, told in (
        (
            [
                f"{q} Q0 {q if rank == 2 else c} {rank + 1} {50 - rank} t"
                for q in lists
                for rank, c in enumerate(lists[q])
            ],
            "ours: the query is in its own list",
        ),
        (
            [f"{q} Q0 {c} {rank + 1} {50 - rank} t" for q in lists for rank, c in enumerate(lists[q][:3])],
            "all lists of model ours end at 3 places",
        ),
    ):
        (tmp_path / "ours.run").write_text("\n".join(words) + "\n")
        with pytest.raises(InputError, match=told):
            eds("metrics", "score", "--new", f"ours={tmp_path / 'ours.run'}", "-M", "RR@5")
        assert project.models("neighbors") == ["m0", "m1"]
    assert {row["model"] for row in eds("metrics", "score", "-M", "RR@5")["scores"]} == {"m0", "m1"}


def test_a_run_of_unknown_ids_is_refused_whole(project: Project, eds: Eds, tmp_path: Path) -> None:
    (tmp_path / "r.run").write_text("i00 Q0 stranger 1 0.5 x\n")
    with pytest.raises(InputError, match="line 1 has candidate_id 'stranger'"):
        eds("metrics", "score", "--new", f"ours={tmp_path / 'r.run'}")
    assert project.models("neighbors") == ["m0", "m1"]


def test_ranx_json_is_a_run(project: Project, eds: Eds, tmp_path: Path) -> None:
    lists = lists_of(project, "m1")
    told = {query: {c: 100.0 - rank for rank, c in enumerate(part)} for query, part in lists.items()}
    (tmp_path / "r.json").write_text(json.dumps(told))
    rows = eds("metrics", "score", "--new", f"ours={tmp_path / 'r.json'}", "--resamples", 0, "-M", HR)
    assert of(rows, "ours")["value"] == of(rows, "m1")["value"]
    assert compared(rows, "ours")["judged"] == pytest.approx(slow_interval(lists, labels_of(project), 5)[2])


def test_the_table_comes_first_and_at_most_three_lines_follow(project: Project) -> None:
    words = ["metrics", "score", "-M", HR, "-M", "bpref", "-g", "m0", "--resamples", "0", "-p", str(project.root)]
    short, whole = (
        CliRunner().invoke(cli, [*words, *more], catch_exceptions=False).output for more in ([], ["--explain"])
    )
    lines = short.splitlines()
    assert lines[0].split()[:2] == ["model", "part"]
    assert {line.split()[0] for line in lines[1:3]} == {"m0", "m1"}
    assert len(lines) <= 6
    assert any("m1" in line and "eds suspects add-model m1 -k 5" in line for line in lines)
    assert whole.startswith(short.rstrip())
    assert "fewer than two models that built the pool have values" in whole
