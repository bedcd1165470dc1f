"""Random pairs by a design: uniform, by strata, or weighted by what the labels so far say."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from eds.errors import InputError
from eds.project.draw import DrawResult, draw_random, store_draw
from eds.project.inputs import PAIR, Inputs
from eds.project.mine import read_heads
from eds.project.models import generators
from eds.project.pool import pool_depth
from eds.project.pool_models import list_depth

if TYPE_CHECKING:
    import pandas as pd

    from eds.choices import DrawDesign
    from eds.pairs import Integers
    from eds.project import Project
    from eds.universe import UniverseSize

ENOUGH: Final = 200  # labels from which on weighted draws are the default
DEPTH: Final = 100  # of the lists that tell near pairs from the rest, where they are so deep


@dataclass(frozen=True)
class DesignResult(DrawResult):
    """Random pairs that were drawn by a design, and why by this one."""

    design: "DrawDesign"
    why: str
    drawn_by_stratum: dict[str, int]
    universe: "UniverseSize"
    labels: int  # that a weighted draw has learned from; 0 for the others
    auc: float | None  # of the relevance model on labels that it has not seen; None for the others


def draw(project: "Project", n: int, *, design: "DrawDesign | None" = None) -> DesignResult:
    """Draw n random pairs by a design; see Project.draw."""
    from eds import choices

    if design is not None:
        choices.check(choices.DrawDesign, design, "design")
    chosen, why = (design, "as given") if design else _usual(Inputs(project))
    return {"uniform": _uniform, "strata": _strata, "weighted": _weighted}[chosen](project, n, why)


def _usual(inputs: Inputs) -> "tuple[DrawDesign, str]":
    """The design that serves best now, and why."""
    before = _bases(inputs)
    if "weighted" in before:
        return "weighted", "draws before were weighted"
    if inputs.exists("truth"):
        value = inputs.read("truth", columns=[*PAIR, "value"])["value"]
        if len(value) >= ENOUGH and 0 < int(value.sum()) < len(value):
            return "weighted", f"{len(value):,} labels say where a label is most informative"
    if before & {"near", "rest"}:
        return "strata", "draws before were of strata"
    return "uniform", f"fewer than {ENOUGH} labels, similar and not, to learn from"


def _bases(inputs: Inputs) -> set[str]:
    drawn = inputs.suspects[inputs.suspects["origin"] == "random"]
    return set(drawn["stratum"].fillna("").str.split("@").str[0])


def _uniform(project: "Project", n: int, why: str) -> DesignResult:
    stratum = "outside" if "outside" in _bases(Inputs(project)) else "all"
    result = draw_random(project, n, stratum=stratum, add=True)
    return DesignResult(
        result.drawn, result.price, result.table, "uniform", why, {stratum: result.drawn}, result.universe, 0, None
    )


def _strata(project: "Project", n: int, why: str) -> DesignResult:
    """Near pairs and the rest, spread so that the estimate of the total is most certain (Neyman)."""
    from eds.analysis import whole_allocation
    from eds.suspects import RankWindow, draw_random
    from eds.suspects.random_pairs import strata

    if n < 2:
        raise InputError("one pair cannot be spread over two strata", where="option -n", hint="Draw 2 or more.")
    with project.writing("suspects.draw"):
        inputs = Inputs(project)
        universe, depth, least = inputs.universe, lists_depth(project), pool_depth(project)
        if least is None or least >= depth:
            raise InputError(
                "near pairs lie behind the pool and within the models' lists, and there are none",
                where=str(project.root),
                hint="Make the pool (eds suspects pool) less deep than the lists, or draw --design uniform.",
            )
        lists, window = read_heads(project, generators(project), depth), RankWindow(least, depth)
        parts = strata(universe, inputs.suspects, lists, window=window)
        names = ("near", "rest")
        sizes, rates = [parts[name].size for name in names], [_rate(inputs, name) for name in names]
        near = min(max(whole_allocation(sizes, rates, n, least=1)[0], n - sizes[1]), n - 1, sizes[0])
        counts, table, seed = {"near": near, "rest": n - near}, inputs.suspects, project.config.project.seed
        for name in names:
            table = draw_random(
                universe, counts[name], seed, stratum=name, suspects=table, neighbors=lists, window=window
            )
        price = store_draw(inputs, table, "draw", {"n": n, "design": "strata"})
    return DesignResult(n, price, table, "strata", why, counts, universe.described, 0, None)


def _rate(inputs: Inputs, stratum: str) -> float:
    """The share of similar pairs among the labelled draws of a stratum; before there are any, a guess."""
    guess = {"near": 0.02, "rest": 0.0005}[stratum]
    if not inputs.exists("truth"):
        return guess
    drawn = inputs.suspects[inputs.suspects["origin"] == "random"]
    mine = drawn[drawn["stratum"].fillna("").str.split("@").str[0] == stratum]
    value = mine[PAIR].merge(inputs.read("truth", columns=[*PAIR, "value"]), on=PAIR)["value"]
    return (float(value.sum()) + guess) / (len(value) + 1)


def _weighted(project: "Project", n: int, why: str) -> DesignResult:
    from eds.suspects import draw_weighted

    with project.writing("suspects.draw"), project.progress("drawing", "pairs"):
        inputs = Inputs(project)
        units, value = _labels(inputs)
        result = draw_weighted(
            inputs.universe,
            n,
            project.config.project.seed,
            suspects=inputs.suspects,
            neighbors=read_heads(project, generators(project), lists_depth(project)),
            labels=(units, value),
        )
        price = store_draw(inputs, result.suspects, "draw", {"n": n, "design": "weighted"})
    learned = result.relevance
    auc = learned.auc if learned.auc == learned.auc else None
    return DesignResult(
        n, price, result.suspects, "weighted", why, {"weighted": n}, inputs.universe.described, learned.labels, auc
    )


def _labels(inputs: Inputs) -> "tuple[Integers, Integers]":
    """The labelled units and their values; refused where nothing can be learned from them."""
    from eds.analysis.unit_labels import UnitLabels

    truth: pd.DataFrame = inputs.decided_pairs()
    labels = UnitLabels.of(inputs.universe, truth)
    if not 0 < labels.positives < len(labels.unit):
        alike = "similar" if labels.positives else "not similar"
        raise InputError(
            f"all {len(labels.unit):,} labels are {alike}, and nothing can be learned from them",
            where=str(inputs.project.path("truth")),
            hint="Have more pairs judged first: those of the pool, or eds suspects draw --design uniform.",
        )
    return labels.unit, labels.value


def lists_depth(project: "Project") -> int:
    """The depth to which every generator has lists, at most 100."""
    return min([DEPTH, *(list_depth(project, model) for model in generators(project, "neighbors"))])
