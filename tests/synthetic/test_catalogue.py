import hashlib
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from PIL import Image

from eds.errors import InputError
from eds.synthetic import catalogue
from eds.synthetic.attributes import CATEGORIES, TRUE_COLUMNS
from eds.synthetic.catalogue import COLUMNS, draw_catalogue

SMALL: dict[str, Any] = {"products": 14, "views": 2, "wild": 9, "seed": 7, "size": 48}


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, pd.DataFrame]:
    folder = tmp_path_factory.mktemp("drawn")
    return folder, draw_catalogue(folder, **SMALL, workers=1)


def test_the_table_has_its_columns_in_order_and_its_rows_sorted(drawn: tuple[Path, pd.DataFrame]) -> None:
    _, images = drawn
    assert tuple(images.columns) == COLUMNS
    assert images["image_id"].is_unique
    assert images["image_id"].is_monotonic_increasing
    assert len(images) == 14 * 2 + 9
    assert {str(images[f"box_{side}"].dtype) for side in ("left", "top", "right", "bottom")} == {"Int32"}
    assert images[["box_left", "box_top", "box_right", "box_bottom"]].isna().all(axis=None)


def test_every_category_appears(drawn: tuple[Path, pd.DataFrame]) -> None:
    assert set(drawn[1]["category"]) == set(CATEGORIES)


def test_the_table_matches_the_files(drawn: tuple[Path, pd.DataFrame]) -> None:
    folder, images = drawn
    on_disk = {path.relative_to(folder).as_posix() for path in folder.rglob("*.jpg")}
    assert on_disk == set(images["path"])
    for row in images.itertuples():
        data = (folder / str(row.path)).read_bytes()
        assert hashlib.sha256(data).hexdigest() == row.sha256
        with Image.open(folder / str(row.path)) as image:
            assert image.size == (row.width, row.height) == (48, 48)
        phase, category, product = str(row.path).split("/")[:3]
        assert (phase, category, product) == (row.phase, row.category, row.product_id)


def test_roles_follow_views(drawn: tuple[Path, pd.DataFrame]) -> None:
    images = drawn[1].set_index("image_id")["role"]
    studio = images[images.index.str.startswith("catalogue/")]
    assert set(studio[studio.index.str.endswith("/0")]) == {"both"}
    assert set(studio[~studio.index.str.endswith("/0")]) == {"candidate"}
    assert set(images[images.index.str.startswith("wild/")]) == {"query"}


def test_views_of_a_product_share_its_attributes(drawn: tuple[Path, pd.DataFrame]) -> None:
    assert (drawn[1].groupby("product_id")[["category", *TRUE_COLUMNS]].nunique() == 1).all(axis=None)


def test_two_workers_write_the_same_bytes(drawn: tuple[Path, pd.DataFrame], tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    images = draw_catalogue(tmp_path, **SMALL, workers=2, progress=lambda done, total: told.append((done, total)))
    pd.testing.assert_frame_equal(images, drawn[1])
    assert told[-1] == (37, 37)
    assert [done for done, _ in told] == sorted(done for done, _ in told)


def test_another_seed_gives_other_pictures(drawn: tuple[Path, pd.DataFrame], tmp_path: Path) -> None:
    images = draw_catalogue(tmp_path, **{**SMALL, "seed": 8}, workers=1)
    assert not set(images["sha256"]) & set(drawn[1]["sha256"])


def test_what_is_missing_or_torn_is_drawn_again_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = draw_catalogue(tmp_path, **SMALL, workers=1)
    gone, torn = tmp_path / first["path"][3], tmp_path / first["path"][20]
    gone.unlink()
    torn.write_bytes(torn.read_bytes()[:-40])
    drawn_again: list[str] = []
    draw = catalogue._draw_picture

    def spy(folder: Path, picture: catalogue._Picture, size: int) -> str:
        drawn_again.append(picture.path)
        return draw(folder, picture, size)

    monkeypatch.setattr(catalogue, "_draw_picture", spy)
    again = draw_catalogue(tmp_path, **SMALL, workers=1)
    pd.testing.assert_frame_equal(again, first)
    assert sorted(drawn_again) == sorted([first["path"][3], first["path"][20]])


def test_a_folder_of_other_parameters_is_refused(drawn: tuple[Path, pd.DataFrame]) -> None:
    with pytest.raises(InputError, match="other parameters") as caught:
        draw_catalogue(drawn[0], **{**SMALL, "seed": 8, "size": 64})
    assert caught.value.faults == ("seed: stored 7, requested 8", "size: stored 48, requested 64")


def test_as_many_products_ask_as_the_plan_says_and_nothing_else_changes(
    drawn: tuple[Path, pd.DataFrame], tmp_path: Path
) -> None:
    images = draw_catalogue(tmp_path, **SMALL, queries=5, workers=1)
    assert images["role"].value_counts().to_dict() == {"candidate": 14 * 2 - 5, "both": 5, "query": 9}
    pd.testing.assert_frame_equal(images.drop(columns="role"), drawn[1].drop(columns="role"))


def test_a_folder_somebody_else_filled_is_refused(tmp_path: Path) -> None:
    (tmp_path / "catalogue").mkdir()
    with pytest.raises(InputError, match=r"no drawing\.json"):
        draw_catalogue(tmp_path, **SMALL)
    (tmp_path / "catalogue").rmdir()
    (tmp_path / "drawing.json").write_text("{", encoding="utf-8")
    with pytest.raises(InputError, match="not JSON"):
        draw_catalogue(tmp_path, **SMALL)


def test_one_error_names_every_bad_parameter(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        draw_catalogue(
            tmp_path / "new", products=0, views=0, wild=-1, seed=-1, size=8, queries=-1, collection_size=0, workers=1
        )
    assert len(caught.value.faults) == 7
    with pytest.raises(InputError, match="workers is 0"):
        draw_catalogue(tmp_path / "new", **SMALL, workers=0)
    assert not (tmp_path / "new").exists()


def test_nothing_unfinished_is_left(drawn: tuple[Path, pd.DataFrame]) -> None:
    others = {path.name for path in drawn[0].rglob("*") if path.is_file() and path.suffix != ".jpg"}
    assert others == {"drawing.json"}
    assert json.loads((drawn[0] / "drawing.json").read_text(encoding="utf-8"))["products"] == 14
