"""`eds metrics`: scores from vectors and from lists, what they rest on, and what is refused."""

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from click.testing import CliRunner

from eds.cli.metrics import metrics as group
from eds.errors import EdsError, InputError, ProjectError, UnknownNameError
from eds.metrics import Measure, ScoringInputs, definitions, preset
from eds.metrics.score import evaluate
from eds.neighbors import Rules, mine, pair_scores
from eds.project import Project
from eds.tables import Provenance
from eds.vectors import Vectors
from tests.metrics.projects import MODELS, by_name, measured
from tests.reference import metrics as reference

Call = Callable[..., Any]
PAIR = ["query_id", "candidate_id"]


def test_values_are_those_of_slow_formulas(project: Project, call: Call) -> None:
    found = by_name(call("score", "--resamples", "50"))
    images, truth = project.read("images"), measured(project)
    labels = list(truth[[*PAIR, "value"]].itertuples(index=False, name=None))
    for model in MODELS:
        vectors = Vectors.open(project.path("embeddings", model))
        full = mine(vectors, images, Rules(60))
        lists = {
            str(name): part.sort_values("rank")["candidate_id"].tolist() for name, part in full.groupby("query_id")
        }
        for k in (5, 9):
            hr, mrr = reference.official_loops(lists, labels, k)
            assert found[model, f"VSD-HR@{k}"]["value"] == pytest.approx(hr, abs=1e-12)
            assert found[model, f"VSD-MRR@{k}"]["value"] == pytest.approx(mrr, abs=1e-12)
        scores = pair_scores(vectors, truth).round(12)
        pairs = [(*pair, score) for pair, score in zip(truth[PAIR].itertuples(index=False), scores, strict=True)]
        for name, value in reference.four_aucs(pairs, labels).items():
            average, area, _ = name.split("_")
            text = f"{area.upper()}-AUC(average={average},negatives=annotated)"
            assert found[model, text]["value"] == pytest.approx(value, abs=1e-12)
    assert {row["measure"] for row in call("score", "--resamples", "0")["scores"]} == {
        str(measure) for measure in preset("vsd").measures if measure.parameters.get("negatives") != "sampled"
    }


def test_lists_and_vectors_give_the_same_and_the_table_is_stored(project: Project, call: Call) -> None:
    words = ("score", "-M", "VSD-HR@5", "-M", "RR@10", "-M", "nDCG@10", "-M", "Judged@5", "-m", "m0", "-m", "m1")
    first, second = (call(*words, "--from", source, "--by-query")["scores"] for source in ("embeddings", "neighbors"))
    for rows in (first, second):
        for row in rows:
            for told in ("note", "counts", "pairs_unlabelled"):
                row.pop(told, None)
    assert first == second
    stored = project.read("scores")
    assert len(stored) == len(second)
    assert project.state("scores").condition == "fresh"
    assert project.state("scores").made_by.startswith("eds metrics score --by-query --from neighbors ")


def test_the_table_tells_every_option_that_was_typed_and_no_other(project: Project, call: Call) -> None:
    images = project.read("images")
    project.write(images.assign(colour="red"), "images", Provenance("images.import"))
    words = ["-M", "vsd", "-M", "RR@10", "-M", "P@5", "-m", "m0", "-m", "new", "-g", "m0", "-g", "m1"]
    words += ["--from", "embeddings", "--by-query", "--resamples", "0", "--confidence", "0.9", "--with-random"]
    words += ["--allow-missing", "--attribute", "colour"]
    call("score", *words)
    state = project.state("scores")
    assert state.params == {
        "measure": ["vsd", "RR@10", "P@5"],
        "model": ["m0", "new"],
        "pool_model": ["m0", "m1"],
        "from": "embeddings",
        "by_query": True,
        "resamples": 0,
        "confidence": 0.9,
        "with_random": True,
        "allow_missing": True,
        "attribute": ["colour"],
    }
    stored = project.read("scores")
    _, *again = shlex.split(state.made_by.removeprefix("eds "))
    call(*again)
    pd.testing.assert_frame_equal(project.read("scores"), stored)
    assert (project.state("scores").params, project.state("scores").made_by) == (state.params, state.made_by)
    call("score", "--resamples", "0")
    assert project.state("scores").params == {"resamples": 0}


