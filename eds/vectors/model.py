"""What model.json and timing.json hold, and how the array of one shard is made, opened and packed."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from eds import tables
from eds.choices import Similarity
from eds.errors import InputError, TableError
from eds.io.files import forbidden

Array = np.ndarray[Any, np.dtype[Any]]
Dtype = Literal["float32", "float16", "bits"]
TIMES = ("seconds", "images_per_second")  # in timing.json; up to version 0.1.0 in model.json
REMAKE = "Delete the folder and make it again: eds embeddings compute."


class LostShardError(InputError):
    """A shard is gone, cut or another array: what stood in it has to be made again."""


@dataclass(frozen=True)
class Shard:
    """One file of vectors."""

    file: str
    rows: int
    sha256: str

    @property
    def number(self) -> int:
        """The number that the file is named by; column `shard` of table `embeddings`."""
        return int(Path(self.file).stem)


@dataclass(frozen=True)
class Model:
    """What model.json holds: who made the vectors, of which images, and their shape."""

    name: str
    spec: Mapping[str, Any]  # the backbone's spec; {"loader": "import", ...} for vectors brought in
    dimension: int  # for bits: the number of bits
    dtype: Dtype
    similarity: Similarity
    preprocessing_digest: str
    weights_digest: str
    rows: int = 0
    shards: tuple[Shard, ...] = ()
    seconds: float = 0.0  # of reading, decoding and encoding, summed over the runs that made the shards
    images_per_second: float = 0.0  # in the run that made the newest vectors; 0 for vectors brought in
    provenance: tables.Provenance = field(default_factory=lambda: tables.Provenance(""))

    @property
    def identity(self) -> Mapping[str, Any]:
        """All that shapes a vector: shards may stand in one folder only if this is the same."""
        return {
            "spec": dict(self.spec),
            "dimension": self.dimension,
            "dtype": self.dtype,
            "similarity": self.similarity,
            "preprocessing_digest": self.preprocessing_digest,
            "weights_digest": self.weights_digest,
        }

    @property
    def random(self) -> bool:
        """Whether nothing was ever learned by the weights that made the vectors."""
        return bool(self.spec.get("random_init"))

    @property
    def width(self) -> int:
        """Columns of a shard: the dimension, or the bytes that hold its bits."""
        return stored_width(self.dimension, self.dtype)

    def to_json(self) -> str:
        """As text, without the times: equal vectors have equal descriptions; `from_json` reads it back."""
        values = {name: value for name, value in asdict(self).items() if name not in TIMES}
        return json.dumps(values, indent=1, ensure_ascii=False)

    def times_to_json(self) -> str:
        """What timing.json holds: how long it took, on which nothing depends."""
        return json.dumps({name: getattr(self, name) for name in TIMES})

    @classmethod
    def from_json(cls, text: str) -> "Model":
        """Read what `to_json` wrote; whatever a later version added is left aside."""
        given = json.loads(text)
        known = {key: given[key] for key in cls.__dataclass_fields__ if key in given or key not in TIMES}
        known["shards"] = tuple(Shard(part["file"], part["rows"], part["sha256"]) for part in given["shards"])
        known["provenance"] = tables.Provenance.from_json(json.dumps(given["provenance"]))
        return cls(**known)


def stored_width(dimension: int, dtype: Dtype) -> int:
    """Columns of a shard of that dimension.

    >>> stored_width(12, "bits"), stored_width(12, "float16")
    (2, 12)
    """
    return (dimension + 7) // 8 if dtype == "bits" else dimension


def stored_dtype(dtype: Dtype) -> np.dtype[Any]:
    """What a shard's array is made of; always little-endian."""
    return np.dtype({"float32": "<f4", "float16": "<f2", "bits": "u1"}[dtype])


def pack(signs: Array) -> Array:
    """Codes, (n, bits), above 0 is 1, as packed bytes, (n, ceil(bits / 8)) uint8."""
    return np.packbits(signs > 0, axis=1)


def unpack(packed: Array, bits: int) -> Array:
    """Packed bytes, (n, ceil(bits / 8)) uint8, as codes of -1 and 1, (n, bits) float32.

    >>> unpack(pack(np.array([[1.0, -1.0, 1.0]])), 3)
    array([[ 1., -1.,  1.]], dtype=float32)
    """
    return np.unpackbits(packed, axis=1, count=bits).astype(np.float32) * np.float32(2) - np.float32(1)


def read_model(folder: Path) -> Model:
    """What model.json says, or why it cannot be read."""
    path = folder / "model.json"
    try:
        model = Model.from_json(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        begun = (folder / "partial.json").exists()
        what = "the vectors are not finished: the run was stopped" if begun else "there are no vectors here yet"
        raise TableError(what, where=str(folder), hint="Make them: eds embeddings compute.") from error
    except PermissionError as error:
        raise forbidden(path) from error
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise TableError(f"model.json is damaged ({error!r})", where=str(folder), hint=REMAKE) from error
    try:
        times = json.loads((folder / "timing.json").read_text(encoding="utf-8"))
        return replace(model, seconds=float(times["seconds"]), images_per_second=float(times["images_per_second"]))
    except (OSError, ValueError, KeyError, TypeError):  # lost or damaged times cost an estimate, not the vectors
        return model


def open_shard(path: Path, rows: int, width: int, dtype: Dtype) -> Array:
    """A shard, memory-mapped, (rows, width); LostShardError if it is another array."""
    try:
        found: Array = np.load(path, mmap_mode="r", allow_pickle=False)
    except FileNotFoundError as error:
        raise LostShardError(f"{path.name} is missing") from error
    except PermissionError as error:
        raise forbidden(path) from error
    except OSError as error:  # of the disk or the network: the shard itself may be whole
        raise InputError(
            f"it cannot be read ({error.strerror})", where=str(path), hint="Look at the disk, and try again."
        ) from error
    except (ValueError, EOFError) as error:
        raise LostShardError(f"{path.name} is damaged ({error})") from error
    if found.shape != (rows, width) or found.dtype != stored_dtype(dtype):
        content = f"{found.dtype} {found.shape}, not {stored_dtype(dtype)} ({rows}, {width})"
        raise LostShardError(f"{path.name} holds {content}")
    return found


def lost_shards(folder: Path, model: Model) -> dict[int, str]:
    """Number of each shard that is gone or cut, with what is wrong; no vector is read for it."""
    found = {}
    for shard in model.shards:
        try:
            open_shard(folder / shard.file, shard.rows, model.width, model.dtype)
        except LostShardError as error:
            found[shard.number] = error.what
    return found
