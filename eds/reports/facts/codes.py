"""Models of binary codes: accuracy that no order of ties can change, and how much of the code space is used."""

from collections.abc import Sequence
from typing import Any

from eds.metrics import Measure, Result
from eds.reports.document import Block, Column, Figure, Missing, Table, count, say
from eds.reports.material import Material

CUT = 100
RADIUS = 2
PRODUCT, TRUTH = "product", "truth"  # what counts as relevant: the query's own product, or what experts called similar
GRADES = {PRODUCT: "same product", TRUTH: "called similar", "types": "2 product, 1 category"}
DIVISORS = {"hits": "hits within k", "relevant": "all relevant", "capped": "min(relevant, k)"}
ENDS = {"worst": "low", "expected": "value", "best": "high"}
USES = {
    "distinct": ("codes in use", "count", "distinct codes"),
    "reachable": ("of the reachable", "share", "distinct / min(n, 2^bits)"),
    "entropy": ("entropy", "share", "entropy of the codes / min(bits, log2 n)"),
    "colliding": ("colliding pairs", "share", "pairs of candidates with one code, of all pairs"),
    "largest": ("most on one code", "count", "candidates in the fullest code"),
}  # fmt: skip


def measures(labelled: bool) -> list[Measure]:
    """What the section needs of `eds.metrics.evaluate`; with labels also on what experts called similar."""
    sources = [PRODUCT, TRUTH] if labelled else [PRODUCT]
    told = [f"APt@{CUT}(divide_by={divisor},grades={grades},ties={end})"
            for grades in sources for divisor in DIVISORS for end in ENDS]  # fmt: skip
    told += [f"nDCGt@{CUT}(grades={grades})" for grades in (PRODUCT, "types")]
    told += [f"Pt@{CUT}(grades={PRODUCT})", f"mLGAP@{RADIUS}(grades={PRODUCT})"]
    told += [f"CodeUsage(what={use})" for use in USES]
    return [Measure.parse(text) for text in told]


def wanted(material: Material) -> bool:
    """Whether there is a model of codes, measured or not."""
    return bool(material.codes) or "codes" in material.gaps


def accuracy(material: Material) -> tuple[Block, ...]:
    """Mean average precision between the worst and the best order of ties."""
    if not material.codes:
        raise Missing(material.gaps["codes"])
    rows: list[dict[str, Any]] = []
    for result in material.codes:
        told = result.measure.parameters
        if result.measure.name != "APt" or told["ties"] != "expected" or result.values is None:
            continue
        ends = {name: _end(material.codes, result, end) for end, name in ENDS.items()}
        counts = result.values.counts
        rows.append({
            "model": result.model, "grades": GRADES[told["grades"]], "divide_by": DIVISORS[told["divide_by"]], **ends,
            "bits": counts["bits"], "k": result.measure.k, "n": result.values.n, "candidates": counts["candidates"],
        })  # fmt: skip
    columns = (
        Column("model", "model"),
        Column("grades", "relevant is"),
        Column("divide_by", "divided by", formula="the denominator of average precision"),
        Column("low", "pessimistic", "value", formula="ties in the worst order"),
        Column("value", "expected", "value", formula="mean over every order that ties allow"),
        Column("high", "optimistic", "value", formula="ties in the best order"),
        Column("bits", "bits", "count"),
        Column("k", "k", "count"),
        Column("n", "queries", "count"),
    )
    return (
        say("Codes at one distance are tied, and a list of them can be written in many orders. Average precision (mAP"
            " over queries) is told as its mean over all of them, between the worst and the best: other programs print"
            " one of the numbers between, by accident.", "note"),
        Table("map", "mAP on codes", columns, rows,
              f"APt@{CUT}; every candidate counts by its distance; a query without a relevant candidate counts 0."),
    )  # fmt: skip


