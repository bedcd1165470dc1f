"""Models of binary codes: tie-aware accuracy, and how much of the code space they use."""

from collections.abc import Sequence
from typing import Any

from eds.metrics import Measure, Result
from eds.reports.charts import scatter_chart
from eds.reports.document import Block, Column, Figure, Kind, Missing, Table, count, note, warn
from eds.reports.inputs import ReportInputs
from eds.reports.sections import Blocks, SectionSpec
from eds.reports.seen import seen_table

CUT = 100
RADIUS = 2
PRODUCT, CATEGORY, TRUTH = "product", "category", "truth"  # what is relevant; truth: what experts called similar
GRADES = {
    PRODUCT: "same product",
    CATEGORY: "same category",
    TRUTH: "called similar",
    "types": "2 product, 1 category",
}
DIVISORS = {"hits": "hits within k", "relevant": "all relevant", "capped": "min(relevant, k)"}
ENDS = {"worst": "low", "expected": "value", "best": "high"}
USES: dict[str, tuple[str, Kind, str]] = {
    "distinct": ("codes in use", "count", "distinct codes"),
    "reachable": ("of the reachable", "share", "distinct / min(n, 2^bits)"),
    "entropy": ("entropy", "share", "entropy of the codes / min(bits, log2 n)"),
    "colliding": ("colliding pairs", "share", "pairs of candidates with the same code / all pairs"),
    "largest": ("fullest code", "count", "candidates that share the most frequent code"),
}


def measures(labelled: bool, kind: str = PRODUCT) -> list[Measure]:
    """What the section needs of `eds.metrics.evaluate`; with labels also on what experts called similar.

    `kind` is what else is relevant: the same product, or the same category where products have one image each.
    """
    sources = [kind, TRUTH] if labelled else [kind]
    names = [
        f"APt@{CUT}(divide_by={divisor},grades={grades},ties={end})"
        for grades in sources
        for divisor in DIVISORS
        for end in ENDS
    ]
    names += [f"nDCGt@{CUT}(grades={grades})" for grades in (kind, "types")]
    names += [f"Pt@{CUT}(grades={kind})", f"mLGAP@{RADIUS}(grades={kind})"]
    names += [f"CodeUsage(what={use})" for use in USES]
    return [Measure.parse(name) for name in names]


def relevant(inputs: ReportInputs) -> str:
    """What the measures on codes call relevant beside the labels: the same product, or the same category."""
    kinds = {result.measure.parameters.get("grades") for result in inputs.codes}
    return CATEGORY if CATEGORY in kinds and PRODUCT not in kinds else PRODUCT


def has_codes(inputs: ReportInputs) -> bool:
    """Whether there is a model of codes, measured or not."""
    return bool(inputs.codes) or "codes" in inputs.gaps


def accuracy(inputs: ReportInputs) -> Blocks:
    """Mean average precision between the worst and the best order of ties."""
    if not inputs.codes:
        raise Missing(inputs.gaps["codes"])
    rows: list[dict[str, Any]] = []
    for result in inputs.codes:
        parameters = result.measure.parameters
        if result.measure.name != "APt" or parameters["ties"] != "expected" or result.values is None:
            continue
        counts = result.values.counts
        rows.append(
            {
                "model": result.model,
                "grades": GRADES[parameters["grades"]],
                "divide_by": DIVISORS[parameters["divide_by"]],
                **{name: _average_precision(inputs.codes, result, end) for end, name in ENDS.items()},
                "bits": counts["bits"],
                "k": result.measure.k,
                "n": result.values.n,
                "candidates": counts["candidates"],
            }
        )
    columns = (
        Column("model", "model"),
        Column("grades", "relevant"),
        Column("divide_by", "divided by", formula="the denominator of average precision"),
        Column("low", "pessimistic", "value", formula="ties in the worst order"),
        Column("value", "expected", "value", formula="mean over all orders of ties"),
        Column("high", "optimistic", "value", formula="ties in the best order"),
        Column("bits", "bits", "count"),
        Column("k", "k", "count"),
        Column("n", "queries", "count"),
    )
    caption = f"APt@{CUT}; every candidate is ranked by its distance; a query without a relevant candidate counts as 0."
    return (
        note(
            "Codes at the same distance are tied, and a list of them has many valid orders. Mean average precision"
            " (mAP) is given as its mean over all of these orders, with the worst and the best: a program that breaks"
            " ties arbitrarily reports some value in between."
        ),
        Table("map", "mAP on codes", columns, rows, caption),
    )