def test_every_number_tells_what_it_rests_on(project: Project, call: Call) -> None:
    truth = measured(project)
    one_class = truth[truth["value"] == 0].groupby("query_id").head(1)["query_id"].iloc[0]
    truth.loc[truth["query_id"] == one_class, "value"] = 0
    wild = pd.DataFrame(  # its candidate is a wild query, which is in no list: no measure uses the pair
        {**truth.iloc[0].to_dict(), "query_id": [one_class], "candidate_id": ["i12"], "value": [1]}
    )
    project.write(pd.concat([truth, wild], ignore_index=True), "truth", Provenance("truth.decide"))
    found = by_name(call("score", "-m", "m0"))
    positives = truth.groupby("query_id")["value"].sum()
    hr = found["m0", "VSD-HR@5"]
    assert (hr["n"], hr["queries_used"]) == ((positives > 0).sum(), (positives > 0).sum())
    assert hr["skipped_because"] == {"without a positive": (positives == 0).sum()}
    assert hr["pairs_unlabelled"] + hr["counts"]["places"] > 0
    auc = found["m0", "ROC-AUC(average=micro,negatives=annotated)"]
    assert (auc["n"], auc["pairs_used"], auc["pairs_without_score"]) == (len(truth), len(truth), 0)
    macro = found["m0", "ROC-AUC(average=macro,negatives=annotated)"]
    assert macro["skipped_because"]["without positive and negative"] >= 1
    assert all(row["low"] <= row["value"] + 1e-12 for row in found.values() if row["low"] is not None)


def test_what_a_number_rests_on_does_not_hang_on_what_else_is_asked(project: Project, call: Call) -> None:
    """Alone lists of five places are mined; beside bpref, which looks at whole rankings, ranks are counted."""
    alone = by_name(call("score", "-M", "VSD-HR@5", "--resamples", "0"))
    beside = by_name(call("score", "-M", "VSD-HR@5", "-M", "bpref", "--resamples", "0"))
    hidden = 0
    for model in MODELS:
        counts = alone[model, "VSD-HR@5"]["counts"]
        assert beside[model, "VSD-HR@5"]["counts"] == counts
        lists = mine(Vectors.open(project.path("embeddings", model)), project.read("images"), Rules(5))
        of = dict(zip(*(project.read("images")[name] for name in ("image_id", "product_id")), strict=True))
        held = {(q, c) for q, c in lists[PAIR].itertuples(index=False)}
        products = {(q, of[c]) for q, c in held}
        truth = measured(project)
        positives = {(q, c) for q, c, value in truth[[*PAIR, "value"]].itertuples(index=False) if value == 1}
        lost = positives - held
        own = {(q, c) for q, c in positives if of[q] == of[c]}
        assert counts["positives not found"] == len(lost)
        assert counts["positives behind another image of their product"] == sum(
            (q, of[c]) in products for q, c in lost - own
        )
        assert counts["positives left out by the rules"] == len(own)
        hidden += counts["positives behind another image of their product"]
    assert hidden > 0


def test_counts_that_were_not_made_are_null(project: Project, call: Call) -> None:
    truth, suspects = project.read("truth"), project.read("suspects")
    pool = suspects.loc[suspects["origin"] == "pool", PAIR]
    waiting = pd.MultiIndex.from_frame(pool[pool["query_id"] == "i00"].head(2))
    project.write(truth[~pd.MultiIndex.from_frame(truth[PAIR]).isin(waiting)], "truth", Provenance("truth.decide"))
    strange = project.read("neighbors", "m0").head(1).assign(model="one", query_id="i00", rank=0)
    strange = strange.assign(candidate_id=str(waiting[0][1]))
    project.write(strange, "neighbors", Provenance("test", {"neighbors.k": 1}), "one")
    n = len(measured(project))
    rows = by_name(call("score", "-M", "ROC-AUC(average=micro)", "-M", "P@1", "--resamples", "0"))
    auc = rows["one", "ROC-AUC(average=micro,negatives=annotated)"]
    assert (auc["n"], auc["pairs_used"], auc["pairs_without_score"], auc["queries_used"]) == (0, 0, n, 0)
    assert auc["pairs_unlabelled"] == 2
    precision = rows["m0", "P@1"]
    assert precision["pairs_without_score"] is None
    assert precision["pairs_used"] + precision["pairs_unlabelled"] == precision["counts"]["places"]
    whole = rows["m0", "ROC-AUC(average=micro,negatives=annotated)"]
    assert (whole["queries_used"], whole["queries_skipped"]) == (measured(project)["query_id"].nunique(), 0)


def test_a_pr_auc_comes_with_its_prevalence(project: Project, call: Call) -> None:
    rows = call("score", "-M", "PR-AUC(average=micro)", "--resamples", "0")
    assert {row["measure"] for row in rows["scores"]} == {
        "PR-AUC(average=micro,negatives=annotated)",
        "Prevalence(average=micro,negatives=annotated)",
    }


def test_infap_looks_at_the_pool_that_is_not_judged_yet(project: Project, call: Call) -> None:
    truth, suspects = project.read("truth"), project.read("suspects")
    half = truth.iloc[::2].reset_index(drop=True)
    project.write(half, "truth", Provenance("truth.decide"))
    rows = by_name(call("score", "-M", "infAP", "--resamples", "0"))
    images = project.read("images")
    pool = suspects.loc[suspects["origin"] == "pool", PAIR]
    for model in MODELS:
        whole = mine(Vectors.open(project.path("embeddings", model)), images, Rules(100))
        (known,) = evaluate(
            ScoringInputs(measured(project), rankings=whole, images=images, pooled=pool), [Measure("infAP")]
        )
        (blind,) = evaluate(ScoringInputs(measured(project), rankings=whole, images=images), [Measure("infAP")])
        assert known.values is not None
        assert blind.values is not None
        assert rows[model, "infAP"]["value"] == pytest.approx(known.values.value, abs=1e-12)
        assert known.values.value > blind.values.value


