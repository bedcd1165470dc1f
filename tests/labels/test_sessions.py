"""Accounts and sessions: what opens a session, what ends it, and what guessing costs."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import sqlalchemy as sa

from eds.errors import InputError
from eds.labels import experts, schema, sessions
from eds.labels.audit import read_audit
from eds.labels.experts import accept, add_expert, disable, enable, invite, list_experts, set_role
from eds.labels.guessing import Origin
from eds.labels.password_hashing import at_low_priority
from eds.labels.sessions import (
    SignInError,
    rotate,
    session_of,
    sign_in,
    sign_out,
    sign_out_everywhere,
    write_last_seen,
)
from eds.labels.store import Store
from tests.labels.stores import BACKENDS, cheap, fresh_store

PASSWORD = "correct horse 👗"
HOUR = 3_600_000_000


class Clock:
    """A clock that the test turns."""

    def __init__(self) -> None:
        self.micro = 1_800_000_000_000_000

    def __call__(self) -> int:
        return self.micro


@pytest.fixture(params=BACKENDS)
def store(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    hasher = cheap()
    for module in (experts, sessions):
        monkeypatch.setattr(module, "hasher", lambda: hasher)
    sessions._nobody.cache_clear()
    with fresh_store(request.param, tmp_path) as made:
        yield made


@pytest.fixture
def clock(store: Store, monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(store, "now", made)
    return made


def member(store: Store, name: str = "ann", role: str = "expert") -> str:
    add_expert(store, name, role)
    accept(store, invite(store, name), PASSWORD)
    return name


def test_from_invitation_to_session(store: Store) -> None:
    add_expert(store, "ann", "lead")
    assert list_experts(store)["state"].tolist() == ["new"]
    token = invite(store, "ann", by="root")
    assert list_experts(store)["state"].tolist() == ["invited"]
    assert accept(store, token, PASSWORD) == "ann"
    assert list_experts(store)["state"].tolist() == ["active"]
    with pytest.raises(InputError, match="unknown, used or too old"):
        accept(store, token, "another password")
    session = session_of(store, sign_in(store, "ann", PASSWORD))
    assert session is not None
    assert (session.expert, session.role) == ("ann", "lead")
    set_role(store, "ann", "expert")
    assert [row.act for row in read_audit(store).itertuples()] == [
        "add expert",
        "invite",
        "accept invitation",
        "set role",
    ]
    selects = [sa.select(table) for table in schema.metadata.sorted_tables]
    raw = store.read(lambda connection: [str(row) for select in selects for row in connection.execute(select)])
    assert all(secret not in line for line in raw for secret in (token, PASSWORD))


def test_invitations_end(store: Store, clock: Clock) -> None:
    add_expert(store, "ann")
    old, new = invite(store, "ann"), invite(store, "ann", hours=2)
    for token in (old, "", "x" * 10_000, "a\0", "\ud800"):
        with pytest.raises(InputError, match="unknown, used or too old"):
            accept(store, token, PASSWORD)
    for password in ("short", "x" * 1001, ""):
        with pytest.raises(InputError, match="password cannot be used"):
            accept(store, new, password)
    clock.micro += 2 * HOUR + 1
    with pytest.raises(InputError, match="too old"):
        accept(store, new, PASSWORD)
    with pytest.raises(InputError, match="unknown expert"):
        invite(store, "eve")
    with pytest.raises(InputError, match="hours is"):
        invite(store, "ann", hours=0)
    with pytest.raises(InputError, match="is not a role"):
        add_expert(store, "bob", "king")


def test_an_invitation_used_from_many_places_at_once_counts_once(store: Store) -> None:
    add_expert(store, "ann")
    token = invite(store, "ann")

    def attempt(number: int) -> bool:
        try:
            accept(store, token, f"password number {number}")
        except InputError:
            return False
        return True

    with ThreadPoolExecutor(6) as pool:
        assert sum(pool.map(attempt, range(6))) == 1


def test_what_ends_a_session(store: Store, clock: Clock) -> None:
    member(store)

    def opened() -> str:
        return sign_in(store, "ann", PASSWORD)

    token = opened()
    sign_out(store, token)
    sign_out(store, token)
    assert session_of(store, token) is None
    token, other = opened(), opened()
    assert sign_out_everywhere(store, "ann", by="ann") == 2
    assert session_of(store, token) is session_of(store, other) is None
    token = opened()
    disable(store, "ann")
    assert session_of(store, token) is None
    with pytest.raises(SignInError, match="wrong"):
        opened()
    enable(store, "ann")
    assert session_of(store, token) is None  # it was ended, not hidden
    token = opened()
    accept(store, invite(store, "ann"), PASSWORD + "2")  # a new password ends what an old one opened
    assert session_of(store, token) is None
    for junk in ("", "x" * 10_000, "a\0", "\ud800", "' OR 1=1 --"):
        assert session_of(store, junk) is None


def test_sessions_grow_old(store: Store, clock: Clock) -> None:
    member(store)
    token = sign_in(store, "ann", PASSWORD)
    for _ in range(30):
        clock.micro += 11 * HOUR
        assert session_of(store, token) is not None  # used every 11 hours
        assert write_last_seen(store) == 1
    clock.micro += 6 * HOUR
    assert session_of(store, token) is None  # but two weeks are over
    token = sign_in(store, "ann", PASSWORD)
    clock.micro += 12 * HOUR + 1
    assert session_of(store, token) is None  # nobody used it
    token = sign_in(store, "ann", PASSWORD)
    clock.micro -= 5 * HOUR
    assert session_of(store, token) is not None  # a clock that goes back signs nobody out


def test_rotation_leaves_the_old_token_a_minute(store: Store, clock: Clock) -> None:
    member(store)
    old = sign_in(store, "ann", PASSWORD)
    new = rotate(store, old)
    assert new is not None
    assert session_of(store, old) is not None
    assert rotate(store, old) is None  # it may still be seen, not renewed
    clock.micro += 61_000_000
    assert session_of(store, old) is None
    assert session_of(store, new) is not None
    sign_out(store, new)
    assert rotate(store, new) is None


def test_guessing_is_slowed_for_its_address_only(store: Store, clock: Clock) -> None:
    member(store)
    waits = []
    for _ in range(40):
        try:
            sign_in(store, "ann", "wrong password", Origin("10.0.0.1"))
        except SignInError as error:
            waits.append(error.wait)
            clock.micro += round(error.wait * 1e6)
    real = [wait for wait in waits if wait]
    assert real[:6] == [1, 2, 4, 8, 16, 32]
    assert max(real) == 900
    if waits[-1]:
        with pytest.raises(SignInError, match="wrong"):  # the wait is over: one more failure
            sign_in(store, "ann", "wrong password", Origin("10.0.0.1"))
    with pytest.raises(SignInError, match="too many tries"):  # not even the right one, before the wait is over
        sign_in(store, "ann", PASSWORD, Origin("10.0.0.1"))
    assert session_of(store, sign_in(store, "ann", PASSWORD, Origin("10.0.1.2")))
    clock.micro += 900_000_000
    sign_in(store, "ann", PASSWORD, Origin("10.0.0.1"))
    for _ in range(3):  # success forgets
        with pytest.raises(SignInError, match="wrong"):
            sign_in(store, "ann", "wrong password", Origin("10.0.0.1"))


def test_a_clock_that_goes_back_locks_nobody_out(store: Store, clock: Clock) -> None:
    member(store)
    for _ in range(5):
        try:
            sign_in(store, "ann", "wrong password")
        except SignInError as error:
            clock.micro += round(error.wait * 1e6)
    clock.micro -= 24 * HOUR
    assert session_of(store, sign_in(store, "ann", PASSWORD))


def test_many_guesses_at_once_do_not_slip_through(store: Store) -> None:
    member(store)

    def attempt(number: int) -> str:
        try:
            sign_in(store, "ann", f"guess number {number}", Origin("10.0.0.1"))
        except SignInError as error:
            return str(error)
        return "in"

    with ThreadPoolExecutor(8) as pool:
        told = list(pool.map(attempt, range(24)))
    assert sum("is wrong" in text for text in told) == 4  # three are free, the fourth begins the waiting


@pytest.mark.parametrize("name", ["", "eve", "a\0", "\ud800", "x" * 10_000, "' OR '1'='1"])
def test_unknown_names_are_told_as_wrong_passwords_are(store: Store, name: str) -> None:
    with pytest.raises(SignInError, match="the name or the password is wrong"):
        sign_in(store, name, PASSWORD)


def test_an_unknown_name_takes_the_time_of_a_known_one(tmp_path: Path) -> None:
    with fresh_store("sqlite", tmp_path) as store:  # with the real cost of a password
        experts.hasher.cache_clear()
        sessions._nobody.cache_clear()
        member(store)

        def took(name: str, turn: int) -> float:
            start = at_low_priority(time.process_time)  # of the process that hashes, whatever else the machine does
            with pytest.raises(SignInError):
                sign_in(store, name, "wrong password", Origin(f"10.0.{turn}.1"))
            return at_low_priority(time.process_time) - start

        took("ann", 0)
        times = np.array([(took("ann", turn), took("nobody", turn)) for turn in range(1, 8)])
        known, unknown = times.min(axis=0)
        assert known > 0.01  # a hash is slow by design
        assert 0.6 < unknown / known < 1.6
