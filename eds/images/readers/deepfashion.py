"""DeepFashion's lists (In-shop, Consumer-to-shop), one by one or as the folder that holds them.

    In-shop           list_eval_partition.txt (required), list_item_inshop.txt, list_bbox_inshop.txt
    Consumer-to-shop  list_eval_partition.txt (required), list_bbox_consumer2shop.txt

A list begins with the number of its rows and a line of column names. In-shop is one catalogue: every
image is query and candidate, and its partition becomes the `phase`. In Consumer-to-shop the consumers' images
are queries, the shops' images candidates. The category is the folders between `img` and the product. In boxes
the second corner is exclusive.
"""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from eds.errors import InputError
from eds.images.sources import Catalogue, Source, boxes, finish_rows, raise_faults
from eds.io.files import forbidden

PARTITION = "list_eval_partition.txt"
ITEMS = "list_item_inshop.txt"
INSHOP_BOXES = "list_bbox_inshop.txt"
CONSUMER_BOXES = "list_bbox_consumer2shop.txt"
INSHOP = ("image_name", "item_id", "evaluation_status")
CONSUMER = ("image_pair_name_1", "image_pair_name_2", "item_id", "evaluation_status")
CORNERS = ["x_1", "y_1", "x_2", "y_2"]


def read(source: Source) -> Catalogue:
    """Read the images of the lists; the columns of the partition tell the two releases apart."""
    files = lists(source.files)
    partition = _needed(files, PARTITION)
    rows, header = _words(partition)
    if header not in (list(INSHOP), list(CONSUMER)):
        known = "; or ".join(" ".join(columns) for columns in (INSHOP, CONSUMER))
        raise InputError(f"has the columns {' '.join(header)}", where=str(partition), hint=f"Needed: {known}.")
    return _read_inshop(rows, files) if header == list(INSHOP) else _read_consumer2shop(rows, files)


def _read_inshop(partition: pd.DataFrame, files: dict[str, Path]) -> Catalogue:
    """In-shop: every image is query and candidate."""
    rows = partition.rename(columns={"image_name": "path", "item_id": "product_id", "evaluation_status": "phase"})
    notes: list[str] = []
    if ITEMS in files:
        items = set(_words(files[ITEMS])[0]["item_id"])
        lost = [name for name in rows["product_id"].unique() if name not in items]
        raise_faults(
            (f"item {name} is not in {ITEMS}" for name in lost), str(files[ITEMS]), "Use lists of one release."
        )
    if INSHOP_BOXES in files:
        rows = _boxed(rows, files[INSHOP_BOXES], notes)
    rows["category"] = _categories(rows["path"])
    return Catalogue(finish_rows(rows, str(files[PARTITION])), notes=tuple(notes))


def _read_consumer2shop(pairs: pd.DataFrame, files: dict[str, Path]) -> Catalogue:
    """Consumer-to-shop: each image once; the column `domain` says who took it."""
    sides = [
        pd.DataFrame(
            {"path": pairs[column], "product_id": pairs["item_id"], "phase": pairs["evaluation_status"]}
        ).assign(role=role, domain=domain)
        for column, role, domain in (
            ("image_pair_name_1", "query", "consumer"),
            ("image_pair_name_2", "candidate", "shop"),
        )
    ]
    rows = pd.concat(sides)
    rows.index.name = "line"
    rows = rows[~rows.duplicated().to_numpy()].copy()
    notes: list[str] = []
    if CONSUMER_BOXES in files:
        rows = _boxed(rows, files[CONSUMER_BOXES], notes)
    rows["category"] = _categories(rows["path"])
    return Catalogue(finish_rows(rows, str(files[PARTITION])), notes=tuple(notes))


def lists(sources: Sequence[Path]) -> dict[str, Path]:
    """The known lists among the files and folders, by name."""
    found: dict[str, Path] = {}
    for place in sources:
        names = sorted(place.rglob("list_*.txt")) if place.is_dir() else [place]
        for file in names:
            if file.name in (PARTITION, ITEMS, INSHOP_BOXES, CONSUMER_BOXES):
                if file.name in found:
                    raise InputError(
                        f"two files are called {file.name}", where=str(file), hint="Name the files one by one."
                    )
                found[file.name] = file
            elif not place.is_dir():
                raise InputError("is not a known list", where=str(file), hint=f"Use {PARTITION} and the boxes.")
    return found


def _words(file: Path) -> tuple[pd.DataFrame, list[str]]:
    """A list as text columns, its index the line in the file, and its header; widths and count are checked."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except PermissionError as error:
        raise forbidden(file) from error
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"cannot be read ({error})", where=str(file), hint="Use the list as it was released."
        ) from error
    if not lines or not lines[0].strip().isdigit():
        raise InputError("line 1 is not the number of rows", where=str(file), hint="Use the list as it was released.")
    header, first = (lines[1].split(), 2) if len(lines) > 1 else ([], 1)
    if file.name == ITEMS:
        header, first = ["item_id"], 2 if len(lines) > 1 and lines[1].strip() == "item_id" else 1
    words = {number: line.split() for number, line in enumerate(lines[first:], first + 1) if line.strip()}
    faults = [f"line {number} has {len(one)} fields" for number, one in words.items() if len(one) != len(header)]
    if len(words) != int(lines[0]):
        faults.append(f"line 1 says {int(lines[0]):,} rows, there are {len(words):,}")
    raise_faults(faults, str(file), "Use the list as it was released.")
    rows = pd.DataFrame(list(words.values()), columns=header, index=pd.Index(list(words), name="line"), dtype=object)
    return rows, header


def _boxed(rows: pd.DataFrame, file: Path, notes: list[str]) -> pd.DataFrame:
    """The rows with their boxes; the other columns of the list (clothes_type, ...) pass through."""
    found, header = _words(file)
    missing = [name for name in ("image_name", *CORNERS) if name not in header]
    raise_faults((f"column {name} is missing" for name in missing), str(file), "Use the list as it was released.")
    again = found["image_name"][found["image_name"].duplicated()]
    raise_faults(
        (f"line {line}: {name} has a box already" for line, name in again.items()), str(file), "Keep one box each."
    )
    numbers = found[CORNERS].apply(pd.to_numeric, errors="coerce")
    wrong = numbers.index[numbers.isna().any(axis=1)]
    raise_faults((f"line {line} has a box that is not a number" for line in wrong), str(file), "Correct that line.")
    more = found.drop(columns=CORNERS).join(boxes(numbers, str(file))).set_index("image_name")
    without = int((~rows["path"].isin(more.index)).sum())
    if without:
        notes.append(f"{without:,} images have no box in {file.name}: the whole image is used")
    unit = rows.index.name
    joined = rows.join(more, on="path")
    joined.index.name = unit
    return joined


def _categories(paths: "pd.Series[str]") -> list[str | None]:
    """img/WOMEN/Dresses/id_00000002/02_1_front.jpg -> WOMEN/Dresses."""
    folders = [[part for part in path.split("/")[:-2] if part != "img"] for path in paths]
    return ["/".join(parts) or None for parts in folders]


def _needed(files: dict[str, Path], name: str) -> Path:
    if name not in files:
        raise InputError(f"{name} is not among the files", hint="Add it, or name the folder that holds it.")
    return files[name]
