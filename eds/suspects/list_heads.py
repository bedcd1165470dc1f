"""The heads of the models' lists in parts: each task reads one model's table and keeps the ranks that a pool looks at.

The expensive part of a pool over long lists is reading them; the union of their heads is small, and `pool` makes it
in one piece, so that batches and probabilities are drawn over all pairs at once.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from eds import tables
from eds.io.files import digest
from eds.parallel import Executor, Receipt, deliver
from eds.parallel.inputs import opened
from eds.suspects.lists import shared_ranks
from eds.tables import NEIGHBORS, Provenance


@dataclass(frozen=True)
class Head:
    """The first `depth` ranks of one model's lists."""

    out: str
    lists: Receipt
    depth: int
    ties: bool = False  # keep the tie group of the last rank whole


def head(spec: Head) -> Receipt:
    """Read one model's lists; writes those rows of table neighbors."""
    with opened([spec.lists]) as (file,):
        kept = _read_cut(file, spec.depth, ties=spec.ties)
    return deliver(spec.out, len(kept), lambda path: tables.write(kept, NEIGHBORS, path, Provenance("part")))


def list_heads(
    files: Mapping[str, Path], depth: int, *, ties: Sequence[str] = (), executor: Executor | None = None
) -> pd.DataFrame:
    """The rows of table neighbors at ranks 0..depth-1 of all models; `files` are the tables by model.

    Of the models in `ties` the tie group of the last rank is kept whole. With an executor each file is read by a task.
    """
    if executor is None:
        parts = [_read_cut(file, depth, ties=name in ties) for name, file in files.items()]
        return pd.concat(parts, ignore_index=True)
    specs = []
    for name, file in files.items():
        _, rows = tables.read_provenance(file, NEIGHBORS)
        specs.append(
            Head(executor.at(f"{name}.parquet"), executor.reachable(file, digest(file), rows), depth, name in ties)
        )
    with opened(executor.finish(head, specs)) as made:
        return pd.concat([tables.read(part, NEIGHBORS) for part in made], ignore_index=True)


def _read_cut(file: Path, depth: int, *, ties: bool) -> pd.DataFrame:
    """`_cut` of a file; only tie groups need the whole list in memory."""
    if ties:
        return _cut(tables.read(file, NEIGHBORS), depth, ties=True)
    parts = (_cut(part, depth) for part in tables.read_parts(file, NEIGHBORS, NEIGHBORS.names))
    return pd.concat([NEIGHBORS.empty(), *parts], ignore_index=True)


def _cut(lists: pd.DataFrame, depth: int, *, ties: bool = False) -> pd.DataFrame:
    """The rows of one model's lists at ranks 0..depth-1; with `ties` also those that score as the last of them does."""
    rank = shared_ranks(lists, sorted(lists["model"].unique()))["rank"] if ties else lists["rank"]
    kept: pd.DataFrame = lists[rank < depth].reset_index(drop=True)
    return kept
