"""Furniture libraries of Sweet Home 3D (`.sh3f`): products with a picture, a name, a category, creator and licence.

Name the files, or a folder of them: Debian's package sweethome3d-furniture puts five into
/usr/share/sweethome3d/furniture. A library is a zip whose `PluginFurnitureCatalog.properties` lists the products; the
pictures are written below the image root, `LIBRARY/PICTURE`. Most licences (CC BY) ask to name the creators: the
columns `brand` (the creator) and `licence` go with every image.
"""

import re
import zipfile
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

import pandas as pd

from eds.errors import InputError
from eds.images.columns import rename_columns
from eds.images.embedded import folder_name, write_image
from eds.images.sources import Catalogue, Source, finish_rows
from eds.io.reading import reading

USES = ("columns",)
SUFFIX = ".sh3f"
LIST = "PluginFurnitureCatalog.properties"
AGAIN = "Install or download the library again."
MOST_BYTES = 1 << 26  # of a list or a picture
LINE = re.compile(r"\s*(?P<key>[^#!=:\s][^=:\s]*)\s*[=:]\s*(?P<value>.*?)\s*")
CONTINUED = re.compile(r"(?<!\\)((?:\\\\)*)\\\r?\n[ \t]*")
ESCAPE = re.compile(r"\\(?:u(?P<code>[0-9a-fA-F]{4})|(?P<sign>.))")
SIGNS = {"t": "\t", "n": "\n", "r": "\r"}
KEPT = ("id", "name", "category", "creator", "tags", "icon")


def fits(files: Sequence[Path]) -> bool:
    """Whether these are libraries, or a folder that holds some."""
    return bool(_libraries(files))


def read(source: Source) -> Catalogue:
    """Read the products, and write their pictures below the root."""
    libraries = _libraries(source.files)
    if not libraries:
        where = str(source.files[0]) if source.files else ""
        raise InputError("there are no furniture libraries", where=where, hint=f"Name {SUFFIX} files, or their folder.")
    parts, missing, credit = [], [], []
    for file in libraries:
        rows, unreadable, licence = _read_library(file, source)
        parts.append(rows)
        missing += unreadable
        credit.append(f"{file.name}: {len(rows):,} products, {licence}")
    where = str(libraries[0] if len(libraries) == 1 else libraries[0].parent)
    if not sum(map(len, parts)):
        raise InputError("there are no products with a picture", where=where, hint=AGAIN)
    rows, _ = rename_columns(pd.concat(parts).rename_axis("in"), source.columns, where)
    return Catalogue(finish_rows(rows, where), bad=tuple(missing), notes=tuple(credit))


def _read_library(file: Path, source: Source) -> tuple[pd.DataFrame, list[tuple[str, str]], str]:
    """The products of one library, the pictures that are missing, and the licence of all."""
    with reading(file, "cannot be read as a library", AGAIN), _opened(file) as archive:
        if LIST not in archive.namelist():
            raise InputError(f"holds no {LIST}", where=str(file), hint=AGAIN)
        values = parse_properties(_content(archive, LIST, file).decode("latin-1"))
        licence = re.sub(r"\s+", " ", values.get("license", "not stated"))
        rows, missing = [], []
        for number in sorted(int(key[3:]) for key in values if re.fullmatch(r"id#\d+", key)):
            product = {name: values.get(f"{name}#{number}", "") for name in KEPT}
            name = product["icon"].lstrip("/")
            if name not in archive.namelist():
                missing.append((f"{file.name}/{name}", "the picture is not in the library"))
                continue
            folder = folder_name(file.stem)
            path = write_image(_content(archive, name, file), f"{folder}/{_picture(name)}", source.folder)
            rows.append(
                {
                    "path": path,
                    "product_id": product["id"],
                    "category": product["category"] or None,
                    "title": product["name"] or None,
                    "brand": product["creator"] or None,
                    "licence": licence,
                    "tags": product["tags"] or None,
                    "library": file.stem,
                }
            )
    index = [f"{file.name} product {number}" for number in range(1, len(rows) + 1)]
    return pd.DataFrame(rows, index=pd.Index(index)), missing, licence


def parse_properties(text: str) -> dict[str, str]:
    r"""The keys and values of a Java properties file.

    >>> parse_properties("# of 2020\nname#1=Bill 10\\u20ac\ntags#1=Double,\\\n  large\n")
    {'name#1': 'Bill 10€', 'tags#1': 'Double,large'}
    """
    values = {}
    for line in CONTINUED.sub(r"\1", text).splitlines():
        if found := LINE.fullmatch(line):
            values[_unescaped(found["key"])] = _unescaped(found["value"])
    return values


def _unescaped(text: str) -> str:
    return ESCAPE.sub(lambda one: chr(int(one["code"], 16)) if one["code"] else SIGNS.get(one[2], one[2]), text)


def _picture(name: str) -> str:
    """The path of a picture below its library's folder."""
    path = PurePosixPath(name)
    return "/".join([folder_name(path.parent.name), folder_name(path.name)]) if path.parent.name else folder_name(name)


def _content(archive: zipfile.ZipFile, name: str, file: Path) -> bytes:
    if archive.getinfo(name).file_size > MOST_BYTES:
        raise InputError(f"{name} is larger than {MOST_BYTES >> 20} MB", where=str(file), hint=AGAIN)
    return archive.read(name)


def _opened(file: Path) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(file)
    except zipfile.BadZipFile as error:
        raise InputError(f"is not a library ({error})", where=str(file), hint=AGAIN) from error


def _libraries(files: Sequence[Path]) -> list[Path]:
    """The libraries among the files, or in the folder."""
    named = [path for place in files for path in (sorted(place.iterdir()) if place.is_dir() else [place])]
    return [path for path in named if path.suffix.lower() == SUFFIX and path.is_file()]
