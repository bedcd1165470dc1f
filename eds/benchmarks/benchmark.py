"""A benchmark as one value: what every format writes and reads.

Its frames are the project's tables, as far as the source has them. The index of a frame that was read holds each row's
number in its file, so that a fault found later is reported by file and row.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from eds.benchmarks.card import Card
from eds.schema import to_arrow, to_frame
from eds.tables import BOX, SUSPECTS, TRUTH

PAIR = ["query_id", "candidate_id"]
VOTE_COLUMNS = (
    *("vote_id", "query_id", "candidate_id", "expert_id", "value", "seconds", "created_at", "session_id"),
    *("guideline", "kind", "supersedes", "campaign", "mode", "polarity"),
)


@dataclass(frozen=True)
class Location:
    """Where a frame was read: the file, what its rows are called, and the number of the first."""

    file: Path
    unit: str = "row"
    first: int = 0

    def row(self, index: Any) -> str:
        """Name a row of the frame as errors do.

        >>> Location(Path("qrels.txt"), "line", 1).row(0)
        'line 1'
        """
        return f"{self.unit} {int(index) + self.first}"


class Runs(Mapping[str, pd.DataFrame], ABC):
    """The models' lists, kept where they are: a model's lists are read when they are asked for, whole or in parts."""

    @abstractmethod
    def parts(self, model: str) -> Iterator[pd.DataFrame]:
        """Yield the model's lists in parts that fit in memory, as `Benchmark.run_parts` does."""


@dataclass(frozen=True, eq=False)
class Benchmark:
    """Catalogue, judgements and models' lists, with the facts of its card."""

    images: pd.DataFrame | None = None  # table images
    truth: pd.DataFrame | None = None  # table truth
    suspects: pd.DataFrame | None = None  # table suspects
    votes: pd.DataFrame | None = None  # table labels with vote_id; then campaign, mode and polarity
    runs: Mapping[str, pd.DataFrame] = field(default_factory=dict)  # table neighbors, by model
    image_root: Path | None = None
    card: Card = field(default_factory=Card)
    locations: Mapping[str, Location] = field(default_factory=dict)  # of "truth", "votes", "run of hsv", ...
    notes: tuple[str, ...] = ()  # what a reader has to report
    picture_shards: tuple[Path, ...] = ()  # Parquet files that hold pictures
    picture_folder: Path | None = None  # a folder that holds pictures by their paths
    excluded: frozenset[str] = frozenset()  # images that the source names and the catalogue excludes

    def run_parts(self, model: str) -> Iterator[pd.DataFrame]:
        """Yield the model's lists in order of query and rank; no query's list is cut."""
        if isinstance(self.runs, Runs):
            yield from self.runs.parts(model)
        else:
            yield self.runs[model].sort_values(["query_id", "rank"], ignore_index=True)


def truth_from_pairs(pairs: pd.DataFrame, rule: str) -> pd.DataFrame:
    """Return pairs with a value as table truth; vote counts are 0, since the source does not have the votes."""
    votes = dict.fromkeys(("votes_for", "votes_against", "unsure"), 0)
    rows = pairs[[*PAIR, "value"]].assign(**votes, tie=False, rule=rule)
    return to_frame(to_arrow(rows, TRUTH)).set_axis(pairs.index, axis=0)


def suspects_from_pairs(pairs: pd.DataFrame) -> pd.DataFrame:
    """Return pairs as table suspects, where all that is known of them is that they were judged."""
    rows = pairs[PAIR].drop_duplicates().sort_values(PAIR, ignore_index=True)
    rows = rows.assign(
        origin="pool",
        batch=0,
        position=np.arange(len(rows)),
        sources=None,
        stratum="imported",
        probability=1.0,
    )
    return to_frame(to_arrow(rows, SUSPECTS))


def images_from_ids(queries: "pd.Series[str]", candidates: "pd.Series[str]") -> pd.DataFrame:
    """Return a table images made of ids only: each image is its own path and its own product."""
    query_ids, candidate_ids = set(queries), set(candidates)
    names = sorted(query_ids | candidate_ids)
    roles = [("both" if name in candidate_ids else "query") if name in query_ids else "candidate" for name in names]
    numbers = ("width", "height", *BOX)
    empty = {name: pd.array([None] * len(names), dtype="Int64") for name in numbers}
    ids = pd.Series(names, dtype=object)
    columns = {"image_id": ids, "path": ids, "product_id": ids, "category": None, "role": roles, "phase": None}
    return pd.DataFrame({**columns, "sha256": None, **empty})
