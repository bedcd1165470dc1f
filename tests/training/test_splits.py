"""Table splits: drawn so that no product is torn, standard splits, columns that datasets bring, and bad input."""

import numpy as np
import pandas as pd
import pytest

from eds.errors import InputError
from eds.training.splits import draw_split, rows_of, split_by_column, splits_frame, standard_split


def catalogue(products: int = 40, views: int = 3) -> pd.DataFrame:
    names = [f"p{product:02d}/{view}" for product in range(products) for view in range(views)]
    frame = pd.DataFrame({"image_id": names, "product_id": [name[:3] for name in names]})
    return frame.assign(
        category=[f"c{int(name[1:3]) % 4}" for name in names], phase=["train", "test"] * (len(names) // 2)
    )


def test_no_product_is_torn_and_the_rows_order_does_not_matter() -> None:
    images = catalogue()
    table = draw_split(images, seed=3)
    parts = images.merge(table, on="image_id").groupby("product_id")["part"].nunique()
    assert (parts == 1).all()
    assert table["part"].value_counts().to_dict() == {"train": 84, "validation": 12, "query": 24}
    assert table["searched"].tolist() == (table["part"] == "query").tolist()
    assert draw_split(images.sample(frac=1, random_state=0), seed=3).equals(table)
    assert not draw_split(images, seed=4)["part"].equals(table["part"])


def test_every_category_has_its_share_where_it_is_stratified() -> None:
    images = catalogue()
    table = images.merge(draw_split(images, "stratified", searched="others"), on="image_id")
    assert table[table["part"] == "query"].groupby("category")["product_id"].nunique().tolist() == [2, 2, 2, 2]
    assert (table["searched"] == (table["part"] != "query")).all()


def test_all_images_may_be_for_training() -> None:
    table = draw_split(catalogue(), "all")
    assert set(table["part"]) == {"train"}


def test_the_three_splits_of_cifar_10_have_the_sizes_of_the_literature() -> None:
    n = 60_000
    images = pd.DataFrame(
        {"image_id": [f"{row:05d}" for row in range(n)], "product_id": [str(row) for row in range(n)]}
    )
    images["category"] = (np.arange(n) % 10).astype(str)
    sizes = {}
    for name in ("cifar10", "cifar10-1", "cifar10-2"):
        table = standard_split(images, name)
        sizes[name] = (sum(table["part"] == "query"), sum(table["part"] == "train"), int(table["searched"].sum()))
        per_class = table[table["part"] == "query"].merge(images)["category"].value_counts()
        assert per_class.nunique() == 1
        assert not (table["searched"] & (table["part"] == "query")).any()
    assert sizes == {
        "cifar10": (1000, 5000, 54_000),
        "cifar10-1": (1000, 5000, 59_000),
        "cifar10-2": (10_000, 50_000, 50_000),
    }


def test_a_column_names_the_parts() -> None:
    table = split_by_column(catalogue(), "phase")
    assert table["part"].value_counts().to_dict() == {"train": 60, "query": 60}
    assert table["searched"].sum() == 60
    with pytest.raises(InputError, match="90 images have a category that names no part"):
        split_by_column(catalogue(), "category", {"c0": "train"})


def test_rows_and_table_are_two_forms_of_one_split() -> None:
    images = catalogue()
    table = draw_split(images, searched="all")
    ids = table["image_id"].tolist()
    assert splits_frame(rows_of(table, ids), ids).equals(table)
    assert len(rows_of(table, [*ids, "new"]).database) == len(ids)


@pytest.mark.parametrize(
    ("act", "text"),
    [
        (lambda: draw_split(catalogue(), test_share=1.0), "nothing to train on"),
        (lambda: draw_split(catalogue(), test_share=0.5, validation_share=0.6), "nothing to train on"),
        (lambda: draw_split(catalogue().assign(category=None), "stratified"), "have no category"),
        (lambda: draw_split(catalogue().assign(product_id="p"), "stratified"), "in several categories: p"),
        (lambda: draw_split(catalogue(), "day"), "by is 'day'"),
        (lambda: standard_split(catalogue(), "cifar10"), "600 images of each category"),
        (lambda: standard_split(catalogue(), "cifar"), "unknown standard split"),
        (lambda: split_by_column(catalogue(), "colour"), "no column colour"),
        (lambda: split_by_column(catalogue(), "phase", {"train": "learn", "test": "query"}), "unknown part 'learn'"),
        (lambda: split_by_column(catalogue().assign(phase="test"), "phase"), "no image is for training"),
    ],
)
def test_bad_input_is_told(act: object, text: str) -> None:
    with pytest.raises(InputError) as error:
        act()  # type: ignore[operator]
    assert text in str(error.value)
