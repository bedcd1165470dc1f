"""The pairs that a new model needs judged, as text."""

from typing import Any

from eds.cli.pool_text import percent

NEXT = (
    "Next: eds labels campaigns add NAME --undecided --expert EXPERT; when they have judged, eds truth decide, eds"
    " metrics score."
)


def told_delta(document: dict[str, Any]) -> str:
    """What was added, what it decides and costs, and what comes next."""
    model, added, left, k = (document[name] for name in ("model", "added", "left", "k"))
    share = document["judged"] / document["places"] if document["places"] else float("nan")
    waits = f"; {document['waiting']:,} wait among the suspects already" if document["waiting"] else ""
    lines = [
        f"Of the first {k} places of {model}, {document['judged']:,} of {document['places']:,} are judged "
        f"({percent(share)}){waits}."
    ]
    if document["known"]:
        lines.append(
            f"{document['known']:,} have a label already, as random pairs: it counts from now on (eds metrics score)."
        )
    if not added:
        return f"{' '.join(lines)} Nothing is left to add." + (f"\n{NEXT}" if document["waiting"] else "")
    rest = f"; {left:,} more are open" if left else ""
    lines.append(
        f"Added {added:,} pairs that nobody judged, those of the first places first{rest}. When all are judged, "
        f"{percent(document['judged_after'])} of these places are."
    )
    for one in document["undecided_with"]:
        least = "its labels alone cannot decide" if one["least"] is None else f"at least {one['least']:,} labels decide"
        lines.append(f"Undecided with {one['model']} by VSD-HR@{k}: {least}.")
    cost = document["cost"]
    money = f", {cost['currency']} {cost['money']:,.2f}" if cost["money"] is not None else ""
    lines.append(
        f"{cost['experts']} experts: {cost['judgements']:,.0f} judgements, {cost['hours']:,.1f} hours{money} "
        "(eds.toml, [budget])."
    )
    return "\n".join([*lines, NEXT])
