"""`eds analysis budget`, the part on machines: rates of this installation, and what a catalogue comes to by them."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from eds.cli.render import format_table

if TYPE_CHECKING:
    pass

PRICES = (("machines", "machine_money"), ("a month", "storage_money_monthly"))
NAMES = ("machines", "machine_hourly", "terabyte_monthly", "calibrate")


class Count(click.ParamType):  # type: ignore[type-arg]
    """A whole number from 1 up, which may be written 1e9 or 1_000_000."""

    name = "count"

    def convert(self, value: "str | int", param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The number; a fraction is refused, and so is what is too large to be counted."""
        try:
            found = int(value) if str(value).replace("_", "").isdigit() else float(value)
        except ValueError:
            found = 0.5
        if not 1 <= found <= 1e15 or found != int(found):
            self.fail(f"{value!r} is no whole number from 1 up, as 52712 or 1e9.", param, ctx)
        return int(found)


COUNT = Count()


def machine_options(function: Callable[..., None]) -> Callable[..., None]:
    """The options of this part."""
    for add in (
        click.option("--calibrate", is_flag=True, help="Measure mining now, which takes some seconds."),
        click.option("--terabyte-monthly", type=click.FloatRange(0), default=0.0, help="Price of a stored terabyte."),
        click.option("--machine-hourly", type=click.FloatRange(0), default=0.0, help="Price of a machine by the hour."),
        click.option("--machines", type=COUNT, default=1, help="Machines like this one that share the work."),
    ):
        function = add(function)
    return function


def told_scale(document: dict[str, Any], currency: str = "") -> str:
    """The plan as a table, and the rates that it rests on."""
    priced = [(head, key) for head, key in PRICES if document[key] is not None]
    rows = [
        [one["name"], time_of(one["embed_seconds"]), time_of(one["mine_seconds"]), _figure(one["machine_hours"]),
         size_of(one["vector_bytes"]), *(_figure(one[key]) for _, key in priced)]
        for one in document["models"]
    ]  # fmt: skip
    embed, mine = (sum(one[name] for one in document["models"]) for name in ("embed_seconds", "mine_seconds"))
    vectors = [sum(one[key] for one in document["models"]) for _, key in priced]
    rows.append(["all", time_of(embed), time_of(mine), _figure(document["machine_hours"]),
                 size_of(document["vector_bytes"]), *(_figure(one) for one in vectors)])  # fmt: skip
    heads = ["model", "embedding", "mining", "machine hours", "vectors", *(f"{head} {currency}" for head, _ in priced)]
    machines = document["machines"]
    lines = [
        f"Machines: {document['images']:,} images, {document['queries']:,} queries, {machines:,} of"
        f" {'these machines' if machines > 1 else 'this machine'}; tasks of a model: {document['embed_tasks']:,} to"
        f" embed, {document['mine_tasks']:,} to mine",
        format_table(heads, rows),
        f"In all {time_of(document['seconds'])}; pictures {size_of(document['picture_bytes'])}; experts"
        f" {document['expert_hours']:,.0f} hours for {document['judgements']:,.0f} judgements.",
    ]
    if document["storage_money_monthly"] is not None:
        lines.append(f"Storage with the pictures: {document['storage_money_monthly']:,.2f} {currency} a month.")
    lines += ["What this rests on:", *(f"  - {one['source']}" for one in document["rates"])]
    return "\n".join(lines)


def time_of(seconds: float) -> str:
    """A time as it is read.

    >>> time_of(0.4), time_of(90), time_of(7200), time_of(1e6)
    ('0.4 s', '1.5 min', '2.0 h', '11.6 days')
    """
    for limit, unit, name in ((60, 1, "s"), (3600, 60, "min"), (172_800, 3600, "h")):
        if seconds < limit:
            return f"{seconds / unit:.1f} {name}"
    return f"{seconds / 86_400:,.1f} days"


def size_of(count: float) -> str:
    """Bytes as they are read.

    >>> size_of(2_500), size_of(2.048e12)
    ('2.5 kB', '2.0 TB')
    """
    for name, unit in (("PB", 1e15), ("TB", 1e12), ("GB", 1e9), ("MB", 1e6)):
        if count >= unit:
            return f"{count / unit:,.1f} {name}"
    return f"{count / 1e3:,.1f} kB"


def _figure(value: float) -> float:
    """A number as it is read: whole from 100 up."""
    return round(value) if value >= 100 else round(value, 2)
