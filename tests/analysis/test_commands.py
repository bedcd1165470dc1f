"""`eds analysis`: what the commands print is what the library computes on the project's tables, told apart by model."""

import json
import shutil
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from eds.analysis import AnalysisInputs, leave_one_out, reusability
from eds.cli.analysis import analysis as group
from eds.errors import InputError, ProjectError
from eds.metrics import Measure
from eds.neighbors import Rules, mine, pair_scores
from eds.project import Project
from eds.project.evaluate import evaluate_models
from eds.project.inputs import Inputs
from eds.project.pool_models import read_pool_lists
from eds.suspects import sources_frame
from eds.tables import NEIGHBORS, Provenance
from eds.vectors import Model, Vectors, write
from tests.metrics.projects import MAKERS, MODELS, measured

Call = Callable[..., Any]
MACRO, MICRO = "ROC-AUC(average=macro,negatives=annotated)", "ROC-AUC(average=micro,negatives=annotated)"


def scores_of(project: Project) -> pd.DataFrame:
    truth = measured(project)[["query_id", "candidate_id"]]
    parts = [
        truth.assign(model=name, score=pair_scores(Vectors.open(project.path("embeddings", name)), truth).round(12))
        for name in MODELS
    ]
    return pd.concat(parts, ignore_index=True)


def test_leave_one_out_evaluates_all_and_removes_the_makers(project: Project, call: Call) -> None:
    told = call("leave-one-out", "-M", MACRO)
    assert [(one["mode"], one["measure"]) for one in told] == [("unique", MACRO), ("all", MACRO)]
    lists = sources_frame(project.read("suspects"))
    for one in told:
        expected = leave_one_out(
            AnalysisInputs(pool_lists=lists, labels=measured(project), scores=scores_of(project)),
            Measure("ROC-AUC", average="macro"),
            one["mode"],
        )
        assert one["full"] == pytest.approx(expected.full, nan_ok=True)
        assert list(one["full"]) == sorted(MODELS)
        assert list(one["loo"]) == list(MAKERS)
        for name in MAKERS:
            assert one["loo"][name] == pytest.approx(expected.loo[name])
        assert list(one["self_removal_shift"]) == list(MAKERS)
    kept = json.loads((project.root / "analysis" / "leave-one-out.json").read_text(encoding="utf-8"))
    assert kept["result"] == told
    assert "truth.parquet" in kept["made_from"]


def part_of_m1(project: Project, count: int) -> None:
    """Another model, `part`, with vectors of the first images only."""
    vectors = Vectors.open(project.path("embeddings", "m1"))
    some = project.read("images")["image_id"].tolist()[:count]
    model = Model("part", {"loader": "test"}, 8, "float32", "cosine", "", "")
    write(project.path("embeddings", "part"), model, some, vectors.gather(some))


def test_lists_that_are_mined_for_a_named_generator_leave_out_images_without_a_vector(
    project: Project, call: Call
) -> None:
    part_of_m1(project, 50)
    words = ["bias", "-g", "m0", "-g", "part", "-o", "m1"]
    with pytest.raises(ProjectError, match="part: 10 images have no vector: i50"):
        call(*words)
    told = call(*words, "--allow-missing")
    assert {row["model"]: row["generator"] for row in told["models"]} == {"m0": True, "m1": False, "part": True}
    pool = read_pool_lists(Inputs(project), ["m0", "part"], None, allow_missing=True)
    assert set(pool.loc[pool["model"] == "part", "candidate_id"]) <= set(project.read("images")["image_id"][:50])


def test_leave_one_out_tells_undefined_values_too(project: Project, call: Call) -> None:
    """One generator: without it no label is left; and a compared model that scored similar pairs only."""
    suspects = project.read("suspects")
    alone = suspects[(suspects["origin"] == "pool") & suspects["sources"].str.contains("m0")].assign(sources="m0:0")
    project.write(alone, "suspects", Provenance("suspects.pool"))
    truth = project.read("truth").merge(alone[["query_id", "candidate_id"]])
    project.write(truth, "truth", Provenance("truth.decide"))
    similar = truth.loc[truth["value"] == 1, ["query_id", "candidate_id"]].assign(model="some", score=0.5)
    similar["rank"] = similar.groupby("query_id").cumcount()
    project.write(similar[NEIGHBORS.names], "neighbors", Provenance("neighbors.import"), "some")
    told = call("leave-one-out", "--pool-model", "m0")
    assert told[0]["full"]["some"] is None
    for one in told:
        assert set(one["loo"]["m0"].values()) == {None}
        assert set(one["spearman"]["m0"].values()) == {None}
        assert one["mean"]["m1"] is None
    for words, undefined in ([], "n/a"), (["--explain"], "n/a; n/a ± n/a"):
        done = CliRunner().invoke(group, ["leave-one-out", "-p", str(project.root), *words], catch_exceptions=False)
        assert undefined in done.stdout
        assert "nan" not in done.stdout


