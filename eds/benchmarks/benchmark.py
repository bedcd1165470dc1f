"""A benchmark as one plain value: what every format writes and every format reads.

Its frames are the project's tables, as far as somebody has them. A frame that was read keeps in its index the number
that each row has in its file, so that a fault found later can still be told by file and row.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from eds.benchmarks.card import Card
from eds.schema import to_arrow, to_frame
from eds.tables import SUSPECTS, TRUTH

PAIR = ["query_id", "candidate_id"]
VOTE_COLUMNS = ("vote_id", "query_id", "candidate_id", "expert_id", "value", "seconds", "created_at", "session_id",
                "guideline", "kind", "supersedes", "campaign", "mode", "polarity")  # fmt: skip


@dataclass(frozen=True)
class Place:
    """Where a frame was read: the file, what its rows are called, and the number of the first."""

    file: Path
    unit: str = "row"
    first: int = 0

    def of(self, row: Any) -> str:
        """A row of the frame as a message tells it.

        >>> Place(Path("qrels.txt"), "line", 1).of(0)
        'line 1'
        """
        return f"{self.unit} {int(row) + self.first}"


@dataclass(frozen=True, eq=False)
class Benchmark:
    """Catalogue, judgements and lists of models, with what the card says of them."""

    images: pd.DataFrame | None = None  # table images
    truth: pd.DataFrame | None = None  # table truth
    suspects: pd.DataFrame | None = None  # table suspects
    votes: pd.DataFrame | None = None  # table labels with vote_id; campaign, mode and polarity behind
    runs: Mapping[str, pd.DataFrame] = field(default_factory=dict)  # table neighbors, by model
    image_root: Path | None = None
    card: Card = field(default_factory=Card)
    places: Mapping[str, Place] = field(default_factory=dict)  # "truth", "votes", "run of hsv" -> where it was read
    notes: tuple[str, ...] = ()  # what a reader has to tell
    pictures: tuple[Path, ...] = ()  # Parquet files that hold pictures besides

    def with_(self, **changes: Any) -> "Benchmark":
        """The same with other parts."""
        return replace(self, **changes)


def decided(pairs: pd.DataFrame, rule: str) -> pd.DataFrame:
    """Pairs with a value as table truth; whose votes stand behind them the file does not tell: counts are 0."""
    votes = dict.fromkeys(("votes_for", "votes_against", "unsure"), 0)
    rows = pairs[[*PAIR, "value"]].assign(**votes, tie=False, rule=rule)
    return to_frame(to_arrow(rows, TRUTH)).set_axis(pairs.index, axis=0)


def pooled(pairs: pd.DataFrame) -> pd.DataFrame:
    """Pairs as table suspects, where the file tells nothing but that they were judged."""
    rows = pairs[PAIR].drop_duplicates().sort_values(PAIR, ignore_index=True)
    rows = rows.assign(origin="pool", batch=0, position=np.arange(len(rows)), sources=None, stratum="imported",
                       probability=1.0)  # fmt: skip
    return to_frame(to_arrow(rows, SUSPECTS))


def images_of(queries: "pd.Series[str]", candidates: "pd.Series[str]", path: str = "{}") -> pd.DataFrame:
    """A table images of nothing but ids: who asks and who is offered; each image is its own product."""
    asked, offered = set(queries), set(candidates)
    names = sorted(asked | offered)
    roles = [("both" if name in offered else "query") if name in asked else "candidate" for name in names]
    empty = {name: pd.array([None] * len(names), dtype="Int64") for name in
             ("width", "height", "box_left", "box_top", "box_right", "box_bottom")}  # fmt: skip
    ids = pd.Series(names, dtype=object)
    return pd.DataFrame({"image_id": ids, "path": [path.format(name) for name in names], "product_id": ids,
                         "category": None, "role": roles, "phase": None, "sha256": None, **empty})  # fmt: skip