def other_measures(inputs: ReportInputs) -> Blocks:
    """Other tie-aware measures."""
    if not inputs.codes:
        return ()
    kind = relevant(inputs)
    same = GRADES[kind]
    rows = _by_model(inputs, {"nDCGt": "grades", "Pt": "grades", "mLGAP": "grades"})
    columns = (
        Column("model", "model"),
        Column("bits", "bits", "count"),
        Column("n", "queries", "count"),
        Column(f"nDCGt@{CUT} {kind}", f"nDCG@{CUT}", "value", formula=f"expected; relevant is the {same}"),
        Column(f"nDCGt@{CUT} types", f"graded nDCG@{CUT}", "value", formula="expected; 2 same product, 1 category"),
        Column(f"Pt@{CUT} {kind}", f"precision@{CUT}", "value", formula=f"expected; {same}"),
        Column(
            f"mLGAP@{RADIUS} {kind}",
            f"mLGAP@{RADIUS}",
            "value",
            formula="precision within the radius, weighted by how evenly its codes are filled",
        ),
    )
    caption = f"mLGAP@{RADIUS}: within {RADIUS} bits of a query. Relevant is the {same} unless stated otherwise."
    return (Table("graded", "Tie-aware nDCG, precision and mLGAP", columns, rows, caption),)


def seen(inputs: ReportInputs) -> Blocks:
    """The expected values over the queries that a model was trained on, and over the others."""
    usual = {"ties": "expected", "divide_by": "hits"}
    main = [result for result in inputs.codes if {**usual, **result.measure.parameters}.items() >= usual.items()]
    return seen_table(inputs, main, "codes_seen")


def usage(inputs: ReportInputs) -> Blocks:
    """How much of the code space is used, and accuracy against it."""
    if not inputs.codes:
        return ()
    rows, kind = _by_model(inputs, {"CodeUsage": "what"}), relevant(inputs)
    columns = [Column("model", "model"), Column("bits", "bits", "count"), Column("candidates", "candidates", "count")]
    columns += [
        Column(f"CodeUsage {use}", label, kind, formula=formula) for use, (label, kind, formula) in USES.items()
    ]
    by_model = {row["model"]: row for row in rows}
    main = [
        (result, by_model[result.model])
        for result in inputs.codes
        if _is_main(result, kind) and result.model in by_model
    ]
    chart = {
        "labels": [f"{result.model}, {row['bits']} bits" for result, row in main],
        "x": [row.get("CodeUsage reachable") for _, row in main],
        "y": [_average_precision(inputs.codes, result, "expected") for result, _ in main],
        "low": [_average_precision(inputs.codes, result, "worst") for result, _ in main],
        "high": [_average_precision(inputs.codes, result, "best") for result, _ in main],
        "x_label": "codes in use, of the reachable",
        "y_label": f"mAP@{CUT}",
        "kind": "value",
    }
    blocks: list[Block] = [
        Table("usage", "Code usage and collisions", tuple(columns), rows),
        Figure(
            "usage",
            "Accuracy against code usage",
            scatter_chart,
            chart,
            f"{GRADES[kind].capitalize()}, divided by the hits within k; the line spans all orders of ties. Codes can"
            " gain accuracy by colliding: good ones are at the top right.",
        ),
    ]
    bits = [row["bits"] for row in rows]
    if len(set(bits)) > 1:
        blocks.append(
            warn(
                "Code lengths differ, from {least} to {most} bits: compare mLGAP and code usage at equal length only.",
                least=count(min(bits)),
                most=count(max(bits)),
            )
        )
    return tuple(blocks)


def _is_main(result: Result, kind: str) -> bool:
    parameters = result.measure.parameters
    return result.measure.name == "APt" and (
        (parameters["grades"], parameters["divide_by"], parameters["ties"]) == (kind, "hits", "expected")
    )


def _average_precision(results: Sequence[Result], like: Result, end: str) -> float | None:
    """The same measure of the same model with another order of ties."""
    parameters = {**like.measure.parameters, "ties": end}
    for result in results:
        same = result.model == like.model and result.measure.k == like.measure.k and result.measure.name == "APt"
        if same and result.values is not None and dict(result.measure.parameters) == parameters:
            return result.values.value
    return None


def _by_model(inputs: ReportInputs, names: dict[str, str]) -> list[dict[str, Any]]:
    """A row for each model, with a field for each of these measures: its name, cut-off and parameter."""
    rows: dict[str, dict[str, Any]] = {}
    for result in inputs.codes:
        measure, values = result.measure, result.values
        if measure.name not in names or values is None:
            continue
        sizes = {"bits": values.counts["bits"], "n": values.n, "candidates": values.counts["candidates"]}
        row = rows.setdefault(result.model, {"model": result.model, **sizes})
        cut = f"@{measure.k}" if measure.k else ""
        row[f"{measure.name}{cut} {measure.parameters[names[measure.name]]}"] = values.value
    return list(rows.values())


SECTION = SectionSpec(
    title="Models of binary codes",
    question="Tie-aware accuracy of hash models, and how they use their codes.",
    order=85,
    inputs=("codes", "images", "learned"),
    parts=(accuracy, other_measures, seen, usage),
    wanted=has_codes,
)
