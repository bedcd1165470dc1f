"""VSD-Fashion's raw files, written: metadata, seeds, annotations, a manifest where queries are no candidates, votes.

The files name an image by its path, so an image_id that differs from its path cannot be held. Everything that the
metadata's entries can carry goes with them; votes.jsonl stands beside annotations.json, so that votes are not lost.
"""

import json
from pathlib import Path
from typing import Any

import pandas as pd

from eds.benchmarks import votes_files
from eds.benchmarks.benchmark import PAIR, Benchmark
from eds.benchmarks.text_files import arrow_of
from eds.errors import InputError

BOX = ["box_left", "box_top", "box_right", "box_bottom"]
OWN = ("image_id", "role", "product_id", *BOX)  # told otherwise in the files


def write(benchmark: Benchmark, folder: Path) -> list[str]:
    """Write the files; what they cannot hold."""
    images, truth = benchmark.images, benchmark.truth
    if images is None or truth is None:
        raise InputError("there is nothing judged", where="truth.parquet", do="Decide first: eds truth decide.")
    twice = images.loc[images["path"].duplicated(), "path"]
    if len(twice):
        raise InputError(f"{len(twice):,} paths stand for several images, as {twice.iloc[0]!r}", where="images.parquet",
                         do="These files name an image by its path: give each a file of its own.")  # fmt: skip
    lost = []
    path_of = dict(zip(images["image_id"], images["path"], strict=True))
    renamed = int((images["image_id"] != images["path"]).sum())
    if renamed:
        lost.append(f"{renamed:,} image ids: the path is the name")
    _dump(folder / "metadata.json", {"images": _entries(images)})
    _dump(folder / "seeds.json", {"seeds": images.loc[images["role"] != "candidate", "path"].tolist()})
    if (images["role"] == "query").any():
        offered = images.loc[images["role"] != "query", "path"]
        _dump(folder / "manifest.json", {"images": [{"path": path} for path in offered]})
    ordered = truth.sort_values(PAIR)
    sides = [ordered[name].map(path_of).fillna(ordered[name]) for name in PAIR]
    keys = zip(*sides, ordered["value"].tolist(), strict=True)
    _dump(
        folder / "annotations.json", [{"key": [query, candidate], "value": value} for query, candidate, value in keys]
    )
    votes = benchmark.votes
    if votes is not None and len(votes):
        named = {name: votes[name].map(path_of).fillna(votes[name]) for name in PAIR}
        votes_files.write_votes(votes.assign(**named), folder / "votes.jsonl")
    if truth["votes_for"].sum() or truth["tie"].any():
        lost.append(
            "how many votes stand behind each label, ties, and the rule (the votes themselves are in votes.jsonl)"
        )
    if benchmark.suspects is not None and len(benchmark.suspects):
        lost.append(f"{len(benchmark.suspects):,} suspects: origin, probability, sources, pairs without a label")
    if benchmark.runs:
        lost.append(f"the lists of {len(benchmark.runs)} models")
    lost.append("the pictures")
    return lost


def _entries(images: pd.DataFrame) -> list[dict[str, Any]]:
    """An image as the metadata has it: id is the product, bbox the box; empty values are left out."""
    plain = images.drop(columns=[name for name in OWN if name in images])
    plain = plain.assign(id=images["product_id"])
    columns = ["id", "path", *(name for name in plain.columns if name not in ("id", "path"))]
    rows = arrow_of(plain[columns]).to_pylist()
    boxes = images[BOX].astype("Int64").astype(object).where(images[BOX].notna(), None).to_numpy().tolist()
    for row, (left, top, right, bottom) in zip(rows, boxes, strict=True):
        if left is not None:
            row["bbox"] = {"x1": left, "y1": top, "x2": right, "y2": bottom}
    return [{name: value for name, value in row.items() if value is not None} for row in rows]


def _dump(file: Path, content: Any) -> None:
    file.write_text(json.dumps(content, ensure_ascii=False, allow_nan=False), encoding="utf-8")