def graded(material: Material) -> tuple[Block, ...]:
    """Other tie-aware measures."""
    if not material.codes:
        return ()
    rows = _by_model(material, {"nDCGt": "grades", "Pt": "grades", "mLGAP": "grades"})
    columns = (
        Column("model", "model"),
        Column("bits", "bits", "count"),
        Column("n", "queries", "count"),
        Column(f"nDCGt@{CUT} {PRODUCT}", f"nDCG@{CUT}", "value", formula="expected; relevant is the same product"),
        Column(f"nDCGt@{CUT} types", f"graded nDCG@{CUT}", "value", formula="expected; 2 same product, 1 category"),
        Column(f"Pt@{CUT} {PRODUCT}", f"precision@{CUT}", "value", formula="expected; same product"),
        Column(f"mLGAP@{RADIUS} {PRODUCT}", f"mLGAP@{RADIUS}", "value",
               formula="precision within the radius, times how evenly its codes are filled"),
    )  # fmt: skip
    caption = (
        f"mLGAP@{RADIUS}: within {RADIUS} bits of a query. Relevant is the same product unless a heading says else."
    )
    return (Table("graded", "Tie-aware nDCG, precision and mLGAP", columns, rows, caption),)


def usage(material: Material) -> tuple[Block, ...]:
    """How much of the code space is used, and accuracy against it."""
    if not material.codes:
        return ()
    rows = _by_model(material, {"CodeUsage": "what"})
    columns = [Column("model", "model"), Column("bits", "bits", "count"), Column("candidates", "candidates", "count")]
    columns += [Column(f"CodeUsage {use}", label, kind, formula=formula)  # type: ignore[arg-type]  # kinds of ours
                for use, (label, kind, formula) in USES.items()]  # fmt: skip
    points = {row["model"]: row for row in rows}
    found: list[Block] = [Table("usage", "Code usage and collisions", tuple(columns), rows)]
    at = [(result, points[result.model]) for result in material.codes if _is_main(result) and result.model in points]
    figure = {
        "labels": [f"{result.model}, {row['bits']} bits" for result, row in at],
        "x": [row.get("CodeUsage reachable") for _, row in at],
        "y": [_end(material.codes, result, "expected") for result, _ in at],
        "low": [_end(material.codes, result, "worst") for result, _ in at],
        "high": [_end(material.codes, result, "best") for result, _ in at],
        "x_label": "codes in use, of the reachable", "y_label": f"mAP@{CUT}", "kind": "value",
    }  # fmt: skip
    found.append(Figure("usage", "Accuracy against code usage", "scatter", figure,
                        "Same product, divided by the hits within k; the line spans the orders of ties. Codes may gain"
                        " accuracy by falling together: good ones stand above and to the right."))  # fmt: skip
    n = [row["bits"] for row in rows]
    if len(set(n)) > 1:
        found.append(say("Code lengths differ, from {least} to {most} bits: compare mLGAP and code usage at equal bits"
                         " only.", "warn", least=count(min(n)), most=count(max(n))))  # fmt: skip
    return tuple(found)


def _is_main(result: Result) -> bool:
    told = result.measure.parameters
    return result.measure.name == "APt" and (told["grades"], told["divide_by"], told["ties"]) == (
        PRODUCT, "hits", "expected")  # fmt: skip


def _end(results: Sequence[Result], like: Result, end: str) -> float | None:
    """The same measure of the same model at another order of ties."""
    wanted_ = {**like.measure.parameters, "ties": end}
    for result in results:
        same = result.model == like.model and result.measure.k == like.measure.k and result.measure.name == "APt"
        if same and result.values is not None and dict(result.measure.parameters) == wanted_:
            return result.values.value
    return None


def _by_model(material: Material, names: dict[str, str]) -> list[dict[str, Any]]:
    """A row for each model, with a field for each of these measures: its name, cut, and parameter."""
    rows: dict[str, dict[str, Any]] = {}
    for result in material.codes:
        measure, values = result.measure, result.values
        if measure.name not in names or values is None:
            continue
        row = rows.setdefault(result.model, {"model": result.model, "bits": values.counts["bits"], "n": values.n,
                                             "candidates": values.counts["candidates"]})  # fmt: skip
        cut = f"@{measure.k}" if measure.k else ""
        row[f"{measure.name}{cut} {measure.parameters[names[measure.name]]}"] = values.value
    return list(rows.values())


PARTS = (accuracy, graded, usage)
