"""Contact sheets: which images they show, that pictures stand where they belong, that no text escapes."""

import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from eds.errors import InputError
from eds.images.sheet import GAP, HEADING, MARGIN, SIDE, TALLEST, TITLE, choose, contact_sheet, contact_sheets
from eds.images.sheet_page import contact_page

EVIL = '<script>alert(1)</script>"\' onerror="x" &amp; ]]>'


@pytest.fixture
def images(tmp_path: Path) -> pd.DataFrame:
    """Two categories, five images of plain colours; the last file is not there."""
    rows = []
    for number, (category, product) in enumerate(
        [("hat", "h1"), ("hat", "h1"), ("hat", "h2"), ("bag", "b1"), (None, "x")]
    ):
        path = f"{number}.png"
        if number < 4:
            Image.new("RGB", (300, 300), (50 * number, 255, 0)).save(tmp_path / path)
        rows.append({"image_id": f"image {number}", "path": path, "product_id": product, "category": category})
    frame = pd.DataFrame(rows)
    for name in ("box_left", "box_top", "box_right", "box_bottom"):
        frame[name] = pd.array([pd.NA] * len(frame), "Int64")
    return frame


def test_every_category_shows_its_share(images: pd.DataFrame, tmp_path: Path) -> None:
    groups = choose(images, tmp_path, by="category", count=6)
    assert [(group.name, len(group.cards), group.more) for group in groups] == [
        ("(no category)", 1, 0),
        ("bag", 1, 0),
        ("hat", 2, 1),
    ]
    assert groups[0].cards[0].reason == "No such file or directory"
    assert groups[0].cards[0].thumbnail is None


def test_products_stay_whole(images: pd.DataFrame, tmp_path: Path) -> None:
    for seed in range(5):
        groups = choose(images, tmp_path, by="product", count=2, seed=seed)
        assert sum(len(group.cards) for group in groups) >= 2
        assert all(group.more == 0 for group in groups)
    assert len({groups_of(images, tmp_path, seed) for seed in range(20)}) > 3


def groups_of(images: pd.DataFrame, root: Path, seed: int) -> tuple[str, ...]:
    return tuple(group.name for group in choose(images, root, by="product", count=2, seed=seed))


def test_the_order_of_rows_is_nothing(images: pd.DataFrame, tmp_path: Path) -> None:
    one = contact_page(images, tmp_path, count=4, seed=1)
    assert one == contact_page(images.iloc[::-1], tmp_path, count=4, seed=1)
    np.testing.assert_array_equal(
        np.asarray(contact_sheet(images, tmp_path, seed=1)),
        np.asarray(contact_sheet(images.iloc[[3, 1, 4, 0, 2]], tmp_path, seed=1)),
    )


def test_pictures_stand_in_their_places(images: pd.DataFrame, tmp_path: Path) -> None:
    sheet = np.asarray(contact_sheet(images.iloc[[3]], tmp_path, columns=3))
    assert sheet.shape[1] == 2 * MARGIN + 3 * (SIDE + GAP) - GAP
    top = MARGIN + TITLE + HEADING
    middle = sheet[top + SIDE // 2, MARGIN + SIDE // 2]
    assert middle.tolist() == [150, 255, 0]


def test_a_box_is_cut_out(images: pd.DataFrame, tmp_path: Path) -> None:
    half = np.zeros((300, 300, 3), np.uint8)
    half[:, 150:] = [255, 0, 0]
    Image.fromarray(half).save(tmp_path / "3.png")
    boxed = images.iloc[[3]].assign(box_left=200, box_top=0, box_right=300, box_bottom=300)
    card = choose(boxed, tmp_path, by="category", count=1)[0].cards[0]
    assert card.thumbnail is not None
    assert np.asarray(card.thumbnail).reshape(-1, 3).min(axis=0).tolist() == [255, 0, 0]


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_page_escapes_every_text_and_asks_for_nothing_outside(images: pd.DataFrame, tmp_path: Path) -> None:
    evil = images.assign(image_id=[f"{EVIL}{number}" for number in range(5)], category=EVIL)
    text = contact_page(evil, tmp_path, title=EVIL, count=9)
    page = _Page()
    page.feed(text)
    allowed = {
        "html",
        "head",
        "meta",
        "title",
        "style",
        "body",
        "main",
        "h1",
        "h2",
        "small",
        "p",
        "section",
        "ul",
        "li",
        "figure",
        "div",
        "img",
        "figcaption",
    }
    assert set(page.tags) <= allowed
    assert page.tags.count("img") == 4
    assert {name for name, _ in page.attributes} <= {
        "lang",
        "charset",
        "name",
        "content",
        "http-equiv",
        "class",
        "loading",
        "alt",
        "src",
    }
    assert page.text.count(EVIL) >= 7  # title, heading, category, captions: as typed
    assert all(value.startswith("data:image/jpeg;base64,") for name, value in page.attributes if name == "src")
    assert re.findall(r"(?:https?:)?//[a-z]", text) == []
    assert "prefers-color-scheme: dark" in text


@pytest.mark.parametrize("options", [{"count": 0}, {"columns": 0}, {"caption": "nothing"}, {"by": "colour"}])
def test_wrong_options_are_refused(images: pd.DataFrame, tmp_path: Path, options: dict[str, object]) -> None:
    with pytest.raises(InputError):
        contact_sheet(images, tmp_path, **options)  # type: ignore[arg-type]


def test_many_categories_of_tiny_pictures_fill_pages(images: pd.DataFrame, tmp_path: Path) -> None:
    Image.new("L", (28, 28), 0).save(tmp_path / "tiny.png")
    many = pd.concat([images.iloc[[0]]] * 90, ignore_index=True)
    many = many.assign(
        image_id=[f"i{number:02}" for number in range(90)],
        path="tiny.png",
        category=[f"c{number // 2:02}" for number in range(90)],
    )
    pages = contact_sheets(many, tmp_path, count=90, columns=2)
    assert len(pages) == 2
    assert all(page.height <= TALLEST for page in pages)
    single = np.asarray(contact_sheet(many, tmp_path, count=90, columns=2))
    assert single.shape[0] > TALLEST
    black = [(np.asarray(page) == 0).all(axis=2).sum() for page in (*pages, Image.fromarray(single))]
    assert black[0] + black[1] == black[2] > 90 * 0.9 * SIDE * SIDE, "every picture fills its field"
    assert len(contact_sheets(many, tmp_path, count=8, columns=4)) == 1
