"""Bring in vectors that somebody computed elsewhere, after checking that they can be used.

Checked, and reported together: as many ids as vectors, no id twice, no id unknown to table `images`, no
image without a vector (unless that is allowed), no vector that is not finite or all zero; codes hold
two values. The file is read twice, block by block: once to check, once to copy.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

from eds.choices import Similarity
from eds.embeddings.compute import Done
from eds.embeddings.formats import Array, Given, read_ids, read_vectors
from eds.errors import InputError
from eds.io.files import digest
from eds.tables import Provenance
from eds.vectors import SHARD_ROWS, Model, Writer, bad_rows, pack, stored_dtype
from eds.vectors.model import Dtype

Progress = Callable[[int, int], None]
SHOWN = 5


def import_vectors(
    name: str,
    vectors: Path,
    ids: Path | None,
    images: pd.DataFrame,
    folder: Path,
    *,
    provenance: Provenance,
    similarity: Similarity = "cosine",
    dtype: Literal["float32", "float16"] | None = None,
    bits: int | None = None,
    part: str = "",
    partial: bool = False,
    left_out: Collection[str] = (),
    replace: bool = False,
    shard_rows: int = SHARD_ROWS,
    progress: Progress | None = None,
) -> Done:
    """Copy the vectors in `vectors`, row i of the image in line i of `ids`, into `folder`.

    `dtype` None keeps float16, and makes float32 of anything else. With similarity hamming the codes are
    0 and 1, -1 and 1, or packed bytes (uint8 that go beyond 1), of which `bits` count (default: all). Vectors of
    `left_out`, images that an imported catalogue names and the project leaves out, are passed over.
    """
    given = read_vectors(vectors, part, _by_path(images))
    known = set(images["image_id"])
    listed = _listed(given, ids, vectors, known)
    faults = _id_faults(listed, given, known, partial, frozenset(left_out) - known)
    stored: Dtype = dtype or ("float16" if given.dtype == np.float16 else "float32")
    packed = False
    if similarity == "hamming":
        stored = "bits"
        packed, code_faults = _codes(given, bits, listed)
        faults += code_faults
        if bits is not None and (not packed or not 8 * (given.columns - 1) < bits <= 8 * given.columns):
            faults.append(f"{bits} bits are not what {given.columns} columns of {given.dtype} hold")
    else:
        faults += _value_faults(given, stored, listed)
        if bits is not None:
            faults.append(f"{bits} bits count of packed codes only, which --similarity hamming reads")
    _refuse(faults, vectors)
    sha256 = digest(vectors / "model.json" if vectors.is_dir() else vectors)
    model = Model(
        name=name,
        spec={
            "loader": "import",
            "name": name,
            "file": vectors.name,
            "sha256": sha256,
            "part": part,
            "ids": hashlib.sha256(
                json.dumps(listed).encode()
            ).hexdigest(),  # whose each vector is: a part of what it is
        },
        dimension=(bits or 8 * given.columns) if packed else given.columns,
        dtype=stored,
        similarity=similarity,
        preprocessing_digest="",
        weights_digest=sha256,
    )
    writer = Writer(folder, model, shard_rows=shard_rows, replace=replace)
    ours = np.fromiter((name in known for name in listed), np.bool_, len(listed))
    wanted = pd.DataFrame({"image_id": listed, "source": [None] * len(listed)}, dtype=object)
    lacking = writer.lacking(wanted) & ours
    wanted = wanted[ours]
    for first, block in _numbered(given):
        rows = np.flatnonzero(lacking[first : first + len(block)])
        taken = block[rows]
        if len(rows):
            names = [listed[first + row] for row in rows.tolist()]
            writer.add(names, [None] * len(rows), pack(taken) if stored == "bits" and not packed else taken)
        if progress:
            progress(first + len(block), given.rows)
    finished = writer.finish(wanted, provenance)
    return Done(finished, int(lacking.sum()), len(wanted) - int(lacking.sum()))


def _by_path(images: pd.DataFrame) -> dict[str, str]:
    """The image of each path, where the paths are known."""
    return dict(zip(images["path"], images["image_id"], strict=True)) if "path" in images else {}


def _listed(given: Given, ids: Path | None, vectors: Path, known: set[str]) -> list[str]:
    if ids is not None:
        listed = read_ids(ids, given.rows, known)
        if given.ids is not None and listed != given.ids:
            raise InputError(
                f"the images it lists are not those that {vectors.name} names for its vectors",
                where=str(ids),
                hint="Leave the list out; or, if it is right, give the vectors without their names.",
            )
        return listed
    if given.ids is None:
        raise InputError(
            "the file does not say whose vectors they are",
            where=str(vectors),
            hint="Give a file of ids as well: one image id a line, in the order of the vectors.",
        )
    return given.ids


def _id_faults(listed: list[str], given: Given, known: set[str], partial: bool, left_out: frozenset[str]) -> list[str]:
    faults = []
    if len(listed) != given.rows:
        faults.append(f"{len(listed):,} ids for {given.rows:,} vectors")
    if not given.rows or not given.columns:
        faults.append(f"the array is empty: {given.rows:,} x {given.columns:,}")
    twice = [name for name, count in Counter(listed).items() if count > 1]
    unknown = [name for name in dict.fromkeys(listed) if name not in known and name not in left_out]
    without = sorted(known.difference(listed))
    faults += _faults(twice, "duplicate ids")
    faults += _faults(unknown, "ids are not in table images")
    if not partial:
        faults += _faults(without, "images have no vector (--partial allows that)")
    return faults


def _value_faults(given: Given, stored: Dtype, listed: list[str]) -> list[str]:
    """Rows that are all zero or not finite, as they would be stored; named by image where that is known."""
    bad: dict[int, str] = {}
    for first, block in _numbered(given):
        with np.errstate(over="ignore", invalid="ignore"):
            bad.update({first + row: why for row, why in bad_rows(block.astype(stored_dtype(stored))).items()})
    faults = []
    for reason in ("not finite", "all zero"):
        rows = [row for row, why in bad.items() if why == reason]
        names = [listed[row] if row < len(listed) else f"row {row}" for row in rows]
        faults += _faults(names, f"vectors are {reason}" + (f" as {stored}" if reason == "not finite" else ""))
    return faults


def _codes(given: Given, bits: int | None, listed: list[str]) -> tuple[bool, list[str]]:
    """Are the codes packed bytes, and what is wrong with them; `bits`, where given, says that they are."""
    if given.dtype == np.uint8:
        beyond, first = _beyond_one(given)
        if not beyond:
            return False, []
        # packed codes hold 0 and 1 in few bytes; where most are, a wrong value in plain codes is likelier
        if bits is None and 2 * beyond < given.rows * given.columns:
            named = listed[first] if first < len(listed) else f"row {first}"
            return True, [
                f"{beyond:,} of {given.rows * given.columns:,} values are neither 0 nor 1, first of {named!r}: correct"
                f" them, or say that the bytes are packed: --bits {8 * given.columns}"
            ]
        return True, []
    values: set[Any] = set()
    for _, block in _numbered(given):
        values.update(np.unique(block).tolist())
        if len(values) > 2:
            break
    if values <= {0, 1} or values <= {-1, 1}:
        return False, []
    return False, [f"codes hold {', '.join(map(str, sorted(values)[:SHOWN]))}, not 0 and 1, -1 and 1 or packed uint8"]


def _beyond_one(given: Given) -> tuple[int, int]:
    """How many bytes are neither 0 nor 1, and the row of the first."""
    counts = np.concatenate([np.zeros(0, np.int64), *((block > 1).sum(axis=1) for _, block in _numbered(given))])
    return int(counts.sum()), int(np.argmax(counts > 0)) if len(counts) else 0


def _numbered(given: Given) -> Iterator[tuple[int, Array]]:
    first = 0
    for block in given.blocks():
        yield first, block
        first += len(block)


def _faults(names: list[str], what: str) -> list[str]:
    if not names:
        return []
    more = ", …" if len(names) > SHOWN else ""
    return [f"{len(names):,} {what}: {', '.join(map(repr, names[:SHOWN]))}{more}"]


def _refuse(faults: list[str], path: Path) -> None:
    if faults:
        raise InputError(
            faults[0] if len(faults) == 1 else f"{len(faults)} faults",
            where=str(path),
            hint="Nothing was imported; correct the files and try again.",
            faults=faults if len(faults) > 1 else (),
        )
