"""The lists of DeepFashion, in-shop and consumer-to-shop, and what is refused."""

from pathlib import Path

import pytest

from eds.errors import InputError
from eds.images.detect import detect
from tests.images.reading import column, read


def listed(folder: Path, name: str, columns: str, *rows: str) -> None:
    (folder / name).write_text("\n".join([str(len(rows)), *([columns] if columns else []), *rows]) + "\n")


def inshop(folder: Path) -> Path:
    listed(
        folder,
        "list_eval_partition.txt",
        "image_name item_id evaluation_status",
        "img/WOMEN/Dresses/id_1/01_1_front.jpg  id_1  query",
        "img/WOMEN/Dresses/id_1/01_2_side.jpg   id_1  gallery",
        "img/MEN/Tees/id_2/01_1_front.jpg       id_2  train",
    )
    listed(folder, "list_item_inshop.txt", "", "id_1", "id_2")
    listed(
        folder,
        "list_bbox_inshop.txt",
        "image_name clothes_type pose_type x_1 y_1 x_2 y_2",
        "img/WOMEN/Dresses/id_1/01_1_front.jpg 3 1 050 049 208 254",
        "img/MEN/Tees/id_2/01_1_front.jpg 1 1 010 020 030 040",
    )
    return folder


def test_inshop(tmp_path: Path) -> None:
    found = read("deepfashion", inshop(tmp_path))
    assert detect([tmp_path]) == "deepfashion"
    assert column(found, "product_id") == ["id_1", "id_1", "id_2"]
    assert column(found, "category") == ["WOMEN/Dresses", "WOMEN/Dresses", "MEN/Tees"]
    assert column(found, "phase") == ["query", "gallery", "train"]
    assert column(found, "box_right") == [208, None, 30]
    assert column(found, "clothes_type") == ["3", None, "1"]
    assert found.notes == ("1 images have no box in list_bbox_inshop.txt: the whole image is used",)


def test_consumer2shop(tmp_path: Path) -> None:
    listed(
        tmp_path,
        "list_eval_partition.txt",
        "image_pair_name_1 image_pair_name_2 item_id evaluation_status",
        "img/TOPS/T/id_1/comsumer_01.jpg img/TOPS/T/id_1/shop_01.jpg id_1 train",
        "img/TOPS/T/id_1/comsumer_02.jpg img/TOPS/T/id_1/shop_01.jpg id_1 train",
    )
    listed(
        tmp_path,
        "list_bbox_consumer2shop.txt",
        "image_name clothes_type source_type x_1 y_1 x_2 y_2",
        "img/TOPS/T/id_1/shop_01.jpg 1 1 1 2 30 40",
    )
    found = read("deepfashion", tmp_path)
    assert detect([tmp_path]) == "deepfashion"
    assert column(found, "role") == ["query", "query", "candidate"]
    assert column(found, "domain") == ["consumer", "consumer", "shop"]
    assert column(found, "category") == ["TOPS/T"] * 3
    assert column(found, "box_bottom") == [None, None, 40]


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("3\n", "4\n", "line 1 says 4 rows, there are 3"),
        ("id_2  train", "id_3  train", "item id_3 is not in list_item_inshop.txt"),
        ("id_1  query", "query", "line 3 has 2 fields"),
        ("evaluation_status", "status", "has the columns"),
        ("3\n", "three\n", "line 1 is not the number"),
        ("01_2_side", "01_1_front", ".line 3, 4. with different phase"),
    ],
)
def test_faulty_lists_are_refused(tmp_path: Path, old: str, new: str, reason: str) -> None:
    file = inshop(tmp_path) / "list_eval_partition.txt"
    file.write_text(file.read_text().replace(old, new, 1))
    with pytest.raises(InputError, match=reason):
        read("deepfashion", tmp_path)
