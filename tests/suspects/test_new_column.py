"""A new column of table suspects is declared once: whoever adds rows or reads files fills it by itself."""

import sys
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from eds.benchmarks.benchmark import PAIR, Benchmark, suspects_from_pairs
from eds.benchmarks.pairs_file import read_pairs, write_pairs
from eds.benchmarks.validate import Faults
from eds.schema import Column, to_arrow
from eds.suspects import add_pairs, draw_gold, draw_negatives, draw_random, draw_repeats, lists_frame, pool, reorder
from eds.suspects.negatives import NegativeRule
from eds.suspects.pool import Batching
from eds.tables import SUSPECTS
from eds.universe import PairRules, Universe
from tests.metrics.projects import catalogue

TOY = replace(SUSPECTS, columns=(*SUSPECTS.columns, Column("toy", "text", "a new column", default="plain")))
IMAGES = catalogue(3)


@pytest.fixture(autouse=True)
def _declared_in_the_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in [*sys.modules.values()]:
        if getattr(module, "__name__", "").startswith("eds.") and getattr(module, "SUSPECTS", None) is SUSPECTS:
            monkeypatch.setattr(module, "SUSPECTS", TOY)


def test_every_step_that_adds_rows_fills_the_new_column() -> None:
    queries, candidates = (IMAGES.loc[IMAGES["role"] != other, "image_id"].tolist() for other in ("candidate", "query"))
    lists = lists_frame({"m": {query: [name for name in candidates if name != query] for query in queries}})
    older = pool(lists, 2).drop(columns="toy")  # of a file that was written before the column existed
    rows = pool(lists, 3, previous=older.assign(toy="rare"))
    assert rows["toy"].value_counts().to_dict() == {"rare": len(older), "plain": len(rows) - len(older)}
    rows = draw_random(Universe(IMAGES, PairRules()), 20, 1, suspects=rows)
    rows = draw_negatives(IMAGES, lists, rows, rule=NegativeRule(5, 10, 1))
    rows = draw_gold(rows[rows["origin"] == "pool"][PAIR].assign(value=1), 3, 1, rows)
    rows = add_pairs(pd.DataFrame({"query_id": ["i00"], "candidate_id": [candidates[-1]]}), draw_repeats(rows, 4, 1))
    rows = reorder(rows, rows.head(5)[PAIR], Batching("random", 7, seed=3))
    assert set(rows["origin"]) == {"pool", "random", "negative", "gold", "repeat"}
    assert rows["toy"].value_counts().to_dict() == {"rare": len(older), "plain": len(rows) - len(older)}


def test_files_without_the_new_column_are_read(tmp_path: Path) -> None:
    rows = pool(lists_frame({"m": {"q": ["a", "b"]}}), 2)
    write_pairs(Benchmark(images=IMAGES, suspects=rows), tmp_path / "pairs.csv")
    pd.read_csv(tmp_path / "pairs.csv").drop(columns="toy").to_csv(tmp_path / "pairs.csv", index=False)
    faults = Faults()
    _, read, _ = read_pairs(tmp_path / "pairs.csv", "majority", faults)
    assert not faults
    assert read is not None
    assert read["toy"].tolist() == ["plain", "plain"]
    assert suspects_from_pairs(rows)["toy"].tolist() == ["plain", "plain"]
    assert to_arrow(rows.drop(columns="toy"), TOY)["toy"].to_pylist() == ["plain", "plain"]


def test_pairs_csv_keeps_the_new_column(tmp_path: Path) -> None:
    rows = pool(lists_frame({"m": {"q": ["a", "b"]}}), 2).assign(toy=["rare", "plain"])
    write_pairs(Benchmark(images=IMAGES, suspects=draw_repeats(rows, 2, 1)), tmp_path / "pairs.csv")
    _, read, notes = read_pairs(tmp_path / "pairs.csv", "majority", Faults())
    assert read is not None
    pooled = read[read["origin"] == "pool"].set_index("candidate_id")["toy"]
    assert pooled.to_dict() == rows.set_index("candidate_id")["toy"].to_dict()
    assert notes == []
