"""The other files in a folder of vectors: receipts, and which model the vectors are of."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from eds import tables
from eds.errors import ProjectError, TableError
from eds.io.files import forbidden
from eds.tables import EMBEDDINGS, Provenance
from eds.vectors.model import REMAKE, Model, Shard, read_model


def receipt(number: int) -> str:
    """Name of the file that says which images stand in a finished shard."""
    return f"{number:05d}.ids.parquet"


def write_receipt(folder: Path, listed: pd.DataFrame, shard: Shard, timed: int, seconds: float) -> None:
    """Vouch for a shard: from now on it counts."""
    made = Provenance("shard", {"timed": timed, "seconds": seconds}, {shard.file: shard.sha256})
    tables.write(listed, EMBEDDINGS, folder / receipt(shard.number), made)


def _identities(folder: Path) -> list[Mapping[str, Any]]:
    """Whose vectors are in the folder: the begun run's, the finished model's."""
    found = []
    if (folder / "partial.json").exists():
        found.append(_begun(folder / "partial.json"))
    if (folder / "model.json").exists():
        found.append(read_model(folder).identity)
    return found


def _begun(path: Path) -> Mapping[str, Any]:
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except PermissionError as error:
        raise forbidden(path) from error
    except (OSError, ValueError) as error:
        raise TableError(f"partial.json is damaged ({error})", where=str(path.parent), hint=REMAKE) from error
    return values if isinstance(values, dict) else {}


def refuse_other(folder: Path, model: Model) -> None:
    """Raise ProjectError if the folder holds vectors, finished or not, that another model made."""
    wanted = json.loads(json.dumps(model.identity))
    for found in _identities(folder):
        differ = [key for key in wanted if found.get(key) != wanted[key]]
        if differ:
            raise ProjectError(
                f"the vectors of {model.name} are stale: made with other {', '.join(differ)}",
                where=str(folder),
                hint="Give the model another name (NAME=SPEC), or compute it again: --replace.",
                faults=[fault for key in differ for fault in _differences(key, found.get(key), wanted[key])],
            )


def _differences(name: str, there: Any, asked: Any) -> list[str]:
    """Where two values differ; of mappings only the entries that do, and by name alone those that one of them lacks."""
    if not (isinstance(there, dict) and isinstance(asked, dict)):
        return [f"{name}: stored {_short(there)}, requested {_short(asked)}"]
    keys = [key for key in {**there, **asked} if there.get(key) != asked.get(key)]
    both = [key for key in keys if key in there and key in asked]
    lines = [line for key in both for line in _differences(f"{name}.{key}", there[key], asked[key])]
    for side, other, word in ((there, asked, "stored"), (asked, there, "requested")):
        if alone := [key for key in side if key not in other]:
            lines.append(f"{name}: only {word}: {', '.join(alone)}")
    return lines


def _short(value: Any) -> str:
    """A value as a message shows it: a mapping is too long for one."""
    return "several values" if isinstance(value, dict) else repr(value)


def lost_ids(folder: Path) -> str:
    """What is wrong with the list that tells whose the vectors of a finished folder are; empty if nothing is."""
    try:
        tables.read_provenance(folder / "ids.parquet", EMBEDDINGS)
    except TableError as error:
        if isinstance(error.__cause__, PermissionError):  # that is no loss
            raise forbidden(folder / "ids.parquet") from error
        gone = not (folder / "ids.parquet").exists()
        why = "is gone" if gone else f"cannot be read: {error.what}"
        return f"ids.parquet, which names the images of the vectors, {why}"
    return ""


def empty_if_other(folder: Path, model: Model) -> None:
    """Remove vectors that another model made, and whatever cannot be read."""
    try:
        refuse_other(folder, model)
        if (folder / "model.json").exists() and (lost := lost_ids(folder)):
            raise TableError(lost, where=str(folder))
    except (ProjectError, TableError):  # not what may not be read: that is nobody's to remove
        (folder / "model.json").unlink(missing_ok=True)
        sweep(folder, None)


def sweep(folder: Path, model: Model | None) -> None:
    """Remove whatever does not belong to the finished model; partial.json first to come is last to go."""
    kept = {shard.file for shard in model.shards} if model else set()
    for path in (*folder.glob("*.ids.parquet"), *folder.glob("[0-9]*.npy")):
        if path.name not in kept:
            path.unlink()
    (folder / "partial.json").unlink(missing_ok=True)
