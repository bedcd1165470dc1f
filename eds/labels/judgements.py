"""Judgements, one by one and in small batches: stored durably before they are acknowledged, never changed.

The expert's page names each act by a token of its own. The same token again answers "already", so a page
that does not know whether its judgement arrived simply sends it again. A second judgement of a task is a
new act that supersedes the first; the last one counts, by `sequence`, whatever the clocks said.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from eds.errors import InputError
from eds.labels import chain, early_stop, schema
from eds.labels.asked import Asked
from eds.labels.form import GRADES
from eds.labels.schema import (
    ASIDE,
    DONE,
    OPEN,
    assignment,
    campaign,
    expert,
    flag,
    item,
    label_event,
    pair,
    panel,
)
from eds.labels.shuffle import END
from eds.labels.store import Store
from eds.labels.validation import MOST_SECONDS, check, check_long, check_name, fault_of, refuse, short

MOST = 10_000  # judgements of one call
GRACE = 7 * 86_400 * 1_000_000  # microseconds after a campaign is closed, or an expert left, in which acts still count:
# what was judged without a network may arrive some days later


class NotYoursError(InputError):
    """Tasks of another expert's queue, or of a disabled account: well-formed, but not allowed."""


@dataclass(frozen=True)
class Judgement:
    """An expert's answer to a task."""

    token: str  # the act's name, made by the page; becomes label_id
    assignment: int
    value: int | None  # 1 similar, 0 not, None unsure
    seconds: float | None = None
    mode: str | None = None  # how it was shown, if not as the campaign says
    guideline: str | None = None  # the version that was shown, if not the one in force
    aspects: str | None = None  # that the expert named, with commas between
    grade: int | None = None  # 0 to 3, where the campaign asks for it
    note: str | None = None


@dataclass(frozen=True)
class Receipt:
    """That a judgement is stored: now, or already before."""

    token: str
    already: bool


_HELD = (
    sa.select(
        assignment.c.id,
        assignment.c.item,
        assignment.c.position,
        assignment.c.state,
        assignment.c.events,
        assignment.c.returned,
        campaign.c.mode,
        campaign.c.polarity,
        campaign.c.guideline,
        campaign.c.early_stop,
        campaign.c.closed_at,
        campaign.c.form,
        expert.c.disabled_at,
        pair.c.query_id,
        pair.c.candidate_id,
        item.c.kind,
        campaign.c.name.label("campaign"),
        panel.c.campaign.label("panel_campaign"),
        panel.c.expert.label("panel_expert"),
        panel.c.left_at,
        panel.c.acts,
        panel.c.head,
    )
    .join(expert, expert.c.id == assignment.c.expert)
    .join(campaign, campaign.c.id == assignment.c.campaign)
    .join(item, item.c.id == assignment.c.item)
    .join(pair, pair.c.id == item.c.pair)
    .join(panel, sa.and_(panel.c.campaign == assignment.c.campaign, panel.c.expert == assignment.c.expert))
    .where(assignment.c.id.in_(sa.bindparam("numbers", expanding=True)), expert.c.name == sa.bindparam("expert"))
    .with_for_update(of=panel, key_share=True)  # one act after the other of an expert, whose acts are a chain
)
_EARLIER = sa.select(
    label_event.c.label_id, label_event.c.assignment, label_event.c.value, label_event.c.created_at
).where(
    sa.or_(
        label_event.c.label_id.in_(sa.bindparam("tokens", expanding=True)),
        label_event.c.assignment.in_(sa.bindparam("numbers", expanding=True)),
    )
)
_STORE = sa.insert(label_event)
_CLOSE = (
    sa.update(assignment)
    .where(assignment.c.id == sa.bindparam("number"))
    .values({name: sa.bindparam(f"new_{name}") for name in ("position", "state", "events", "returned")})
)
_END = (
    sa.update(panel)
    .where(panel.c.campaign == sa.bindparam("of_campaign"), panel.c.expert == sa.bindparam("of_expert"))
    .values(acts=sa.bindparam("new_acts"), head=sa.bindparam("new_head"))
)
_HOLD_ITEMS = (
    sa.select(item.c.id)
    .where(item.c.id.in_(sa.bindparam("items", expanding=True)))
    .order_by(item.c.id)
    .with_for_update(key_share=True)
)
_STORED = [name for name in chain.Said._fields if name in label_event.c]
_TRIES = 20  # of writers that revise one task at the same moment


