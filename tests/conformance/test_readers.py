"""What holds for every reader of catalogues: the same catalogue in any form gives the same table.

A new reader appears here by one function in `FORMS` that writes the catalogue in its form.
"""

import io
import json
import random
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from eds import tables
from eds.errors import InputError
from eds.images import folder as folders
from eds.images.detect import detect
from eds.images.scan import Scan, scan
from eds.images.sources import Catalogue, Source, read_source
from eds.io.files import digest
from eds.registry import READERS


class Row(NamedTuple):
    """One image of the catalogue that every form tells."""

    path: str
    product: str
    category: str


CATALOGUE = [
    Row(f"img/{category}/{product}/{name}", product, category)
    for category, product in [("WOMEN/Dresses", "id_1"), ("WOMEN/Dresses", "id_2"), ("MEN/Coats", "id_3")]
    for name in ("comsumer_01.png", "comsumer_02.png", "shop_01.png")
]
CONTRADICTION = Row(CATALOGUE[0].path, "id_3", "WOMEN/Dresses")
ESCAPE = Row("img/WOMEN/Dresses/id_1/../../../../../out.png", "id_1", "WOMEN/Dresses")


def png(seed: int) -> bytes:
    stream = io.BytesIO()
    noise = np.random.default_rng(seed).integers(0, 256, (6, 6, 3), dtype=np.uint8)
    Image.fromarray(noise).resize((24, 20)).save(stream, "PNG")
    return stream.getvalue()


def folder(rows: Sequence[Row], root: Path, place: Path) -> Source:
    return Source((), root, layout="tree")


def csv(rows: Sequence[Row], root: Path, place: Path) -> Source:
    pd.DataFrame(rows).to_csv(place / "list.csv", index=False)
    return Source((place / "list.csv",), root, {"product_id": "product"})


def parquet(rows: Sequence[Row], root: Path, place: Path) -> Source:
    pq.write_table(pa.Table.from_pylist([row._asdict() for row in rows]), place / "list.parquet")
    return Source((place / "list.parquet",), root, {"product_id": "product"})


def jsons(rows: Sequence[Row], root: Path, place: Path) -> Source:
    (place / "list.json").write_text(json.dumps([row._asdict() for row in rows]))
    return Source((place / "list.json",), root, {"product_id": "product"})


def vsd(rows: Sequence[Row], root: Path, place: Path) -> Source:
    entries = [{"id": row.product, "path": row.path, "phase": "gallery", "category": row.category} for row in rows]
    (place / "metadata.json").write_text(json.dumps({"images": entries}))
    (place / "seeds.json").write_text(json.dumps({"seeds": [CATALOGUE[0].path]}))
    return Source((place / "metadata.json", place / "seeds.json"), root)


def _listed(file: Path, columns: str, lines: Sequence[str]) -> None:
    file.write_text("\n".join([str(len(lines)), columns, *lines]) + "\n")


def inshop(rows: Sequence[Row], root: Path, place: Path) -> Source:
    lines = [f"{row.path}  {row.product}  gallery" for row in rows]
    _listed(place / "list_eval_partition.txt", "image_name item_id evaluation_status", lines)
    return Source((place,), root)


def consumer2shop(rows: Sequence[Row], root: Path, place: Path) -> Source:
    shops = {row.product: row.path for row in CATALOGUE if "/shop" in row.path}
    lines = [f"{row.path} {shops[row.product]} {row.product} train" for row in rows if "/shop" not in row.path]
    _listed(place / "list_eval_partition.txt", "image_pair_name_1 image_pair_name_2 item_id evaluation_status", lines)
    return Source((place,), root)


def shards(rows: Sequence[Row], root: Path, place: Path) -> Source:
    cells = [
        {
            "id": row.path,
            "product_id": row.product,
            "category": row.category,
            "image": {"bytes": png(_seed(row)), "path": row.path},
        }
        for row in rows
    ]
    pq.write_table(pa.Table.from_pylist(cells), place / "train-0.parquet")
    return Source((place,), root)


def metadata(rows: Sequence[Row], root: Path, place: Path) -> Source:
    frame = pd.DataFrame(rows).rename(columns={"path": "file_name", "product": "product_id"})
    frame.to_csv(root / "metadata.csv", index=False)
    return Source((root,), root)


def samples(rows: Sequence[Row], root: Path, place: Path) -> Source:
    content = [
        {
            "filepath": row.path,
            "tags": [],
            "product_id": row.product,
            "ground_truth": {
                "_id": {"$oid": "6aff99570fc21fb51c1688b7"},
                "_cls": "Classification",
                "label": row.category,
            },
        }
        for row in rows
    ]
    (place / "samples.json").write_text(json.dumps({"samples": content}))
    return Source((place / "samples.json",), root)


def cvat(rows: Sequence[Row], root: Path, place: Path) -> Source:
    images = [
        f'<image id="{number}" name="{row.path}" width="24" height="20"><tag label="{row.category}" source="manual">'
        f'<attribute name="product_id">{row.product}</attribute></tag></image>'
        for number, row in enumerate(rows)
    ]
    text = "".join(images)
    (place / "annotations.xml").write_text(f"<annotations><version>1.1</version>{text}</annotations>")
    return Source((place / "annotations.xml",), root)


