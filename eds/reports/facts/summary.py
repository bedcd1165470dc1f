"""The first page: three numbers and some sentences, taken from the sections and never computed anew."""

from collections.abc import Sequence
from typing import Any

from eds.reports.document import Block, Gap, Number, Section, Table, Tile, Tiles, count, filled_with, say, share
from eds.reports.material import Material

Sections = Sequence[Section]


def section(material: Material, sections: Sections) -> Section:
    """What a curator would say of it."""
    tiles = tuple(tile for make in (_found, _saved, _trusted) if (tile := make(sections)))
    blocks: list[Block] = [Tiles(tiles)] if tiles else []
    blocks += [one for make in (_best, _favour, _fair, _doubts) for one in make(sections)]
    blocks += _missed(material)
    gaps = [gap for part in sections for gap in part.blocks if isinstance(gap, Gap)]
    if gaps:
        blocks.append(say("What is missing for the whole picture: {n}. Each section says so, with"
        " the command that makes"
                          " it.", "note", n=count(len(gaps))))  # fmt: skip
    return Section("summary", "In short", "The numbers that matter, in words.", tuple(blocks))


def table(sections: Sections, section_key: str, key: str) -> Sequence[Any]:
    """The rows of a table, none where it is missing."""
    for part in sections:
        if part.key == section_key:
            for block in part.blocks:
                if isinstance(block, Table) and block.key == key:
                    return block.rows
    return ()


def _found(sections: Sections) -> Tile | None:
    pool = [row for row in table(sections, "yield", "rates") if row["model"] == "the pool"]
    if not pool or not pool[0]["labelled"]:
        return None
    row = pool[0]
    told = say("{positive} of {labelled} judged pairs; limits {low} to {high}.", positive=count(row["positive"]),
               labelled=count(row["labelled"]), low=share(row["low"]), high=share(row["high"]))  # fmt: skip
    return Tile("found", share(row["rate"]), "of the pairs shown to experts are similar", told)


def _saved(sections: Sections) -> Tile | None:
    plans = {row["name"]: row for row in table(sections, "yield", "cost")}
    mine, every = plans.get("pool, as it is"), plans.get("all pairs")
    if mine is None or every is None:
        return None
    told = say("{hours} of judging instead of {all}.", hours=Number(mine["hours"], "hours"),
               all=Number(every["hours"], "hours"))  # fmt: skip
    return Tile("saved", Number(mine["times_fewer"], "times"), "fewer judgements than all pairs need", told)


def _trusted(sections: Sections) -> Tile | None:
    rows = [row for row in table(sections, "agreement", "coefficients") if row["coefficient"].startswith("Kripp")]
    if not rows or rows[0]["value"] is None:
        return None
    row = rows[0]
    told = say("Krippendorff's alpha; limits {low} to {high}; 1 is perfect, 0 is chance.", low=Number(row["low"]),
               high=Number(row["high"]))  # fmt: skip
    return Tile("trusted", Number(row["value"]), "is how far the experts agree", told)


def _best(sections: Sections) -> list[Block]:
    found: list[Block] = []
    for key, of, name in (("groups_hr", "lists_5", "VSD-HR@5"), ("groups_auc", "auc_annotated", "macro ROC-AUC")):
        groups, rows = table(sections, "scores", key), table(sections, "scores", of)
        if not groups or not rows:
            continue
        column = name if key == "groups_hr" else "ROC-AUC(average=macro,negatives=annotated)"
        best = rows[0]["model"]
        others = sorted({model for row in groups if best in row["models"] for model in row["models"]} - {best})
        value = Number(rows[0][column], "share" if key == "groups_hr" else "value")
        if others:
            found.append(say("By {measure} the best model is {model} ({value}); it cannot be told apart from {others}.",
                             measure=name, model=best, value=value, others=", ".join(others)))  # fmt: skip
        else:
            found.append(say("By {measure} the best model is {model} ({value}), beyond the chance of the queries.",
                             measure=name, model=best, value=value))  # fmt: skip
    return found


def _favour(sections: Sections) -> list[Block]:
    rows = {row["measure"]: row for row in table(sections, "bias", "sides")}
    hr = next((row for name, row in rows.items() if name.startswith("VSD-HR")), None)
    fair = rows.get("macro ROC-AUC, own finds removed")
    if hr is None or fair is None:
        return []
    return [
        say("Models that made the pool (generators) against those that did not (outsiders), generators minus outsiders:"
            " {hr} by {measure}, {auc} by macro ROC-AUC once everybody's own finds are removed."
            " Only the second is a fair"
            " comparison.", hr=Number(hr["difference"], hr["change"]), measure=str(hr["measure"]),
            auc=Number(fair["difference"], fair["change"]))
    ]  # fmt: skip


def _fair(sections: Sections) -> list[Block]:
    rows = table(sections, "bias", "verdicts")
    if not rows:
        return []
    good, bad, unknown = ([row["metric"] for row in rows if row["verdict"].startswith(start)]
                          for start in ("fair", "not fair", "not known"))  # fmt: skip
    if len(bad) == len(rows):
        return [say("All {n} measures change when a model is left out of the pool: none is fair to a model that comes"
                    " later, until its own finds are judged, too.", n=count(len(bad)))]  # fmt: skip
    filled: dict[str, Number | str] = {}
    words = []
    for name, named, text in (
        ("good", good, "For a model that comes later these measures are fair: {good}."),
        ("bad", bad, "These change when a model is left out of the pool, and should be read with care: {bad}."),
        ("unknown", unknown, "Of these it is not known, for models are measured on pairs of their own: {unknown}."),
    ):
        if named:
            filled[name] = ", ".join(named)
            words.append(text)
    return [filled_with(" ".join(words), filled)]


def _missed(material: Material) -> list[Block]:
    """The pool's recall, where the section on the pool has found it."""
    found = material.kept.get("pool", {}).get("recall")
    if found is None:
        return []
    return [say("Random pairs say that the pool holds {recall} of all similar pairs (limits {low} to {high}).",
                recall=share(found["recall"]), low=share(found["lower"]), high=share(found["upper"]))]  # fmt: skip


def _doubts(sections: Sections) -> list[Block]:
    rows = table(sections, "yield", "found_by")
    alone = [row["pairs"] for row in rows if row["models"] == 1]
    every = sum(row["pairs"] for row in rows)
    if not every or not alone:
        return []
    return [say("{alone} of {all} similar pairs were found by one model alone: another model would find more.",
                alone=count(alone[0]), all=count(every))]  # fmt: skip