def test_a_cut_off_beyond_the_gallery_divides_by_k_and_pools_of_one_class_are_undefined(
    project: Project, call: Call
) -> None:
    found = by_name(call("score", "-M", "P@1000", "-M", "VSD-HR@1000", "--resamples", "0"))
    assert 0 < found["m0", "P@1000"]["value"] < 0.1
    assert found["m0", "VSD-HR@1000"]["counts"]["places"] < 1000 * found["m0", "VSD-HR@1000"]["n"]
    truth = project.read("truth")
    project.write(truth.assign(value=0), "truth", Provenance("truth.decide"))
    rows = by_name(call("score"))
    assert rows["m0", "VSD-HR@5"]["value"] is None
    assert rows["m0", "VSD-HR@5"]["low"] is None
    assert "nothing to average" in rows["m0", "VSD-HR@5"]["note"]
    assert rows["m0", "ROC-AUC(average=micro,negatives=annotated)"]["value"] is None


def test_models_that_have_lists_only_are_taken_from_them(project: Project, call: Call) -> None:
    lists = project.read("neighbors", "m0").assign(model="listed")
    project.write(lists, "neighbors", Provenance("test", {"neighbors.k": 12}), "listed")
    rows = by_name(call("score", "--resamples", "0"))
    assert rows["listed", "VSD-HR@5"]["value"] == rows["m0", "VSD-HR@5"]["value"]
    auc = rows["listed", "ROC-AUC(average=micro,negatives=annotated)"]
    assert auc["pairs_without_score"] > 0
    assert "taken from its lists" in auc["note"]
    result = project.score(["VSD-HR@5", "ROC-AUC(average=micro)"], resamples=0)
    marked = result.summary.set_index("model").map(lambda cell: "†" in cell)
    assert marked.sum().tolist()[-2:] == [0, 1]
    assert marked.loc["listed"].any()
    assert "† only over pairs that have a score" in result.legend


def test_mistakes_are_told(project: Project, call: Call, tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="unknown preset 'vds'"):
        call("list", "--preset", "vds")
    with pytest.raises(EdsError, match="unknown measure 'MAP'"):
        call("score", "-M", "MAP@5")
    with pytest.raises(ProjectError, match="no vectors or lists of model m7"):
        call("score", "-m", "m7")
    with pytest.raises(InputError, match="needs drawn negatives"):
        call("score", "-M", "ROC-AUC(negatives=sampled)")
    toml = project.root / "eds.toml"
    whole = toml.read_text(encoding="utf-8")
    toml.write_text(whole.replace("# one_per_product = true", "one_per_product = false"), encoding="utf-8")
    with pytest.raises(InputError, match=r"VSD-HR@5 needs lists without.*"):
        call("score", "-M", "vsd")
    assert call("score", "-M", "RR@5")
    toml.write_text(whole, encoding="utf-8")
    project.write(project.read("truth").iloc[:0], "truth", Provenance("truth.decide"))
    with pytest.raises(InputError, match="table truth is empty"):
        call("score")
    project.path("truth").unlink()
    with pytest.raises(ProjectError, match="no decided labels"):
        call("score")
    empty = Project.create(tmp_path / "empty")
    with pytest.raises(EdsError):
        CliRunner().invoke(group, ["score", "-p", str(empty.root)], catch_exceptions=False)


def test_answers_can_be_read_too(project: Project, call: Call) -> None:
    shown = CliRunner().invoke(group, ["score", "-p", str(project.root), "--resamples", "20"], catch_exceptions=False)
    assert "VSD-HR@5" in shown.stdout
    assert "queries skipped" not in shown.stdout
    words = ["score", "-p", str(project.root), "--resamples", "20", "--explain"]
    assert "queries skipped" in CliRunner().invoke(group, words, catch_exceptions=False).stdout
    listed = call("list")
    assert [one["name"] for one in listed["measures"]] == list(definitions())
    assert all(one["formula"] and one["conventions"] for one in listed["measures"])
    assert [one["preset"] for one in listed["presets"]] == ["vsd", "trec", "mteb", "hash", "hash-category"]
    assert [one["name"] for one in call("list", "--preset", "vsd")["measures"]][:2] == ["VSD-HR", "VSD-MRR"]
    text = CliRunner().invoke(group, ["list"], catch_exceptions=False).stdout
    assert "sum over distinct scores of (recall - recall before) x precision" in text
