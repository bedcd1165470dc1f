"""`eds labels guideline`, `calibration` and `gold`: what similar means, practice with feedback, known pairs."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from eds.cli.console import Console, command
from eds.cli.label_store import tell_found
from eds.cli.render import format_table
from eds.errors import InputError
from eds.project.label_store import BY, opened

if TYPE_CHECKING:
    from eds.labels.guidelines import Example
    from eds.project import Project

OLD = click.Path(path_type=Path, dir_okay=False, exists=True)
NO_VERSION = "No guideline yet: eds labels guideline save VERSION FILE."


@click.group()
def guideline() -> None:
    """What similar means, version by version; a version is never changed."""


@command(guideline, "save", example="eds labels guideline save 2 similar.md --examples examples.csv")
@click.argument("version")
@click.argument("file", type=OLD)
@click.option(
    "--examples",
    type=OLD,
    help="CSV or Parquet: query_id, candidate_id, kind (positive, negative, border), value, note.",
)
def save(console: Console, version: str, file: Path, examples: Path | None) -> None:
    """Keep a text (Markdown) with its example pairs as a new version, for ever."""
    from eds.labels.guidelines import save_guideline

    shown = _examples(console.project, examples) if examples else []
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot be read ({error})", where=str(file), do="Give a text file in UTF-8.") from error
    with opened(console.project, create=True) as store:
        save_guideline(store, version, text, shown, by=BY)
    console.answer(
        {"version": version, "examples": len(shown)}, f"Guideline {version} is kept, with {len(shown):,} examples."
    )


@command(guideline, "list", example="eds labels guideline list")
def list_(console: Console) -> None:
    """List every version, with the campaigns and labels under it."""
    from eds.labels.guidelines import list_guidelines

    tell_found(console, list_guidelines, NO_VERSION)


@command(guideline, "show", example="eds labels guideline show 2")
@click.argument("version")
def show(console: Console, version: str) -> None:
    """Print a version's text and examples."""
    from eds.labels.guidelines import guideline_named

    with opened(console.project) as store:
        found = guideline_named(store, version)
    examples = [vars(one) for one in found.examples]
    heads = ["query_id", "candidate_id", "kind", "value", "note"]
    rows = [[one[name] for name in heads] for one in examples]
    told = f"{found.content}\n\n{format_table(heads, rows)}" if rows else found.content
    console.answer({"version": version, "content": found.content, "examples": examples}, told)


@command(guideline, "enforce", example="eds labels guideline enforce 2 --campaign pool")
@click.argument("version")
@click.option("--campaign", "name", required=True, help="The campaign that goes by it from now on.")
def enforce(console: Console, version: str, name: str) -> None:
    """Put a version in force; labels keep the version they were given under."""
    from eds.labels.guidelines import put_in_force

    with opened(console.project) as store:
        put_in_force(store, name, version, by=BY)
    console.answer({"campaign": name, "guideline": version}, f"{name} now goes by guideline {version}.")


@click.group()
def calibration() -> None:
    """A round of known pairs, with feedback, before an expert's first session."""


@command(calibration, "plan", example="eds labels calibration plan pool --pairs 12 --needed 0.8")
@click.argument("campaign")
@click.option("--pairs", type=int, required=True, help="Pairs of a round; 0: no calibration.")
@click.option("--needed", type=click.FloatRange(0, 1), default=0.8, help="The share that must be right.")
def plan(console: Console, campaign: str, pairs: int, needed: float) -> None:
    """Let each expert of a campaign begin with a round, and again until enough is right."""
    from eds.labels.calibration import plan_calibration

    with opened(console.project) as store:
        plan_calibration(store, campaign, pairs, needed, by=BY)
    told = f"with {pairs:,} pairs, {needed:.0%} of them right" if pairs else "no more"
    console.answer({"campaign": campaign, "pairs": pairs, "needed": needed}, f"{campaign} calibrates {told}.")


@command(calibration, "list", example="eds labels calibration list pool")
@click.argument("campaign")
def results(console: Console, campaign: str) -> None:
    """List every round of every expert, and how much was right."""
    from eds.labels.lead_queries import calibration_results

    tell_found(console, lambda store: calibration_results(store, campaign), "Nobody has begun calibration yet.")


@click.group()
def gold() -> None:
    """Pairs whose answer is known: planted unseen, and asked in calibration."""


@command(gold, "add", example="eds labels gold add known.csv")
@click.argument("file", type=OLD)
def add(console: Console, file: Path) -> None:
    """Make known pairs available (CSV or Parquet: query_id, candidate_id, value)."""
    from eds.labels.gold import add_gold
    from eds.project.pool import known_pairs

    known = known_pairs(console.project, file)
    with opened(console.project, create=True) as store:
        new = add_gold(store, known, by=BY)
    console.answer({"added": new, "known": len(known)}, f"{new:,} of {len(known):,} gold pairs are new.")


@command(gold, "list", example="eds labels gold list --json")
def known(console: Console) -> None:
    """List every known pair; show it to nobody who judges."""
    from eds.labels.lead_queries import gold_answers

    tell_found(console, gold_answers, "No gold yet: eds labels gold add FILE.")


def _examples(project: "Project", file: Path) -> "list[Example]":
    """The example pairs of a file; their images must be in the catalogue."""
    from eds.labels.guidelines import Example
    from eds.project.pool import known_pairs

    table = known_pairs(project, file)
    needed = ("query_id", "candidate_id", "kind")
    if missing := [name for name in needed if name not in table.columns]:
        raise InputError(f"columns are missing: {', '.join(missing)}", where=str(file), do="Add them.")
    texts = [[str(one) for one in table[name]] for name in needed]
    notes = table["note"].fillna("").astype(str) if "note" in table.columns else [""] * len(table)
    values = table["value"].astype(object).where(table["value"].notna(), None) if "value" in table.columns else None
    whole = [None] * len(table) if values is None else [_whole(one) for one in values]
    return [Example(*one) for one in zip(*texts, notes, whole, strict=True)]


def _whole(value: object) -> "int | None":
    """1 or 0 as a whole number, whatever the file kept it as; anything else is left for the library to refuse."""
    return int(value) if isinstance(value, (int, float)) and value in (0, 1) else value  # type: ignore[return-value]
