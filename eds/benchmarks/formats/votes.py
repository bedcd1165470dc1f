"""Votes as CSV or JSON lines; decided labels as pairs.csv."""

from pathlib import Path
from typing import Annotated, Literal

from eds.benchmarks.benchmark import Benchmark, Location
from eds.benchmarks.pairs_file import read_pairs, write_pairs
from eds.benchmarks.validate import Faults
from eds.benchmarks.votes_file import read_votes, write_votes
from eds.errors import InputError

NAMES = ("votes.jsonl", "votes.csv", "votes.jsonl.gz", "votes.csv.gz")


def write(
    benchmark: Benchmark,
    folder: Path,
    *,
    file_type: Annotated[Literal["csv", "jsonl"], "How the votes are written."] = "csv",
) -> list[str]:
    """Write votes and pairs; return what the files cannot hold."""
    if benchmark.votes is None or not len(benchmark.votes):
        raise InputError("there are no votes", where="labels", hint="Judge, or import votes: eds labels import.")
    not_held = []
    write_votes(benchmark.votes, folder / f"votes.{file_type}")
    if benchmark.truth is not None or benchmark.suspects is not None:
        write_pairs(benchmark, folder / "pairs.csv")
    if benchmark.images is not None:
        not_held.append(f"the catalogue of {len(benchmark.images):,} images: only their ids")
    if benchmark.runs:
        not_held.append(f"the lists of {len(benchmark.runs)} models")
    return not_held


def read(source: Path) -> Benchmark:
    """Read an exported folder, or one file of votes; crowd-kit's task,worker,label as well."""
    files = [source] if source.is_file() else [source / name for name in NAMES if (source / name).is_file()]
    if not files:
        hint = "Give the file of votes itself."
        raise InputError(f"has none of {', '.join(NAMES)}", where=str(source), hint=hint)
    faults = Faults()
    votes, notes = read_votes(files[0], faults)
    truth = suspects = None
    locations = {"votes": Location(files[0])}
    pairs = source / "pairs.csv"
    if source.is_dir() and pairs.is_file():
        truth, suspects, more = read_pairs(pairs, "imported votes", faults)
        notes += more
        locations |= {"truth": Location(pairs), "suspects": Location(pairs)}
    elif votes is not None and not len(votes):
        faults.add(files[0], ["holds no votes: there is a header, but no row"])
    faults.raise_any("the files cannot be imported", "Nothing was imported. Rows count from 0:")
    votes = votes if votes is not None and len(votes) else None
    return Benchmark(None, truth, suspects, votes, locations=locations, notes=tuple(notes))
