"""The chain of acts: each act's digest covers what it says and the digest of the expert's act before it.

A chain per expert and campaign (a row of `panel`), not one for all: an expert gives one act after the other anyhow, so
the chain makes nobody wait for anybody. Its end stands in `panel`: how many acts, and the last digest.

Formula: digest_n = sha256(digest_(n-1) NUL part_1 NUL ... NUL part_m), the first 32 hexadecimal digits; digest_0 is
empty; the parts are those of Said in their order, in UTF-8; m is 15, or 18 for an act that says something of BESIDE.
Source: hash chains as in RFC 9162 (transparency logs) and git, in their simplest form.
Conventions: n counts by the act's id. A number is written in decimal digits; `seconds` as the whole number with the
same 64 bits, since databases write reals differently; a text that may be missing has "=" before it; what is missing is
empty. No text of the store holds NUL (validation.py). The names and not the numbers of expert, campaign and pair are
parts, so that damage to those tables is seen, too. It is a guard against damage and unnoticed changes, not against
somebody who rewrites the whole chain and every backup.

Example:
>>> act = Said("c", "ann", "q", "x", "normal", "t1", 1, 1, 1.5, 1000, None, "pair", None, "v1", 0)
>>> link("", act)
'7e70f439a96c3c66d4e2fdf0d02c6dfd'

"""

import hashlib
import struct
from collections.abc import Iterator, Sequence
from functools import reduce
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from eds.errors import DamagedError
from eds.labels.validation import short

PORTION = 50_000  # acts whose parts are joined at a time
SHOWN = 20

Chain = tuple[str, str]  # the names of campaign and expert


class Said(NamedTuple):
    """What an act says: the parts of its digest."""

    campaign: str
    expert: str
    query_id: str
    candidate_id: str
    kind: str
    label_id: str
    sequence: int
    value: int | None
    seconds: float | None
    created_at: int
    session_id: str | None
    mode: str
    polarity: str | None
    guideline: str | None
    late: int
    aspects: str | None = None
    grade: int | None = None
    note: str | None = None


MAY_BE_MISSING = ("session_id", "polarity", "guideline", "aspects", "note")
BESIDE = ("aspects", "grade", "note")  # what may be said beside the vote; an act without has no such parts


class End(NamedTuple):
    """Where a chain ends, as `panel` has it."""

    campaign: str
    expert: str
    acts: int
    head: str


def link(before: str, act: Said) -> str:
    """The digest of an act that follows the one with the digest `before`."""
    parts: dict[str, object] = act._asdict()
    if all(parts[name] is None for name in BESIDE):
        for name in BESIDE:
            del parts[name]
    for name in MAY_BE_MISSING:
        if parts.get(name) is not None:
            parts[name] = f"={parts[name]}"
    if act.seconds is not None:
        parts["seconds"] = struct.unpack("<q", struct.pack("<d", act.seconds + 0.0))[0]
    return _digest(before, "\0".join("" if part is None else str(part) for part in parts.values()).encode())


def links(acts: pa.Table, heads: dict[Chain, str]) -> list[str]:
    """The digests of acts (columns as Said) in their order; the chains' ends in `heads` move along."""
    result = []
    for chain, text in _texts(acts):
        heads[chain] = digest = _digest(heads.get(chain, ""), text)
        result.append(digest)
    return result


def verify(acts: pa.Table, ends: Sequence[End], place: str) -> None:
    """Raise DamagedError unless all acts of these chains are there and as they were stored, naming those that are not.

    `acts` has the columns of Said and `digest`, by id.
    """
    heads: dict[Chain, str] = {}
    counts: dict[Chain, int] = {}
    broken = []
    for index, ((chain, text), stored) in enumerate(zip(_texts(acts), acts["digest"].to_pylist(), strict=True)):
        if _digest(heads.get(chain, ""), text) != stored:
            broken.append(index)
        heads[chain] = stored
        counts[chain] = counts.get(chain, 0) + 1
    faults = [
        "act {label_id} of {expert} in {campaign} on {query_id} {candidate_id}".format_map(
            {name: short(str(value)) for name, value in row.items()}
        )
        for row in acts.take(pa.array(broken[:SHOWN], pa.int64())).to_pylist()
    ]
    if len(broken) > SHOWN:
        faults.append(f"and {len(broken) - SHOWN:,} more acts")
    for end in ends:
        chain = end.campaign, end.expert
        here, head = counts.pop(chain, 0), heads.get(chain, "")
        if (here, head) != (end.acts, end.head):
            faults.append(
                f"{short(end.expert)} gave {end.acts:,} acts in {short(end.campaign)}, {here:,} are there"
                if here != end.acts
                else f"the last act of {short(end.expert)} in {short(end.campaign)} is another than was stored"
            )
    faults += [f"{short(expert)} is on no panel of {short(campaign)}" for campaign, expert in counts]
    if faults:
        raise DamagedError(
            "judgements differ from what was stored, or are missing",
            where=place,
            hint="Keep the file, and bring a backup back beside it: eds labels restore BACKUP --replace.",
            faults=faults,
        )


def _texts(acts: pa.Table) -> Iterator[tuple[Chain, bytes]]:
    """Each act's chain, and its parts as one text."""
    for start in range(0, len(acts), PORTION):
        fields = [name for name in Said._fields if name in acts.column_names]  # none of BESIDE in a store of before
        part = acts.slice(start, PORTION).select(fields).combine_chunks()
        joined = _joined(part.select([name for name in fields if name not in BESIDE]))
        said = [pc.is_valid(part[name]) for name in BESIDE if name in fields]
        if any(pc.any(column).as_py() for column in said):
            joined = pc.if_else(reduce(pc.or_, said), _joined(part), joined)
        chains = zip(part["campaign"].to_pylist(), part["expert"].to_pylist(), strict=True)
        yield from zip(chains, joined.cast(pa.binary()).to_pylist(), strict=True)


def _joined(part: pa.Table) -> pa.ChunkedArray:
    """The parts of each act as one text."""
    texts = (_as_text(name, part[name]) for name in part.column_names)
    return pc.binary_join_element_wise(*texts, "\0", null_handling="replace", null_replacement="")


def _as_text(name: str, column: pa.ChunkedArray) -> pa.ChunkedArray | pa.Array:
    if name in MAY_BE_MISSING:
        return pc.binary_join_element_wise("=", column.cast(pa.string()), "")
    if name == "seconds":
        missing = column.is_null().to_numpy()
        bits = (np.where(missing, 0.0, column.to_numpy()) + 0.0).view(np.int64)
        return pa.array(bits, mask=missing).cast(pa.string())
    return column.cast(pa.string())


def _digest(before: str, text: bytes) -> str:
    return hashlib.sha256(b"%b\0%b" % (before.encode(), text)).hexdigest()[:32]
