"""Campaigns: which pairs a panel judges, how, and with what mixed in.

Every expert judges every item once, or k of the experts each pair (`experts_per_pair`). The work is bound when pairs
and experts meet: one assignment for each (item, expert), which the database keeps unique (assign.py). So nobody waits
for anybody, and an expert who leaves blocks nobody.
"""

from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import sqlalchemy as sa

from eds.errors import InputError
from eds.labels import audit, early_stop, new_campaign, schema
from eds.labels.asked import FORM, GUIDELINE
from eds.labels.assign import analyze, assign, forget_unjudged, hand_over, lacking, open_tasks, planned
from eds.labels.bulk import fetch
from eds.labels.experts import known
from eds.labels.form import PLAIN, Form
from eds.labels.gold import check_hidden, check_planted, hideable, known_answer
from eds.labels.mix_gold import plan_items
from eds.labels.pairs import checked, numbered
from eds.labels.permissions import check_lead
from eds.labels.portions import ROWS, insert_in_portions
from eds.labels.schema import UNFINISHED, assignment, campaign, expert, item, pair, panel
from eds.labels.store import Store
from eds.labels.validation import check_long, check_name, check_new_name, refuse, short

NEW = ("id", "pair", "query_id", "candidate_id", "kind")


@dataclass(frozen=True)
class Plan:
    """The settings of a campaign."""

    name: str
    mode: str = "pair"  # or grid
    polarity: str | None = None  # grid: what an untouched candidate means, similar or different
    guideline: str = ""  # its version, which every label stores
    seed: int = 0
    gold_share: float = 0.0  # of the normal pairs
    repeat_share: float = 0.0
    early_stop: bool = False  # ask no further when a pair's majority is certain
    control_share: float = 0.1  # with early stop: pairs that everybody who is asked them judges all the same
    experts_per_pair: int | None = None  # how many of the panel judge each pair; None: all
    form: Form = PLAIN  # what its page asks and shows
    adaptive: bool = False  # ask further experts only where the label is unsure; early stop, too (early_stop.py)


def create_campaign(
    store: Store, plan: Plan, pairs: pd.DataFrame, experts: Sequence[str], *, by: str = "", rehearse: bool = False
) -> int:
    """Begin a campaign on pairs (query_id, candidate_id, perhaps origin) with a panel; the judgements that it asks.

    A rehearsal counts them and writes nothing. The tasks are written in portions; nobody sees the campaign before the
    last of them is there (new_campaign.py).
    """
    checked_pairs = checked(pairs, "pairs")
    check_plan(plan, checked_pairs["kind"].unique().to_pylist())

    def check(connection: sa.Connection) -> None:
        check_lead(connection, store, by, "make a campaign")
        new_campaign.check_free(connection, plan.name)

    def ready(connection: sa.Connection) -> tuple[pa.Table, pa.Table]:
        check(connection)
        people = _people(connection, experts)
        if plan.experts_per_pair is not None and plan.experts_per_pair > len(experts):
            raise InputError(
                f"{plan.experts_per_pair} experts per pair of a panel of {len(experts)}",
                where="experts_per_pair",
                hint="Name more experts, or ask fewer of them.",
            )
        rows = numbered(connection, checked_pairs, enter=False)
        items, _ = _new_items(connection, plan, rows)
        check_hidden(connection, checked_pairs, plan.polarity, plan.gold_share)
        tasks = planned(connection, plan, items.select(NEW), people)
        return items, early_stop.held_back(tasks, items) if plan.adaptive else tasks

    items, tasks = store.snapshot(ready)
    if rehearse:
        return len(tasks)
    flags = {"early_stop": int(plan.early_stop or plan.adaptive), "adaptive": int(plan.adaptive)}
    values = {**asdict(plan), **flags, "form": plan.form.to_text()}
    made = new_campaign.begin(store, values, check)
    new_campaign.fill(store, made, items, tasks)

    def finish(connection: sa.Connection) -> int:
        check_lead(connection, store, by, "make a campaign")
        _join(connection, new_campaign.finish(connection, made), experts, made.created_at)
        analyze(connection)
        audit.note(connection, store.now(), by, "create campaign", plan.name, pairs=len(pairs), experts=list(experts))
        return len(tasks)

    return store.write(finish)


