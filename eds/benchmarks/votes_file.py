"""Files of votes, as CSV or JSON lines; part of several formats.

    vote_id,query_id,candidate_id,expert_id,value (1, 0, nothing: unsure),seconds,created_at,session_id,guideline,kind,
    supersedes, then campaign,mode,polarity

Reading checks what a file and a catalogue can be checked against; what a label store requires (experts, corrections,
contradictions of one expert) it checks itself when it takes the votes. crowd-kit's task,worker,label is read as well.
"""

from pathlib import Path

import pandas as pd

from eds.benchmarks.benchmark import VOTE_COLUMNS, Location
from eds.benchmarks.files import read_csv, read_jsonl, write_csv, write_jsonl
from eds.benchmarks.validate import Faults, check_columns, check_scalars

NEEDED = ["query_id", "candidate_id", "expert_id", "value"]
CROWDKIT = {"task", "worker", "label"}
SLOT = ("query_id", "candidate_id", "expert_id", "kind")  # what an expert answers once in a campaign


def write_votes(votes: pd.DataFrame, file: Path) -> None:
    """Write the votes, oldest first, with the columns of the format."""
    ordered = votes[[name for name in VOTE_COLUMNS if name in votes]]
    (write_jsonl if file.suffix == ".jsonl" else write_csv)(ordered, file)


def read_votes(file: Path, faults: Faults) -> tuple[pd.DataFrame | None, list[str]]:
    """Return the votes of a file, None where it is not a file of votes; and notes."""
    return check_votes(read_jsonl(file) if ".jsonl" in file.suffixes else read_csv(file), Location(file), faults)


def check_votes(votes: pd.DataFrame, at: Location, faults: Faults) -> tuple[pd.DataFrame | None, list[str]]:
    """Return the votes if they have the columns of votes, else None; and a note on unknown columns."""
    names = set(map(str, votes.columns))
    if not (names >= CROWDKIT or check_columns(votes, NEEDED, at, faults)):
        header = f"give the header {','.join(NEEDED)} and optional columns, or crowd-kit's task,worker,label"
        faults.add(at.file, [f"is not a file of votes: {header}"])
        return None, []
    check_scalars(votes, at, faults)
    unknown = sorted(names - {*VOTE_COLUMNS, "label_id"} - (CROWDKIT if names >= CROWDKIT else set()))
    return votes, [f"{at.file}: unknown columns {', '.join(unknown)} are ignored"] if unknown else []


def count_repeats(votes: pd.DataFrame, at: Location, *, campaigns: bool = True) -> tuple[int, list[str]]:
    """Count the votes that repeat another one (the store keeps each once), and note it.

    A vote_id occurs once, and an expert votes first on a pair once in a campaign; `campaigns`: the file's own count.
    """
    slot_names = (*SLOT, *(["campaign"] if campaigns else []))
    columns = {name: votes[name] for name in slot_names if name in votes}
    slot = pd.DataFrame(columns).assign(kind=columns["kind"].fillna("normal") if "kind" in columns else "normal")
    absent = pd.Series(None, votes.index, dtype=object)
    corrects, names = (votes[name].replace("", None) if name in votes else absent for name in ("supersedes", "vote_id"))
    repeats = slot.astype(str).assign(corrects=corrects).duplicated() & corrects.isna()
    repeats |= names.duplicated() & names.notna()
    rows = votes.index[repeats.to_numpy(bool)]
    if not len(rows):
        return 0, []
    return len(rows), [f"{at.file}: {len(rows):,} votes repeat others, as {at.row(rows[0])}: each counts once"]
