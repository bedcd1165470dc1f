"""`eds assistant`: second judges that never vote, how far they agree, and the labels they are worth."""

from typing import TYPE_CHECKING

import click

from eds.cli.console import Console, command
from eds.cli.options import existing_file
from eds.cli.render import count, format_frame, format_interval, format_share, format_table

if TYPE_CHECKING:
    from pathlib import Path

    from eds.project.assistants import AssistantAgreement, AssistantAnswers, AssistantEstimates, AssistantsResult


@click.group()
def assistant() -> None:
    """A second judge that never votes, to save labels."""


@command(assistant, "import", example="eds assistant import helper answers.csv")
@click.argument("name")
@click.argument("file", type=existing_file)
@click.option("--family", default="", help="Family of the judge, as clip: it does not judge models of its family.")
@click.option("--blind", is_flag=True, help="It was not fitted on labels of the same queries.")
def import_answers(console: Console, name: str, file: "Path", family: str, blind: bool) -> None:
    """Store the answers of a file, all or none.

    CSV or Parquet: query_id, candidate_id, and value from 0 (different) to 1 (similar), or empty. A judge that was
    fitted on the labels looks better than it is, and no formula sees it: answers that come after labels correct
    estimates only with --blind. Answers that come first need no such word.
    """
    console.show(console.project.assistants.import_answers(name, file, family=family, blind=blind), render_answers)


@command(assistant, "learn", example="eds assistant learn relevance")
@click.argument("name", default="relevance")
def learn(console: Console, name: str) -> None:
    """Let the relevance model answer for all suspects."""
    console.show(console.project.assistants.learn(name), render_answers)


@command(assistant, "ask", example="eds assistant ask vlm --limit 500")
@click.argument("name")
@click.option("--limit", type=click.IntRange(1), help="Pairs to ask now, in the order of judging (default: all).")
@click.option("--origin", "origins", multiple=True, help="Only suspects of this origin; repeatable.")
def ask(console: Console, name: str, limit: int | None, origins: tuple[str, ...]) -> None:
    """Ask the vision-language model of eds.toml.

    It goes on where it stopped. Pictures are sent only if [assistant] of eds.toml says send_pictures = true; its caps
    of calls and cost hold.
    """
    console.show(console.project.assistants.ask(name, limit=limit, origins=origins), render_answers)


@command(assistant, "list", example="eds assistant list", reads=True)
def list_assistants(console: Console) -> None:
    """List the assistants and what they answered."""
    console.show(console.project.assistants.list(), render_list)


@command(assistant, "agreement", example="eds assistant agreement vlm", reads=True)
@click.argument("name")
def agreement(console: Console, name: str) -> None:
    """Compare its answers with the decided labels."""
    console.show(console.project.assistants.agreement(name), render_agreement)


@command(assistant, "estimate", example="eds assistant estimate vlm", reads=True)
@click.argument("name")
@click.option("-k", "k", type=click.IntRange(1), help="Places of P@k (default: eds.toml).")
@click.option("--confidence", type=float, default=0.95, help="Confidence level of the intervals.")
def estimate(console: Console, name: str, k: int | None, confidence: float) -> None:
    """Estimate p, p_k and P@k with its help (PPI++).

    The intervals hold whatever it says, unless it was fitted on the very labels (import --blind), and are never wider
    than without it. They hold for one look.
    """
    console.show(console.project.assistants.estimate(name, k=k, confidence=confidence), render_estimates)


@command(assistant, "remove", example="eds assistant remove vlm")
@click.argument("name")
def remove(console: Console, name: str) -> None:
    """Delete its answers; labels are not touched."""
    console.show(console.project.assistants.remove(name), render_list)


def render_answers(result: "AssistantAnswers") -> str:
    """What it has said by now."""
    pairs = f"{count(result.answered, 'answer')} on {count(result.pairs, 'pair')}"
    lines = [f"{result.name}: {pairs}, {result.new:,} just now."]
    if result.unreadable:
        lines.append(f"{result.unreadable:,} answers could not be read and are not stored.")
    if result.labels_before:
        lines.append(
            f"{result.labels_before:,} pairs are judged already, and it may be fitted on them: no estimate uses it. "
            "If it is not fitted on them, import it again with --blind."
        )
    if result.cost:
        lines.append(f"Cost: {result.cost:,.2f}.")
    return "\n".join(lines)


def render_list(result: "AssistantsResult") -> str:
    """A row for each."""
    return format_frame(result.table) if len(result.table) else "No assistants yet: eds assistant --help."


def render_agreement(result: "AssistantAgreement") -> str:
    """A row for each slice."""
    rows = [
        [
            row["slice"],
            row["group"],
            row["pairs"],
            format_interval(row["agreement"], row["low"], row["high"]),
            round(row["kappa"], 3),
            format_share(row["experts"]),
            format_share(row["assistant"]),
        ]
        for row in result.table.to_dict(orient="records")
    ]
    heads = ["slice", "", "pairs", "agreement", "kappa", "similar by experts", "by it"]
    return "\n".join([format_table(heads, rows), *([result.note] if result.note else [])])


def render_estimates(result: "AssistantEstimates") -> str:
    """Each rate with it and without it, and what a label is worth."""
    rows = [
        [
            row["quantity"],
            row["model"],
            format_interval(row["rate"], row["low"], row["high"]),
            format_interval(row["plain"], row["plain_low"], row["plain_high"]),
            row["labelled"],
            round(row["worth"], 2),
            round(row["hours"], 1),
            row["note"],
        ]
        for row in result.table.to_dict(orient="records")
    ]
    heads = ["", "model", "with it", "without it", "labels", "a label is worth", "hours saved", ""]
    return "\n".join([format_table(heads, rows), *([result.note] if result.note else [])])