def submit(
    store: Store,
    expert_name: str,
    judgements: Sequence[Judgement],
    *,
    session_id: str | None = None,
    times: Sequence[int] | None = None,
    only_asked: bool = False,
) -> list[Receipt]:
    """Store an expert's judgements: all of them durably, or none and an InputError with every fault.

    It is a NotYoursError if tasks are not the expert's, or the account is disabled. With `only_asked` it is a fault to
    say what the campaign never asked (asked.py): aspects, grades, notes and guidelines come from a page then.

    `times` (microseconds since 1970) is for simulated experts only; otherwise this machine's clock counts.
    """
    _check(judgements)
    check_name(expert_name, "expert")
    if session_id is not None:
        check(session_id, "session_id")

    for turn in range(_TRIES):
        careful = turn > 0  # nearly always every token is new: look only after the database refused one

        def act(connection: sa.Connection, careful: bool = careful) -> list[Receipt]:
            return _record(
                connection,
                store.now(),
                expert_name,
                judgements,
                session_id,
                times,
                careful=careful,
                only_asked=only_asked,
            )

        try:
            return store.write(act, again=True)
        except sa.exc.IntegrityError:  # a token is there already, or another device revised the same task just now
            continue
    raise InputError("too many devices revise the same task at once", where="judgements", hint="Try again.")


def flag_task(store: Store, expert_name: str, number: int, reason: str, token: str) -> Receipt:
    """Set a task aside with a reason: it comes back at the end; flagged again then, it is left to the lead."""
    check_long(reason, "reason")
    check(token, "token")

    def act(connection: sa.Connection) -> Receipt:
        row = _held(connection, expert_name, [number])[number]
        earlier = connection.execute(sa.select(flag.c.assignment, flag.c.reason).where(flag.c.token == token)).first()
        if earlier:
            if tuple(earlier) != (number, reason):
                raise InputError(
                    f"token {short(token)} names another act", where="flag", hint="Give a token of its own."
                )
            return Receipt(token, already=True)
        connection.execute(
            sa.insert(flag).values(token=token, assignment=number, reason=reason, created_at=store.now())
        )
        if row["state"] == OPEN:
            row["state"] = ASIDE if row["returned"] else OPEN
            _send_back(row)
            unjudged = sa.and_(assignment.c.id == number, assignment.c.events == row["events"])
            values = {name: row[name] for name in ("position", "state", "returned")}
            connection.execute(sa.update(assignment).where(unjudged).values(values))  # a judgement just now wins
        return Receipt(token, already=False)

    try:
        return store.write(act, again=True)
    except sa.exc.IntegrityError:  # the same token at the same moment: now it is there to be seen
        return store.write(act, again=True)


def withdraw_flag(store: Store, expert_name: str, number: int, token: str) -> bool:
    """Take back the flag of that token, as if the task had not been set aside by it; False if that was done before."""
    check(token, "token")

    def act(connection: sa.Connection) -> bool:
        row = _held(connection, expert_name, [number])[number]
        flags = connection.execute(sa.select(flag.c.token, flag.c.resolved_by).where(flag.c.assignment == number)).all()
        if token not in {entry.token for entry in flags}:
            raise InputError(
                f"flag {short(token)} does not belong to task {number}", where="withdrawal", hint="Reload the page."
            )
        change = sa.update(flag).where(flag.c.token == token, flag.c.resolved_at.is_(None))
        if connection.execute(change.values(resolved_at=store.now(), resolved_by=expert_name)).rowcount == 0:
            return False
        others = any(entry.token != token and entry.resolved_by != expert_name for entry in flags)
        if row["state"] == ASIDE:
            row["state"] = OPEN
        if not (others or row["events"]) and row["returned"]:
            row["position"], row["returned"] = row["position"] - END, 0
        values = {name: row[name] for name in ("position", "state", "returned")}
        unjudged = sa.and_(assignment.c.id == number, assignment.c.events == row["events"])
        connection.execute(sa.update(assignment).where(unjudged).values(values))
        return True

    return store.write(act, again=True)