def add_pairs(store: Store, name: str, pairs: pd.DataFrame, *, by: str = "") -> int:
    """Let the panel judge further pairs; those that it judges already are left out. How many were new."""
    checked_pairs = checked(pairs, "pairs")

    def act(connection: sa.Connection) -> int:
        check_lead(connection, store, by, "add pairs")
        added = _add_items(connection, _of(connection, name), checked_pairs)
        audit.note(connection, store.now(), by, "add pairs", name, pairs=added)
        return added

    return store.write(act)


def add_to_panel(store: Store, name: str, experts: Sequence[str], *, by: str = "") -> None:
    """Let further experts judge everything; one who had left comes back to what was left.

    Many tasks are written in portions, before the experts are on the panel: so nobody is asked only some of them.
    """

    def ready(connection: sa.Connection) -> tuple[int, pa.Table]:
        check_lead(connection, store, by, "change a panel")
        found = _of(connection, name, hold=False)
        return found.id, lacking(connection, found, _people(connection, experts))

    number, tasks = store.snapshot(ready)
    if len(tasks) > ROWS:
        with suppress(sa.exc.IntegrityError):  # others change the panel just now: what lacks still is entered below
            insert_in_portions(store, assignment, open_tasks(tasks, number))

    def act(connection: sa.Connection) -> None:
        check_lead(connection, store, by, "change a panel")
        result = _of(connection, name)
        begun = sa.select(assignment.c.id).where(assignment.c.campaign == result.id, assignment.c.events > 0).limit(1)
        # Before anybody has judged, who joins belongs to the first panel; later to a wave of their own (frames.py).
        begins = connection.execute(begun).first() is None
        _join(connection, result, experts, result.created_at if begins else store.now())
        assign(connection, result, only=experts)
        if result.early_stop:
            early_stop.settle(connection, campaign=result.id)
        audit.note(connection, store.now(), by, "add to panel", name, experts=list(experts))

    store.write(act)


def leave_panel(store: Store, name: str, expert_name: str, *, by: str = "") -> None:
    """Ask this expert no more; the labels stay.

    Where each pair is asked of some of the panel, others get what this expert has not judged; else pairs no longer
    wait for this voice.
    """

    def act(connection: sa.Connection) -> None:
        check_lead(connection, store, by, "change a panel")
        result = _of(connection, name)
        member = sa.and_(panel.c.campaign == result.id, panel.c.expert == known(connection, expert_name))
        leaving = sa.update(panel).where(member, panel.c.left_at.is_(None)).values(left_at=store.now())
        if connection.execute(leaving).rowcount == 0:
            raise InputError(
                f"{short(expert_name)} is not on the panel of {short(name)}",
                where="panel",
                hint="See eds labels status.",
            )
        hand_over(connection, result)
        if result.early_stop:
            early_stop.settle(connection, campaign=result.id)
        audit.note(connection, store.now(), by, "leave panel", name, expert=expert_name)

    store.write(act)


def close_campaign(store: Store, name: str, *, by: str = "") -> None:
    """Hand out no more of it; labels that are still on their way are kept."""

    def act(connection: sa.Connection) -> None:
        check_lead(connection, store, by, "close a campaign")
        number = _of(connection, name).id
        connection.execute(sa.update(campaign).where(campaign.c.id == number).values(closed_at=store.now()))
        audit.note(connection, store.now(), by, "close campaign", name)

    store.write(act)


def reopen_campaign(store: Store, name: str, *, by: str = "") -> None:
    """Hand out again what nobody has judged of a closed campaign."""

    def act(connection: sa.Connection) -> None:
        check_lead(connection, store, by, "reopen a campaign")
        found = _of(connection, name)
        if found.closed_at is None:
            raise InputError(f"{short(name)} is open", where="campaign", hint="See eds labels campaigns list.")
        if found.withdrawn_at is not None:
            raise InputError(f"{short(name)} was undone", where="campaign", hint="Make another campaign.")
        connection.execute(sa.update(campaign).where(campaign.c.id == found.id).values(closed_at=None))
        audit.note(connection, store.now(), by, "reopen campaign", name)

    store.write(act)


