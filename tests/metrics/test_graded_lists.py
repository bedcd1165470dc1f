"""Tie-aware measures on grades for models of numbers, by the verbs, against scikit-learn and plain rankings."""

import json
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import ndcg_score

from eds import Project
from eds.errors import InputError
from eds.hashing.single_ranking import ap_at_p
from eds.labels.campaigns import Plan, create_campaign
from eds.labels.experts import add_expert
from eds.labels.form import Form
from eds.labels.judgements import Judgement, submit
from eds.labels.queue import next_batch
from eds.neighbors import pair_scores
from eds.project.label_store import opened
from eds.project.report_inputs import ReportOptions, read_judging
from eds.reports.document import Sentence, Table
from eds.reports.inputs import ReportInputs
from eds.reports.sections.agreement import reasons
from eds.tables import TRUTH, Provenance
from eds.vectors import Model, Vectors, write
from tests.metrics.projects import catalogue

K = 7


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    rng = np.random.default_rng(1)
    project = Project.create(tmp_path_factory.mktemp("graded") / "shop")
    images = catalogue(3)
    images["colour"] = rng.choice(np.array(["red", "blue", None], dtype=object), len(images))
    images["category"] = rng.choice(["coat", "hat"], len(images))
    project.write(images, "images", Provenance("images.import"))
    values = rng.integers(-1, 2, (len(images), 4)).astype(np.float32) + np.float32(0.5)  # many scores tie
    model = Model("tied", {"loader": "test"}, 4, "float32", "cosine", "", "")
    write(project.path("embeddings", "tied"), model, images["image_id"].tolist(), values)
    model = Model("plain", {"loader": "test"}, 9, "float32", "dot", "", "")
    vectors = rng.normal(size=(len(images), 9)).astype(np.float32)
    write(project.path("embeddings", "plain"), model, images["image_id"].tolist(), vectors)
    queries = images.loc[images["role"] != "candidate", "image_id"].tolist()[:6]
    pairs = [(query, other) for query in queries for other in images.loc[images["role"] != "query", "image_id"]]
    truth = pd.DataFrame(pairs, columns=["query_id", "candidate_id"]).query("query_id != candidate_id")
    truth = truth.assign(votes_for=rng.integers(0, 4, len(truth)), unsure=0, tie=False, rule="majority")
    truth = truth.assign(votes_against=3 - truth["votes_for"], value=(truth["votes_for"] > 1).astype(int))
    project.write(truth[TRUTH.names], "truth", Provenance("truth.decide"))
    give_grades(project, truth[["query_id", "candidate_id"]].iloc[::2], rng)
    return project


def give_grades(project: Project, pairs: pd.DataFrame, rng: np.random.Generator) -> None:
    """Two experts grade every second pair; what they typed is kept beside the project."""
    with opened(project, create=True) as store:
        for name in ("ann", "bob"):
            add_expert(store, name)
        create_campaign(
            store, Plan("graded", form=Form(similar_from=2, aspects=("shape", "cut"))), pairs, ["ann", "bob"]
        )
        typed: dict[str, list[int]] = {}
        for name in ("ann", "bob"):
            acts = []
            for task in next_batch(store, "graded", name, len(pairs)):
                grade = int(rng.integers(0, 4))
                typed.setdefault(f"{task.query_id} {task.candidate_id}", []).append(grade)
                aspects = "shape" if grade < 2 else None
                token, value = f"{name}-{task.assignment}", int(grade >= 2)
                acts.append(Judgement(token, task.assignment, value, grade=grade, aspects=aspects))
            submit(store, name, acts)
    (project.root / "typed.json").write_text(json.dumps(typed))


def gallery(project: Project, model: str, query: str, *, exclude_product: bool) -> pd.DataFrame:
    """What the query is compared with, with its scores and its own row's values beside those of each candidate."""
    images = project.read("images")
    own = images[images["image_id"] == query].iloc[0]
    rows = images[(images["role"] != "query") & (images["image_id"] != query)]
    rows = rows[rows["product_id"] != own["product_id"]] if exclude_product else rows
    pairs = pd.DataFrame({"query_id": query, "candidate_id": rows["image_id"]})
    rows = rows.assign(
        score=pair_scores(Vectors.open(project.path("embeddings", model)), pairs), candidate_id=rows["image_id"]
    )
    same = {name: (rows[name] == own[name]) & rows[name].notna() for name in ("product_id", "category", "colour")}
    result: pd.DataFrame = rows.assign(**{f"same_{name}": values for name, values in same.items()})
    return result


