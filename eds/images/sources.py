"""What a reader of catalogues takes and returns, and how its rows become the table `images`.

A reader is a module of `eds.images.readers` with a function `read(source: Source) -> Catalogue`. It does not need the
image files themselves; `eds.images.scan` looks at those.
"""

import numbers
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from eds import tables
from eds.errors import InputError, TableError
from eds.io import Address, is_remote, local_path
from eds.io.reading import CONTROL, reading
from eds.registry import READERS
from eds.tables import BOX

INTEGERS = ("width", "height", *BOX)
SHOWN = 10  # faults shown before the rest is only counted


@dataclass(frozen=True)
class Source:
    """What to read: files or folders, the image root, and how to read them."""

    files: tuple[Path, ...]
    root: Address
    columns: Mapping[str, str] = field(default_factory=dict)  # column of `images` -> column of the file
    layout: str = "auto"  # of a folder tree
    gallery_phases: tuple[str, ...] = ()  # VSD's wild task: the phases that candidates come from

    @property
    def folder(self) -> Path:
        """The image root as a local folder; raises InputError if it is remote."""
        if is_remote(self.root):
            raise InputError(
                "the images are remote, but this format needs a local folder",
                where=str(self.root),
                hint="Name a folder: --root.",
            )
        return local_path(self.root)


@dataclass(frozen=True)
class Catalogue:
    """The result of a reader: the table, the unusable files (path, reason), and notes for the user."""

    images: pd.DataFrame
    bad: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()


def read_source(name: str, source: Source) -> Catalogue:
    """Read the source with the reader of that name; raise InputError for options that the reader does not use.

    A reader names the options it uses (fields of `Source`) in its constant `USES`.
    """
    reader = READERS.load(name)
    used = getattr(reader, "USES", ())
    idle = [option for option in ("columns", "gallery_phases") if getattr(source, option) and option not in used]
    if idle:
        what = " and ".join(option.replace("_", " ") for option in idle)
        raise InputError(f"the reader {name} has no use for {what}", hint="Leave them out, or name another format.")
    with reading(source.files[0] if source.files else str(source.root)):
        catalogue: Catalogue = reader.read(source)
    return catalogue


def finish_rows(rows: pd.DataFrame, where: str) -> pd.DataFrame:
    """Turn rows with at least `path` into the table `images`: fill in defaults, remove duplicates, check.

    The default `image_id` is the path, the default `product_id` the image itself. The index of `rows` holds the
    number, from 1, that messages show for a row; its name is the word for it ("line", "entry"; "in" if the index
    itself names file and row).
    """
    if rows.empty:
        raise InputError("the source lists no images", where=where, hint="Use a source that lists images.")
    rows = rows.copy()
    if "image_id" not in rows:
        rows["image_id"] = rows["path"]
    if "product_id" not in rows:
        rows["product_id"] = rows["image_id"]
    rows["product_id"] = rows["product_id"].where(rows["product_id"].notna(), rows["image_id"])
    if "role" not in rows:
        rows["role"] = "both"
    for column in tables.IMAGES.columns:
        if column.name not in rows:
            rows[column.name] = pd.array([pd.NA] * len(rows), "Int64") if column.name in INTEGERS else None
    further = [str(name) for name in rows.columns if name not in tables.IMAGES.names]
    rows = rows[[*tables.IMAGES.names, *further]]
    once = _without_repeats(rows, where)
    try:
        tables.check(once, tables.IMAGES, where)
    except TableError as error:
        raise _by_index(error, once.index) from error
    _no_shared_files(once, where)
    _no_half_boxes(once, where)
    _no_control_characters(once, where)
    return once.reset_index(drop=True)


def raise_faults(faults: Iterable[str], where: str, hint: str) -> None:
    """Raise one error for all faults; return if there are none."""
    listed = list(faults)
    if not listed:
        return
    more = [f"and {len(listed) - SHOWN:,} more"] if len(listed) > SHOWN else []
    if len(listed) == 1:
        raise TableError(listed[0], where=where, hint=hint)
    raise TableError(f"{len(listed):,} faults", where=where, hint=hint, faults=listed[:SHOWN] + more)


