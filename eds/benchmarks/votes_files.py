"""Votes as CSV or JSON lines, with pairs.csv beside them where labels are decided.

    votes.csv | votes.jsonl   vote_id,query_id,candidate_id,expert_id,value (1, 0, nothing: unsure),seconds,created_at,
                              session_id,guideline,kind,supersedes, and behind them campaign,mode,polarity

Reading checks what a catalogue and a file can be held against; what a label store minds (experts, corrections,
contradictions of one expert) it tells itself when it takes the votes. crowd-kit's task,worker,label is its matter too.
"""

from pathlib import Path

import pandas as pd

from eds.benchmarks import pairs_file
from eds.benchmarks.benchmark import VOTE_COLUMNS, Benchmark, Place
from eds.benchmarks.json_files import Faults
from eds.benchmarks.text_files import read_csv, read_jsonl, write_csv, write_jsonl
from eds.errors import InputError

NAMES = ("votes.jsonl", "votes.csv", "votes.jsonl.gz", "votes.csv.gz")


def write(benchmark: Benchmark, folder: Path, kind: str = "csv") -> list[str]:
    """Write votes (kind csv or jsonl) and pairs; what the files cannot hold."""
    lost = []
    if benchmark.votes is None or not len(benchmark.votes):
        raise InputError("nobody has judged yet", where="labels", do="Judge, or import votes: eds labels import.")
    write_votes(benchmark.votes, folder / f"votes.{kind}")
    if benchmark.truth is not None or benchmark.suspects is not None:
        lost += pairs_file.write(benchmark, folder / "pairs.csv")
    if benchmark.images is not None:
        lost.append(f"the catalogue of {len(benchmark.images):,} images: only their ids")
    if benchmark.runs:
        lost.append(f"the lists of {len(benchmark.runs)} models")
    return lost


def write_votes(votes: pd.DataFrame, file: Path) -> None:
    """Write the acts, oldest first, with the columns of the format."""
    ordered = votes[[name for name in VOTE_COLUMNS if name in votes]]
    (write_jsonl if file.suffix == ".jsonl" else write_csv)(ordered, file)


def read_votes(file: Path) -> pd.DataFrame:
    """A file of votes as it is, by its ending."""
    return read_jsonl(file) if ".jsonl" in file.suffixes else read_csv(file)


def read(place: Path) -> Benchmark:
    """An exported folder, or one file of votes."""
    file = place if place.is_file() else next((place / name for name in NAMES if (place / name).is_file()), None)
    if file is None:
        raise InputError(f"holds none of {', '.join(NAMES)}", where=str(place), do="Give the file of votes itself.")
    faults = Faults()
    notes: list[str] = []
    votes = read_votes(file)
    truth = suspects = None
    places = {"votes": Place(file)}
    pairs = place / "pairs.csv"
    if place.is_dir() and pairs.is_file():
        truth, suspects, notes = pairs_file.read(pairs, "imported votes", faults)
        places |= {"truth": Place(pairs), "suspects": Place(pairs)}
    faults.refuse("the files cannot be imported", "Nothing was imported. Rows count from 0:")
    return Benchmark(None, truth, suspects, votes, places=places, notes=tuple(notes))
