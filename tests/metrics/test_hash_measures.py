"""Measures on codes: counted without a list, held against every pair counted singly and against every order of ties."""

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import ndcg_score

from eds.cli.metrics import metrics
from eds.errors import InputError
from eds.hashing.ap_bounds import ap_between
from eds.hashing.collisions import Balls, lgap
from eds.hashing.histograms import Grading, Histograms
from eds.hashing.single_ranking import ap_at_p, radius_precision
from eds.hashing.ties import TiedLists, ap, ndcg
from eds.metrics import Measure, ScoringInputs, evaluate, preset
from eds.metrics.code_histograms import CodeHistograms
from eds.neighbors.code_search import code_gallery
from eds.project import Project
from eds.tables import TRUTH
from eds.vectors import Model, Vectors, pack, write

BITS = 6
GROUPS = st.lists(st.lists(st.integers(0, 1), max_size=3), min_size=1, max_size=3)


@settings(deadline=None)
@given(GROUPS, st.integers(1, 7), st.sampled_from(["total", "retrieved", "capped"]))
def test_best_and_worst_are_the_extremes_over_every_order(groups: list[list[int]], k: int, denominator: str) -> None:
    counts = np.array([[[group.count(0), group.count(1)] for group in groups]], np.int64)
    lists = TiedLists(counts, (0, 1), k)
    orders = itertools.product(*(set(itertools.permutations(group)) for group in groups))
    values = [ap_at_p([grade for part in order for grade in part], k)[denominator] for order in orders]
    assert ap_between(lists, denominator, best=True)[0] == pytest.approx(max(values), abs=1e-12)
    assert ap_between(lists, denominator, best=False)[0] == pytest.approx(min(values), abs=1e-12)
    assert min(values) - 1e-12 <= ap(lists, denominator)[0] <= max(values) + 1e-12


def catalogue(seed: int, n: int = 40) -> tuple[pd.DataFrame, np.ndarray]:
    """Images in no order of their ids, with codes that collide often."""
    rng = np.random.default_rng(seed)
    names = [f"i{number:03d}" for number in rng.permutation(n)]
    images = pd.DataFrame(
        {
            "image_id": names,
            "product_id": [f"p{number}" for number in rng.integers(0, 12, n)],
            "category": rng.choice(["a", "b", "c"], n),
            "role": rng.choice(["query", "candidate", "both"], n),
            "colour": rng.choice(["red", "blue"], n),
        }
    )
    images.loc[images.index[:3], "colour"] = None
    return images, rng.choice([-1, 1], (n, BITS)).astype(np.int8)


def stored(folder: Path, images: pd.DataFrame, codes: np.ndarray) -> Vectors:
    model = Model("codes", {"loader": "test"}, BITS, "bits", "hamming", "", "")
    return write(folder, model, images["image_id"].tolist(), pack(codes))


def slow(
    images: pd.DataFrame, codes: np.ndarray, grade: object, exclude_product: bool, asked: set[str]
) -> dict[str, Any]:
    """By query: its histogram, and codes and relevance of what counts; every pair by itself."""
    rows = images.reset_index(drop=True).to_dict(orient="records")
    found = {}
    for one, query in enumerate(rows):
        if query["role"] == "candidate" or query["image_id"] not in asked:
            continue
        kept = [
            other
            for other, item in enumerate(rows)
            if item["role"] != "query"
            and other != one
            and not (exclude_product and item["product_id"] == query["product_id"])
        ]
        grades = [grade(query, rows[other]) for other in kept]  # type: ignore[operator]
        counts = np.zeros((BITS + 1, 4), np.int64)
        for other, value in zip(kept, grades, strict=True):
            counts[int((codes[one] != codes[other]).sum()), value] += 1
        found[query["image_id"]] = counts, codes[one], codes[kept], grades
    return found


def agreeing(*columns: str) -> object:
    return lambda one, other: sum(one[name] == other[name] and not pd.isna(one[name]) for name in columns)


CASES = [
    (("product_id",), False),
    (("category",), True),
    (("product_id", "category"), False),
    (("category", "colour"), True),
    (("colour",), False),
]


