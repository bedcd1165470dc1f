"""What goes wrong between us and the storage: what passes is waited for, what does not is told, and no secret is."""

import logging
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from eds import io as storage
from eds.errors import InputError
from eds.io import AbsentError, StorageError
from tests.object_storage import KEY, SECRET, Storage

DATA = bytes(range(256)) * 40
PLACE = "s3://shop/pictures/a.jpg"
ACTS: dict[str, Callable[[], object]] = {
    "read": lambda: storage.read(PLACE, 0, len(DATA)),
    "look": lambda: storage.look(PLACE),
    "list": lambda: [one.name for one in storage.listing("s3://shop/pictures")],
    "put": lambda: storage.put(PLACE, DATA),
    "stream": lambda: storage.open_reading(PLACE).read(),
    "digest": lambda: storage.digest(PLACE),
}
METHOD = {"look": "HEAD", "put": "PUT"}


@pytest.fixture
def filled(shop: Storage) -> Storage:
    shop.client().put_object(Bucket="shop", Key="pictures/a.jpg", Body=DATA)
    return shop


@pytest.mark.parametrize("fault", ["SlowDown", "InternalError", "drop"])
@pytest.mark.parametrize("act", ACTS)
def test_a_fault_that_passes_is_waited_for(filled: Storage, act: str, fault: str) -> None:
    wanted = ACTS[act]()
    filled.first(2, fault, METHOD.get(act, "GET"))
    assert ACTS[act]() == wanted


