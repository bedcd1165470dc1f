"""Emoji by vendor, as npm's packages emoji-datasource-apple, -google, -twitter and -facebook bring them.

Name the folders of packages, or `node_modules`. An emoji is a product, each vendor's drawing an image of it, the vendor
its phase; variants of skin are left out. The pictures are copied below the image root, `VENDOR/CODE.png`. What each
vendor allows is in the column `licence`: Apple's and Facebook's drawings are not free.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from pydantic import BaseModel, TypeAdapter

from eds.errors import InputError
from eds.images.columns import rename_columns
from eds.images.embedded import write_image
from eds.images.sources import Catalogue, Source, finish_rows
from eds.io.reading import reading, shaped

USES = ("columns",)
LIST, PACKAGE = "emoji.json", "emoji-datasource-"
AGAIN = "Install the package again."
SIZE = "64"  # pixels of a picture's side, as the packages name their folder
LICENCES = {
    "apple": "Copyright Apple Inc., not licensed for commercial use",
    "google": "Apache License 2.0 (Noto Emoji)",
    "twitter": "Creative Commons Attribution 4.0 (Twemoji)",
    "facebook": "Copyright Facebook, Inc., no clear licence",
}


class Emoji(BaseModel):
    """One entry of the list; what is not read here is ignored."""

    name: str | None = None
    short_name: str
    unified: str
    image: str
    category: str
    subcategory: str | None = None


def fits(files: Sequence[Path]) -> bool:
    """Whether these are such packages, or a folder that holds some."""
    return bool(_packages(files))


def read(source: Source) -> Catalogue:
    """Read each package's list, and copy its pictures below the root."""
    packages = _packages(source.files)
    if not packages:
        where = str(source.files[0]) if source.files else ""
        hint = "Run npm install emoji-datasource-google, and name node_modules/emoji-datasource-google."
        raise InputError("there are no packages of emoji", where=where, hint=hint)
    parts, missing, notes = [], [], []
    for package, vendor in packages:
        rows = []
        for number, emoji in enumerate(_entries(package / LIST), 1):
            file = _folder(package, vendor) / emoji.image
            if Path(emoji.image).name != emoji.image or not file.is_file():
                missing.append((f"{vendor}/{emoji.image}", "the picture is not in the package"))
                continue
            path = write_image(file.read_bytes(), f"{vendor}/{emoji.image}", source.folder)
            rows.append({"in": f"{package.name} entry {number}", "path": path, **_columns(emoji, vendor)})
        parts.append(pd.DataFrame(rows))
        notes.append(f"{vendor}: {len(rows):,} emoji, {LICENCES.get(vendor, 'licence not stated')}")
    where = ", ".join(str(package) for package, _ in packages)
    found = pd.concat(parts)
    if "in" not in found:
        raise InputError("no picture of the list is there", where=where, hint=AGAIN)
    rows_of_all, _ = rename_columns(found.set_index("in"), source.columns, where)
    return Catalogue(finish_rows(rows_of_all, where), bad=tuple(missing), notes=tuple(notes))


def _columns(emoji: Emoji, vendor: str) -> dict[str, Any]:
    return {
        "product_id": emoji.short_name,
        "category": emoji.category,
        "phase": vendor,
        "title": (emoji.name or emoji.short_name).lower(),
        "brand": vendor,
        "licence": LICENCES.get(vendor, "not stated"),
        "subcategory": emoji.subcategory,
    }


def _entries(file: Path) -> list[Emoji]:
    with reading(file, "cannot be read as JSON", AGAIN):
        content = json.loads(file.read_text(encoding="utf-8"))
    return shaped(TypeAdapter(list[Emoji]), content, file, AGAIN)


def _folder(package: Path, vendor: str) -> Path:
    return package / "img" / vendor / SIZE


def _packages(files: Sequence[Path]) -> list[tuple[Path, str]]:
    """The packages among the folders, or in them, each with its vendor."""
    places = [path for path in files if path.is_dir()]
    named = [path for place in places for path in (place, *sorted(place.glob(f"{PACKAGE}*")))]
    found = [(path, image.name) for path in named if (path / LIST).is_file() for image in sorted(path.glob("img/*"))]
    return [(path, vendor) for path, vendor in found if _folder(path, vendor).is_dir()]
