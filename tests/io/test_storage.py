"""Files here and objects elsewhere behave alike; what goes there is held against Amazon's own library."""

import hashlib
import io
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from eds import io as storage
from eds.errors import InputError, MissingExtraError
from eds.io import AbsentError, StorageError, copies
from eds.io.files import unfinished
from tests.object_storage import Storage

DATA = bytes(range(256)) * 41
ODD = "ä ö/a+b=c&d%20e.txt"


@pytest.fixture(params=["path", "file", "s3"])
def base(request: pytest.FixtureRequest, tmp_path: Path, shop: Storage) -> str | Path:
    places: dict[str, str | Path] = {"path": tmp_path / "in", "file": f"file://{tmp_path}/in", "s3": "s3://shop/in"}
    return places[request.param]


def test_what_is_put_is_there_whole(base: str | Path) -> None:
    place = storage.join(base, "a", "b.bin")
    assert not storage.exists(place)
    assert storage.put(place, DATA) == hashlib.sha256(DATA).hexdigest() == storage.digest(place)
    assert (storage.exists(place), storage.size(place), storage.read(place)) == (True, len(DATA), DATA)
    before = storage.look(place).version
    storage.put(place, DATA[1:] + DATA[:1])
    assert storage.look(place).version != before
    storage.put(place, b"")
    assert (storage.size(place), storage.read(place), storage.digest(place)) == (0, b"", hashlib.sha256().hexdigest())


def test_a_list_tells_names_and_sizes_in_the_order_of_their_bytes(base: str | Path) -> None:
    names = ["b/c", "b.txt", "a", "ä", "b/A/x", ODD, "Z"]
    for size, name in enumerate(names):
        storage.put(storage.join(base, *name.split("/")), bytes(size))
    found = list(storage.listing(base))
    assert [one.name for one in found] == sorted(names, key=str.encode)
    assert {one.name: one.size for one in found} == {name: size for size, name in enumerate(names)}
    for one in found:
        there = storage.look(storage.join(base, one.name))
        assert (there.size, there.version) == (one.size, one.version)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=15)
@given(first=st.integers(0, len(DATA)), count=st.integers(0, 500))
def test_ranges_are_those_of_the_bytes(base: str | Path, first: int, count: int) -> None:
    place = storage.join(base, "ranges")
    if not storage.exists(place):
        storage.put(place, DATA)
    if first + count <= len(DATA):
        assert storage.read(place, first, count) == DATA[first : first + count]
    else:
        with pytest.raises(StorageError, match="truncated"):
            storage.read(place, first, count)


def test_a_stream_reads_as_a_file_does(base: str | Path) -> None:
    place = storage.join(base, "v.npy")
    array = np.arange(3000, dtype=np.float32).reshape(100, 30)
    with storage.replacing(place) as temporary, temporary.open("wb") as out:
        np.save(out, array)
    with storage.open_reading(place) as found:
        assert np.array_equal(np.lib.format.read_array(found), array)
        assert found.seek(-8, io.SEEK_END) + 8 == storage.size(place)
        assert np.array_equal(np.frombuffer(found.read(), np.float32), array.ravel()[-2:])
        assert found.read() == b""


def test_a_block_that_fails_leaves_what_was_there(base: str | Path) -> None:
    place = storage.join(base, "kept")
    storage.put(place, b"old")

    def fail() -> None:
        with storage.replacing(place) as temporary:
            temporary.write_bytes(b"new")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert storage.read(place) == b"old"
    assert [one.name for one in storage.listing(base)] == ["kept"]


def test_what_is_absent_is_told(base: str | Path) -> None:
    place = storage.join(base, "none")
    for act in (storage.read, storage.size, storage.digest, storage.open_reading):
        with pytest.raises(AbsentError, match="there is no such"):
            act(place)
    with pytest.raises(AbsentError):
        storage.fetched(place, Path("/nowhere"))
    if storage.is_remote(base):
        assert list(storage.listing(base)) == []
    else:
        with pytest.raises(AbsentError, match="no such folder"):
            list(storage.listing(base))