@pytest.mark.parametrize("act", ["read", "stream", "digest", "list"])
@pytest.mark.parametrize("behind", [0, 1, len(DATA) // 2, len(DATA) - 1])
def test_a_connection_that_breaks_in_the_middle_costs_another_request_only(
    filled: Storage, act: str, behind: int
) -> None:
    wanted = ACTS[act]()
    filled.well()
    filled.first(2, min(behind, 100) if act == "list" else behind)
    assert ACTS[act]() == wanted
    assert filled.seen["GET"] == 3


@pytest.mark.parametrize(
    ("fault", "what"),
    [
        ("SlowDown", r"too many requests \(SlowDown\) \(3 attempts in .* s\).*fewer workers"),
        ("InternalError", r"the connection to the storage broke \(InternalError\) \(3 attempts"),
        ("drop", r"the connection to the storage broke \(3 attempts"),
        (100, r"the connection to the storage broke \(3 attempts"),
    ],
)
def test_patience_ends_and_the_fault_is_told(filled: Storage, fault: str | int, what: str) -> None:
    filled.first(10_000, fault)
    with pytest.raises(StorageError, match=f"{PLACE}: .*{what}") as refusal:
        storage.read(PLACE, 0, len(DATA))
    assert not isinstance(refusal.value, AbsentError)


def test_the_number_of_attempts_is_that_of_the_environment(filled: Storage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    filled.first(10_000, "InternalError")
    with pytest.raises(StorageError, match="1 attempts"):
        storage.read(PLACE, 0, 5)
    assert filled.seen["GET"] == 1
    for wrong in ("0", "-1", "many"):
        monkeypatch.setenv("AWS_MAX_ATTEMPTS", wrong)
        with pytest.raises(InputError, match="AWS_MAX_ATTEMPTS: is"):
            storage.read(PLACE)


@pytest.mark.parametrize("act", ["read", "look", "put", "stream", "digest"])
def test_a_bucket_without_permission(filled: Storage, act: str) -> None:
    filled.forbid("shop")
    filled.well()
    with pytest.raises(StorageError, match=f"{PLACE}: permission denied.*s3:GetObject"):
        ACTS[act]()
    assert sum(filled.seen.values()) == 1  # what does not pass is not tried again


def test_listing_and_looking_without_permission(filled: Storage) -> None:
    filled.fault = lambda method, path: "AccessDenied"
    with pytest.raises(StorageError, match=r"s3://shop/pictures: permission denied \(AccessDenied\)"):
        ACTS["list"]()
    with pytest.raises(StorageError, match="permission denied"):  # a no would be wrong: it cannot be told
        storage.exists(PLACE)


def test_credentials_that_are_not_accepted_or_not_there(filled: Storage, monkeypatch: pytest.MonkeyPatch) -> None:
    filled.fault = lambda method, path: "InvalidAccessKeyId"
    with pytest.raises(StorageError, match=r"not accepted \(InvalidAccessKeyId\). .*environment alone"):
        storage.read(PLACE, 0, 1)
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    with pytest.raises(StorageError, match=r"there are no credentials. .*AWS_ACCESS_KEY_ID"):
        storage.read(PLACE, 0, 1)


@pytest.mark.parametrize(
    "act",
    [
        lambda: storage.exists("s3://nobody/a"),
        lambda: list(storage.listing("s3://nobody")),
        lambda: storage.put("s3://nobody/a", b""),
        lambda: storage.read("s3://nobody/a"),
    ],
)
def test_a_bucket_that_is_not_there(shop: Storage, act: Callable[[], object]) -> None:
    with pytest.raises(StorageError, match=r"s3://nobody.*there is no such bucket.*AWS_ENDPOINT_URL") as refusal:
        act()
    assert not isinstance(refusal.value, AbsentError)


def test_a_storage_that_cannot_be_reached(shop: Storage, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # bound, not listening: nobody else can take it
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{closed.getsockname()[1]}")
        with pytest.raises(StorageError, match=f"{PLACE}: the storage cannot be reached.*AWS_ENDPOINT_URL"):
            storage.exists(PLACE)


def test_a_truncated_object_is_told_by_its_digest_and_nothing_is_kept(filled: Storage, tmp_path: Path) -> None:
    sha256 = storage.digest(PLACE)
    filled.client().put_object(Bucket="shop", Key="pictures/a.jpg", Body=DATA[:-1])
    with pytest.raises(StorageError, match="is not the one that was written: its sha256 is"):
        storage.fetched(PLACE, tmp_path / "cache", sha256)
    assert list((tmp_path / "cache").iterdir()) == []
    with pytest.raises(StorageError, match=r"truncated: 10,239 of 10,240 bytes came from byte 0 on"):
        storage.read(PLACE, 0, len(DATA))


def test_an_object_that_changes_while_it_is_fetched_is_not_kept(filled: Storage, tmp_path: Path) -> None:
    def change(method: str, path: str) -> None:
        if method == "GET":
            filled.client().put_object(Bucket="shop", Key="pictures/a.jpg", Body=DATA[::-1])

    filled.fault = change
    with pytest.raises(StorageError, match="changed while it was read"):
        storage.fetched(PLACE, tmp_path / "cache")
    assert list((tmp_path / "cache").iterdir()) == []


def test_what_somebody_else_puts_there_at_once_is_noticed(filled: Storage) -> None:
    def overwrite(method: str, path: str) -> None:
        if method == "HEAD":
            filled.client().put_object(Bucket="shop", Key="pictures/a.jpg", Body=b"theirs")

    filled.fault = overwrite
    with pytest.raises(StorageError, match="6 bytes are there, 10,240 were put"):
        storage.put(PLACE, DATA)


def test_no_secret_is_written_anywhere(
    filled: Storage, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_SESSION_TOKEN", "token-of-the-tests")
    caplog.set_level(logging.DEBUG)
    storage.read(PLACE)
    filled.first(10_000, "SlowDown")
    with pytest.raises(StorageError) as refusal:
        storage.read(PLACE, 0, 5)
    said = caplog.text + str(refusal.value)
    assert not any(secret in said for secret in (SECRET, KEY, "token-of-the-tests", "Signature"))


def test_a_fault_of_ours_goes_on_as_it_is(filled: Storage) -> None:
    from eds.io.retries import patiently

    calls = []

    def wrong() -> None:
        calls.append(1)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        patiently(wrong, PLACE)
    assert calls == [1]


@pytest.mark.parametrize("act", ["look", "list", "put"])
def test_a_server_without_its_kind_of_address_is_told(shop: Storage, monkeypatch: pytest.MonkeyPatch, act: str) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "localhost:5599")
    with pytest.raises(StorageError, match=r"AWS_ENDPOINT_URL: .*not whole. Write it with http://"):
        ACTS[act]()
