"""FiftyOne's samples.json: one object per image, with fields of any name; labels have a class, vectors are packed.

Source: the formats FiftyOneDataset and LegacyFiftyOneDataset of its documentation. A vector is a list of numbers, or
{"$binary": {"base64": ...}}: zlib over a NumPy array file.
"""

import base64
import io
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict

from eds.errors import InputError
from eds.io.reading import reading, shaped

FILE = "samples.json"
LARGEST = 1 << 24  # bytes of a vector
AGAIN = "Export it again: dataset.export(export_dir=..., dataset_type=fo.types.FiftyOneDataset)."


class Sample(BaseModel):
    """As much of a sample as every one has."""

    model_config = ConfigDict(extra="allow")

    filepath: str
    tags: list[str] = []

    def field(self, name: str) -> Any:
        """Return a field of any name; None where it is not there."""
        return (self.__pydantic_extra__ or {}).get(name)

    def fields(self) -> Iterator[tuple[str, Any]]:
        """Yield every further field."""
        yield from (self.__pydantic_extra__ or {}).items()


class Samples(BaseModel):
    """The file."""

    samples: list[Sample]


def is_samples(path: Path) -> bool:
    """Whether this is such a file, or a folder with one."""
    return (path / FILE).is_file() if path.is_dir() else path.name == FILE and path.is_file()


def read_samples(path: Path) -> list[Sample]:
    """Return the samples of a file, or of the folder that holds it."""
    file = path / FILE if path.is_dir() else path
    with reading(file, "cannot be read as JSON", AGAIN):
        content = json.loads(file.read_text(encoding="utf-8"))
    found = shaped(Samples, content, file, AGAIN).samples
    if not found:
        raise InputError("it holds no samples", where=str(file), hint=AGAIN)
    return found


def kind(value: object) -> str:
    """Return FiftyOne's class of a label: Classification, Detections, ...; empty for any other value."""
    found = value.get("_cls") if isinstance(value, dict) else None
    return found if isinstance(found, str) else ""


def vector(value: object) -> npt.NDArray[np.float32] | None:
    """Return a vector in either form; None for anything else.

    >>> vector([1, 2.5]), vector("x")
    (array([1. , 2.5], dtype=float32), None)
    """
    if isinstance(value, list):
        numbers = value and all(isinstance(one, (int, float)) and not isinstance(one, bool) for one in value)
        return np.array(value, np.float32) if numbers else None
    packed = value.get("$binary") if isinstance(value, dict) else None
    text = packed.get("base64") if isinstance(packed, dict) else None
    if not isinstance(text, str):
        return None
    with reading("its vectors", "a vector is damaged", AGAIN):
        unpacker = zlib.decompressobj()
        data = unpacker.decompress(base64.b64decode(text, validate=True), LARGEST)
        if unpacker.unconsumed_tail:
            raise ValueError("it is larger than a vector can be")
        found = np.load(io.BytesIO(data), allow_pickle=False)
    if found.ndim != 1 or found.dtype.kind not in "fiu":
        return None
    result: npt.NDArray[np.float32] = found.astype(np.float32)
    return result


def packed(numbers: npt.NDArray[Any]) -> dict[str, Any]:
    """Return an array as FiftyOne stores it.

    >>> vector(packed(np.array([1.0, 2.0])))
    array([1., 2.], dtype=float32)
    """
    stream = io.BytesIO()
    np.save(stream, numbers, allow_pickle=False)
    return {"$binary": {"base64": base64.b64encode(zlib.compress(stream.getvalue())).decode(), "subType": "00"}}