def test_a_pr_auc_stands_beside_its_chance_level(project: Project, call: Call) -> None:
    (told,) = call("leave-one-out", "-M", "PR-AUC(average=micro)", "--mode", "unique")
    assert told["prevalence"] == dict.fromkeys(MODELS, pytest.approx(measured(project)["value"].mean()))
    words = ["leave-one-out", "-M", "PR-AUC(average=micro)", "-M", MICRO, "--explain", "-p", str(project.root)]
    done = CliRunner().invoke(group, words, catch_exceptions=False)
    row = next(line for line in done.stdout.splitlines() if line.startswith("new"))
    assert row.count(f"chance {measured(project)['value'].mean():.3f}") == 1


def test_reusability_ranks_all_models_with_and_without_own_finds(project: Project, call: Call) -> None:
    told = call("reusability", "-M", "VSD-HR@5", "-M", MICRO)
    images = project.read("images")
    lists = pd.concat(
        [mine(Vectors.open(project.path("embeddings", name)), images, Rules(100)) for name in MODELS],
        ignore_index=True,
    )
    expected = reusability(
        AnalysisInputs(pool_lists=sources_frame(project.read("suspects")), labels=measured(project), rankings=lists),
        Measure("VSD-HR", 5),
    )
    for row in told["models"]:
        if row["measure"] == "VSD-HR@5":
            assert row["drop"] == pytest.approx(expected[row["model"]]["drop"])
            assert row["rank_unpooled"] == expected[row["model"]]["rank_unpooled"]
    assert {row["model"] for row in told["models"]} == set(MAKERS)
    drops = [row["drop"] for row in told["models"] if row["measure"] == MICRO]
    assert told["measures"][1]["largest_drop"] == pytest.approx(max(drops))


def test_inferred_ap_takes_the_pool_that_is_not_judged_as_the_measure_does(project: Project, call: Call) -> None:
    """Every fourth pooled pair loses its label; a copy of m0 has lists only, and m1 none of its own pairs asked."""
    lists = project.read("neighbors", "m0").assign(model="listed")
    project.write(lists, "neighbors", Provenance("test", {"neighbors.k": 12}), "listed")
    truth = project.read("truth")
    project.write(truth[np.arange(len(truth)) % 4 > 0], "truth", Provenance("test"))
    words = ["reusability", "-M", "infAP", "-M", "bpref"]
    told = {row["model"]: row for row in call(*words)["models"] if row["measure"] == "infAP"}
    value = {
        one.model: one.values.value
        for one in evaluate_models(Inputs(project), [Measure("infAP")]).results
        if one.values
    }
    assert {name: row["full"] for name, row in told.items()} == {name: pytest.approx(value[name]) for name in MAKERS}
    named = call(*words, "-g", "listed", "-g", "m1")["models"][0]
    assert (named["model"], named["full"]) == ("listed", pytest.approx(value["listed"]))
    proposed = sources_frame(project.read("suspects"))
    pairs = {
        name: set(map(tuple, part[["query_id", "candidate_id"]].to_numpy())) for name, part in proposed.groupby("model")
    }
    own = pairs["m1"] - pairs["m0"]
    suspects, truth = project.read("suspects"), project.read("truth")
    for frame, name in ((suspects, "suspects"), (truth, "truth")):
        keys = zip(frame["query_id"], frame["candidate_id"], strict=True)
        project.write(frame[[pair not in own for pair in keys]], name, Provenance("test"))
    (again,) = (one for one in evaluate_models(Inputs(project), [Measure("infAP")], ["m1"]).results)
    assert again.values is not None
    assert told["m1"]["unpooled"] == pytest.approx(again.values.value)


