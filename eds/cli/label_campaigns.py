"""`eds labels campaigns` and `status`: which pairs a panel judges, how, and how far it has come."""

from typing import TYPE_CHECKING

import click

from eds.cli.console import Console, command
from eds.cli.label_store import tell_found, tell_frame
from eds.errors import InputError
from eds.project.label_store import BY, opened

if TYPE_CHECKING:
    import pandas as pd

    from eds.labels.store import Store
    from eds.project import Project

share = click.FloatRange(0, 1)
NO_CAMPAIGNS = "No campaigns yet: eds labels campaigns add NAME."


@click.group()
def campaigns() -> None:
    """Which pairs a panel judges, and how."""


@command(campaigns, "add", example="eds labels campaigns add pool --origin pool --expert expert-1 --expert expert-2")
@click.argument("name")
@click.option("--expert", "panel", multiple=True, required=True, help="An expert of the panel; give it several times.")
@click.option("--origin", "origins", multiple=True, help="Only suspects of this origin; may be given several times.")
@click.option("--undecided", is_flag=True, help="Only suspects without a label: of a new model, its delta pool.")
@click.option(
    "--mode", type=click.Choice(["pair", "grid"]), default="pair", help="One pair at a time, or a query's all."
)
@click.option(
    "--polarity", type=click.Choice(["similar", "different"]), help="Grid: what an untouched candidate means."
)
@click.option("--guideline", default="", help="Version of the guideline; every label stores it.")
@click.option(
    "--gold-share",
    type=share,
    help="Known pairs mixed in, as a share of the pairs (default: in a grid 0.05, of random pairs only 0.15, as far as "
    "so many are known; else 0).",
)
@click.option(
    "--repeat-share", type=share, help="Pairs asked a second time, as a share (default: in a grid 0.05, else 0)."
)
@click.option("--early-stop", is_flag=True, help="Ask no further when a pair's majority is certain.")
@click.option("--control-share", type=share, default=0.1, help="With early stop: pairs that everybody judges.")
def campaign(
    console: Console,
    name: str,
    panel: tuple[str, ...],
    origins: tuple[str, ...],
    undecided: bool,
    mode: str,
    polarity: str | None,
    guideline: str,
    gold_share: float | None,
    repeat_share: float | None,
    early_stop: bool,
    control_share: float,
) -> None:
    """Let a panel judge the project's suspects."""
    from eds.labels.campaigns import Plan, create_campaign
    from eds.labels.gold import USUAL, usual_share
    from eds.labels.queue import progress

    suspects = console.project.read("suspects")
    if origins:
        suspects = suspects[suspects["origin"].isin(origins)]
    if not len(suspects):
        raise InputError("no suspects are of that origin", where="--origin", do="See eds suspects list.")
    if undecided:
        suspects = _without_label(console.project, suspects)
    seed = console.project.config.project.seed
    with opened(console.project, create=True) as store:
        suspects = _with_gold(console.project, store, suspects, polarity)
        if gold_share is None:
            guarded = mode == "grid" or set(suspects["origin"]) == {"random"}
            gold_share = usual_share(store, suspects, polarity) if guarded else 0.0
        if repeat_share is None:
            repeat_share = USUAL if mode == "grid" and "repeat" not in set(suspects["origin"]) else 0.0
        plan = Plan(name, mode, polarity, guideline, seed, gold_share, repeat_share, early_stop, control_share)
        create_campaign(store, plan, suspects, panel, by=BY)
        tell_frame(console, progress(store, name), NO_CAMPAIGNS)


def _without_label(project: "Project", suspects: "pd.DataFrame") -> "pd.DataFrame":
    """The suspects to be judged that have no decided label; planted ones and drawn negatives are none of them."""
    from eds.project.pool import decided

    asked = suspects[suspects["origin"].isin(["pool", "random"])]
    truth = decided(project)
    if truth is not None:
        key = ["query_id", "candidate_id"]
        asked = asked.merge(truth[key], how="left", on=key, indicator=True)
        asked = asked[asked["_merge"] == "left_only"].drop(columns="_merge")
    if not len(asked):
        raise InputError("every suspect has a label", where="--undecided", do="Choose further pairs: eds suspects add.")
    return asked


@command(campaigns, "list", example="eds labels campaigns list")
def list_campaigns(console: Console) -> None:
    """List every campaign with its settings."""
    from eds.labels.queue import list_campaigns as find

    tell_found(console, find, NO_CAMPAIGNS)


@command(campaigns, "close", example="eds labels campaigns close pool")
@click.argument("name")
def close(console: Console, name: str) -> None:
    """Hand out no more of a campaign; labels on their way are kept."""
    from eds.labels.campaigns import close_campaign

    with opened(console.project) as store:
        close_campaign(store, name, by=BY)
    console.answer({"campaign": name, "closed": True}, f"{name} is closed.")


@command(None, "status", example="eds labels status --campaign pool")
@click.option("--campaign", "name", help="Only this campaign.")
def status(console: Console, name: str | None) -> None:
    """Tell, for each campaign and expert, what is judged and what is left."""
    from eds.labels.queue import progress

    tell_found(console, lambda store: progress(store, name), NO_CAMPAIGNS)


def _with_gold(project: "Project", store: "Store", suspects: "pd.DataFrame", polarity: str | None) -> "pd.DataFrame":
    """The suspects without gold that tells nothing in a grid; the store learns the answers of what is planted."""
    from eds.labels.gold import TOUCHED, add_gold

    planted = suspects[(suspects["origin"] == "gold") & suspects["stratum"].isin(["gold:0", "gold:1"])]
    if not len(planted):
        return suspects
    value = planted["stratum"].str.removeprefix("gold:").astype("int64")
    add_gold(store, planted[["query_id", "candidate_id"]].assign(value=value), by=BY)
    if polarity is None:
        return suspects
    useless = value.index[value != TOUCHED[polarity]]
    if len(useless):
        told = f"{len(useless):,} of {len(planted):,} gold pairs are {polarity}, as untouched means in this grid"
        project.say(f"{told}: they would tell nothing and are left out.")
    return suspects.drop(useless)
