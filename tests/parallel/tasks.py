"""Tasks for the tests of engines; they stand in a module, since workers import them by name."""

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

from eds.errors import InputError
from eds.parallel import Receipt, deliver


@dataclass(frozen=True)
class Square:
    """Write the square of a number, and note in a journal who did it."""

    out: str
    number: int
    journal: str
    pause: float = 0.0
    mood: str = ""  # what goes wrong: see square


def square(spec: Square) -> Receipt:
    """Do it; some moods are bad only the first time, which a mark beside the journal tells."""
    journal = Path(spec.journal)
    mark = journal.with_name(f"{spec.number}.{spec.mood}")
    first = not mark.exists()
    with journal.open("a") as lines:
        lines.write(f"{spec.number} {here()}\n")
    mark.touch()
    if spec.mood == "refuses":
        raise InputError("this number is bad", where=f"number {spec.number}", hint="Give another.", faults=["a", "b"])
    if spec.mood == "breaks":
        raise ZeroDivisionError("a bug")
    if spec.mood == "ends early":
        raise EOFError("a file ends early")
    if spec.mood == "dies" or (spec.mood == "dies once" and first):
        os.kill(os.getpid(), signal.SIGKILL)
    if spec.mood == "stops" or (spec.mood == "stops once" and first):
        os.kill(os.getpid(), signal.SIGSTOP)
    if spec.mood == "hangs once" and first:
        time.sleep(300)

    def write(path: Path) -> None:
        path.write_text(str(spec.number**2)[:1])
        time.sleep(spec.pause)
        path.write_text(str(spec.number**2))

    return deliver(spec.out, spec.number, write)


@dataclass(frozen=True)
class Busy:
    """Keep a core busy for so many seconds of its own time."""

    out: str
    seconds: float


def busy(spec: Busy) -> Receipt:
    end = time.process_time() + spec.seconds
    while time.process_time() < end:
        sum(range(10_000))
    return deliver(spec.out, 1, lambda path: path.write_text("done"))


class Squarer:
    """The same, by something that is dear to make: for each task it is noted which instance did it."""

    def __init__(self) -> None:
        self.name = f"{os.getpid()}-{time.monotonic_ns()}"

    def __call__(self, spec: Square) -> Receipt:
        with Path(spec.journal).with_name("instances").open("a") as lines:
            lines.write(f"{self.name}\n")
        return square(spec)


def here() -> int:
    """The network namespace of this process: where it is, for tests whose nodes are namespaces."""
    return Path("/proc/self/ns/net").stat().st_ino


def squares(folder: Path, count: int, pause: float = 0.0, **moods: int) -> list[Square]:
    """Specs of the squares 0..count-1; moods by name (_ for a space): the number that has it."""
    of = {number: mood.replace("_", " ") for mood, number in moods.items()}
    journal = str(folder / "journal")
    folder.mkdir(parents=True, exist_ok=True)
    return [Square(str(folder / "out" / f"{n}.txt"), n, journal, pause, of.get(n, "")) for n in range(count)]


def journal(folder: Path) -> list[int]:
    """The numbers that were worked at, ascending."""
    return sorted(number for number, _ in places(folder))


def places(folder: Path) -> list[tuple[int, int]]:
    """The numbers that were worked at, and where, in the order in which that was begun."""
    path = folder / "journal"
    lines = path.read_text().splitlines() if path.exists() else []
    return [(int(line.split()[0]), int(line.split()[1])) for line in lines]
