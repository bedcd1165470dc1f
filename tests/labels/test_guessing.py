"""What guessing costs: by name, network and altogether; and who is not held up by it."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from eds.errors import InputError
from eds.labels import experts, guessing, password_hashing, sessions
from eds.labels.experts import accept, add_expert, invite
from eds.labels.guessing import Origin, forget_old
from eds.labels.passkeys import (
    NewPasskey,
    add_passkey,
    find_passkey,
    passkeys_of,
    remove_passkey,
    sign_in_with,
)
from eds.labels.password_hashing import HashingBusyError, at_low_priority
from eds.labels.schema import attempt, session
from eds.labels.sessions import (
    SignInError,
    forget_ended,
    session_of,
    sign_in,
    sign_in_invited,
    sign_in_vouched,
    sign_out,
    write_last_seen,
)
from eds.labels.store import Store
from tests.labels.stores import cheap, fresh_store

PASSWORD = "correct horse battery"
DAY = 86_400_000_000


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    hasher = cheap()
    for module in (experts, sessions):
        monkeypatch.setattr(module, "hasher", lambda: hasher)
    sessions._nobody.cache_clear()
    with fresh_store("sqlite", tmp_path) as made:
        for name in ("ann", "bob"):
            add_expert(made, name)
            accept(made, invite(made, name), PASSWORD)
        yield made


def refused(store: Store, name: str, origin: Origin, password: str = "wrong") -> float:
    """The wait that a try is answered with, 0 for a plain refusal."""
    with pytest.raises(SignInError) as error:
        sign_in(store, name, password, origin)
    return error.value.wait


def count(store: Store, table: sa.Table) -> int:
    return store.read(lambda connection: connection.execute(sa.select(sa.func.count()).select_from(table)).scalar_one())


def test_a_thousand_names_from_one_network_are_not_tried(store: Store) -> None:
    waits = [refused(store, f"name-{number}", Origin(f"10.1.1.{number % 250}")) for number in range(200)]
    assert waits[:60] == [0] * 60
    assert all(0 < wait <= 10 for wait in waits[61:])
    assert count(store, attempt) <= 2 * 62  # the store's table does not grow by what memory refuses
    assert session_of(store, sign_in(store, "ann", PASSWORD, Origin("10.9.9.9")))


def test_all_networks_together_have_a_limit_and_a_known_device_has_none(store: Store) -> None:
    waits = [refused(store, f"name-{n}", Origin(f"10.{n // 200}.{n % 200}.1")) for n in range(310)]
    assert waits[:300] == [0] * 300
    assert any(waits[300:])
    assert 0 < refused(store, "ann", Origin("10.200.0.1"), PASSWORD) <= 5
    assert session_of(store, sign_in(store, "ann", PASSWORD, Origin("10.200.0.1", device="known")))


def test_who_guesses_one_name_from_everywhere_holds_up_new_devices_only(store: Store) -> None:
    waits = [refused(store, "ann", Origin(f"10.0.{number}.1")) for number in range(55)]
    assert waits[:51] == [0] * 51
    assert all(0 < wait <= 30 for wait in waits[51:])
    assert session_of(store, sign_in(store, "ann", PASSWORD, Origin("10.0.9.1", device="known")))
    assert session_of(store, sign_in(store, "bob", PASSWORD, Origin("10.0.9.1")))
    tries = [refused(store, "ann", Origin("10.0.9.1", device="known")) for _ in range(6)]
    assert tries[:4] == [0] * 4  # a stolen device is slowed, too
    assert tries[4] > 0


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("10.1.2.3", "10.1.2.0/24"),
        ("2001:db8::1:2:3:4", "2001:db8::/64"),
        ("2001:db8:0:1::9", "2001:db8:0:1::/64"),
        ("::ffff:10.1.2.3", "10.1.2.0/24"),
        ("fe80::1%eth0", "fe80::/64"),
        ("", ""),
        ("testclient", "testclient"),
    ],
)
def test_addresses_of_one_network_count_as_one(address: str, network: str) -> None:
    assert Origin(address).network == network


def test_buckets_fill_again_and_networks_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(guessing, "MOST_NETWORKS", 5)
    memory = guessing.Memory()
    assert [memory.take("a") for _ in range(60)] == [0] * 60
    assert memory.take("a") == pytest.approx(10)
    clock[0] += 10
    assert memory.take("a") == 0
    for number in range(50):
        clock[0] += 60
        memory.take(f"network {number}")
    assert len(memory._networks) <= 7


def test_old_failures_are_forgotten_by_a_timer(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    refused(store, "ann", Origin("10.0.0.1"))
    assert (forget_old(store), count(store, attempt)) == (0, 2)
    now = store.now()
    monkeypatch.setattr(store, "now", lambda: now + 2 * DAY)
    assert (forget_old(store), count(store, attempt)) == (2, 0)


@pytest.mark.parametrize("password", ["1234567890", " " * 10, "aaaaaaaaaa", "password123", "qwertyuiop", "abcdefghij"])
def test_what_is_guessed_first_is_no_password(store: Store, password: str) -> None:
    with pytest.raises(InputError, match="first that are guessed"):
        accept(store, invite(store, "ann"), password)
    assert session_of(store, sign_in(store, "ann", PASSWORD))  # the old one stays


def test_hashes_wait_in_one_process_of_low_priority_and_not_too_many() -> None:
    given = (time.sleep, 0.1)
    threads = [threading.Thread(target=at_low_priority, args=given) for _ in range(password_hashing.MOST_WAITING)]
    for thread in threads:
        thread.start()
    try:
        for thread in threads:
            while password_hashing._waiting._value:
                thread.join(0.001)
        with pytest.raises(HashingBusyError):
            at_low_priority(os.getpid)
    finally:
        for thread in threads:
            thread.join()
    assert at_low_priority(os.nice, 0) == 19
    if hasattr(os, "sched_getaffinity"):  # a hash has many threads; they leave the other cores alone
        assert len(at_low_priority(os.sched_getaffinity, 0)) == 1
    with pytest.raises(FileNotFoundError):  # what it raises is raised here
        at_low_priority(os.stat, "nowhere")


def test_a_hashing_process_that_died_is_replaced() -> None:
    number = at_low_priority(os.getpid)
    assert number != os.getpid()
    os.kill(number, signal.SIGKILL)
    os.waitid(os.P_PID, number, os.WEXITED | os.WNOWAIT)
    assert at_low_priority(os.getpid) != number
    with pytest.raises(HashingBusyError):  # and one that dies of what it is asked is told
        at_low_priority(os._exit, 1)
    assert at_low_priority(abs, -7) == 7


def test_asking_who_somebody_is_never_writes(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    token = sign_in(store, "ann", PASSWORD)
    now, write = store.now(), store.write
    monkeypatch.setattr(store, "now", lambda: now + 3_600_000_000)

    def no_write(*_: object, **__: object) -> None:
        raise AssertionError("a write in the path of a request")

    monkeypatch.setattr(store, "write", no_write)
    assert session_of(store, token) is not None
    monkeypatch.setattr(store, "write", write)
    assert (write_last_seen(store), write_last_seen(store)) == (1, 0)
    query = sa.select(session.c.seen_at)
    assert store.read(lambda connection: connection.execute(query).scalar_one()) == now + 3_600_000_000


def test_sessions_of_programs_without_cookies_do_not_pile_up(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "MOST_VOUCHED", 5)
    own = sign_in(store, "ann", PASSWORD)
    tokens = [sign_in_vouched(store, "ann", by="proxy", way="proxy") for _ in range(12)]
    assert [session_of(store, token) is not None for token in tokens] == [False] * 7 + [True] * 5
    assert session_of(store, own) is not None
    from eds.labels.audit import read_audit

    assert read_audit(store)["act"].tolist().count("sign in") == 1


def test_sessions_that_ended_long_ago_are_deleted_and_no_number_is_given_twice(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokens = [sign_in(store, "ann", PASSWORD) for _ in range(3)]
    for token in tokens:
        sign_out(store, token)
    assert forget_ended(store) == 0
    now = store.now()
    monkeypatch.setattr(store, "now", lambda: now + 31 * DAY)
    assert (forget_ended(store), count(store, session)) == (2, 1)
    found = session_of(store, sign_in(store, "ann", PASSWORD))
    assert found is not None
    assert found.number == 4


def test_passkeys_of_an_account(store: Store) -> None:
    key = NewPasskey("credential", "public key", 3, "Laptop")
    add_passkey(store, "ann", key)
    with pytest.raises(InputError, match="known already"):
        add_passkey(store, "bob", key)
    found = find_passkey(store, "credential")
    assert found is not None
    assert (found.expert, found.label, found.used_at) == ("ann", "Laptop", None)
    opened = session_of(store, sign_in_with(store, found, 4))
    assert opened is not None
    assert (opened.expert, opened.way) == ("ann", "passkey")
    with pytest.raises(SignInError):
        sign_in_with(store, found, 5)  # its counter has moved on since: a copy, or two at once
    remove_passkey(store, "bob", found.number)
    assert [one.sign_count for one in passkeys_of(store, "ann")] == [4]
    remove_passkey(store, "ann", found.number)
    assert find_passkey(store, "credential") is None


def test_an_invitation_replaces_password_and_passkeys(store: Store) -> None:
    add_passkey(store, "ann", NewPasskey("old", "public key", 0, "Lost phone"))
    invitation = invite(store, "ann")
    name, token = sign_in_invited(store, invitation)
    opened = session_of(store, token)
    assert opened is not None
    assert (name, opened.expert, opened.way) == ("ann", "ann", "invitation")
    assert passkeys_of(store, "ann") == []
    assert not experts.can_return(store, "ann")
    assert experts.list_experts(store).set_index("name")["state"]["ann"] == "active"  # as long as the session lasts
    assert refused(store, "ann", Origin(), PASSWORD) == 0
    with pytest.raises(InputError, match="used or too old"):
        sign_in_invited(store, invitation)
    experts.set_password(store, "ann", PASSWORD + "2")
    assert session_of(store, sign_in(store, "ann", PASSWORD + "2"))
    with pytest.raises(InputError, match="has a password"):
        experts.set_password(store, "ann", PASSWORD + "3")
    add_passkey(store, "ann", NewPasskey("new", "public key", 0, "Key"))
    assert experts.can_return(store, "ann")
    assert experts.list_experts(store).set_index("name")["state"]["ann"] == "active"
    experts.disable(store, "ann")
    assert find_passkey(store, "new") is None
