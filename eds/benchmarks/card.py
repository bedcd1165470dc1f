"""The benchmark card: a datasheet in Markdown that goes with every export.

Statements of the curator and of the analyses come in as plain text; statistics are counted here. Everything is
escaped: a category called <script> stays a word. A section about which nothing is known says so.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from eds.benchmarks.benchmark import Benchmark

SECTIONS = ("Motivation", "Collection", "Experts", "Agreement", "Recall", "Known bias", "Licence")
UNKNOWN = "Not stated."
SPECIAL = re.compile(r"([\\`*_{}\[\]#|~$!])")
BREAKS = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029\u202a-\u202e\u2066-\u2069]+")
ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"}
CONVENTIONS = (
    "- A pair is (query, candidate); the order matters. A judged negative is 0, an unjudged pair is absent.",
    "- The query itself and other images of its product are not candidates, unless the project says otherwise.",
    "- Tied votes are negative. Check that every file is complete with `sha256sum -c SHA256SUMS`.",
)


@dataclass(frozen=True)
class Card:
    """The facts of a benchmark: plain sentences, by section."""

    name: str = "Benchmark"
    licence: str = ""  # as the hub names it: cc-by-4.0, or words
    version: str = "1.0.0"
    made_on: str = ""  # the day, ISO 8601
    address: str = ""  # where it is published
    citation: str = ""
    statements: Mapping[str, Sequence[str]] = field(default_factory=dict)  # section -> sentences


def escape(text: Any) -> str:
    r"""Escape text from data so that Markdown and HTML show it literally, on one line.

    >>> escape("<script>*a*|b")
    '&lt;script&gt;\\*a\\*\\|b'
    """
    plain = SPECIAL.sub(r"\\\1", BREAKS.sub(" ", str(text)))
    return "".join(ENTITIES.get(sign, sign) for sign in plain)


def quote(value: Any) -> str:
    """Write a value as both YAML and JSON read it."""
    return json.dumps(value, ensure_ascii=False)


def count_statistics(benchmark: "Benchmark") -> dict[str, Any]:
    """Count images, products, roles, pairs, positives, judged pairs per query, votes, experts and hours."""
    counts: dict[str, Any] = {}
    if (images := benchmark.images) is not None:
        roles = images["role"].value_counts()
        counts |= {"images": len(images), "products": int(images["product_id"].nunique())}
        counts |= {"queries": int(roles.get("query", 0) + roles.get("both", 0))}
        counts |= {"candidates": int(roles.get("candidate", 0) + roles.get("both", 0))}
    if (suspects := benchmark.suspects) is not None:
        counts |= {f"suspects of origin {name}": int(n) for name, n in suspects["origin"].value_counts().items()}
    if (truth := benchmark.truth) is not None and len(truth):
        judged, similar = truth.groupby("query_id")["value"].agg(["size", "sum"]).astype("int64").to_numpy().T
        counts |= {"judged pairs": len(truth), "similar pairs": int(truth["value"].sum())}
        counts |= {"ties": int(truth["tie"].sum())}
        counts |= {"similar share": round(float(truth["value"].mean()), 6), "judged queries": len(judged)}
        for name, numbers in (("judged pairs", judged), ("similar pairs", similar)):
            spread = np.quantile(numbers, (0, 0.5, 1), method="lower").tolist()
            counts[f"{name} per query (minimum, median, maximum)"] = ", ".join(map(str, spread))
        counts["queries without a similar pair"] = int((similar == 0).sum())
    if (votes := benchmark.votes) is not None and len(votes):
        counts |= {"votes": len(votes), "experts": int(votes["expert_id"].nunique())}
        if "seconds" in votes and str(votes["seconds"].dtype) != "object":
            counts["hours of judging"] = round(float(votes["seconds"].sum()) / 3600, 2)
    if benchmark.runs:
        counts["models with lists"] = len(benchmark.runs)
    return counts


def render_card(benchmark: "Benchmark", format_name: str, not_held: Sequence[str], front: str = "") -> str:
    """Render the card of an export; `front` precedes it, `not_held` is what the format cannot hold."""
    card = benchmark.card
    lines = [f"{front}# {escape(card.name)}", ""]
    lines += ["A benchmark of visual similarity: pairs of images judged by experts.", ""]
    for section in SECTIONS:
        statements = list(card.statements.get(section, ()))
        if section == "Licence" and card.licence:
            statements = [card.licence, *statements]
        lines += [f"## {section}", "", *(f"- {escape(text)}" for text in statements or [UNKNOWN]), ""]
    lines += ["## Statistics", "", "| what | number |", "|---|---|"]
    for name, number in count_statistics(benchmark).items():
        lines.append(f"| {escape(name)} | {escape(f'{number:,}' if isinstance(number, int) else number)} |")
    lines += ["", f"## What this format ({escape(format_name)}) does not hold", ""]
    lines += [f"- {escape(text)}" for text in not_held or ["Nothing is left out."]]
    return "\n".join([*lines, "", "## Conventions", "", *CONVENTIONS, ""])