def test_what_another_tool_put_reads_the_same_and_the_other_way_round(shop: Storage, tmp_path: Path) -> None:
    peer = shop.client()
    peer.put_object(Bucket="shop", Key=f"x/{ODD}", Body=DATA)
    peer.put_object(Bucket="shop", Key="x/folder/", Body=b"")  # a mark that some tools leave for an empty folder
    assert storage.read(storage.join("s3://shop/x", ODD)) == DATA
    assert [one.name for one in storage.listing("s3://shop/x/")] == [ODD]
    storage.put(storage.join("s3://shop", ODD), DATA)
    assert peer.get_object(Bucket="shop", Key=ODD)["Body"].read() == DATA


def test_a_long_list_comes_in_pages(shop: Storage) -> None:
    names = [f"{number:05d}" for number in range(1003)]
    shop.many("shop", [f"many/{name}" for name in names])
    assert [one.name for one in storage.listing("s3://shop/many")] == names
    assert shop.seen["GET"] == 2


def test_large_objects_go_and_come_in_parts(shop: Storage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copies, "PART", 1 << 20)
    data = np.random.default_rng(0).bytes((5 << 20) + 17)
    with storage.replacing("s3://shop/large.npy") as temporary:
        temporary.write_bytes(data)
    shop.well()
    sha256 = hashlib.sha256(data).hexdigest()
    copy = storage.fetched("s3://shop/large.npy", tmp_path / "cache", sha256)
    assert (copy.name, copy.read_bytes()) == (f"{sha256}.npy", data)
    assert shop.seen["GET"] == 6
    assert storage.fetched("s3://shop/large.npy", tmp_path / "cache", sha256) == copy
    assert shop.seen["GET"] == 6  # what is here is not fetched again
    assert storage.digest("s3://shop/large.npy") == sha256


def test_without_a_digest_another_version_is_another_copy(shop: Storage, tmp_path: Path) -> None:
    storage.put("s3://shop/ids.csv", b"a\n")
    first = storage.fetched("s3://shop/ids.csv", tmp_path)
    storage.put("s3://shop/ids.csv", b"b\n")
    second = storage.fetched("s3://shop/ids.csv", tmp_path)
    assert (first.read_bytes(), second.read_bytes(), second.suffix) == (b"a\n", b"b\n", ".csv")


def test_a_local_file_is_its_own_copy(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"1")
    assert storage.fetched(tmp_path / "a", tmp_path / "cache") == tmp_path / "a"
    assert not (tmp_path / "cache").exists()


def test_unfinished_writes_of_others_are_not_listed(tmp_path: Path) -> None:
    unfinished(tmp_path / "a.npy").write_bytes(b"half")
    (tmp_path / ".hidden").write_bytes(b"whole")
    assert [one.name for one in storage.listing(tmp_path)] == [".hidden"]


def test_a_local_fault_is_told_with_its_path(tmp_path: Path) -> None:
    for act in (storage.read, storage.open_reading):
        with pytest.raises(InputError, match=f"{tmp_path}: cannot be read"):
            act(tmp_path)


def test_without_the_extra_it_is_said_what_to_install(shop: Storage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "s3fs", None)
    monkeypatch.setenv("AWS_PROFILE_OF_THE_TEST", "another place, so that nothing made before is used")
    with pytest.raises(MissingExtraError, match=r'pip install "eds-benchmark\[scale\]"'):
        storage.exists("s3://shop/a")


def test_local_addresses_load_none_of_the_libraries(tmp_path: Path) -> None:
    program = (
        "import sys; from eds import io as storage; from pathlib import Path; place = Path(sys.argv[1]) / 'a';"
        "storage.put(place, b'1'); storage.read(place); list(storage.listing(place.parent)); storage.digest(place);"
        "print({'fsspec', 's3fs', 'botocore', 'pandas', 'numpy'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program, tmp_path], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


def test_a_forked_process_makes_connections_of_its_own(shop: Storage) -> None:
    storage.put("s3://shop/a", DATA)
    program = (
        "import os; from eds import io as storage; storage.read('s3://shop/a'); child = os.fork();"
        "code = 0 if len(storage.read('s3://shop/a', 1, 9)) == 9 else 1;"
        "os._exit(code) if child == 0 else exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60, env={**os.environ})
