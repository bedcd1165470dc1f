"""Commands killed at random moments, or met by a full disk: what was there stays whole, and the same command goes on.

    python -m tests.faults.commands [kill] [disk] [--times N] [--seed N]      both, if none is named

Every command runs once undisturbed; its result is the one that the disturbed copies of the project must come to when
the same command is given again: equal rows in every table, equal votes, no file half-written, never a traceback.
"""

import argparse
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq

from eds.labels.frames import labels_frame
from eds.labels.store import open_store
from tests.privileges import small_disk

COMMANDS = (  # in the order of the flow; each finds what the ones before it made
    "synthetic catalogue --products 24 --views 2 --wild 6 --size 64 --workers 1",
    "embeddings compute -m descriptor:hog",
    "embeddings compute -m colour=descriptor:hsv",
    "neighbors mine -k 10",
    "suspects pool -k 3 --yes",
    "suspects random -n 40 --yes",
    "synthetic experts judge",
    "truth decide",
    "metrics score --resamples 50",
    "analysis prevalence",
    "labels export votes.csv",
    "labels backup labels.zip",
    "images sheet --out sheet.png --count 12",
    "reports write --resamples 20 --gallery 1",
    "benchmarks export vsd vsd",
    "benchmarks export croissant croissant",
    "run",
)
FREE = (0, 8, 200)  # kB that a full disk has left
DISK = "48m"
CHANGING = ("created_at",)  # columns that hold the moment of writing


@dataclass
class Tally:
    """What was tried, and what was wrong."""

    runs: int = 0
    killed: int = 0
    refused: int = 0
    faults: list[str] = field(default_factory=list)


def call(project: Path, words: Sequence[str], *, after: float | None = None) -> tuple[int, str]:
    """Status and output of a command in a child process, which is killed after so many seconds if it runs still."""
    with tempfile.TemporaryFile("w+") as output:
        child = os.fork()
        if not child:
            _run(project, words, output.fileno())
        if after is not None:
            time.sleep(after)
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        output.seek(0)
        return os.waitstatus_to_exitcode(status), output.read()


def _run(project: Path, words: Sequence[str], output: int) -> None:
    from eds.cli import main as command_line

    status = 99
    try:
        os.chdir(project)
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.setpgid(0, 0)
        sys.argv = ["eds", *words]
        command_line()
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else 0 if ended.code is None else 98
    except BaseException:  # noqa: BLE001 - a traceback is what is looked for
        import traceback

        os.write(2, traceback.format_exc().encode())
    finally:
        os._exit(status)


def contents(project: Path) -> dict[str, pd.DataFrame]:
    """The rows of every table, and the votes without their moments."""
    result = {}
    for file in sorted(project.rglob("*.parquet")):
        if not {".eds", "journal"} & {*file.relative_to(project).parts}:  # an interrupted draw leaves an entry
            result[str(file.relative_to(project))] = pq.read_table(file).to_pandas()
    if (project / "labels.db").exists():
        store = open_store(project / "labels.db")
        result["votes"] = labels_frame(store)
        store.close()
    return {name: frame.drop(columns=[one for one in CHANGING if one in frame]) for name, frame in result.items()}


def differing(found: dict[str, pd.DataFrame], wanted: dict[str, pd.DataFrame]) -> list[str]:
    """The names of tables that are not equal."""
    both = found.keys() & wanted.keys()
    return sorted((found.keys() ^ wanted.keys()) | {name for name in both if not found[name].equals(wanted[name])})


def strays(project: Path) -> list[str]:
    """Files that a writer left behind under a temporary name, but for drawn pictures, whose folders nobody searches."""
    files = (path.relative_to(project) for path in project.rglob(".*.tmp"))
    return [str(path) for path in files if path.parts[0] not in (".eds", "images")]


@dataclass
class Stage:
    """A project before a command, how long the command takes, and what it makes."""

    words: list[str]
    before: Path
    seconds: float
    wanted: dict[str, pd.DataFrame]


def stages(folder: Path, commands: Sequence[str]) -> Iterator[Stage]:
    """Run the flow once, keeping the project before each command that is to be looked at."""
    project = folder / "flow"
    status, output = call(folder, ["init", "flow"])
    assert status == 0, output
    for number, text in enumerate(COMMANDS[: 1 + max(map(COMMANDS.index, commands))]):
        words, before = text.split(), folder / f"before-{number}"
        shutil.copytree(project, before)
        begun = time.monotonic()
        status, output = call(project, words)
        assert status == 0, f"{text}: {output}"
        if text in commands:
            yield Stage(words, before, time.monotonic() - begun, contents(project))
        shutil.rmtree(before)


