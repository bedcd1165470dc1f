"""Histograms by grade against every pair counted singly, in memory that does not grow with the pairs."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest

from eds.errors import InputError
from eds.hashing import hamming
from eds.hashing.histograms import Grading
from eds.neighbors.code_search import code_gallery
from eds.vectors import pack
from tests.neighbors.galleries import InMemory
from tests.privileges import needed

BITS = 10


def shop(images: int, seed: int, groups: int = 4) -> tuple[InMemory, pd.DataFrame, np.ndarray]:
    """Images in no order of their ids, with values that lack here and there; their signs."""
    draw = np.random.default_rng(seed)
    ids = [f"{n:07d}" for n in draw.permutation(images)]
    signs = draw.choice([-1, 1], (images, BITS))
    values = np.array([None, *(f"v{m}" for m in range(groups))], dtype=object)
    columns = {f"column{n}": draw.choice(values, images) for n in range(3)}
    table = pd.DataFrame({"image_id": ids, "product_id": [f"p{n}" for n in draw.integers(0, images // 4 + 1, images)]})
    table = table.assign(**columns, role=np.where(np.arange(images) % 9 == 0, "both", "candidate"), category="c")
    return InMemory(ids, pack(signs), "hamming", BITS, images), table, signs


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("exclude", [False, True])
@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("columns", [1, 2, 3])
def test_grades_by_columns_are_those_of_every_pair(
    columns: int, first: bool, exclude: bool, compiled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if compiled:
        needed("numba")
    monkeypatch.setattr(hamming, "WORTH", 0 if compiled else 1 << 62)
    vectors, table, signs = shop(900, columns)
    names = [f"column{n}" for n in range(columns)]
    grading = Grading(columns=names, exclude_product=exclude, first_decides=first)
    found = code_gallery(vectors, table).histograms(grading, threads=2)
    queries = table.index[table["role"] == "both"].to_numpy()
    queries = queries[np.argsort(table["image_id"].to_numpy(dtype=object)[queries])]
    assert found.queries.to_pylist() == table["image_id"].iloc[queries].tolist()
    apart = (signs[queries][:, None] != signs).sum(axis=2)
    grade = np.zeros(apart.shape, int)
    for number, name in enumerate(names):
        value = table[name].to_numpy(dtype=object)
        there = np.array([isinstance(text, str) for text in value])
        agrees = (value[queries][:, None] == value) & there
        grade = np.where(agrees & (grade == 0), columns - number, grade) if first else grade + agrees
    out = np.arange(900) == queries[:, None]
    if exclude:
        product = table["product_id"].to_numpy(dtype=object)
        out = product[queries][:, None] == product
    for number in range(len(queries)):
        kept = ~out[number]
        expected = np.zeros((BITS + 1, columns + 1), int)
        np.add.at(expected, (apart[number][kept], grade[number][kept]), 1)
        assert found.counts[number].tolist() == expected.tolist()


def test_memory_does_not_grow_with_the_pairs_that_agree() -> None:
    vectors, table, _ = shop(60_000, 1, groups=1)
    table["role"] = np.where(np.arange(60_000) % 300 == 0, "both", "candidate")
    codes = code_gallery(vectors, table)
    grading = Grading(columns=["column0", "column1"])
    tracemalloc.start()
    found = codes.histograms(grading, threads=1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    pairs = int(found.counts[:, :, 1:].sum())
    assert pairs > 5_000_000
    assert peak < 4 * pairs  # bytes; one pair written down takes sixteen


def test_columns_that_are_not_there_and_too_many_are_refused() -> None:
    vectors, table, _ = shop(50, 0)
    codes = code_gallery(vectors, table)
    with pytest.raises(InputError, match="no column colour"):
        codes.histograms(Grading(columns=["column0", "colour"]))
    with pytest.raises(InputError, match="no column is named"):
        codes.histograms(Grading())
    with pytest.raises(InputError, match="9 columns"):
        codes.histograms(Grading(columns=["column0"] * 9))
