"""CVAT's annotations.xml (CVAT for images 1.1): images with their tags and boxes.

The name of an image is its path below the image root. The category is the label of its tag, else of its box; a single
box is the crop box. Attributes of the tag or box become columns, so an attribute product_id says the product.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.parsers import expat

import pandas as pd

from eds.errors import InputError
from eds.images.columns import rename_columns
from eds.images.sources import Catalogue, Source, boxes, finish_rows
from eds.io.reading import reading

USES = ("columns",)
EDGES = {"xtl": "box_left", "ytl": "box_top", "xbr": "box_right", "ybr": "box_bottom"}
AGAIN = "Export it again as CVAT for images 1.1."
HEAD = 2000  # bytes in which such a file says what it is


class _Annotations:
    """What was read so far."""

    def __init__(self) -> None:
        self.images: list[dict[str, Any]] = []
        self.shapes: list[list[dict[str, str]]] = []  # of each image
        self._shape: dict[str, str] | None = None
        self._attribute, self._text = "", ""

    def start(self, name: str, values: dict[str, str]) -> None:
        """Note the start of an element."""
        if name == "image":
            self.images.append({"path": values["name"], **{side: int(values[side]) for side in ("width", "height")}})
            self.shapes.append([])
        elif name in ("tag", "box") and self.images:
            self._shape = {"kind": name, **values}
            self.shapes[-1].append(self._shape)
        elif name == "attribute" and self._shape is not None:
            self._attribute, self._text = values["name"], ""

    def end(self, name: str) -> None:
        """Note the end of an element."""
        if name == "attribute" and self._shape is not None and self._attribute:
            self._shape.setdefault(f"attribute {self._attribute}", self._text.strip())
            self._attribute = ""
        elif name in ("tag", "box"):
            self._shape = None

    def text(self, part: str) -> None:
        """Note text between elements."""
        self._text += part if self._attribute else ""


def fits(files: Sequence[Path]) -> bool:
    """Whether this is such a file."""
    if len(files) != 1 or files[0].suffix.lower() != ".xml" or not files[0].is_file():
        return False
    with reading(files[0]), files[0].open("rb") as stream:
        return b"<annotations" in stream.read(HEAD)


def read(source: Source) -> Catalogue:
    """The images of the file."""
    file = source.files[0]
    found = _parsed(file)
    rows, several = [], 0
    for image, shapes in zip(found.images, found.shapes, strict=True):
        tags, drawn = ([one for one in shapes if one["kind"] == kind] for kind in ("tag", "box"))
        marks = tags[:1] or drawn[:1]
        row = {**{key.partition(" ")[2]: value for mark in marks for key, value in mark.items() if " " in key}, **image}
        if marks:
            row["category"] = marks[0].get("label")
        if len(drawn) == 1:
            row |= {ours: drawn[0].get(theirs) for theirs, ours in EDGES.items()}
        several += len(drawn) > 1
        rows.append(row)
    frame = pd.DataFrame(rows, index=pd.RangeIndex(1, len(rows) + 1, name="image"))
    edges = list(EDGES.values())
    if set(edges) <= set(frame):
        with reading(file, "its boxes are not numbers", AGAIN):
            frame[edges] = boxes(frame[edges], str(file)).to_numpy()
    frame, _ = rename_columns(frame, source.columns, str(file))
    notes = (f"{several:,} images have several boxes: taken without a crop box",) if several else ()
    return Catalogue(finish_rows(frame, str(file)), notes=notes)


def _parsed(file: Path) -> _Annotations:
    found, parser = _Annotations(), expat.ParserCreate()

    def refuse(*_: object) -> None:
        raise InputError("it declares a document type", where=str(file), hint=AGAIN)  # entities that grow without end

    parser.StartDoctypeDeclHandler = refuse
    parser.StartElementHandler = found.start
    parser.EndElementHandler = found.end
    parser.CharacterDataHandler = found.text
    with reading(file, "cannot be read as XML", AGAIN), file.open("rb") as stream:
        parser.ParseFile(stream)
    if not found.images:
        raise InputError("it holds no images", where=str(file), hint=AGAIN)
    return found