Form = Callable[[Sequence[Row], Path, Path], Source]
FORMS: dict[str, tuple[str, Form]] = {
    "folder": ("folder", folder),
    "csv": ("table", csv),
    "parquet": ("table", parquet),
    "json": ("table", jsons),
    "vsd": ("vsd", vsd),
    "deepfashion in-shop": ("deepfashion", inshop),
    "deepfashion consumer-to-shop": ("deepfashion", consumer2shop),
    "hugging face shards": ("huggingface", shards),
    "hugging face folder": ("huggingface", metadata),
    "fiftyone": ("fiftyone", samples),
    "cvat": ("cvat", cvat),
}
LISTS = [name for name in FORMS if name != "folder"]  # the forms that are lists, in which a row may be wrong
WRONG = {  # where each form holds the row that is put behind the catalogue's
    "csv": ("list.csv", "row 1, 10"),
    "parquet": ("list.parquet", "row 1, 10"),
    "json": ("list.json", "row 1, 10"),
    "vsd": ("metadata.json", "entry 1, 10"),
    "deepfashion in-shop": ("list_eval_partition.txt", "line 3, 12"),
    "deepfashion consumer-to-shop": ("list_eval_partition.txt", "line 3, 9"),
    "hugging face shards": ("train-0.parquet", "row 10"),
    "hugging face folder": ("metadata.csv", "row 10"),
    "fiftyone": ("samples.json", "sample 1, 10"),
    "cvat": ("annotations.xml", "image 1, 10"),
}


def _seed(row: Row) -> int:
    return [one.path for one in CATALOGUE].index(row.path) if row in CATALOGUE else 99


def read(form: str, rows: Sequence[Row], place: Path) -> tuple[Catalogue, Scan]:
    """Write the catalogue in this form, read it, and look at the files."""
    root = place / "root"
    for row in CATALOGUE:
        (root / row.path).parent.mkdir(parents=True, exist_ok=True)
        (root / row.path).write_bytes(png(_seed(row)))
    (place / "out.png").write_bytes(png(99))
    (place / "lists").mkdir()
    kind, write = FORMS[form]
    source = write(rows, root, place / "lists")
    if source.files:
        assert detect(source.files) == kind
    found = folders.read(source) if kind == "folder" else read_source(kind, source)
    tables.check(found.images, tables.IMAGES)
    return found, scan(found.images, root, near=None, workers=1)


def told(images: pd.DataFrame) -> list[tuple[str, str, str, str]]:
    """Image, product (by its first image), category and file of every row, in the order of the ids."""
    first = images.groupby("product_id")["image_id"].transform("min")
    category = images["category"].str.removeprefix("img/")
    return sorted(zip(images["image_id"], first, category, images["sha256"], strict=True))


@pytest.fixture
def expected(tmp_path: Path) -> list[tuple[str, str, str, str]]:
    rows = []
    for row in CATALOGUE:
        (tmp_path / "one.png").write_bytes(png(_seed(row)))
        first = min(one.path for one in CATALOGUE if one.product == row.product)
        rows.append((row.path, first, row.category, digest(tmp_path / "one.png")))
    return sorted(rows)


def test_every_reader_is_in_the_suite() -> None:
    """Those that bring pictures of their own are tested in tests/images: test_arrays.py, test_real_catalogues.py."""
    assert {kind for kind, _ in FORMS.values()} - {"folder"} | {"cifar", "emoji", "furniture", "idx"} == set(READERS)


@pytest.mark.parametrize("form", FORMS)
def test_the_same_catalogue_gives_the_same_table_in_any_order(
    form: str, tmp_path: Path, expected: list[tuple[str, str, str, str]]
) -> None:
    shuffled = random.Random(3).sample(CATALOGUE, len(CATALOGUE))
    repeated = [*CATALOGUE, *CATALOGUE[:2]]
    if form == "hugging face shards":  # each row brings a file of its own, so a repeated id is a contradiction
        repeated = CATALOGUE
    for number, rows in enumerate([CATALOGUE, shuffled, repeated]):
        place = tmp_path / str(number)
        place.mkdir()
        found, seen = read(form, rows, place)
        assert told(seen.images) == expected
        assert (found.bad, len(seen.bad)) == ((), 0)
        assert set(seen.images["role"]) <= {"query", "candidate", "both"}


@pytest.mark.parametrize("form", LISTS)
def test_a_row_that_contradicts_another_is_told_with_file_and_row(form: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as told:
        read(form, [*CATALOGUE, CONTRADICTION], tmp_path)
    said = str(told.value)
    file, row = WRONG[form]
    assert file in said
    assert re.search(rf"\b{row}\b", said.replace(file, "")), said


@pytest.mark.parametrize("form", FORMS)
def test_no_path_leaves_the_image_root(form: str, tmp_path: Path, expected: list[tuple[str, str, str, str]]) -> None:
    if form == "folder":
        link = tmp_path / "root" / "img" / "MEN" / "Coats" / "id_3" / "link.png"
        link.parent.mkdir(parents=True)
        link.symlink_to(tmp_path / "out.png")
    found, seen = read(form, [*CATALOGUE, ESCAPE], tmp_path)
    reasons = [*(reason for _, reason in found.bad), *seen.bad["reason"]]
    if form == "hugging face shards":  # the name is the data set's word for the picture, and no path
        assert reasons == []
        assert all(
            (tmp_path / "root" / path).resolve().is_relative_to(tmp_path / "root") for path in seen.images["path"]
        )
        return
    assert len(reasons) == 1
    assert "leaves the image root" in reasons[0]
    assert told(seen.images) == expected