def check(name: str, project: Path, stage: Stage, tally: Tally) -> None:
    """Give the command again; the rows must be those of the undisturbed run."""
    status, output = call(project, stage.words)
    if status != 0:
        tally.faults.append(f"{name}: given again it ends with {status}: {output[-400:]}")
        return
    if wrong := differing(contents(project), stage.wanted):
        tally.faults.append(f"{name}: other rows in {', '.join(wrong)}")
    if left := strays(project):
        tally.faults.append(f"{name}: left behind {', '.join(left)}")


def kill(folder: Path, stage: Stage, times: int, chance: random.Random, tally: Tally) -> None:
    """Kill the command at random moments of its time."""
    for turn in range(times):
        project = folder / "killed"
        shutil.copytree(stage.before, project)
        after = chance.uniform(0, stage.seconds)
        status, output = call(project, stage.words, after=after)
        name = f"{' '.join(stage.words)} killed after {after:.2f} s"
        tally.runs += 1
        tally.killed += status == -signal.SIGKILL
        if status not in (0, -signal.SIGKILL):
            tally.faults.append(f"{name}: {status}: {output[-400:]}")
        try:
            contents(project)  # what is there is whole
        except Exception as error:  # noqa: BLE001 - whatever reading a damaged file raises
            tally.faults.append(f"{name}: damaged: {error}")
        check(f"{name} (turn {turn})", project, stage, tally)
        shutil.rmtree(project)


@contextmanager
def filled(disk: Path, free: int) -> Iterator[None]:
    """Leave so many kB on a disk."""
    ballast = disk / "ballast"
    with ballast.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(65536))
        except OSError:
            pass
        file.truncate(max(file.tell() - free * 1024, 0))
    try:
        yield
    finally:
        ballast.unlink()


def fill(stage: Stage, free: int, tally: Tally) -> None:
    """Give the command on a full disk: it is done, or refuses in one line and leaves what was there."""
    with small_disk(DISK) as disk:
        project = disk / "project"
        shutil.copytree(stage.before, project)
        earlier = contents(project)
        with filled(disk, free):
            status, output = call(project, stage.words)
        name = f"{' '.join(stage.words)} with {free} kB free"
        tally.runs += 1
        tally.refused += status == 2
        if status not in (0, 2) or "Traceback" in output:
            tally.faults.append(f"{name}: {status}: {output[-400:]}")
        found = contents(project)
        if lost := earlier.keys() - found.keys():
            tally.faults.append(f"{name}: lost {', '.join(sorted(lost))}")
        check(name, project, stage, tally)


def run(commands: Sequence[str], ways: Sequence[str], times: int, seed: int, say: bool = True) -> Tally:
    """Disturb these commands in these ways."""
    tally, chance = Tally(), random.Random(seed)
    with tempfile.TemporaryDirectory(dir="/var/tmp") as place:
        for stage in stages(Path(place), commands):
            before = len(tally.faults)
            if "kill" in ways:
                kill(Path(place), stage, times, chance, tally)
            if "disk" in ways:
                for free in FREE:
                    fill(stage, free, tally)
            if say:
                words = "held" if len(tally.faults) == before else "FAILED"
                sys.stdout.write(f"{' '.join(stage.words):70} {stage.seconds:5.2f} s  {words}\n")
                sys.stdout.writelines(f"  {fault}\n" for fault in tally.faults[before:])
                sys.stdout.flush()
    return tally


def main() -> None:
    """All commands; ends with 1 if anything was wrong."""
    parser = argparse.ArgumentParser()
    parser.add_argument("ways", nargs="*", choices=["kill", "disk", []])
    parser.add_argument("--times", type=int, default=6)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    tally = run(COMMANDS, given.ways or ["kill", "disk"], given.times, given.seed)
    counts = f"{tally.runs} runs: {tally.killed} killed, {tally.refused} refused by a full disk"
    sys.stdout.write(f"{counts}; {len(tally.faults)} faults\n")
    sys.exit(bool(tally.faults))


if __name__ == "__main__":
    main()
