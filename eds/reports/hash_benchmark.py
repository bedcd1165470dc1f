"""The page of a benchmark of hash functions: its protocol, one table, the pictures of the papers."""

import io
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageOps

from eds.hashing.codes import Packed
from eds.imaging import SIDES
from eds.reports.document import Block, Column, Figure, Found, Picture, Report, Section, Strip, Strips, Table, note
from eds.reports.hash_charts import code_histograms, fill_of, length_chart, trade_chart, usage_chart
from eds.training.cells import Cell, chosen_by, codes_of, summarise
from eds.training.hash_data import HashData
from eds.training.splits import Split

QUERIES, FOUND = 3, 12  # strips: queries, and images of a strip
SIDE = SIDES["hash benchmark"]
RIGHT, WRONG = "#0b6e4f", "#a33a2c"


def benchmark_page(
    data: HashData, cells: Sequence[Cell], parts: Split, protocol: str, folder: Path, made: Mapping[str, Any]
) -> Report:
    """The page; `parts` is the split of the first seed, whose codes are drawn."""
    summary = summarise([*cells])
    first = list(chosen_by([*cells]))
    codes = {cell.method: codes_of(folder, cell) for cell in first}
    drawn = (_histograms(first, codes, parts), _usage(summary, first[0].bits), _trade(summary), *_lengths(summary))
    blocks = (*_failures(cells), _table(summary, protocol), *drawn, *_by_cell(cells))
    scores = Section("scores", "Scores", "", blocks)
    strips = Section(
        "strips",
        "Retrieved images",
        "The nearest images of some queries, by every method.",
        tuple(_strips(data, first, codes, parts)),
    )
    return Report(f"Hashing on {data.name}", made, (scores, strips))


def figures(summary: pd.DataFrame, cells: Sequence[Cell], folder: Path, parts: Split) -> dict[str, Figure]:
    """The charts of a benchmark by title."""
    first = list(chosen_by([*cells]))
    codes = {cell.method: codes_of(folder, cell) for cell in first}
    found = [_histograms(first, codes, parts), _usage(summary, first[0].bits), _trade(summary), *_lengths(summary)]
    return {figure.title: figure for figure in found}


def strip_sheets(data: HashData, cells: Sequence[Cell], folder: Path, parts: Split) -> dict[str, Image.Image]:
    """The retrieved images as pictures, by the query's title: a row for each method; green is the query's class."""
    first = list(chosen_by([*cells]))
    codes = {cell.method: codes_of(folder, cell) for cell in first}
    blocks = [block for block in _strips(data, first, codes, parts) if isinstance(block, Strips)]
    return {block.title: _sheet(block) for block in blocks}


