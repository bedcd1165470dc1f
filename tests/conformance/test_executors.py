"""Every engine does the same tasks, gives the same receipts, survives the same faults and resumes alike.

A new module of eds.parallel.backends takes part by itself. Ray runs in a network namespace of its own.
"""

import time
from pathlib import Path

import pytest

from eds.errors import EdsError, InputError, UnknownNameError
from eds.io.files import digest
from eds.parallel import Backend, Receipt, Resources
from eds.registry import EXECUTORS
from tests.parallel.isolated import begun
from tests.parallel.tasks import Squarer, journal, square, squares
from tests.privileges import small_disk

NAMES = list(EXECUTORS)
WITH_PROCESSES = [name for name in NAMES if name != "serial"]


@pytest.mark.parametrize("work", [square, Squarer])
@pytest.mark.parametrize("name", NAMES)
def test_receipts_tell_what_was_written(engines: dict[str, Backend], name: str, work: type, tmp_path: Path) -> None:
    specs = squares(tmp_path, 9)
    receipts = sorted(engines[name].map(work, specs), key=lambda receipt: receipt.rows)
    assert [Path(spec.out).read_text() for spec in specs] == [str(number**2) for number in range(9)]
    assert receipts == [Receipt(spec.out, digest(Path(spec.out)), spec.number) for spec in specs]
    assert journal(tmp_path) == list(range(9))


@pytest.mark.parametrize("name", NAMES)
def test_what_is_dear_is_made_once_in_each_worker(engines: dict[str, Backend], name: str, tmp_path: Path) -> None:
    list(engines[name].map(Squarer, squares(tmp_path, 12, pause=0.02)))
    instances = (tmp_path / "instances").read_text().split()
    assert len(instances) == 12
    assert len(set(instances)) <= (1 if name == "serial" else 2)


@pytest.mark.parametrize("name", NAMES)
def test_valid_outputs_are_taken_and_all_others_made_again(
    engines: dict[str, Backend], name: str, tmp_path: Path
) -> None:
    specs = squares(tmp_path, 8)
    first = sorted(engines[name].map(square, specs), key=str)
    kept = {spec.out: Path(spec.out).stat().st_mtime_ns for spec in specs}
    (tmp_path / "journal").unlink()
    out = tmp_path / "out"
    (out / "1.txt").write_text("")  # cut
    (out / "2.txt").unlink()  # gone
    (out / "3.txt").write_text("8")  # other bytes
    (out / "4.txt.receipt").write_text('{"task": "')  # half a receipt
    (out / "5.txt.receipt").unlink()
    (out / "6.txt.receipt").write_bytes((out / "7.txt.receipt").read_bytes())  # of another task
    again = sorted(engines[name].map(square, specs), key=str)
    assert again == first
    assert journal(tmp_path) == [1, 2, 3, 4, 5, 6]
    for number in (0, 7):
        assert Path(specs[number].out).stat().st_mtime_ns == kept[specs[number].out]


@pytest.mark.parametrize("name", NAMES)
def test_an_error_is_raised_as_it_is_and_what_was_finished_is_kept(
    engines: dict[str, Backend], name: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match="number 5: this number is bad") as caught:
        list(engines[name].map(square, squares(tmp_path, 6, refuses=5)))
    assert (caught.value.hint, caught.value.faults) == ("Give another.", ("a", "b"))
    (tmp_path / "journal").unlink()
    assert len(list(engines[name].map(square, squares(tmp_path, 5)))) == 5
    assert len(journal(tmp_path)) <= 2  # those that were under way when the error came
    with pytest.raises(ZeroDivisionError, match="a bug"):
        list(engines[name].map(square, squares(tmp_path / "bug", 1, breaks=0)))
    with pytest.raises(EOFError, match="a file ends early"):  # by which a pipe, too, says that it is closed
        list(engines[name].map(square, squares(tmp_path / "early", 1, ends_early=0)))
    assert journal(tmp_path / "early") == [0]


@pytest.mark.parametrize("work", [square, Squarer])
@pytest.mark.parametrize("name", WITH_PROCESSES)
def test_a_task_whose_worker_dies_is_done_again(
    engines: dict[str, Backend], name: str, work: type, tmp_path: Path
) -> None:
    specs = squares(tmp_path, 6, dies_once=2)
    assert {receipt.rows for receipt in engines[name].map(work, specs)} == set(range(6))
    assert journal(tmp_path).count(2) == 2


