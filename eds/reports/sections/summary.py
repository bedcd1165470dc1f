"""The first section: key figures and sentences, taken from the other sections and never computed again."""

from collections.abc import Sequence
from typing import Any

from eds.reports.document import Block, Gap, Number, Section, Table, Tile, Tiles, count, note, say, share
from eds.reports.inputs import ReportInputs
from eds.reports.numbers import undefined
from eds.reports.sections import Blocks, SectionSpec

Sections = Sequence[Section]
BEST = {
    "groups_hr": ("lists_5", "VSD-HR@5", "VSD-HR@5", "share"),
    "groups_auc": ("auc_annotated", "ROC-AUC(average=macro,negatives=annotated)", "macro ROC-AUC", "value"),
}


def summary(inputs: ReportInputs, sections: Sections) -> Blocks:
    """What a curator would say of the report."""
    tiles = tuple(tile for make in (_positive_rate, _reduction, _agreement) if (tile := make(sections)))
    blocks: list[Block] = [Tiles(tiles)] if tiles else []
    for make in (_best_models, _favoured, _fair_measures, _found_alone):
        blocks += make(sections)
    blocks += _recall(inputs)
    gaps = [block for section in sections for block in section.blocks if isinstance(block, Gap)]
    if gaps:
        words = "{n} parts of the report are missing. Each section says which, with the command that makes them."
        blocks.append(note(words, n=count(len(gaps))))
    return tuple(blocks)


def table(sections: Sections, section: str, key: str) -> Sequence[Any]:
    """The rows of a table, none where it is missing."""
    for part in sections:
        for block in part.blocks if part.key == section else ():
            if isinstance(block, Table) and block.key == key:
                return block.rows
    return ()


def _positive_rate(sections: Sections) -> Tile | None:
    pool = [row for row in table(sections, "pool", "rates") if row["model"] == "the pool"]
    if not pool or not pool[0]["labelled"]:
        return None
    row = pool[0]
    context = say(
        "{positive} of {labelled} judged pairs; interval {low} to {high}.",
        positive=count(row["positive"]),
        labelled=count(row["labelled"]),
        low=share(row["low"]),
        high=share(row["high"]),
    )
    return Tile("found", share(row["rate"]), "of the pairs shown to experts are similar", context)


def _reduction(sections: Sections) -> Tile | None:
    plans = {row["name"]: row for row in table(sections, "pool", "cost")}
    pool, every = plans.get("pool, as it is"), plans.get("all pairs")
    if pool is None or every is None:
        return None
    context = say(
        "{hours} of judging instead of {all}.",
        hours=Number(pool["hours"], "hours"),
        all=Number(every["hours"], "hours"),
    )
    return Tile("saved", Number(pool["times_fewer"], "times"), "fewer judgements than for all pairs", context)


def _agreement(sections: Sections) -> Tile | None:
    rows = [row for row in table(sections, "agreement", "coefficients") if row["coefficient"].startswith("Kripp")]
    if not rows or rows[0]["value"] is None:
        return None
    row = rows[0]
    context = say(
        "Krippendorff's alpha; interval {low} to {high}; 1 is perfect, 0 is chance.",
        low=Number(row["low"]),
        high=Number(row["high"]),
    )
    return Tile("trusted", Number(row["value"]), "agreement of the experts", context)


def _best_models(sections: Sections) -> list[Block]:
    blocks: list[Block] = []
    for key, (scores, column, label, kind) in BEST.items():
        groups, rows = table(sections, "scores", key), table(sections, "scores", scores)
        if not groups or not rows:
            continue
        best = rows[0]["model"]
        others = sorted({model for row in groups if best in row["models"] for model in row["models"]} - {best})
        value = share(rows[0][column]) if kind == "share" else Number(rows[0][column])
        if others:
            words = "By {measure} the best model is {model} ({value}); the difference to {others} is not significant."
            blocks.append(say(words, measure=label, model=best, value=value, others=", ".join(others)))
        else:
            words = "By {measure} the best model is {model} ({value}), significantly better than all others."
            blocks.append(say(words, measure=label, model=best, value=value))
    return blocks


def _favoured(sections: Sections) -> list[Block]:
    rows = {row["measure"]: row for row in table(sections, "bias", "sides")}
    hr = next((row for name, row in rows.items() if name.startswith("VSD-HR")), None)
    fair = rows.get("macro ROC-AUC, without own pairs")
    if hr is None or fair is None:
        return []
    return [
        say(
            "Models that built the pool minus new models: {hr} by {measure}, but {auc} by macro ROC-AUC without own"
            " pairs. Only the latter is a fair comparison.",
            hr=Number(hr["difference"], hr["change"]),
            measure=str(hr["measure"]),
            auc=Number(fair["difference"], fair["change"]),
        )
    ]


def _fair_measures(sections: Sections) -> list[Block]:
    rows = table(sections, "bias", "verdicts")
    if not rows:
        return []
    good, bad, unknown = (
        [row["metric"] for row in rows if row["verdict"].startswith(start)] for start in ("fair", "not fair", "unknown")
    )
    if len(bad) == len(rows):
        words = (
            "All {n} measures change when a model is left out of the pool: none is fair to a new model until the pairs"
            " that only it proposes are judged, too."
        )
        return [say(words, n=count(len(bad)))]
    names_of: dict[str, Number | str] = {}
    texts: list[str] = []
    for key, names, text in (
        ("good", good, "These measures are fair to new models: {good}."),
        ("bad", bad, "These change when a model is left out of the pool; read them with care: {bad}."),
        ("unknown", unknown, "For these it is unknown, because models are measured on different pairs: {unknown}."),
    ):
        if names:
            names_of[key] = ", ".join(names)
            texts.append(text)
    return [say(" ".join(texts), **names_of)]


def _found_alone(sections: Sections) -> list[Block]:
    rows = table(sections, "pool", "found_by")
    alone = [row["pairs"] for row in rows if row["models"] == 1]
    every = sum(row["pairs"] for row in rows)
    if not alone or not alone[0]:
        return []
    words = "{alone} of {all} similar pairs were found by one model alone: another model would find more."
    return [say(words, alone=count(alone[0]), all=count(every))]


def _recall(inputs: ReportInputs) -> list[Block]:
    """The pool's recall, where the section on the pool has computed it."""
    recall = inputs.cache.get("pool", {}).get("recall")
    if recall is None or undefined(recall["recall"]):
        return []
    return [
        say(
            "Judging by the random pairs, the pool contains {recall} of all similar pairs (interval {low} to {high}).",
            recall=share(recall["recall"]),
            low=share(recall["lower"]),
            high=share(recall["upper"]),
        )
    ]


SECTION = SectionSpec(title="Summary", question="The key figures, in words.", order=0, overview=(summary,))
