"""Mutations of files, and what an importer makes of them: a result that makes sense, or one error of eds.

foreign_files.py, foreign_catalogues.py and foreign_models.py have the importers.
"""

import json
import random
import sys
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from eds.errors import EdsError

ODD: list[Any] = [
    *(None, [], {}, "", "x", "\x1b[31m", "\u202eevil", True, -1, 0, 0.5, 1e308, 2**64, 10**400, "nan", "=1+1"),
    *([[[[1]]]], {"a": {"b": []}}, "../../etc/passwd", "\ud800"),
]


@dataclass(frozen=True)
class Importer:
    """How a good file is written, how a file is read, and what is wrong with a result; the file that is mutated."""

    write: Callable[[Path], Path]
    read: Callable[[Path], Any]
    nonsense: Callable[[Any], str] = lambda _: ""
    mutated: str = ""  # below the path that `write` returns


@dataclass
class Tally:
    """What became of the mutations."""

    counts: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)


def in_bytes(data: bytes, dice: random.Random) -> bytes:
    """The bytes with one to four damages."""
    result = bytearray(data)
    for _ in range(dice.randint(1, 4)):
        place, size = dice.randrange(len(result) + 1), dice.randint(1, 16)
        kind = dice.randrange(6)
        if kind == 0 and place < len(result):
            result[place] ^= 1 << dice.randrange(8)
        elif kind == 1:
            result[place : place + size] = dice.randbytes(size)
        elif kind == 2:
            del result[place : place + size]
        elif kind == 3:
            result[place:place] = result[place : place + size]
        elif kind == 4:
            result[place : place + size] = bytes(size)
        elif dice.random() < 0.3:
            del result[place:]
    return bytes(result)


def in_json(data: bytes, dice: random.Random, *, by_line: bool) -> bytes:
    """The document, or a line of it, with one value of any depth replaced or removed."""
    lines = data.decode().split("\n") if by_line else [data.decode()]
    lines = [line for line in lines if line]
    number = dice.randrange(len(lines))
    content = json.loads(lines[number])
    places = list(_places(content))
    if not places:
        return data
    inside, key = dice.choice(places)
    if isinstance(inside, dict) and dice.random() < 0.2:
        del inside[key]
    else:
        inside[key] = dice.choice(ODD)
    sys.set_int_max_str_digits(0)
    lines[number] = json.dumps(content)
    sys.set_int_max_str_digits(4300)
    return "\n".join(lines).encode()


def in_cells(data: bytes, dice: random.Random) -> bytes:
    """CSV with one cell replaced."""
    lines = data.decode().splitlines()
    number = dice.randrange(len(lines))
    cells = lines[number].split(",")
    cells[dice.randrange(len(cells))] = str(dice.choice(ODD[3:-2])).replace("\n", "")
    lines[number] = ",".join(cells)
    return ("\r\n".join(lines) + "\r\n").encode()


def mutate(name: str, data: bytes, dice: random.Random) -> bytes:
    """One mutation of a file with this name."""
    suffix = Path(name).suffix
    if suffix in (".json", ".jsonl") and dice.random() < 0.6:
        return in_json(data, dice, by_line=suffix == ".jsonl")
    if suffix in (".csv", ".tsv") and dice.random() < 0.5:
        return in_cells(data, dice)
    return in_bytes(data, dice)


def run(name: str, importer: Importer, times: int, folder: Path, seed: int = 22) -> Tally:
    """Mutate the importer's file so many times."""
    dice, tally = random.Random(f"{seed} {name}"), Tally()
    whole = importer.write(folder)
    file = whole / importer.mutated if importer.mutated else whole
    good = file.read_bytes()
    if fault := importer.nonsense(importer.read(whole)):
        tally.faults.append(f"the good file: {fault}")
    for number in range(times):
        file.write_bytes(mutate(file.name, good, dice))
        try:
            result = importer.read(whole)
        except EdsError as error:
            tally.counts["refused"] += 1
            if len(str(error).splitlines()[0]) > 600:
                tally.faults.append(f"mutation {number}: a long message {str(error)[:100]}")
            continue
        except Exception:  # noqa: BLE001 - this is what is looked for
            tally.counts["traceback"] += 1
            tally.faults.append(f"mutation {number}: {traceback.format_exc(limit=-2)}")
            continue
        fault = importer.nonsense(result)
        tally.counts["nonsense" if fault else "read"] += 1
        if fault:
            tally.faults.append(f"mutation {number}: {fault}")
    return tally


def _places(content: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(content, (dict, list)):
        for key in list(content) if isinstance(content, dict) else range(len(content)):
            yield content, key
            yield from _places(content[key])
