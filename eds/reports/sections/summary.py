"""The first screen: what the pool holds, how the models compare, and what to do next."""

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
from eds.reports.sections.comparison import AUC, INPUTS, compared_measures, state_best
from eds.reports.sections.pool import pool_report
from eds.reports.sections.scores import label

STEPS = 4  # at most
UNITS = {"image": "query–image pairs", "product": "query–product pairs"}  # of the universe


def pool_facts(inputs: ReportInputs) -> Blocks:
    """The positive rate of the pool, its recall, and the share of its positives that one model alone found."""
    try:
        report = pool_report(inputs)
    except Missing:  # the section on the pool says so
        return ()
    pool, recall, unseen = report["pool"], report["recall"], report["unseen"]
    known, unit = inputs.known_truth, UNITS[report["universe"]["unit"]]
    tiles = []
    if pool["labelled"]:
        words = f"of {pool['labelled']:,} judged {unit} are similar (p_k)"
        reason = pool.get("no_interval") or ""
        truth = known.pool_rate if known and pool["labelled"] == pool["pairs"] else None
        tiles.append(Tile("positive_rate", share(pool["rate"]), words, pool["low"], pool["high"], reason, truth))
    if recall and not undefined(recall["recall"]):
        words = f"of all similar {unit} are in the pool (pool recall)"
        truth = known.pool_recall if known else None
        tiles.append(Tile("pool_recall", share(recall["recall"]), words, recall["lower"], recall["upper"], known=truth))
    if unseen and sum(unseen["found_by_exactly"]):
        alone, every = unseen["found_by_exactly"][0], sum(unseen["found_by_exactly"])
        tiles.append(
            Tile(
                "found_alone",
                share(alone / every),
                f"of {every:,} similar {unit} of the pool were found by one model alone",
            )
        )
    return (Tiles(tuple(tiles)),) if tiles else ()


def models(inputs: ReportInputs) -> Blocks:
    """The forest plot of all models by AUC, and HR with its ceiling."""
    blocks: list[Block] = []
    measures = _compared(inputs)
    order = [item.model for item in measures[0].models] if measures else []
    for compared in measures:
        blocks.append(_forest(compared) if str(compared.measure) == AUC else _ceilings(compared, order))
    return tuple(blocks)


def _compared(inputs: ReportInputs) -> list[MeasureComparison]:
    """The comparisons; none where their inputs are missing, which the section on them says."""
    try:
        return compared_measures(inputs)
    except Missing:
        return []


def _forest(compared: MeasureComparison) -> Figure:
    """A row for each model, in the order of the comparison."""
    own = compared.on_reduced_pools
    marks = [not item.filled for item in compared.models]
    data = {
        "labels": [item.model for item in compared.models],
        "values": [item.self_removed if own else item.value for item in compared.models],
        "low": [item.self_removed_low if own else item.low for item in compared.models],
        "high": [item.self_removed_high if own else item.high for item in compared.models],
        "marks": marks,
        "groups": [list(group) for group in compared.groups],
    }
    title = f"{'Self-removed macro' if own else 'Macro'} ROC-AUC, annotated negatives"
    captions = ["Without the pairs that the model alone proposed." if own else "On all labels."]
    captions += ["Hollow: not in the pool."] if any(marks) else []
    captions += ["Bracket: not distinguishable."] if any(len(group) > 1 for group in compared.groups) else []
    return Figure("forest", title, forest_chart, data, " ".join(captions))


def _ceilings(compared: MeasureComparison, order: Sequence[str]) -> Figure:
    """HR of every model and its ceiling, in this order."""
    rows = [compared[name] for name in order if name in compared]
    rows += [item for item in compared.models if item.model not in order]
    open_labels = any(item.lower_bound for item in rows)
    name = label(str(compared.measure))
    data = {
        "labels": [item.model for item in rows],
        "values": [item.value for item in rows],
        "ceilings": [item.ceiling if item.lower_bound else None for item in rows],
        "marks": [not item.filled for item in rows],
    }
    caption = (
        "Tick: ceiling, the value if every candidate without a label were similar."
        if open_labels
        else f"The first {compared.measure.k} candidates of every model are judged: no label is missing."
    )
    title = f"{name} and its ceiling" if open_labels else name
    return Figure("hr", title, bound_chart, data, caption)


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
    """For each model that the labels cannot compare, the judgements after which it is comparable with another one."""
    steps: dict[str, Step] = {}
    for compared in _compared(inputs):
        for item in compared.undecided:
            pairs = [compared.pair(item.model, other) for other in item.others]
            open_pairs = [pair for pair in pairs if pair.to_judge]
            if item.model in steps or not open_pairs:
                continue
            pair = min(open_pairs, key=lambda pair: pair.to_judge or 0)
            action = say(
                "Judge {n} places of the lists of {model} and {other} to compare them by {measure}.",
                n=count(pair.to_judge),
                model=item.model,
                other=pair.second,
                measure=label(item.measure),
            )
            depth = f" -k {compared.measure.k}" if compared.measure.k else ""
            steps[item.model] = Step("settle", action, f"eds suspects add-model {item.model}{depth}")
    return [*steps.values()]


SECTION = SectionSpec(
    title="Summary",
    question="What the pool holds, how the models compare, and what to do next.",
    order=0,
    inputs=("images", "universe", "known_truth", *INPUTS),
    parts=(pool_facts, models),
    answer=answer,
    overview=(steps,),
)