def boxes(values: pd.DataFrame, where: str) -> pd.DataFrame:
    """Convert columns left, top, right, bottom (numbers, rows may be null) to whole pixels that cover the box."""
    left, top, right, bottom = (pd.to_numeric(values[name]) for name in values.columns)
    wrong = values.index[(left < 0) | (top < 0) | (right <= left) | (bottom <= top)]
    unit = values.index.name or "row"
    raise_faults(
        (f"{unit} {row} has box {tuple(values.loc[row])}" for row in wrong),
        where,
        f"A box needs 0 <= left < right and 0 <= top < bottom; correct or remove it. {count_hint(values.index)}",
    )
    whole = {"box_left": left // 1, "box_top": top // 1, "box_right": -(-right // 1), "box_bottom": -(-bottom // 1)}
    return pd.DataFrame({name: column.astype("Int64") for name, column in whole.items()}, index=values.index)


def count_hint(index: "pd.Index[Any]") -> str:
    """The sentence that says how messages count rows, lines or entries: always from 1."""
    unit = index.name or "row"
    how = {"line": "Lines count from 1.", "entry": "Entries count from 1."}
    return how.get(str(unit), "Rows count from 1, without a header.")


def _by_index(error: TableError, index: "pd.Index[Any]") -> TableError:
    """The error of the table check with the row numbers of the source instead of positions in the finished table."""

    def label(match: "re.Match[str]") -> str:
        position = int(match[1])
        if position >= len(index):  # a value that happens to read like a row number
            return match[0]
        return f"{index[position]} has" if index.name == "in" else f"{index.name or 'row'} {index[position]} has"

    def relabel(text: str) -> str:
        return re.sub(r"(?<=[:,] )row (\d+) has", label, text)

    return TableError(
        relabel(error.what), where=error.where, hint=count_hint(index), faults=[*map(relabel, error.faults)]
    )


def as_text(values: "pd.Series[Any]") -> "pd.Series[Any]":
    """Convert whole numbers to their digits; text stays, other types are left to the check of the table."""
    return pd.Series([_digits(value) for value in values.astype(object)], index=values.index, dtype=object)


def as_integers(values: "pd.Series[Any]", where: str) -> "pd.Series[Any]":
    """Convert digits and whole numbers to integers; missing values stay missing."""
    found = pd.to_numeric(values.astype(object).where(values.notna(), None), errors="coerce").astype("Float64")
    wrong = values.index[((found.isna() & values.notna()) | (found % 1 != 0).fillna(False)).to_numpy(dtype=bool)]
    unit = values.index.name or "row"
    faults = (f"{unit} {row} has {values.name} {values.loc[row]!r}" for row in wrong)
    raise_faults(faults, where, f"Use whole numbers, or leave the field empty. {count_hint(values.index)}")
    return found.astype("Int64")


def to_hashable(value: Any) -> Any:
    """A value that can be compared and hashed: the text of lists and objects."""
    return repr(value) if isinstance(value, (list, dict, set)) or hasattr(value, "tolist") else value


def _digits(value: Any) -> Any:
    if isinstance(value, numbers.Integral) and not isinstance(value, bool):
        return str(value)
    return None if isinstance(value, float) and value != value else value


def _without_repeats(rows: pd.DataFrame, where: str) -> pd.DataFrame:
    comparable = pd.DataFrame(
        {name: rows[name].map(to_hashable) if rows[name].dtype == object else rows[name] for name in rows.columns}
    )
    once = rows.loc[~comparable.duplicated().to_numpy()]
    again = once[once["image_id"].duplicated(keep=False).to_numpy() & once["image_id"].notna().to_numpy()]
    unit = rows.index.name or "row"
    faults = []
    for name, same in again.groupby("image_id", sort=False):
        differ = [str(column) for column in same.columns if same[column].map(to_hashable).nunique(dropna=False) > 1]
        places = ", ".join(map(str, same.index))
        faults.append(f"image {name!r} is repeated ({unit} {places}) with different {', '.join(differ)}")
    raise_faults(
        faults,
        where,
        f"Keep one of these rows, or give the images different ids. {count_hint(rows.index)}",
    )
    return once


def _no_half_boxes(rows: pd.DataFrame, where: str) -> None:
    edges = rows[BOX].notna().sum(axis=1)
    unit = rows.index.name or "row"
    faults = [f"{unit} {row} has {count} of 4 edges of a box" for row, count in edges.items() if count not in (0, 4)]
    raise_faults(faults, where, f"Give all four edges of a crop box, or none. {count_hint(rows.index)}")


def _no_control_characters(rows: pd.DataFrame, where: str) -> None:
    """A name with line ends, escapes or signs that turn the writing direction breaks what shows it."""
    unit = rows.index.name or "row"
    faults = [
        f"{unit} {row} has {name} {value!r}"
        for name in ("image_id", "product_id")
        for row, value in rows[name].items()
        if CONTROL.search(str(value))
    ]
    raise_faults(faults, where, f"Remove the control characters from these names. {count_hint(rows.index)}")


def _no_shared_files(rows: pd.DataFrame, where: str) -> None:
    again = rows[rows["path"].duplicated(keep=False).to_numpy()]
    faults = [
        f"path {path!r} belongs to images {', '.join(map(repr, ids))}"
        for path, ids in again.groupby("path", sort=False)["image_id"]
    ]
    raise_faults(faults, where, "Keep one image for each file.")