def _record(
    connection: sa.Connection,
    now: int,
    expert_name: str,
    judgements: Sequence[Judgement],
    session_id: str | None,
    times: Sequence[int] | None,
    *,
    careful: bool,
    only_asked: bool,
) -> list[Receipt]:
    """Store what is new. Two that revise one task at once get the same sequence: the database refuses the second."""
    held = _held(connection, expert_name, [entry.assignment for entry in judgements])
    revised = [number for number, row in held.items() if row["events"]]
    tokens = [entry.token for entry in judgements] if careful or revised else []
    earlier = connection.execute(_EARLIER, {"tokens": tokens, "numbers": revised}).all() if tokens else []
    by_token = {row.label_id: (row.assignment, row.value) for row in earlier}
    latest: dict[int, int] = {}
    for act in earlier:
        latest[act.assignment] = max(act.created_at, latest.get(act.assignment, 0))
    faults, receipts, events, touched = [], [], [], {}
    ends: dict[str, chain.End] = {}
    asked = {row["campaign"]: row for row in held.values()} if only_asked else {}
    forms = {name: Asked(connection, name, row["form"], row["guideline"]) for name, row in asked.items()}
    for index, entry in enumerate(judgements):
        same = by_token.get(entry.token)
        if same is not None and same != (entry.assignment, entry.value):
            faults.append(f"judgement {index}: token {short(entry.token)} names another act")
        receipts.append(Receipt(entry.token, already=same is not None))
        if same is not None:
            continue
        by_token[entry.token] = (entry.assignment, entry.value)
        row = held[entry.assignment]
        if only_asked:
            faults += [f"judgement {index}: {fault}" for fault in forms[row["campaign"]].faults(entry)]
        at = now if times is None else times[index]
        # A clock that went back must not let an older act look like the later one.
        latest[entry.assignment] = at = max(at, latest.get(entry.assignment, at - 1) + 1)
        row["events"] += 1
        end = ends.get(row["campaign"]) or chain.End(row["campaign"], expert_name, row["acts"], row["head"])
        event, ends[row["campaign"]] = _event(entry, row, at, session_id, end)
        events.append(event)
        if not event["late"]:  # a late act is kept and marked, and changes nothing else
            row["state"] = DONE if entry.value is not None or row["returned"] else OPEN
            if entry.value is None:
                _send_back(row)
        touched[entry.assignment] = row
    refuse(faults, "judgements cannot be stored", "judgements", "Give every act a token of its own.")
    stopping = sorted({row["item"] for row in touched.values() if row["early_stop"]})
    if stopping:
        connection.execute(_HOLD_ITEMS, {"items": stopping})  # before the assignments: no deadlock
    if events:
        connection.execute(_STORE, events)
        connection.execute(_CLOSE, [_new(row) for row in touched.values()])
        rows = {row["campaign"]: row for row in touched.values()}
        connection.execute(_END, [_moved(row, ends[name]) for name, row in rows.items()])
    if stopping:
        early_stop.settle(connection, items=stopping)
    return receipts


def _held(connection: sa.Connection, expert_name: str, numbers: Sequence[int]) -> dict[int, dict[str, Any]]:
    """The expert's assignments of these numbers; NotYoursError for any that is not theirs."""
    requested = sorted(set(numbers))
    refuse(
        (f"assignment is {_brief(number)}" for number in requested if not _is_number(number)),
        "tasks are unknown",
        "judgements",
        "Judge tasks of your own queue.",
    )
    result = {
        row.id: dict(row._mapping)
        for row in connection.execute(_HELD, {"numbers": requested, "expert": expert_name}).all()
    }
    if any(row["disabled_at"] is not None for row in result.values()):
        raise NotYoursError(f"expert {short(expert_name)} is disabled", where="expert", hint="Ask your lead.")
    refuse(
        (f"{number} is not a task of {short(expert_name)}" for number in requested if number not in result),
        "tasks are unknown",
        "judgements",
        "Judge tasks of your own queue.",
        NotYoursError,
    )
    return result


