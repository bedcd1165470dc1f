"""Who may change what: every act of every role against a table, and that the pages' store lets nobody slip by."""

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

import pandas as pd
import pytest

from eds.errors import InputError
from eds.labels import experts as accounts
from eds.labels.adjudication import adjudicate
from eds.labels.audit import read_audit
from eds.labels.calibration import plan_calibration
from eds.labels.campaigns import (
    Plan,
    add_pairs,
    add_to_panel,
    close_campaign,
    create_campaign,
    leave_panel,
    set_guideline,
)
from eds.labels.flags import resolve_flag
from eds.labels.gold import add_gold
from eds.labels.guidelines import Example, put_in_force, save_guideline
from eds.labels.permissions import ACTS, check_authority
from eds.labels.schema import ROLES
from eds.labels.sessions import sign_out_everywhere
from eds.labels.store import Store
from eds.labels.transfer import import_votes
from tests.labels.stores import begin, fresh_store, pairs

PEOPLE = {"ann": "expert", "lea": "lead", "ada": "administrator", "out": "administrator"}
VOTES = pd.DataFrame({"query_id": ["q0"], "candidate_id": ["c0-0"], "expert_id": ["bob"], "value": [1]})
Act = Callable[[Store, str], object]
LEADING: dict[str, Act] = {
    "create": lambda store, by: create_campaign(store, Plan(f"by {by}"), pairs(), ["bob"], by=by),
    "add pairs": lambda store, by: add_pairs(store, "first", pairs(1, 1), by=by),
    "add to panel": lambda store, by: add_to_panel(store, "first", ["bob"], by=by),
    "leave panel": lambda store, by: leave_panel(store, "first", "cid" if by == "ada" else "bob", by=by),
    "close": lambda store, by: close_campaign(store, "first", by=by),
    "guideline": lambda store, by: set_guideline(store, "first", "1", by=by),
    "save": lambda store, by: save_guideline(store, f"2{by}", "words", by=by),
    "enforce": lambda store, by: put_in_force(store, "first", "1", by=by),
    "gold": lambda store, by: add_gold(store, pairs(1, 1).assign(value=1), by=by),
    "calibration": lambda store, by: plan_calibration(store, "first", 1, by=by),
    "flag": lambda store, by: resolve_flag(store, 1, by=by),
    "decide": lambda store, by: adjudicate(store, "first", "q0", "c0-0", 1, by=by, token=f"t {by}"),
    "import": lambda store, by: import_votes(store, VOTES, "first", by=by),
    "invite an expert": lambda store, by: accounts.invite(store, "bob", by=by),
    "make an expert": lambda store, by: accounts.add_expert(store, f"new{by}", by=by),
}
RULING: dict[str, Act] = {
    "make a lead": lambda store, by: accounts.add_expert(store, f"new{by}", "lead", by=by),
    "invite a lead": lambda store, by: accounts.invite(store, "lea", by=by),
    "set role": lambda store, by: accounts.set_role(store, "bob", "lead", by=by),
    "disable": lambda store, by: accounts.disable(store, "bob", by=by),
    "enable": lambda store, by: accounts.enable(store, "bob", by=by),
    "sign out": lambda store, by: sign_out_everywhere(store, "bob", by=by),
}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with fresh_store("sqlite", tmp_path) as made:
        begin(made, panel=("bob", "cid"))
        for name, role in PEOPLE.items():
            accounts.add_expert(made, name, role)
        save_guideline(made, "1", "words", [Example("e", "f", "positive")])
        put_in_force(made, "first", "1")
        accounts.disable(made, "out")
        yield made


@pytest.mark.parametrize("name", [*LEADING, *RULING])
def test_each_act_is_refused_to_those_without_the_right(store: Store, name: str) -> None:
    act = {**LEADING, **RULING}[name]
    before = len(read_audit(store))
    wrong = ["ann", "out"] + (["lea"] if name in RULING else [])
    for by in wrong:
        for opened in (store, store.for_accounts()):
            with pytest.raises(InputError, match=r"may not|not lead|disabled"):
                act(opened, by)
    for nobody in ("nobody", ""):  # a page that forgets to say who acts
        with pytest.raises(InputError, match=r"is not an account that may|unknown expert|cannot be a name|is empty"):
            act(store.for_accounts(), nobody)
    assert len(read_audit(store)) == before


@pytest.mark.parametrize("name", [*LEADING, *RULING])
def test_those_with_the_right_may(store: Store, name: str) -> None:
    act = {**LEADING, **RULING}[name]
    for by in ["ada"] + (["lea"] if name in LEADING else []):
        if name == "flag":
            with pytest.raises(InputError, match="unknown flag"):
                act(store.for_accounts(), by)
        else:
            act(store.for_accounts(), by)
    assert not store.accounts_only


@pytest.mark.parametrize("name", [*(name for name in LEADING if name not in ("decide", "flag")), *RULING])
def test_whoever_holds_the_database_may_do_everything(store: Store, name: str) -> None:
    {**LEADING, **RULING}[name](store, "command line")


def test_every_combination_of_roles() -> None:
    allowed = {
        (role, act, theirs)
        for role, act, theirs in itertools.product(ROLES, ACTS, ROLES)
        if role == "administrator" or (role, act, theirs) == ("lead", "invite", "expert")
    }
    for role, act, theirs in itertools.product(ROLES, ACTS, ROLES):
        if (role, act, theirs) in allowed:
            check_authority("ada", role, act, "bob", theirs)
        else:
            with pytest.raises(InputError, match="Ask an administrator"):
                check_authority("ada", role, act, "bob", theirs)


def test_nobody_locks_themselves_out(store: Store) -> None:
    for act in ("disable", "set role"):
        with pytest.raises(InputError, match="your own rights"):
            check_authority("ada", "administrator", act, "ada", "administrator")
    check_authority("ada", "administrator", "invite", "ada", "administrator")
    with pytest.raises(InputError, match="unknown"):
        check_authority("ada", "owner", "invite", "bob", "expert")
    with pytest.raises(InputError, match="your own rights"):
        accounts.disable(store, "ada", by="ada")
    with pytest.raises(InputError, match="your own rights"):
        accounts.set_role(store, "ada", "lead", by="ada")
