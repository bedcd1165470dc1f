"""Catalogues as CSV, Parquet and JSON: what is kept, and what each fault is called."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from eds.errors import InputError
from eds.images.detect import detect
from tests.images.reading import column, read


def test_csv_with_a_map(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text(
        'sku,file,colour,width,product_id\n007,a.jpg,"red, dark",3,NA\n008,b.jpg,,,\n', encoding="utf-8-sig"
    )
    found = read("table", file, columns={"id": "sku", "path": "file"})
    assert column(found, "image_id") == ["007", "008"]
    assert column(found, "product_id") == ["NA", "008"]
    assert column(found, "colour") == ["red, dark", None]
    assert column(found, "width") == [3, None]
    assert column(found, "role") == ["both", "both"]
    assert column(found, "sha256") == [None, None]


def test_columns_without_a_use_are_named_and_so_is_a_missing_product_column(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text("path,style,colour\na.jpg,s1,red\nb.jpg,s1,blue\n")
    without = read("table", file)
    assert column(without, "product_id") == ["a.jpg", "b.jpg"]
    (note,) = without.notes
    assert "--map product=COLUMN" in note
    assert all(name in note for name in ("style", "colour"))
    (note,) = read("table", file, columns={"product": "style"}).notes
    assert "path, product_id = style; also kept: colour" in note
    file.write_text("path,product_id\na.jpg,p\n")
    assert read("table", file).notes == ("columns used: path, product_id",)


@pytest.mark.parametrize("header", ["id,file,product", "ID,File Name,SKU", "image_id,path,product_id"])
def test_a_header_may_name_columns_as_the_map_does(tmp_path: Path, header: str) -> None:
    (tmp_path / "a.csv").write_text(f"{header},colour\n1,a.jpg,p,red\n2,b.jpg,p,red\n3,c.jpg,q,blue\n")
    found = read("table", tmp_path / "a.csv")
    assert column(found, "image_id") == ["1", "2", "3"]
    assert column(found, "product_id") == ["p", "p", "q"]
    assert column(found, "path") == ["a.jpg", "b.jpg", "c.jpg"]
    names = dict(zip(("image_id", "path", "product_id"), header.split(","), strict=True))
    assert all(theirs in found.notes[0] for theirs in names.values())


def test_an_alias_leaves_the_column_of_our_own_name_and_the_map_their_right(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,image_id,path,file\n1,x,a.jpg,f.jpg\n")
    found = read("table", tmp_path / "a.csv")
    assert (column(found, "image_id"), column(found, "path"), column(found, "id")) == (["x"], ["a.jpg"], ["1"])
    mapped = read("table", tmp_path / "a.csv", columns={"product": "image_id", "path": "file"})
    assert (column(mapped, "image_id"), column(mapped, "product_id")) == (["1"], ["x"])
    assert column(mapped, "path") == ["f.jpg"]


def test_semicolons_and_absolute_paths_below_the_root_are_read(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(f"id;path;price\n1;{tmp_path}/shop/a.jpg;1,5\n2;shop/b.jpg;2\n")
    found = read("table", tmp_path / "a.csv", root=tmp_path)
    assert column(found, "path") == ["shop/a.jpg", "shop/b.jpg"]
    assert column(found, "price") == ["1,5", "2"]
    assert "separated by ';'" in found.notes[-1]


def test_several_lists_make_one_catalogue_and_each_names_a_phase(tmp_path: Path) -> None:
    (tmp_path / "shop.csv").write_text("id,path\n1,a.jpg\n2,b.jpg\n")
    (tmp_path / "street.csv").write_text("path,sku\nc.jpg,p\n")
    found = read("table", tmp_path / "shop.csv", tmp_path / "street.csv")
    assert column(found, "image_id") == ["1", "2", "c.jpg"]
    assert column(found, "phase") == ["shop", "shop", "street"]
    (tmp_path / "street.csv").write_text("path,role\nc.jpg,judge\n")
    with pytest.raises(InputError, match=r"street.csv row 1 has 'judge'"):
        read("table", tmp_path / "shop.csv", tmp_path / "street.csv")


def test_parquet_and_json_keep_what_they_do_not_know(tmp_path: Path) -> None:
    rows = [
        {"image_id": 1, "path": "a.jpg", "tags": ["x", "y"], "price": 1.5},
        {"image_id": 2, "path": "b.jpg", "tags": ["z"], "price": None},
    ]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "a.parquet")
    (tmp_path / "a.json").write_text(json.dumps({"images": rows}))
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))
    for name in ("a.parquet", "a.json", "a.jsonl"):
        found = read("table", tmp_path / name)
        assert detect([tmp_path / name]) == "table"
        assert column(found, "image_id") == ["1", "2"]
        assert column(found, "price") == [1.5, None]
        assert [list(tags) for tags in found.images["tags"]] == [["x", "y"], ["z"]]


@pytest.mark.parametrize(
    ("text", "columns", "reason"),
    [
        ("a,b\n1,2\n", {}, "no column holds the path"),
        ("a,b\n1,2\n", {"path": "file"}, "no column 'file'"),
        ("a,b\n1,2\n", {"paths": "a"}, "images has no column paths"),
        ("path,path\n1,2\n", {}, "names a column twice"),
        ("path,b\n1,2,3\n", {}, "line 2 has 3 fields"),
        ("path,width\na,1.5\nb,x\n", {}, "row 1 has width '1.5'"),
        ("path\n", {}, "lists no images"),
        ("image_id,path\n1,a\n1,b\n", {}, "image '1' is repeated .row 1, 2. with different path"),
        ("image_id,path\n1,a\n2,a\n", {}, "path 'a' belongs to images '1', '2'"),
        ("path,role\na,judge\n", {}, "role may hold query, candidate, both"),
    ],
)
def test_faulty_tables_are_refused(tmp_path: Path, text: str, columns: dict[str, str], reason: str) -> None:
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(InputError, match=reason):
        read("table", tmp_path / "a.csv", columns=columns)


def test_text_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"path\ncaf\xe9.jpg\n")
    with pytest.raises(InputError, match="UTF-8"):
        read("table", tmp_path / "a.csv")


def test_every_fault_counts_rows_from_one_and_says_so(tmp_path: Path) -> None:
    """A repeated row comes before the faulty one: the row of the file is told, not the place among those kept."""
    for text, reason in [
        ("path,role\na,both\na,both\nb,judge\n", "row 3 has 'judge'"),
        ("image_id,path\n1,a\n1,a\n1,b\n", "(row 1, 3)"),
        ("path,width\na,1\na,1\nb,x\n", "row 3 has width 'x'"),
    ]:
        (tmp_path / "a.csv").write_text(text)
        with pytest.raises(InputError) as caught:
            read("table", tmp_path / "a.csv")
        assert reason in str(caught.value)
        assert "Rows count from 1, without a header." in str(caught.value)


def test_a_column_is_mapped_once(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("sku,file,path\n1,2,a\n")
    with pytest.raises(InputError, match="image_id is mapped twice"):
        read("table", tmp_path / "a.csv", columns={"id": "sku", "image_id": "file"})
