"""What the store refuses, as a whole: others' queues, bad judgements, bad pairs; and any text, kept or refused."""

from collections.abc import Callable

import pandas as pd
import pytest
import sqlalchemy as sa

from eds.errors import InputError
from eds.labels import schema
from eds.labels.campaigns import (
    Plan,
    add_pairs,
    create_campaign,
)
from eds.labels.experts import add_expert, disable
from eds.labels.frames import labels_frame
from eds.labels.judgements import Judgement, flag_task, submit
from eds.labels.queue import list_campaigns, next_batch
from eds.labels.store import Store
from tests.labels.stores import begin, pairs


def test_an_expert_writes_only_their_own_queue(store: Store) -> None:
    name = begin(store)
    theirs = next_batch(store, name, "bob")[0].assignment
    with pytest.raises(InputError, match="not a task of 'ann'"):
        submit(store, "ann", [Judgement("t", theirs, 1)])
    with pytest.raises(InputError, match="not a task of 'ann'"):
        flag_task(store, "ann", theirs, "", "f")
    mine = next_batch(store, name, "ann")[0].assignment
    disable(store, "ann")
    assert next_batch(store, name, "ann") == []
    with pytest.raises(InputError, match="disabled"):
        submit(store, "ann", [Judgement("t", mine, 1)])
    with pytest.raises(InputError, match="unknown expert 'eve'"):
        next_batch(store, name, "eve")
    with pytest.raises(InputError, match="unknown campaign 'none'"):
        next_batch(store, "none", "ann")
    assert labels_frame(store).empty


# Where a text may stand, in the order in which it is tried; what is read was entered before, if it could be.
WORDS = {"guideline", "reason", "campaign's guideline"}
NAMES = {"expert", "campaign", "campaign asked", "expert asked", "campaign read"}
IDS = {"token", "session", "flag", "pair"}
HOSTILE = {  # where each text is kept; everywhere else it is refused
    "x" * 10_000: WORDS,
    "a\0b": set[str](),
    "\ud800": set[str](),
    "'; DROP TABLE expert; --": WORDS | NAMES | IDS,
    '"quoted", \\back\n%s %(a)s :b ?': WORDS | IDS,
    "👗🧵": WORDS | NAMES | IDS,
    "\\.": WORDS | NAMES | IDS,
    "": WORDS,
}


def test_any_text_in_any_place_is_kept_as_it_is_or_refused(store: Store) -> None:
    begin(store)
    for place, text in enumerate(HOSTILE):
        _enter_everywhere(store, text, f"campaign {place}")


def _enter_everywhere(store: Store, text: str, name: str) -> None:
    create_campaign(store, Plan(name), pairs(), ["ann", "bob"])
    tasks = next_batch(store, name, "ann", 9)
    acts: dict[str, Callable[[], object]] = {
        "token": lambda: submit(store, "ann", [Judgement(text, tasks[0].assignment, 1)]),
        "session": lambda: submit(
            store, "ann", [Judgement("session " + name, tasks[1].assignment, 1)], session_id=text
        ),
        "guideline": lambda: submit(
            store, "ann", [Judgement("guideline " + name, tasks[2].assignment, 1, guideline=text)]
        ),
        "reason": lambda: flag_task(store, "ann", tasks[3].assignment, text, name),
        "flag": lambda: flag_task(store, "ann", tasks[4].assignment, "reason", text),
        "expert": lambda: add_expert(store, text),
        "campaign": lambda: create_campaign(store, Plan(text), pairs(), ["ann"]),
        "campaign's guideline": lambda: create_campaign(store, Plan(f"by {name}", guideline=text), pairs(), ["ann"]),
        "pair": lambda: add_pairs(store, name, pd.DataFrame({"query_id": [text], "candidate_id": ["c"]}, dtype=object)),
        "campaign asked": lambda: next_batch(store, text, "ann"),
        "expert asked": lambda: next_batch(store, name, text),
        "another's task": lambda: submit(store, text, [Judgement("who " + name, tasks[5].assignment, 1)]),
        "campaign read": lambda: labels_frame(store, campaign=text),
    }
    kept, told = set[str](), list[str]()
    for place, act in acts.items():
        try:
            act()
            kept.add(place)
        except InputError as error:
            told.append(str(error))
    assert kept == HOSTILE[text], text[:40]
    assert max(map(len, told), default=0) < 400
    frame = labels_frame(store, campaign=name)
    guidelines = {"token": "", "session": "", "guideline": text}
    assert set(frame["guideline"]) == {words for place, words in guidelines.items() if place in kept}
    assert set(frame["session_id"].dropna()) == ({text} if "session" in kept else set())
    entered = {"token": text, "session": f"session {name}", "guideline": f"guideline {name}"}
    assert set(frame["label_id"]) == {token for place, token in entered.items() if place in kept}
    asked = {task.query_id for task in next_batch(store, name, "bob", 99)}
    assert (text in asked) == ("pair" in kept)


WRONG: tuple[dict[str, object], ...] = (
    {"value": 2},
    {"value": True},
    {"value": 1.0},
    {"value": "1"},
    {"assignment": -1},
    {"assignment": 2**64},
    {"assignment": "1"},
    {"assignment": 10**9},
    {"seconds": float("nan")},
    {"seconds": -0.5},
    {"seconds": float("inf")},
    {"mode": "maybe"},
)


def test_a_bad_judgement_keeps_the_whole_batch_out(store: Store) -> None:
    name = begin(store)
    first, second = next_batch(store, name, "ann", 2)
    for wrong in WRONG:
        bad = Judgement(**{"token": "bad", "assignment": second.assignment, "value": 1, **wrong})  # type: ignore[arg-type]
        with pytest.raises(InputError, match=r"judgement 1: |not a task"):
            submit(store, "ann", [Judgement("good", first.assignment, 1), bad])
    assert labels_frame(store).empty


def test_bad_pairs_are_told_by_row_and_nothing_is_stored(store: Store) -> None:
    add_expert(store, "ann")
    bad = pd.DataFrame({"query_id": ["q", None, "x" * 2000, "q"], "candidate_id": ["c", "c", "c", "a\0"]})
    with pytest.raises(InputError) as told:
        create_campaign(store, Plan("bad"), bad, ["ann"])
    assert "row 1: query_id is empty" in str(told.value)
    assert "row 2: query_id" in str(told.value)
    with pytest.raises(InputError, match="row 1: 'q' with itself"):
        create_campaign(store, Plan("bad"), pd.DataFrame({"query_id": ["p", "q"], "candidate_id": ["c", "q"]}), ["ann"])
    with pytest.raises(InputError, match="unknown expert 'eve'"):
        create_campaign(store, Plan("bad"), pairs(), ["ann", "eve"])
    with pytest.raises(InputError) as faults:
        create_campaign(
            store, Plan("bad", mode="grid", gold_share=2, early_stop=True, control_share=0), pairs(), ["ann"]
        )
    assert len(faults.value.faults) == 4
    assert list_campaigns(store).empty
    assert store.read(lambda c: c.execute(sa.select(sa.func.count()).select_from(schema.pair)).scalar()) == 0