def test_bias_tells_makers_from_outsiders(project: Project, call: Call) -> None:
    told = call("bias", "-k", "3")
    assert {row["model"]: row["generator"] for row in told["models"]} == {"m0": True, "m1": True, "new": False}
    by_model = {row["model"]: row for row in told["models"]}
    assert by_model["m0"]["judged"] == by_model["m1"]["judged"] == 1
    assert by_model["new"]["judged"] < 1
    assert by_model["new"]["hr"] <= by_model["new"]["hr_at_most"]
    hr = next(row for row in told["groups"] if row["measure"] == "hr")
    mean = (by_model["m0"]["hr"] + by_model["m1"]["hr"]) / 2
    assert (hr["generators"], hr["outsiders"]) == pytest.approx((mean, by_model["new"]["hr"]))
    assert told["orders"]["tau_b_hr_auc"] is None  # of three models
    scored = project.score([Measure("Judged", 3)], resamples=0).table
    for name, value in scored.set_index("model")["value"].items():
        assert by_model[name]["judged"] == pytest.approx(value)  # one number
    chosen = call("bias", "-k", "3", "--pool-model", "new", "--pool-model", "m0")
    assert {row["model"] for row in chosen["models"] if row["generator"]} == {"m0", "new"}
    only = call("bias", "--other-model", "new")
    assert {row["model"] for row in only["models"]} == set(MODELS)
    with pytest.raises(InputError, match="m0 made the pool"):
        call("bias", "--other-model", "m0")


def test_identification_counts_who_has_another_picture(project: Project, call: Call) -> None:
    told = call("identification", "--cut", "5", "--resamples", "20")
    images = project.read("images").set_index("image_id")
    offered = images[images["role"] != "query"]
    expected, hits, most = 0, 0, 0
    lists = mine(Vectors.open(project.path("embeddings", "m0")), project.read("images"), Rules(60, False, False))
    by_query = {
        str(name): part.sort_values("rank")["candidate_id"].tolist() for name, part in lists.groupby("query_id")
    }
    for name, row in images[images["role"] != "candidate"].iterrows():
        others = set(offered.index[offered["product_id"] == row["product_id"]]) - {name}
        expected += bool(others)
        hits += len(others & set(by_query[str(name)][:5]))
        most += min(5, len(others))
    assert told["queries_with_another_picture"] == expected
    found = {(row["model"], row["measure"]): row["value"] for row in told["scores"]}
    assert found["m0", "Product-HR@5(average=capped)"] == pytest.approx(hits / most)
    alone = project.read("images").assign(product_id=lambda frame: frame["image_id"])
    project.write(alone, "images", Provenance("images.import"))
    with pytest.raises(InputError, match="no query has another image"):
        call("identification")


def test_lists_that_leave_out_the_own_product_identify_nothing(project: Project, call: Call) -> None:
    lists = project.read("neighbors", "m0").assign(model="listed")
    project.write(lists, "neighbors", Provenance("test", {"neighbors.k": 12}), "listed")
    measures = [Measure("Product-HR", 5), Measure("RR", 5)]
    with pytest.raises(InputError, match=r"leave them out: listed\b") as told:
        evaluate_models(Inputs(project), measures)
    assert "-m MODEL" in str(told.value)
    assert len(evaluate_models(Inputs(project), measures, ["m0", "m1"]).results) == 4
    for name in MODELS:
        shutil.rmtree(project.path("embeddings", name))
    with pytest.raises(ProjectError, match="no model has vectors yet") as told_too:
        call("identification")
    assert "lists of listed, m0, m1 do not serve here" in str(told_too.value)


def test_an_imported_pool_without_sources_needs_its_makers_named(project: Project, call: Call) -> None:
    suspects = project.read("suspects").assign(sources=None)
    project.write(suspects.astype({"sources": "object"}), "suspects", Provenance("benchmarks.import.vsd"))
    with pytest.raises(ProjectError, match="models that made the pool are not known"):
        call("leave-one-out")
    told = call("prevalence")
    assert told["models"] == []
    again = project.read("suspects").assign(sources="m0:0", stratum="imported")  # pooled by eds run since
    project.write(again, "suspects", Provenance("suspects.pool"))
    with pytest.raises(ProjectError, match="it was imported"):
        call("bias")
    named = call("leave-one-out", "--pool-model", "m0", "--pool-model", "m1", "--pool-depth", "2", "--mode", "unique")
    assert list(named[0]["loo"]) == ["m0", "m1"]
    assert named[0]["n_labels_nobody_proposed"] > 0


@pytest.mark.parametrize("words", [["leave-one-out"], ["reusability"], ["bias"], ["identification"], ["prevalence"]])
def test_answers_can_be_read_too(project: Project, words: list[str]) -> None:
    short = CliRunner().invoke(group, [*words, "-p", str(project.root)], catch_exceptions=False)
    done = CliRunner().invoke(group, [*words, "--explain", "-p", str(project.root)], catch_exceptions=False)
    assert len(short.stdout) <= len(done.stdout)
    assert "m0" in done.stdout
    assert f"analysis/{words[0]}.json" in done.stderr
    assert "nan" not in done.stdout