def _sheet(block: Strips) -> Image.Image:
    room, step, left = 20, SIDE + 6, 130
    high = SIDE + room
    sheet = Image.new("RGB", (left + step * FOUND, high * (1 + len(block.strips))), "white")
    pen = ImageDraw.Draw(sheet)
    rows = [("query", (Found(block.query, -1, None),)), *((strip.model, strip.found) for strip in block.strips)]
    for number, (label, found) in enumerate(rows):
        top = number * high
        pen.text((4, top + SIDE // 2), label, "black")
        for place, one in enumerate(found):
            across = left + place * step
            picture = Image.open(io.BytesIO(one.picture.jpeg or b""))
            sheet.paste(ImageOps.contain(picture, (SIDE, SIDE)), (across, top))
            if one.similar is not None:
                mark = RIGHT if one.similar else WRONG
                pen.rectangle((across, top + SIDE, across + SIDE - 1, top + SIDE + 2), mark)
            if one.distance >= 0:
                pen.text((across, top + SIDE + 4), f"{one.distance} bits", "black")
    return sheet


def _failures(cells: Sequence[Cell]) -> list[Block]:
    failed = [cell for cell in cells if cell.failed]
    return [note("{text}", text=f"{cell.method}, {cell.bits} bits, seed {cell.seed}: {cell.failed}") for cell in failed]


def _table(summary: pd.DataFrame, protocol: str) -> Table:
    rows: list[dict[str, Any]] = [
        {
            **{str(name): value for name, value in row.items()},
            "map low": row["map_worst"],
            "map high": row["map_best"],
        }
        for row in summary.sort_values(["bits", "map"], ascending=[True, False]).to_dict(orient="records")
    ]
    columns = (
        Column("method", "method"),
        Column("bits", "bits", "count"),
        Column("map", "mAP", "value", "map low", "map high", "expected over all orders of ties; worst and best order"),
        Column("map_sd", "± seeds", "value", formula="standard deviation over seeds"),
        Column("mlgap", "mLGAP@2", "value", formula="precision within 2 bits, weighted by how evenly codes are filled"),
        Column("mlgap_sd", "± seeds", "value", formula="standard deviation over seeds"),
        Column("distinct", "codes", "count", formula="distinct codes of the images searched"),
        Column("reachable", "of the reachable", "share", formula="distinct / min(images, 2^bits)"),
    )
    caption = f"Means over seeds; beside mAP its values with ties in the worst and in the best order. {protocol}"
    return Table("scores", "Accuracy and code usage", columns, rows, caption)


def _by_cell(cells: Sequence[Cell]) -> list[Table]:
    columns = (
        Column("method", "method"),
        Column("bits", "bits", "count"),
        Column("seed", "seed", "count"),
        Column("map", "mAP", "value", "map_worst", "map_best"),
        Column("mlgap", "mLGAP@2", "value"),
        Column("precision", "P@d≤2", "value", formula="precision within 2 bits; 0 where nothing is there"),
        Column("empty", "empty", "share", formula="queries with nothing within 2 bits"),
        Column("distinct", "codes", "count"),
        Column("entropy", "entropy", "value", formula="of the codes, in bits"),
        Column("seconds", "seconds", "count"),
    )
    return [Table("cells", "Every run", columns, [asdict(cell) for cell in cells if not cell.failed], detail=True)]


def _histograms(first: Sequence[Cell], codes: Mapping[str, Packed], parts: Split) -> Figure:
    bits = first[0].bits
    data = {
        "labels": [cell.method for cell in first],
        "fills": [fill_of(codes[cell.method][parts.database], bits) for cell in first],
        "texts": [f"{cell.distinct:,} codes, fullest {cell.largest:,}" for cell in first],
    }
    caption = (
        f"The {bits}-bit codes of the images searched, first seed: codes from left to right by number, each column the "
        "fullest of its neighbouring codes; images per code upwards."
    )
    return Figure("histograms", f"Histograms of the {bits}-bit codes", code_histograms, data, caption)


def _usage(summary: pd.DataFrame, bits: int) -> Figure:
    rows = summary[summary["bits"] == bits]
    data = {
        "labels": rows["method"].tolist(),
        "x": rows["reachable"].tolist(),
        "y": rows["map"].tolist(),
        "low": rows["map_worst"].tolist(),
        "high": rows["map_best"].tolist(),
        "marks": rows["trained"].tolist(),
    }
    caption = "The line spans all orders of ties. Orange: a network was trained; blue: a baseline on pixels."
    return Figure("usage", f"Accuracy against code usage, {bits} bits", usage_chart, data, caption)


def _trade(summary: pd.DataFrame) -> Figure:
    """MLGAP against mAP, a panel for each length, since mLGAP compares at equal length only."""
    parts = [(int(str(bits)), rows) for bits, rows in summary.groupby("bits")]
    data = {
        "titles": [f"{bits} bits" for bits, _ in parts],
        "names": [rows["method"].tolist() for _, rows in parts],
        "x": [rows["map"].tolist() for _, rows in parts],
        "y": [rows["mlgap"].tolist() for _, rows in parts],
        "marks": [rows["trained"].tolist() for _, rows in parts],
        "y_label": "mLGAP@2",
    }
    caption = "Methods that gain mAP by collisions fall behind in mLGAP. Orange: a network was trained."
    return Figure("trade", "mLGAP against mAP by code length", trade_chart, data, caption)


def _lengths(summary: pd.DataFrame) -> list[Figure]:
    """MAP and mLGAP by code length."""
    found = []
    for key, label in (("map", "mAP"), ("mlgap", "mLGAP@2")):
        by_method = {str(name): rows.sort_values("bits") for name, rows in summary.groupby("method", sort=False)}
        data = {
            "names": list(by_method),
            "bits": [rows["bits"].tolist() for rows in by_method.values()],
            "values": [rows[key].tolist() for rows in by_method.values()],
            "spreads": [rows[f"{key}_sd"].fillna(0).tolist() for rows in by_method.values()],
            "label": label,
            "marks": [not rows["trained"].iloc[0] for rows in by_method.values()],
        }
        caption = "Mean over seeds, with the standard deviation; baselines are dashed."
        if key == "mlgap":
            caption += " Values of mLGAP compare at equal length only."
        found.append(Figure(key, f"{label} by code length", length_chart, data, caption))
    return found


def _strips(data: HashData, first: Sequence[Cell], codes: Mapping[str, Packed], parts: Split) -> list[Block]:
    """Some drawn queries of different classes, with the nearest images by each method."""
    kinds = data.category.to_numpy(dtype=str)
    rng = np.random.default_rng(0)
    drawn: dict[str, int] = {}
    for row in rng.permutation(parts.test).tolist():
        drawn.setdefault(kinds[row], row)
    blocks: list[Block] = []
    for query in list(drawn.values())[:QUERIES]:
        strips = []
        for cell in first:
            apart = np.bitwise_count(codes[cell.method][parts.database] ^ codes[cell.method][query]).astype(np.int64)
            apart[parts.database == query] = 99
            right = kinds[parts.database] == kinds[query]
            nearest = np.argsort(apart, kind="stable")[:FOUND]
            found = tuple(
                Found(_picture(data, int(parts.database[at])), int(apart[at]), bool(right[at])) for at in nearest
            )
            strips.append(Strip(f"{cell.method}, {cell.bits} bits", found, _remark(apart, right)))
        title = f"Query of class {kinds[query]}"
        caption = (
            "Below each image its distance in bits; images at one distance are tied, and stand in the order of the "
            "dataset. ✓ is the query's class."
        )
        blocks.append(Strips(f"query-{query}", title, _picture(data, query), tuple(strips), caption))
    return blocks


def _remark(apart: NDArray[np.int64], right: NDArray[np.bool_]) -> str:
    """How much of the class lies near, as the paper tells of its strips."""
    whole = max(1, int(right.sum()))
    near, next_to = apart <= 1, apart == 2
    return (
        f"within 1 bit {int((near & right).sum()) / whole:.0%} of the class and {int((near & ~right).sum()):,} others, "
        f"at 2 bits {int((next_to & right).sum()) / whole:.0%} and {int((next_to & ~right).sum()):,}"
    )


def _picture(data: HashData, row: int) -> Picture:
    pixels = data.pixels[row]
    picture = Image.fromarray(np.ascontiguousarray(pixels)).convert("RGB")
    picture.thumbnail((SIDE, SIDE))
    stream = io.BytesIO()
    picture.save(stream, "JPEG", quality=85)
    return Picture(f"{data.name} {row}", stream.getvalue())
