"""`eds analysis budget`, the part on machines: rates of this installation, and what a catalogue comes to by them."""

from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from eds import config
from eds.cli.console import Console, lined

if TYPE_CHECKING:
    import pandas as pd

    from eds.analysis.scale import ModelRate
    from eds.workspace import Project

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


def scale_document(
    console: Console, images: int, queries: int, models: int, pairs: int, experts: int, seconds: float, **options: Any
) -> dict[str, Any]:
    """The plan by machines, each rate with where it is from."""
    from eds.analysis import rates
    from eds.analysis.scale import scale_plan

    project = console.project if (console.folder / config.FILE).is_file() else None
    known = _known(project) if project else []
    chosen = rates.model_rates(known, models)
    largest = max(one.dimension for one in chosen)
    mining = rates.mining_rate(largest) if options["calibrate"] else rates.ASSUMED_MINING
    label = rates.label_rate(_seconds(project), seconds)
    picture = rates.picture_rate(_sizes(project))
    prices = {name: options[name] for name in ("machines", "machine_hourly", "terabyte_monthly")}
    plan = scale_plan(
        images, queries, chosen, mining=mining, reading=rates.ASSUMED_READING, picture_bytes=picture,
        judged_pairs=pairs, experts=experts, seconds_per_label=label, engine=_engine(project), **prices,
    )  # fmt: skip
    told = [*dict.fromkeys(one.images_per_second for one in chosen), mining, rates.ASSUMED_READING, picture, label]
    return {**asdict(plan), "images": images, "queries": queries, "machines": options["machines"],
            "rates": [asdict(one) for one in told]}  # fmt: skip


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
        lined(heads, rows),
        f"In all {time_of(document['seconds'])}; pictures {size_of(document['picture_bytes'])}; experts"
        f" {document['expert_hours']:,.0f} hours for {document['judgements']:,.0f} judgements.",
    ]
    if document["storage_money_monthly"] is not None:
        lines.append(f"Storage with the pictures: {document['storage_money_monthly']:,.2f} {currency} a month.")
    lines += ["What this rests on:", *(f"  - {one['told']}" for one in document["rates"])]
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


def _engine(project: "Project | None") -> config.EngineSettings:
    """How work is cut into tasks: as the project says, or as usual."""
    return project.config.engine if project else config.EngineSettings()


def _known(project: "Project") -> "list[ModelRate]":
    """What the project's models were measured at, by name."""
    from eds.analysis.rates import model_rate
    from eds.errors import EdsError
    from eds.vectors import read_model

    found = []
    for name in project.models("embeddings"):
        folder = project.path("embeddings", name)
        try:
            model = read_model(folder)
        except EdsError:
            continue  # eds status tells of it; a plan needs no vectors
        listed = folder / "ids.parquet"
        found.append(model_rate(model, listed.stat().st_size / model.rows if model.rows and listed.exists() else None))
    return found


def _seconds(project: "Project | None") -> "pd.Series[float]":
    import pandas as pd

    if project is None or not (project.path("labels").exists() or project.config.labels.url):
        return pd.Series(dtype="float64")
    from eds.cli.label_store import opened

    with opened(project) as store:
        from eds.labels.frames import labels_frame

        return labels_frame(store)["seconds"].astype(float)


def _sizes(project: "Project | None") -> "pd.Series[int]":
    """The bytes of each picture that the last scan saw."""
    import pandas as pd
    import pyarrow.parquet as pq

    memory = None if project is None else project.root / ".eds" / "scan.parquet"
    if memory is None or not memory.exists():
        return pd.Series(dtype="int64")
    return pd.Series(pq.read_table(memory, columns=["size"]).column("size").to_numpy(), dtype="int64")
