"""The benchmark card: a datasheet in Markdown that goes with every export.

What a curator tells and what analyses found comes in as plain text; what can be counted is counted here. All of it is
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
UNKNOWN = "Not told."
SPECIAL = re.compile(r"([\\`*_{}\[\]#|~$!])")
BREAKS = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029\u202a-\u202e\u2066-\u2069]+")
ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"}


@dataclass(frozen=True)
class Card:
    """What is told of a benchmark: sentences by section, plain text."""

    name: str = "Benchmark"
    licence: str = ""  # as the hub names it: cc-by-4.0, or words
    version: str = "1.0.0"
    made_on: str = ""  # the day, ISO 8601
    address: str = ""  # where it is published
    citation: str = ""
    told: Mapping[str, Sequence[str]] = field(default_factory=dict)  # section -> sentences


def escaped(text: Any) -> str:
    r"""Text from data as Markdown and HTML show it literally, on one line.

    >>> escaped("<script>*a*|b")
    '&lt;script&gt;\\*a\\*\\|b'
    """
    plain = SPECIAL.sub(r"\\\1", BREAKS.sub(" ", str(text)))
    return "".join(ENTITIES.get(sign, sign) for sign in plain)


def statistics(benchmark: "Benchmark") -> dict[str, Any]:
    """What can be counted: images, products, roles, pairs, positives, judged pairs of a query, acts, experts, hours."""
    found: dict[str, Any] = {}
    if (images := benchmark.images) is not None:
        roles = images["role"].value_counts()
        found |= {"images": len(images), "products": int(images["product_id"].nunique())}
        found |= {"queries": int(roles.get("query", 0) + roles.get("both", 0))}
        found |= {"candidates": int(roles.get("candidate", 0) + roles.get("both", 0))}
    if (suspects := benchmark.suspects) is not None:
        found |= {f"suspects of origin {name}": int(n) for name, n in suspects["origin"].value_counts().items()}
    if (truth := benchmark.truth) is not None and len(truth):
        judged, similar = truth.groupby("query_id")["value"].agg(["size", "sum"]).astype("int64").to_numpy().T
        found |= {"judged pairs": len(truth), "similar pairs": int(truth["value"].sum())}
        found |= {"ties": int(truth["tie"].sum())}
        found |= {"similar share": round(float(truth["value"].mean()), 6), "judged queries": len(judged)}
        for name, counts in (("judged pairs", judged), ("similar pairs", similar)):
            spread = np.quantile(counts, (0, 0.5, 1), method="lower").tolist()
            found[f"{name} of a query (least, median, most)"] = ", ".join(map(str, spread))
        found["queries without a similar pair"] = int((similar == 0).sum())
    if (votes := benchmark.votes) is not None and len(votes):
        found |= {"votes": len(votes), "experts": int(votes["expert_id"].nunique())}
        if "seconds" in votes and str(votes["seconds"].dtype) != "object":
            found["hours of judging"] = round(float(votes["seconds"].sum()) / 3600, 2)
    if benchmark.runs:
        found["models with lists"] = len(benchmark.runs)
    return found


def markdown(benchmark: "Benchmark", kind: str, lost: Sequence[str], front: str = "") -> str:
    """The card of an export of this kind; `front` stands before it, `lost` is what the format cannot hold."""
    card = benchmark.card
    lines = [f"{front}# {escaped(card.name)}", ""]
    lines += ["A benchmark of visual similarity: pairs of images judged by experts.", ""]
    for section in SECTIONS:
        told = list(card.told.get(section, ()))
        if section == "Licence" and card.licence:
            told = [card.licence, *told]
        lines += [f"## {section}", "", *(f"- {escaped(one)}" for one in told or [UNKNOWN]), ""]
    lines += ["## Statistics", "", "| what | number |", "|---|---|"]
    for name, number in statistics(benchmark).items():
        lines.append(f"| {escaped(name)} | {escaped(f'{number:,}' if isinstance(number, int) else number)} |")
    lines += ["", f"## What this format ({escaped(kind)}) does not hold", ""]
    lines += [f"- {escaped(one)}" for one in lost or ["Nothing is left out."]]
    return "\n".join([*lines, "", "## Conventions", "", *CONVENTIONS, ""])


CONVENTIONS = (
    "- A pair is (query, candidate); the order matters. A judged negative is 0, a pair nobody judged is absent.",
    "- The query itself and other images of its product are no candidates of a list unless the project says else.",
    "- Ties of votes are negative. `SHA256SUMS` tells whether every file arrived whole: `sha256sum -c SHA256SUMS`.",
)


def quoted(value: Any) -> str:
    """A value as YAML and JSON both read it."""
    return json.dumps(value, ensure_ascii=False)