def set_leads(store: Store, name: str, leads: pd.DataFrame, *, by: str = "") -> int:
    """Set by how many votes pairs (query_id, candidate_id, lead_similar, lead_different) must lead to be asked no more.

    Of a campaign that is adaptive. How many of its pairs have other leads than before.
    """

    def act(connection: sa.Connection) -> int:
        check_lead(connection, store, by, "change a campaign")
        found = _of(connection, name)
        if not found.adaptive:
            raise InputError(
                f"{short(name)} asks all its experts", where="campaign", hint="Only adaptive campaigns: --adaptive."
            )
        if (leads[["lead_similar", "lead_different"]] < 1).any(axis=None):
            raise InputError("a lead is below 1", where="leads", hint="Give 1 or more.")
        query = sa.select(item.c.id, pair.c.query_id, pair.c.candidate_id, item.c.lead_similar, item.c.lead_different)
        query = query.join(pair, pair.c.id == item.c.pair).where(item.c.campaign == found.id, item.c.kind == "normal")
        rows = fetch(connection, query).to_pandas()
        both = rows.merge(leads, on=["query_id", "candidate_id"], suffixes=("_before", ""))
        changed = both[
            (both["lead_similar"] != both["lead_similar_before"])
            | (both["lead_different"] != both["lead_different_before"])
        ]
        change = sa.update(item).where(item.c.id == sa.bindparam("number"))
        change = change.values(lead_similar=sa.bindparam("similar"), lead_different=sa.bindparam("different"))
        columns = (changed[one].astype("int64").tolist() for one in ("id", "lead_similar", "lead_different"))
        values = [dict(zip(("number", "similar", "different"), row, strict=True)) for row in zip(*columns, strict=True)]
        if values:
            connection.execute(change, values)
            early_stop.settle(connection, campaign=found.id)
            audit.note(connection, store.now(), by, "set leads", name, pairs=len(values))
        return len(values)

    return store.write(act)


def set_guideline(store: Store, name: str, version: str, *, by: str = "") -> None:
    """Put another version of the guideline in force; labels keep the version they were given under."""
    check_long(version, "guideline")

    def act(connection: sa.Connection) -> None:
        check_lead(connection, store, by, "change a guideline")
        found = _of(connection, name)
        connection.execute(sa.update(campaign).where(campaign.c.id == found.id).values(guideline=version))
        audit.note(connection, store.now(), by, GUIDELINE, name, version=version, version_before=found.guideline)

    store.write(act)


def set_form(store: Store, name: str, form: Form, *, by: str = "") -> None:
    """Let the campaign's page ask otherwise from now on; what was said stays."""
    refuse(form.faults(), "faults", f"campaign {name}", "Correct the form.")

    def act(connection: sa.Connection) -> None:
        check_lead(connection, store, by, "change a campaign's form")
        found = _of(connection, name)
        refuse(
            ["a grid asks for no grades"] if form.similar_from is not None and found.mode == "grid" else [],
            "faults",
            f"campaign {name}",
            "Leave the grades out.",
        )
        connection.execute(sa.update(campaign).where(campaign.c.id == found.id).values(form=form.to_text()))
        audit.note(connection, store.now(), by, FORM, name, form=form.to_text(), form_before=found.form)

    store.write(act)


def check_plan(plan: Plan, kinds: Collection[str] = ()) -> None:
    """Raise InputError with every fault of a plan; `kinds` are those of its pairs, which may hold repeats already."""
    check_new_name(plan.name, "campaign")
    check_long(plan.guideline, "guideline")
    faults = []
    if plan.mode not in schema.MODES:
        faults.append(f"mode is {plan.mode!r}, not one of {', '.join(schema.MODES)}")
    if plan.mode == "grid" and plan.polarity not in schema.POLARITIES:
        faults.append(
            f"polarity is {plan.polarity!r}; a grid says what an untouched candidate means: "
            f"{' or '.join(schema.POLARITIES)}"
        )
    if plan.mode == "grid" and not plan.repeat_share and "repeat" not in kinds:
        faults.append(
            "repeat_share is 0, but a grid is guarded against skimming by pairs that are asked again, "
            "one by one: give 0.05, say"
        )
    if plan.mode == "pair" and plan.polarity is not None:
        faults.append("polarity is for grids only")
    for share in ("gold_share", "repeat_share", "control_share"):
        if not 0 <= getattr(plan, share) <= 1:
            faults.append(f"{share} is {getattr(plan, share)}, not from 0 to 1")
    if plan.experts_per_pair is not None and not 1 <= plan.experts_per_pair < 2**31:
        faults.append(f"experts_per_pair is {plan.experts_per_pair}; give a number from 1 up, or none for all")
    if (plan.early_stop or plan.adaptive) and plan.control_share <= 0:
        faults.append("control_share is 0, but early stop needs pairs that everybody judges: agreement counts on them")
    faults += plan.form.faults()
    if plan.form.similar_from is not None and plan.mode == "grid":
        faults.append("a grid asks for no grades: its candidates are marked, not graded")
    if not 0 <= plan.seed < 2**63:
        faults.append(f"seed is {plan.seed}, not from 0 to 2^63 - 1")
    refuse(faults, "faults", f"campaign {plan.name}", "Correct the plan.")