@pytest.mark.parametrize("name", WITH_PROCESSES)
def test_a_task_that_kills_its_workers_is_given_up_by_name(
    engines: dict[str, Backend], name: str, tmp_path: Path
) -> None:
    with pytest.raises(EdsError, match=r"1\.txt: a task was lost 3 times \(.*make tasks smaller"):
        list(engines[name].map(square, squares(tmp_path, 2, dies=1), Resources(retries=2)))
    assert journal(tmp_path).count(1) == 3


@pytest.mark.parametrize("work", [square, Squarer])
@pytest.mark.parametrize("name", WITH_PROCESSES)
def test_an_overdue_task_is_begun_a_second_time(
    engines: dict[str, Backend], name: str, work: type, tmp_path: Path
) -> None:
    specs = squares(tmp_path, 4, hangs_once=0)
    begun = time.monotonic()
    assert {receipt.rows for receipt in engines[name].map(work, specs, Resources(deadline=1.0))} == set(range(4))
    assert time.monotonic() - begun < 60  # it hangs for 300
    assert journal(tmp_path).count(0) == 2


@pytest.mark.parametrize("name", WITH_PROCESSES)
def test_stopped_processes_are_replaced_or_told_by_name(name: str, tmp_path: Path) -> None:
    """A stopped process neither dies nor answers; on a cluster it keeps its place as long as the engine lives."""
    with begun(name) as engine:
        list(engine.map(square, squares(tmp_path / "warm", 4)))  # to begin a process may take longer than the deadline
        specs = squares(tmp_path, 6, stops_once=1)
        assert {receipt.rows for receipt in engine.map(square, specs, Resources(deadline=1.0))} == set(range(6))
        assert journal(tmp_path).count(1) == 2
    with begun(name) as engine:
        list(engine.map(square, squares(tmp_path / "warm again", 4)))
        specs = squares(tmp_path / "all", 6, stops=1)
        with pytest.raises(EdsError, match=r"1\.txt: a task did not end within \d+ s, though \d are at it"):
            list(engine.map(square, specs, Resources(deadline=1.5, retries=1)))
    assert not list((tmp_path / "all" / "out").glob(".*"))
    with begun(name) as engine:
        specs = squares(tmp_path / "all", 6)
        assert {receipt.rows for receipt in engine.map(square, specs)} == set(range(6))
    again = journal(tmp_path / "all")
    assert [number for number in again if again.count(number) > 1 and number != 1] == []


@pytest.mark.parametrize("name", NAMES)
def test_closing_leaves_nothing_half_and_the_next_call_goes_on(
    engines: dict[str, Backend], name: str, tmp_path: Path
) -> None:
    specs = squares(tmp_path, 10, pause=0.2)
    receipts = engines[name].map(square, specs)
    done = [next(receipts) for _ in range(3)]
    receipts.close()  # type: ignore[attr-defined]
    time.sleep(0.3)
    there = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert [path for path in there if path.startswith(".")] == []
    assert all(digest(Path(receipt.url)) == receipt.sha256 for receipt in done)
    (tmp_path / "journal").unlink()
    assert {receipt.rows for receipt in engines[name].map(square, specs)} == set(range(10))
    assert len(journal(tmp_path)) <= 7


@pytest.mark.parametrize("name", ["serial", "processes"])
def test_a_full_disk_is_told_with_the_output_and_costs_nothing_else(
    engines: dict[str, Backend], name: str, tmp_path: Path
) -> None:
    with small_disk("64k") as small:
        (tmp_path / "out").symlink_to(small)
        specs = squares(tmp_path, 4)
        (small / "full").write_bytes(bytes(64 << 10))
        with pytest.raises(EdsError, match=r"out/\d\.txt: cannot be written \(No space left on device\)"):
            list(engines[name].map(square, specs))
        assert [path.name for path in small.iterdir()] == ["full"]
        (small / "full").unlink()
        assert len(list(engines[name].map(square, specs))) == 4


def test_no_tasks_are_no_work(engines: dict[str, Backend]) -> None:
    assert [list(engine.map(square, [])) for engine in engines.values()] == [[]] * len(NAMES)


def test_unknown_engines_are_refused() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean processes"):
        EXECUTORS.load("proceses")