@pytest.mark.parametrize(("columns", "exclude"), CASES)
@pytest.mark.parametrize("seed", [0, 1])
def test_histograms_and_balls_are_those_of_every_pair(
    columns: tuple[str, ...], exclude: bool, seed: int, tmp_path: Path
) -> None:
    images, codes = catalogue(seed)
    expected = slow(images, codes, agreeing(*columns), exclude, set(images["image_id"]))
    vectors = stored(tmp_path / "codes", images, codes)
    found = code_gallery(vectors, images.sample(frac=1, random_state=seed)).histograms(
        Grading(columns=columns, exclude_product=exclude), 3
    )
    assert found.queries.to_pylist() == sorted(expected)
    assert found.balls is not None
    for place, name in enumerate(found.queries.to_pylist()):
        counts, query, items, grades = expected[name]
        np.testing.assert_array_equal(found.counts[place], counts[:, : len(found.levels)])
        balls = Balls(
            BITS, *(part[place : place + 1] for part in (found.balls.items, found.balls.relevant, found.balls.largest))
        )
        plain = lgap(query, items, [int(grade > 0) for grade in grades], 3)["lgap"] if len(items) else 0.0
        assert balls.lgap(3)[0] == pytest.approx(plain, abs=1e-12)


def test_decided_pairs_give_grades_to_queries_that_have_any(tmp_path: Path) -> None:
    images, codes = catalogue(3)
    queries = images.loc[images["role"] != "candidate", "image_id"].sort_values().tolist()[:5]
    items = images.loc[images["role"] != "query", "image_id"].sort_values().tolist()[:9]
    rng = np.random.default_rng(0)
    rows = [(one, other, int(rng.integers(0, 4))) for one in queries for other in items if one != other]
    pairs = pd.DataFrame(rows, columns=["query_id", "candidate_id", "grade"])
    known = {(one, other): grade for one, other, grade in rows}

    def grade(one: dict[str, Any], other: dict[str, Any]) -> int:
        return known.get((one["image_id"], other["image_id"]), 0)

    expected = slow(images, codes, grade, True, set(queries))
    found = code_gallery(stored(tmp_path / "codes", images, codes), images).histograms(
        Grading(pairs, exclude_product=True)
    )
    assert found.queries.to_pylist() == queries
    for place, name in enumerate(queries):
        for column, level in enumerate(found.levels):
            np.testing.assert_array_equal(found.counts[place, :, column], expected[name][0][:, level])


def test_values_are_the_means_of_the_formulas_with_what_they_rest_on() -> None:
    counts = np.array([[[1, 1], [0, 2], [3, 0]], [[2, 0], [1, 0], [3, 0]]], np.int64)
    told = CodeHistograms(
        2, 6, {"product": Histograms(pa.array(["a", "b"]), counts, (0, 1))}, {"utilisation_of_reachable": 0.5}
    )
    measures = [Measure.parse(text) for text in ("APt@3", "APt@3(ties=best)", "nDCGt@3", "Pt@2", "CodeUsage")]
    empty = pd.DataFrame({"query_id": [], "candidate_id": [], "value": []}).astype(
        {"query_id": "str", "candidate_id": "str", "value": "int64"}
    )
    results = evaluate(ScoringInputs(empty, codes={"m": told}), measures)
    lists = TiedLists(counts, (0, 1), 3)
    assert results[0].values is not None
    assert results[0].values.value == pytest.approx(float(ap(lists, "retrieved").mean()))
    assert results[0].values.counts["queries without a relevant candidate, which count 0"] == 1
    assert results[0].values.counts["bits"] == 2
    assert [result.values.value for result in results[1:] if result.values][-1] == 0.5


def test_types_are_2_1_and_0_whatever_other_columns_say(tmp_path: Path) -> None:
    """Products whose images differ in category: a candidate of the query's product is of type 2 nevertheless."""
    images, codes = catalogue(5)
    images["category"] = np.random.default_rng(5).choice(np.array(["coat", "hat", None], dtype=object), len(images))

    def grade(one: dict[str, Any], other: dict[str, Any]) -> int:
        if one["product_id"] == other["product_id"]:
            return 2
        return int(one["category"] == other["category"] and not pd.isna(one["category"]))

    expected = slow(images, codes, grade, False, set(images["image_id"]))
    grading = Grading(columns=("product_id", "category"), exclude_product=False, first_decides=True)
    result = code_gallery(stored(tmp_path / "codes", images, codes), images).histograms(grading, 0)
    assert result.levels == (0, 1, 2)
    value = ndcg(result.lists(10))
    for place, name in enumerate(result.queries.to_pylist()):
        np.testing.assert_array_equal(result.counts[place], expected[name][0][:, :3])
        counts = expected[name][0][:, :3]
        relevance = [level for level in range(3) for _ in range(int(counts[:, level].sum()))]
        distance = [at for level in range(3) for at in range(BITS + 1) for _ in range(int(counts[at, level]))]
        if len(relevance) > 1 and max(relevance):
            peer = ndcg_score([[2**level - 1 for level in relevance]], [[-at for at in distance]], k=10)
            assert value[place] == pytest.approx(peer, abs=1e-12)


