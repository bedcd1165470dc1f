"""The first screen: what the pool holds, how the models compare, and what to do next."""

import math
from collections.abc import Sequence
from typing import Any

from eds.analysis.comparison import MeasureComparison
from eds.reports.charts import bound_chart, forest_chart
from eds.reports.document import (
    Block,
    Figure,
    Gap,
    Missing,
    Section,
    Sentence,
    Step,
    Steps,
    Tile,
    Tiles,
    count,
    say,
    share,
)
from eds.reports.inputs import ReportInputs
from eds.reports.numbers import undefined
from eds.reports.sections import Blocks, SectionSpec
from eds.reports.sections.comparison import AUC, INPUTS, compared_measures, list_names, state_best
from eds.reports.sections.pool import pool_report
from eds.reports.sections.scores import label

STEPS = 4  # at most


def pool_facts(inputs: ReportInputs) -> Blocks:
    """The positive rate of the pool, its recall, and the share of its positives that one model alone found."""
    try:
        report = pool_report(inputs)
    except Missing:  # the section on the pool says so
        return ()
    pool, recall, unseen = report["pool"], report["recall"], report["unseen"]
    tiles = []
    if pool["labelled"]:
        words = f"of {pool['labelled']:,} judged pairs are similar (p_k)"
        tiles.append(Tile("positive_rate", share(pool["rate"]), words, pool["low"], pool["high"]))
    if recall and not undefined(recall["recall"]):
        words = "of all similar pairs are in the pool (pool recall)"
        tiles.append(Tile("pool_recall", share(recall["recall"]), words, recall["lower"], recall["upper"]))
    if unseen and sum(unseen["found_by_exactly"]):
        alone, every = unseen["found_by_exactly"][0], sum(unseen["found_by_exactly"])
        tiles.append(
            Tile("found_alone", share(alone / every), f"of {every:,} similar pairs: one model alone found them")
        )
    return (Tiles(tuple(tiles)),) if tiles else ()


def models(inputs: ReportInputs) -> Blocks:
    """The forest plot of all models by AUC, and HR with its ceiling."""
    blocks: list[Block] = []
    for compared in _compared(inputs):
        blocks.append(_forest(compared) if str(compared.measure) == AUC else _ceilings(compared))
    return tuple(blocks)


def _compared(inputs: ReportInputs) -> list[MeasureComparison]:
    """The comparisons; none where their inputs are missing, which the section on them says."""
    try:
        return compared_measures(inputs)
    except Missing:
        return []


def _forest(compared: MeasureComparison) -> Figure:
    """A row for each model, in the order of the comparison."""
    own = any(not math.isnan(item.self_removed) for item in compared.models)
    marks = [not item.filled for item in compared.models]
    data = {
        "labels": [item.model for item in compared.models],
        "values": [item.self_removed if own else item.value for item in compared.models],
        "low": [item.self_removed_low if own else item.low for item in compared.models],
        "high": [item.self_removed_high if own else item.high for item in compared.models],
        "marks": marks,
        "groups": [list(group) for group in compared.groups],
    }
    title = f"{'Self-removed ' if own else ''}{label(AUC)}, annotated negatives"
    captions = ["Without the pairs that the model alone proposed." if own else "On all labels."]
    captions += ["Hollow: not in the pool."] if any(marks) else []
    captions += ["Bracket: not distinguishable."] if any(len(group) > 1 for group in compared.groups) else []
    return Figure("forest", title, forest_chart, data, " ".join(captions))


def _ceilings(compared: MeasureComparison) -> Figure:
    """HR of every model, the ceiling that the judged share sets, and what missing labels could add."""
    open_labels = any(item.lower_bound for item in compared.models)
    name = label(str(compared.measure))
    data = {
        "labels": [item.model for item in compared.models],
        "values": [item.value for item in compared.models],
        "ceilings": [item.ceiling if item.lower_bound else None for item in compared.models],
        "marks": [not item.filled for item in compared.models],
    }
    caption = (
        "Tick: ceiling, the value if every candidate without a label were similar."
        if open_labels
        else f"The first {compared.measure.k} candidates of all models are judged: no ceiling below 100 %."
    )
    return Figure("hr", f"{name} and its ceiling", bound_chart, data, caption)


def answer(inputs: ReportInputs) -> Sentence | None:
    """The best models, as far as the labels can say."""
    said = [sentence for compared in _compared(inputs) if (sentence := state_best(compared))]
    return said[0] if said else None


def steps(inputs: ReportInputs, sections: Sequence[Section]) -> Blocks:
    """What to do next: inputs that are missing, pairs without a label, comparisons that labels would settle."""
    found = [*_unjudged(inputs), *_undecided(inputs)]
    gaps = {block.what: block for section in sections for block in section.blocks if isinstance(block, Gap)}
    found += [Step("fill", say(block.what), block.hint) for block in gaps.values() if block.hint]
    return (Steps(tuple(found[:STEPS])),) if found else ()


def _unjudged(inputs: ReportInputs) -> list[Step]:
    """Pairs of the pool that nobody has decided."""
    if inputs.truth is None or inputs.suspects is None or inputs.images is None:
        return []
    pool: dict[str, Any] = pool_report(inputs)["pool"]
    left = pool["pairs"] - pool["labelled"]
    if not left:
        return []
    action = say(
        "Judge the {left} of {pairs} pairs of the pool without a label.", left=count(left), pairs=count(pool["pairs"])
    )
    return [Step("judge", action, "eds labels serve")]


def _undecided(inputs: ReportInputs) -> list[Step]:
    """Models that the labels cannot compare, and the number of pairs that would settle it."""
    steps: dict[str, Step] = {}
    for compared in _compared(inputs):
        for item in compared.undecided:
            if item.to_judge is None or item.model in steps:
                continue
            action = say(
                "Judge {n} pairs to settle {model} against {others} by {measure}.",
                n=count(item.to_judge),
                model=item.model,
                others=list_names(item.others),
                measure=label(item.measure),
            )
            steps[item.model] = Step("settle", action, f"eds suspects add-model {item.model}")
    return [*steps.values()]


SECTION = SectionSpec(
    title="Summary",
    question="What the pool holds, how the models compare, and what to do next.",
    order=0,
    inputs=("images", "universe", *INPUTS),
    parts=(pool_facts, models),
    answer=answer,
    overview=(steps,),
)
