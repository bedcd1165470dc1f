"""Pictures of binary codes: how they are filled, mLGAP against mAP by length, and what they find nearest."""

from typing import Any

from eds.metrics import Result
from eds.reports.charts import scatter_chart
from eds.reports.document import Block, Figure, Found, Strip, Strips
from eds.reports.hash_charts import code_histograms
from eds.reports.inputs import ReportInputs
from eds.reports.sections import Blocks, SectionSpec
from eds.reports.sections.codes import CUT, GRADES, RADIUS, relevant
from eds.reports.sections.pairs import picture_of


def histograms(inputs: ReportInputs) -> Blocks:
    """A histogram of the codes of each model."""
    shapes = inputs.code_shapes
    if not shapes:
        return ()
    data = {
        "labels": [f"{shape.model}, {shape.bits} bits" for shape in shapes],
        "fills": [[*shape.fill] for shape in shapes],
        "texts": [f"{shape.distinct:,} codes, fullest {shape.largest:,}" for shape in shapes],
    }
    caption = (
        "Codes of the candidates from left to right by number, each column the fullest of its neighbouring codes; "
        "candidates per code upwards. A few high columns: many images that no distance tells apart."
    )
    return (Figure("histograms", "Histograms of the codes", code_histograms, data, caption),)


def accuracy(inputs: ReportInputs) -> Blocks:
    """MLGAP against mAP, a chart for each code length, since mLGAP compares at equal length only."""
    rows: dict[int, list[tuple[str, float, float]]] = {}
    kind = relevant(inputs)
    for result in inputs.codes:
        if result.values is None or not _is(result, "APt", CUT, grades=kind, divide_by="hits", ties="expected"):
            continue
        alike = (one for one in inputs.codes if one.model == result.model and _is(one, "mLGAP", RADIUS, grades=kind))
        other = next(alike, None)
        if other is not None and other.values is not None:
            bits = int(result.values.counts["bits"])
            rows.setdefault(bits, []).append((result.model, float(result.values.value), float(other.values.value)))
    figures: list[Block] = []
    for bits, found in sorted(rows.items()):
        data: dict[str, Any] = {
            "labels": [model for model, _, _ in found],
            "x": [value for _, value, _ in found],
            "y": [value for _, _, value in found],
            "x_label": f"mAP@{CUT}",
            "y_label": f"mLGAP@{RADIUS}",
        }
        caption = f"{GRADES[kind].capitalize()}. Models that gain mAP by collisions fall behind in mLGAP."
        figures.append(Figure(f"mlgap-{bits}", f"mLGAP against mAP, {bits} bits", scatter_chart, data, caption))
    return tuple(figures)


def strips(inputs: ReportInputs) -> Blocks:
    """The nearest candidates of some queries by each model."""
    if not inputs.code_shapes or inputs.image_root is None:
        return ()
    images = inputs.require("images").set_index("image_id", drop=False)
    category = images["category"]
    blocks: list[Block] = []
    for query in dict.fromkeys(query for shape in inputs.code_shapes for query in shape.nearest):
        own = category.get(query)
        found = []
        for shape in inputs.code_shapes:
            pictures = [
                Found(
                    picture_of(inputs, images, candidate),
                    apart,
                    None if own is None or own != own else category.get(candidate) == own,
                )
                for candidate, apart in shape.nearest.get(query, ())
            ]
            found.append(Strip(f"{shape.model}, {shape.bits} bits", tuple(pictures)))
        caption = (
            f"{query}. Below each image its distance in bits; images at one distance are tied, and stand in the order "
            "of their ids. ✓ is the query's category."
        )
        blocks.append(
            Strips(f"nearest-{query}", "Nearest by code", picture_of(inputs, images, query), tuple(found), caption)
        )
    return tuple(blocks)


def _is(result: Result, name: str, k: int, **parameters: str) -> bool:
    given = result.measure.parameters
    return (result.measure.name, result.measure.k) == (name, k) and parameters.items() <= given.items()


SECTION = SectionSpec(
    title="Pictures of binary codes",
    question="How codes are filled, and what they find nearest.",
    order=86,
    inputs=("codes", "code_shapes", "images", "image_root"),
    parts=(histograms, accuracy, strips),
    wanted=lambda inputs: bool(inputs.code_shapes),
)