def graded(project: Project, rows: pd.DataFrame, query: str, source: str) -> Any:
    if source == "votes":
        truth = project.read("truth")
        votes = truth[truth["query_id"] == query].set_index("candidate_id")["votes_for"]
        return rows["candidate_id"].map(votes).fillna(0).astype(int).tolist()
    if source == "experts":
        typed = json.loads((project.root / "typed.json").read_text())
        given = [typed.get(f"{query} {candidate}", [0]) for candidate in rows["candidate_id"]]
        return [int(Decimal(sum(one)) / len(one) + Decimal("0.5")) for one in given]
    if source == "types":
        return np.where(rows["same_product_id"], 2, rows["same_category"].astype(int)).tolist()
    if source == "attributes":
        return (rows["same_colour"].astype(int) + rows["same_category"].astype(int)).tolist()
    return rows[f"same_{'product_id' if source == 'product' else 'category'}"].astype(int).tolist()


@pytest.mark.parametrize("model", ["tied", "plain"])
@pytest.mark.parametrize("source", ["votes", "experts", "types", "attributes", "product", "category"])
def test_ndcg_is_that_of_scikit_learn_and_ap_that_of_the_ranking(project: Project, source: str, model: str) -> None:
    measures = [f"nDCGt@{K}(grades={source})", f"APt@{K}(divide_by=relevant,grades={source})"]
    scores = project.score(
        measures, models=[model], by_query=True, attributes=["colour", "category"], resamples=0
    ).table
    own = scores[scores["model"] == model]  # those that made the pool are scored beside it
    by_query = own[own["query_id"].notna()].set_index(["measure", "query_id"])["value"]
    queries = by_query.index.get_level_values("query_id").unique()
    assert len(queries) == (
        6 if source in ("votes", "experts") else (project.read("images")["role"] != "candidate").sum()
    )
    for query in queries:
        rows = gallery(project, model, query, exclude_product=source not in ("product", "types"))
        grades = graded(project, rows, query, source)
        names = by_query.index.get_level_values("measure").unique().tolist()
        ndcg = next(by_query[name, query] for name in names if name.startswith("nDCGt"))
        expected = ndcg_score([[2**grade - 1 for grade in grades]], [rows["score"]], k=K) if max(grades) else 0.0
        assert ndcg == pytest.approx(expected, abs=1e-9)
        if model == "plain":
            order = np.argsort(-rows["score"].to_numpy())
            ap = next(by_query[name, query] for name in names if name.startswith("APt"))
            assert ap == pytest.approx(ap_at_p(np.array(grades)[order], K)["total"], abs=1e-12)


def test_numbers_need_a_cut_off_and_have_no_codes(project: Project) -> None:
    with pytest.raises(InputError, match="needs a cut-off"):
        project.score("APt", models=["plain"])
    with pytest.raises(Exception, match="binary codes"):
        project.score("mLGAP@2", models=["plain"])


def test_the_report_says_why_experts_differ_and_how_far_they_agree_on_grades(project: Project) -> None:
    judging = read_judging(project, ReportOptions(resamples=20))
    typed = [one for one in json.loads((project.root / "typed.json").read_text()).values() if len(one) == 2]
    blocks = reasons(ReportInputs("graded", 5, judging=judging))
    [table] = [block for block in blocks if isinstance(block, Table)]
    assert [(row["aspect"], row["named"]) for row in table.rows] == [
        ("shape", sum(g < 2 for one in typed for g in one))
    ]
    [sentence] = [block for block in blocks if isinstance(block, Sentence)]
    apart = [abs(a - b) for a, b in typed]
    assert sentence.filled["pairs"].value == len(typed)  # type: ignore[union-attr]
    assert sentence.filled["difference"].value == pytest.approx(np.mean(apart))  # type: ignore[union-attr]
