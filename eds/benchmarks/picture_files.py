"""The pictures of an export: found below the image root before anything is written, told by row where they are not."""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from eds.benchmarks.benchmark import Place
from eds.benchmarks.json_files import Faults
from eds.benchmarks.rows import path_faults
from eds.errors import InputError


def found(images: pd.DataFrame, root: Path | None) -> Iterator[Path]:
    """Each image's file, in the order of the rows, after all were found to be there and below the root."""
    if root is None:
        raise InputError("no image root is known", do="Export without pictures: --no-images.")
    faults, place = Faults(), Place(root)
    home = root.resolve()
    files = []
    for row, path in enumerate(images["path"]):
        wrong = path_faults(path)
        file = root / path
        if not wrong and not file.is_file():
            wrong = ["the file is missing"]
        elif not wrong and not file.resolve().is_relative_to(home):
            wrong = ["it leads out of the image root by a link"]
        faults.add(root, (f"images.parquet {place.of(row)} has path {path!r}: {one}" for one in wrong))
        files.append(file)
    faults.refuse("the pictures cannot go with the export", "Restore them, or export with --no-images:")
    return iter(files)
