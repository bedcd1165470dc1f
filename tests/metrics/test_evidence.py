"""What `eds metrics score` computes on: which pairs and queries, and what is counted instead of used."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from eds.errors import ProjectError
from eds.project import Project
from eds.project.ranks_and_scores import select_pairs
from eds.tables import Provenance
from eds.vectors import Model, write
from tests.metrics.projects import by_name, measured

Call = Callable[..., Any]
PAIR = ["query_id", "candidate_id"]


def test_a_model_that_lacks_vectors_is_refused_or_counted(project: Project, call: Call) -> None:
    images = project.read("images")
    some = images["image_id"].tolist()[:50]
    vectors = np.random.default_rng(3).normal(0, 1, (50, 4)).astype(np.float32)
    model = Model("part", {"loader": "test"}, 4, "float32", "cosine", "", "")
    write(project.path("embeddings", "part"), model, some, vectors)
    with pytest.raises(ProjectError, match="part: 10 images have no vector: i50"):
        call("score")
    rows = by_name(call("score", "-m", "part", "--allow-missing", "--resamples", "0"))
    lost = (~measured(project)["candidate_id"].isin(some)).sum()
    auc = rows["part", "ROC-AUC(average=micro,negatives=annotated)"]
    assert auc["pairs_without_score"] == lost > 0
    assert "images without a vector left out: 10" in auc["note"]


def test_every_query_is_used_or_told_why_not(project: Project, call: Call) -> None:
    truth = project.read("truth")
    truth = truth[truth["query_id"] != truth["query_id"].min()]
    project.write(truth, "truth", Provenance("truth.decide"))
    asked = int((project.read("images")["role"] != "candidate").sum())
    for row in call("score", "-M", "vsd", "-M", "Judged@5", "-M", "Success@5", "--resamples", "0")["scores"]:
        assert row["skipped_because"]["without a label"] >= 1
        assert row["queries_used"] + row["queries_skipped"] == asked


def test_only_pairs_of_a_query_with_a_candidate_are_asked_each_once() -> None:
    images = pd.DataFrame({"image_id": list("abcd"), "role": ["both", "both", "candidate", "query"]})
    told = ["bz", "ac", "za", "aa", "ac", "ca", "ad", "db"]
    pairs, (query, candidate) = select_pairs(pd.DataFrame([tuple(pair) for pair in told], columns=PAIR), images)
    assert ["".join(pair) for pair in pairs.itertuples(index=False)] == ["ac", "db"]
    assert query.tolist() == [0, 3]
    assert candidate.tolist() == [2, 1]


def test_a_sampled_negative_that_is_judged_stays_one_unless_it_is_similar(project: Project, call: Call) -> None:
    suspects, truth = project.read("suspects"), project.read("truth")
    kept = set(measured(project)[PAIR].itertuples(index=False, name=None))
    alone = [pair for pair in truth[PAIR].itertuples(index=False, name=None) if pair not in kept]
    ids = project.read("images")["image_id"].tolist()
    known = set(truth[PAIR].itertuples(index=False, name=None))
    free = [(query, ids[row]) for query in truth["query_id"].unique() for row in (15, 33, 50)]
    free = [pair for pair in free if pair not in known]
    drawn = pd.DataFrame([*free, *alone[:7]], columns=PAIR).assign(
        origin="negative", batch=0, position=range(len(free) + 7), sources=None, stratum=None, probability=1.0
    )
    project.write(pd.concat([suspects, drawn], ignore_index=True), "suspects", Provenance("suspects.negatives"))
    text = "ROC-AUC(average=micro,negatives=sampled)"
    rows = by_name(call("score", "-M", text, "--resamples", "0"))
    similar = truth[PAIR].apply(tuple, axis=1).isin(alone[:7]) & (truth["value"] == 1)
    assert similar.sum() < 7
    left_out = f"drawn negatives left out: {similar.sum()}"
    assert (left_out in (rows["m0", text]["note"] or "")) == bool(similar.sum())
    pairs = rows["m0", text]["pairs_used"]
    annotated = "ROC-AUC(average=micro,negatives=annotated)"
    before = by_name(call("score", "-M", annotated, "--resamples", "0"))["m0", annotated]
    like = truth.iloc[[0] * 5].assign(value=[1, 0, 0, 0, 0])  # judged now, one of them similar
    like[PAIR] = free[:5]
    project.write(pd.concat([truth, like], ignore_index=True), "truth", Provenance("truth.decide"))
    assert by_name(call("score", "-M", text, "--resamples", "0"))["m0", text]["pairs_used"] == pairs - 1
    after = by_name(call("score", "-M", annotated, "--resamples", "0"))["m0", annotated]
    assert (after["value"], after["pairs_used"]) == (before["value"], before["pairs_used"])