def _of(connection: sa.Connection, name: str, *, hold: bool = True) -> Any:
    """The campaign's row, held so that pairs and experts that come at once do not miss each other."""
    check_name(name, "campaign")
    query = sa.select(campaign).where(campaign.c.name == name, ~UNFINISHED)
    row = connection.execute(query.with_for_update(key_share=True) if hold else query).first()
    if row is None:
        raise InputError(f"unknown campaign {short(name)}", where="campaign", hint="See eds labels campaigns list.")
    return row


def _people(connection: sa.Connection, experts: Sequence[str]) -> dict[str, int]:
    """The numbers of these experts, each named once and able to sign in; in the order of the numbers."""
    if len(set(experts)) != len(experts):
        raise InputError("an expert is named twice", where="panel", hint="Name each once.")
    people = {name: known(connection, name) for name in experts}
    for name, person in people.items():
        if connection.execute(
            sa.select(expert.c.id).where(expert.c.id == person, expert.c.disabled_at.is_not(None))
        ).first():
            raise InputError(f"{short(name)} is disabled", where="panel", hint="Enable the expert, or leave it out.")
    return dict(sorted(people.items(), key=lambda one: one[1]))


def _join(connection: sa.Connection, found: Any, experts: Sequence[str], now: int) -> None:
    for person in _people(connection, experts).values():
        member = sa.and_(panel.c.campaign == found.id, panel.c.expert == person)
        # Who had left joins again now: pairs that were decided meanwhile stay so until this expert, too, has answered.
        back = sa.update(panel).where(member, panel.c.left_at.is_not(None)).values(left_at=None, joined_at=now)
        if connection.execute(back).rowcount:
            forget_unjudged(connection, found, person)
        elif not connection.execute(sa.select(panel).where(member)).first():
            connection.execute(sa.insert(panel).values(campaign=found.id, expert=person, joined_at=now))


def _add_items(connection: sa.Connection, found: Any, pairs: pa.Table) -> int:
    """Enter items for pairs that are new to the campaign, and assign them; how many pairs were new."""
    query = sa.select(item.c.pair, item.c.kind, pair.c.query_id, pair.c.candidate_id)
    query = query.join(pair, pair.c.id == item.c.pair).where(item.c.campaign == found.id)
    items, new = _new_items(connection, found, numbered(connection, pairs), fetch(connection, query))
    assign(connection, found, new_campaign.enter_items(connection, items, found.id).select(NEW))
    if found.adaptive:
        early_stop.settle(connection, campaign=found.id)
    return new


def _new_items(
    connection: sa.Connection, plan: Any, rows: pa.Table, old: pa.Table | None = None
) -> tuple[pa.Table, int]:
    """The items of a plan's pairs that are not among its `old` ones, numbered from 0; how many pairs were new."""
    old = rows.slice(0, 0) if old is None else old
    before, mine = (part.select(["pair", "kind"]).to_pandas() for part in (old, rows))
    fresh = (
        ~pd.MultiIndex.from_frame(mine).isin(pd.MultiIndex.from_frame(before)) if len(old) else np.ones(len(mine), bool)
    )
    requested = pa.concat_tables([part.select(["query_id", "candidate_id"]) for part in (old, rows)])
    rows = rows.filter(pa.array(fresh))
    check_planted(connection, rows.filter(pc.equal(rows["kind"], "gold")), plan.polarity)
    known_pairs = hideable(connection, requested, plan.polarity, known_answer(rows, plan.polarity))
    for name in ("kind", "origin"):
        known_pairs = known_pairs.append_column(name, pa.array(["gold"] * len(known_pairs), pa.string()))
    items = plan_items(
        rows.select(["pair", "query_id", "candidate_id", "kind", "origin"]),
        known_pairs,
        seed=plan.seed,
        gold_share=plan.gold_share,
        repeat_share=plan.repeat_share,
        control_share=plan.control_share if plan.early_stop or plan.adaptive else 0.0,
        polarity=plan.polarity,
        held=set(old["kind"].unique().to_pylist()),
    )
    return items.append_column("id", pa.array(np.arange(len(items)))), len(rows)