@pytest.mark.parametrize("radius", [0, 2])
def test_measures_of_a_radius_take_0_and_are_those_of_every_ball(radius: int, tmp_path: Path) -> None:
    images, codes = catalogue(6)
    expected = slow(images, codes, agreeing("category"), False, set(images["image_id"]))
    result = code_gallery(stored(tmp_path / "codes", images, codes), images).histograms(
        Grading(columns=("category",), exclude_product=False), radius
    )
    inputs = ScoringInputs(
        TRUTH.empty()[["query_id", "candidate_id", "value"]],
        codes={"m": CodeHistograms(BITS, len(images), {"category": result})},
    )
    texts = (f"mLGAP@{radius}(grades=category)", f"P-radius@{radius}(grades=category)")
    results = evaluate(inputs, [Measure.parse(text) for text in texts])
    balls = [
        (
            lgap(query, items, relevant, radius)["lgap"],
            radius_precision(query, items, relevant, radius)[-1]["precision"],
        )
        for _, query, items, grades in expected.values()
        for relevant in [[int(grade > 0) for grade in grades]]
    ]
    values = [result.values.value for result in results if result.values]
    assert values == pytest.approx(np.mean(balls, axis=0), abs=1e-12)
    with pytest.raises(InputError, match="give 1 to"):
        Measure("Pt", 0)


def test_the_preset_prints_both_ends_with_every_denominator() -> None:
    texts = [str(measure) for measure in preset("hash").measures]
    for divisor in ("hits", "relevant", "capped"):
        for ties in ("best", "expected", "worst"):
            assert f"APt@100(divide_by={divisor},grades=product,ties={ties})" in texts


def test_vectors_of_floats_and_codes_too_long_are_refused(tmp_path: Path) -> None:
    images, _ = catalogue(0, 5)
    model = Model("plain", {"loader": "test"}, 3, "float32", "cosine", "", "")
    vectors = write(tmp_path / "plain", model, images["image_id"].tolist(), np.ones((5, 3), np.float32))
    with pytest.raises(InputError, match="plain has float32 vectors"):
        code_gallery(vectors, images)
    model = Model("long", {"loader": "test"}, 72, "bits", "hamming", "", "")
    long = write(tmp_path / "long", model, images["image_id"].tolist(), np.zeros((5, 9), np.uint8))
    with pytest.raises(InputError, match="long has 72 bits"):
        code_gallery(long, images)


def test_a_project_scores_its_codes_without_any_label(tmp_path: Path) -> None:
    images, codes = catalogue(4)
    project = Project.create(tmp_path / "p")
    full = images.assign(
        path=images["image_id"],
        role="both",
        phase=None,
        width=None,
        height=None,
        sha256=None,
        box_left=None,
        box_top=None,
        box_right=None,
        box_bottom=None,
    )
    project.write(full, "images", project.provenance("test", {}, []))
    stored(project.path("embeddings", "codes"), full, codes)
    answer = CliRunner().invoke(metrics, ["score", "-M", "hash", "--json", "-p", str(project.root)])
    assert answer.exit_code == 0, answer.output
    rows = {row["measure"]: row for row in json.loads(answer.stdout)["scores"]}
    assert len(rows) == len(preset("hash").measures)
    expected = slow(full, codes, agreeing("product_id"), False, set(full["image_id"]))
    counts = np.stack([expected[name][0][:, :2] for name in sorted(expected)])
    name = "APt@100(divide_by=relevant,grades=product,ties=expected)"
    assert rows[name]["value"] == pytest.approx(float(ap(TiedLists(counts, (0, 1), 100)).mean()), abs=1e-12)
    assert "codes of 6 bits, 40 candidates" in rows[name]["note"]
    low, high = (rows[name.replace("expected", end)]["value"] for end in ("worst", "best"))
    assert low <= rows[name]["value"] <= high