def _send_back(row: dict[str, Any]) -> None:
    """To the end of the queue, the first time."""
    if not row["returned"]:
        row["position"], row["returned"] = row["position"] + END, 1


def _new(row: dict[str, Any]) -> dict[str, Any]:
    return {"number": row["id"], **{f"new_{name}": row[name] for name in ("position", "state", "events", "returned")}}


def _moved(row: dict[str, Any], end: chain.End) -> dict[str, Any]:
    return {
        "of_campaign": row["panel_campaign"],
        "of_expert": row["panel_expert"],
        "new_acts": end.acts,
        "new_head": end.head,
    }


def _event(
    one: Judgement, row: dict[str, Any], at: int, session_id: str | None, end: chain.End
) -> tuple[dict[str, Any], chain.End]:
    """The act's row, and the end of the expert's chain with it."""
    mode = one.mode or row["mode"]
    said = chain.Said(
        campaign=end.campaign,
        expert=end.expert,
        query_id=row["query_id"],
        candidate_id=row["candidate_id"],
        kind=row["kind"],
        label_id=one.token,
        sequence=row["events"],
        value=one.value,
        seconds=None if one.seconds is None else float(one.seconds),
        created_at=at,
        session_id=session_id,
        mode=mode,
        polarity=row["polarity"] if mode == "grid" else None,
        guideline=row["guideline"] if one.guideline is None else one.guideline,
        late=int(any(end is not None and at > end + GRACE for end in (row["closed_at"], row["left_at"]))),
        aspects=one.aspects or None,
        grade=one.grade,
        note=one.note or None,
    )
    digest = chain.link(end.head, said)
    event = {name: getattr(said, name) for name in _STORED}
    return {**event, "assignment": one.assignment, "digest": digest}, end._replace(acts=end.acts + 1, head=digest)


def _check(judgements: Sequence[Judgement]) -> None:
    if len(judgements) > MOST:
        raise InputError(f"{len(judgements):,} judgements at once", where="judgements", hint=f"Send at most {MOST:,}.")
    faults = []
    for index, entry in enumerate(judgements):
        wrong = []
        if fault := fault_of(entry.token):
            wrong.append(f"token {fault}")
        if not _is_number(entry.assignment):
            wrong.append(f"assignment is {_brief(entry.assignment)}")
        if not (entry.value is None or (type(entry.value) is int and entry.value in (0, 1))):
            wrong.append(f"value is {entry.value!r}, not 1, 0 or nothing")
        if entry.seconds is not None and not (
            isinstance(entry.seconds, (int, float)) and 0 <= entry.seconds <= MOST_SECONDS
        ):
            wrong.append(f"seconds is {_brief(entry.seconds)}")
        if entry.mode is not None and entry.mode not in schema.MODES:
            wrong.append(f"mode is {entry.mode!r}")
        if entry.guideline is not None and (fault := fault_of(entry.guideline, schema.LONGEST_TEXT, empty=True)):
            wrong.append(f"guideline {fault}")
        wrong += _beside(entry)
        faults += [f"judgement {index}: {fault}" for fault in wrong]
    refuse(faults, "faults", "judgements", "Correct them and send them again.")


def _beside(entry: Judgement) -> list[str]:
    """What is wrong with what was said beside the vote."""
    wrong = []
    for name in ("aspects", "note"):
        text = getattr(entry, name)
        if text is not None and (fault := fault_of(text, schema.LONGEST_TEXT, empty=True)):
            wrong.append(f"{name} {fault}")
    if entry.grade is not None and not (type(entry.grade) is int and entry.grade in GRADES):
        wrong.append(f"grade is {entry.grade!r}, not 0, 1, 2 or 3")
    return wrong


def _is_number(assignment: object) -> bool:
    """Whether this may be the number of an assignment: PostgreSQL and SQLite have 64 bits."""
    return type(assignment) is int and 0 < assignment < 2**63


def _brief(value: object) -> str:
    """A value as a message shows it; Python refuses to write whole numbers of thousands of digits."""
    return "a number of many digits" if isinstance(value, int) and abs(value) >= 10**40 else repr(value)[:60]
