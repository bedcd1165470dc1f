"""Files for the tests of readers, and what a reader finds in them."""

import io
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from PIL import Image

from eds import tables
from eds.images.sources import Catalogue, Source, read_source


def read(kind: str, *files: Path, root: Path = Path("nowhere"), **options: Any) -> Catalogue:
    """Read, and hold what comes out against the table's declaration."""
    found = read_source(kind, Source(files, root, **options))
    tables.check(found.images, tables.IMAGES)
    return found


def column(found: Catalogue, name: str) -> list[Any]:
    return [None if pd.isna(value) else value for value in found.images[name]]


def png(value: int) -> bytes:
    stream = io.BytesIO()
    Image.fromarray(np.full((5, 7, 3), value, np.uint8)).save(stream, "PNG")
    return stream.getvalue()


def put(root: Path, *paths: str) -> Path:
    for number, path in enumerate(paths):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(png(number))
    return root
