"""Votes as CSV or JSON lines, with pairs.csv beside them where labels are decided.

    votes.csv | votes.jsonl   vote_id,query_id,candidate_id,expert_id,value (1, 0, nothing: unsure),seconds,created_at,
                              session_id,guideline,kind,supersedes, and behind them campaign,mode,polarity

Reading checks what a catalogue and a file can be held against; what a label store minds (experts, corrections,
contradictions of one expert) it tells itself when it takes the votes. crowd-kit's task,worker,label is its matter too.
"""

from pathlib import Path

import pandas as pd

from eds.benchmarks import pairs_file, rows
from eds.benchmarks.benchmark import VOTE_COLUMNS, Benchmark, Place
from eds.benchmarks.json_files import Faults
from eds.benchmarks.text_files import read_csv, read_jsonl, write_csv, write_jsonl
from eds.errors import InputError

NEEDED = ["query_id", "candidate_id", "expert_id", "value"]
CROWDKIT = {"task", "worker", "label"}
SLOT = ("query_id", "candidate_id", "expert_id", "kind")  # what an expert answers once in a campaign
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


def sound(votes: pd.DataFrame, place: Place, faults: Faults) -> tuple[pd.DataFrame | None, list[str]]:
    """The votes of a file, and a note on columns that mean nothing here; nothing where it is no file of votes."""
    names = set(map(str, votes.columns))
    if not (names >= CROWDKIT or rows.columns(votes, NEEDED, place, faults)):
        faults.add(place.file, [f"is no file of votes: give the header {','.join(NEEDED)} and what else the format has"
                                ", or crowd-kit's task,worker,label"])  # fmt: skip
        return None, []
    rows.plain(votes, place, faults)
    strange = sorted(names - {*VOTE_COLUMNS, "label_id"} - (CROWDKIT if names >= CROWDKIT else set()))
    return votes, [f"{place.file}: columns {', '.join(strange)} mean nothing here and are left out"] if strange else []


def repeated(votes: pd.DataFrame, place: Place, *, campaigns: bool = True) -> tuple[int, list[str]]:
    """How many votes say what another one says (the store keeps each once), and the note on them.

    An act has its name once, and an expert begins a pair once in a campaign; `campaigns`: they are the file's.
    """
    told = {name: votes[name] for name in (*SLOT, *(["campaign"] if campaigns else [])) if name in votes}
    slot = pd.DataFrame(told).assign(kind=told["kind"].fillna("normal") if "kind" in told else "normal")
    absent = pd.Series(None, votes.index, dtype=object)
    follows, names = (votes[name].replace("", None) if name in votes else absent for name in ("supersedes", "vote_id"))
    again = slot.astype(str).assign(follows=follows).duplicated() & follows.isna()
    again |= names.duplicated() & names.notna()
    rows_again = votes.index[again.to_numpy(bool)]
    if not len(rows_again):
        return 0, []
    return len(rows_again), [f"{place.file}: {len(rows_again):,} votes say again what others say, as "
                             f"{place.of(rows_again[0])}: each counts once"]  # fmt: skip


def read(place: Path) -> Benchmark:
    """An exported folder, or one file of votes."""
    file = place if place.is_file() else next((place / name for name in NAMES if (place / name).is_file()), None)
    if file is None:
        raise InputError(f"holds none of {', '.join(NAMES)}", where=str(place), do="Give the file of votes itself.")
    faults = Faults()
    notes: list[str] = []
    votes, told = sound(read_votes(file), Place(file), faults)
    truth = suspects = None
    places = {"votes": Place(file)}
    pairs = place / "pairs.csv"
    if place.is_dir() and pairs.is_file():
        truth, suspects, notes = pairs_file.read(pairs, "imported votes", faults)
        places |= {"truth": Place(pairs), "suspects": Place(pairs)}
    elif votes is not None and not len(votes):
        faults.add(file, ["holds no votes: there is a header, and no row"])
    notes = [*told, *notes]
    faults.refuse("the files cannot be imported", "Nothing was imported. Rows count from 0:")
    votes = votes if votes is not None and len(votes) else None
    return Benchmark(None, truth, suspects, votes, places=places, notes=tuple(notes))
