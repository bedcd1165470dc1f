"""Addresses: their kinds, their one form, joining; and none with a secret in it, not even in the refusal."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eds import io as storage
from eds.errors import InputError
from eds.io.addresses import key_of

NAMES = st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1).filter(
    lambda name: name not in (".", "..")
)


def test_the_kinds_of_addresses() -> None:
    assert storage.is_remote("s3://shop/a")
    local: list[str | Path] = ["a/b", "/a", "file:///a", Path("s3://shop/a"), "a:b", "C:\\a", ""]
    assert not any(map(storage.is_remote, local))
    for text in ("gs://shop/a", "https://shop/a", "S3://shop/a", "s3a://shop", "://a", "we ird://a"):
        with pytest.raises(InputError, match="cannot be read"):
            storage.is_remote(text)


def test_local_addresses_are_the_paths_that_they_name(tmp_path: Path) -> None:
    assert storage.local_path("a b/c%20d") == Path("a b/c%20d")
    for host in ("", "localhost"):
        assert storage.local_path(f"file://{host}/a%20b/c") == Path("/a b/c")
    assert storage.checked(f"file://{tmp_path}") == tmp_path
    for text in ("file://elsewhere/a", "file://a"):
        with pytest.raises(InputError, match="another machine"):
            storage.local_path(text)


@given(NAMES, NAMES)
def test_joined_names_are_the_key(first: str, second: str) -> None:
    joined = storage.join("s3://shop/", first, second)
    assert joined == storage.checked(joined)
    assert key_of(str(joined)) == ("shop", f"{first}/{second}")
    assert storage.name_of(joined) == second
    assert storage.join(Path("/a"), "b", "c") == Path("/a/b/c") == storage.join("file:///a", "b/c")


@pytest.mark.parametrize(
    "text",
    [
        "s3://AKIDX:hushhush@shop/a",
        "s3://hushhush@shop",
        "s3://shop?secret=hushhush/a",
        "s3://shop/a?X-Amz-Signature=hushhush",
    ],
)
def test_a_secret_in_an_address_is_refused_and_not_repeated(text: str) -> None:
    for act in (storage.checked, storage.exists, storage.read, lambda one: storage.join(one, "b")):
        with pytest.raises(InputError, match=r"a user or a secret.*AWS_ACCESS_KEY_ID") as refusal:
            act(text)
        assert "hush" not in str(refusal.value)
        assert "AKIDX" not in str(refusal.value)


@pytest.mark.parametrize(
    ("text", "what"),
    [("s3://", "no bucket"), ("s3:///a", "no bucket"), ("s3://shop/../b", "leaves"), ("s3://shop/a\0b", "leaves")],
)
def test_addresses_that_are_not_whole(text: str, what: str) -> None:
    with pytest.raises(InputError, match=what):
        storage.checked(text)
