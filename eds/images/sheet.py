"""Contact sheets: an overview of the catalogue as a picture; `eds.images.sheet_page` makes an HTML page of it.

Both show the same selection of images, grouped by category or by product. In place of an image that cannot be read
they show the reason. Text in the picture is set in Pillow's own typeface, which has Latin letters only.
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import pandas as pd
from PIL import Image, ImageDraw, ImageFont

from eds.errors import ImageError, InputError
from eds.imaging import Box, inside, open_rgb
from eds.io import Address

By = Literal["category", "product"]
SIDE = 176  # of a thumbnail's field, in pixels
GAP, MARGIN, CAPTION, HEADING, TITLE = 14, 36, 26, 40, 62
PAPER, CARD, INK, FAINT, LINE, WARN = "#f4f3f0", "#ffffff", "#22262b", "#7b8087", "#e1dfda", "#a33a2c"
CORNERS = ["box_left", "box_top", "box_right", "box_bottom"]


@dataclass(frozen=True)
class Card:
    """An image of a sheet: its caption, and its thumbnail or the reason why there is none."""

    caption: str
    thumbnail: Image.Image | None
    reason: str = ""


@dataclass(frozen=True)
class Group:
    """Images under a common heading; `more` of the group are not shown."""

    name: str
    cards: tuple[Card, ...]
    more: int


def contact_sheet(
    images: pd.DataFrame,
    root: Address,
    *,
    by: By = "category",
    count: int = 60,
    columns: int = 6,
    caption: str = "image_id",
    title: str = "",
    seed: int = 0,
) -> Image.Image:
    """A sheet of about `count` images as an RGB picture; `caption` is a column of `images`."""
    if columns < 1:
        raise InputError(f"columns is {columns}", hint="Use 1 or more.")
    groups = choose(images, root, by=by, count=count, caption=caption, seed=seed)
    if by == "product":
        groups = _merge(groups)
    return _draw(groups, columns, title or f"{len(images):,} images")


def choose(
    images: pd.DataFrame,
    root: Address,
    *,
    by: By,
    count: int,
    caption: str = "image_id",
    seed: int = 0,
    side: int = SIDE,
    progress: Callable[[int, int], None] | None = None,
) -> list[Group]:
    """The images that a sheet shows, with their thumbnails; independent of the order of rows.

    By category, every category shows the same number; by product, whole products are drawn until there are `count`
    images. Names are drawn in the order of sha256(seed, name).
    """
    if count < 1:
        raise InputError(f"count is {count}", hint="Use 1 or more.")
    if caption not in images:
        raise InputError(f"no column {caption}", hint=f"Columns: {', '.join(map(str, images.columns))}.")
    if by not in ("category", "product"):
        raise InputError(f"by is {by!r}", hint="Use category or product.")
    key = "category" if by == "category" else "product_id"
    names = images[key].astype(object).where(images[key].notna(), f"(no {by})")
    keys = [_draw_key(seed, name) for name in images["image_id"]]
    ordered = images.assign(_group=names, _key=keys).sort_values(["_group", "_key"])
    sizes = ordered.groupby("_group").size()
    if by == "category":
        share = max(1, count // len(sizes))
        shown = sorted(sizes.index)[:count]
        chosen = ordered[ordered["_group"].isin(shown)].groupby("_group").head(share)
    else:
        drawn = sizes.loc[sorted(sizes.index, key=lambda name: _draw_key(seed, str(name)))]
        kept = drawn.index[(drawn.cumsum() - drawn).to_numpy() < count]
        chosen = ordered[ordered["_group"].isin(kept)].groupby("_group").head(count)
    groups: dict[str, list[Card]] = {}
    corners = chosen[CORNERS].astype("Float64").astype(object).to_numpy().tolist()
    rows = zip(chosen["_group"], chosen["path"], chosen[caption], corners, strict=True)
    for done, (name, path, text, corner) in enumerate(rows, 1):
        groups.setdefault(str(name), []).append(_card(root, path, "" if pd.isna(text) else str(text), corner, side))
        if progress:
            progress(done, len(chosen))
    return [Group(name, tuple(cards), int(sizes.loc[name]) - len(cards)) for name, cards in sorted(groups.items())]


def _card(root: Address, path: str, caption: str, corners: Sequence[object], side: int) -> Card:
    edges = [None if pd.isna(corner) else int(float(str(corner))) for corner in corners]  # type: ignore[call-overload]
    left, top, right, bottom = edges
    try:
        complete = left is not None and top is not None and right is not None and bottom is not None
        box = Box(left, top, right, bottom) if complete else None  # type: ignore[arg-type]
        picture = open_rgb(inside(root, path), box=box, draft=side)
    except ImageError as error:
        return Card(caption, None, error.what)
    picture.thumbnail((side, side), Image.Resampling.LANCZOS)
    return Card(caption, picture)


def _draw_key(seed: int, name: str) -> bytes:
    return hashlib.sha256(f"{seed}\0{name}".encode()).digest()


def _merge(groups: list[Group]) -> list[Group]:
    """Merge the groups into one: products are small, so each caption names the product instead of a heading."""
    cards: list[Card] = []
    for group in groups:
        name = group.name.rpartition("/")[2]
        cards += [Card(f"{name} {number}", card.thumbnail, card.reason) for number, card in enumerate(group.cards, 1)]
    return [Group("", tuple(cards), 0)]


def _draw(groups: list[Group], columns: int, title: str) -> Image.Image:
    cell, row = SIDE + GAP, SIDE + CAPTION + GAP
    width = 2 * MARGIN + columns * cell - GAP
    height = (
        MARGIN + TITLE + sum((HEADING if group.name else 0) + -(-len(group.cards) // columns) * row for group in groups)
    )
    sheet = Image.new("RGB", (width, height + MARGIN), PAPER)
    draw = ImageDraw.Draw(sheet)
    large, medium, small = (ImageFont.load_default(size) for size in (26, 16, 12))
    draw.text((MARGIN, MARGIN - 6), _fitting(draw, title, large, width - 2 * MARGIN), INK, large)
    top = MARGIN + TITLE
    for group in groups:
        if group.name:
            shown = (
                f"{len(group.cards):,} of {len(group.cards) + group.more:,}" if group.more else f"{len(group.cards):,}"
            )
            name = _fitting(draw, group.name, medium, width - 2 * MARGIN - 140)
            draw.text((MARGIN, top), name, INK, medium)
            draw.text((MARGIN + draw.textlength(name, medium) + 12, top + 3), shown, FAINT, small)
            draw.line((MARGIN, top + 26, width - MARGIN, top + 26), LINE)
            top += HEADING
        for index, card in enumerate(group.cards):
            at = (MARGIN + index % columns * cell, top + index // columns * row)
            _draw_card(sheet, draw, card, at, small)
        top += -(-len(group.cards) // columns) * row
    return sheet


def _draw_card(
    sheet: Image.Image,
    draw: ImageDraw.ImageDraw,
    card: Card,
    at: tuple[int, int],
    font: "ImageFont.ImageFont | ImageFont.FreeTypeFont",
) -> None:
    left, top = at
    draw.rounded_rectangle((left - 1, top - 1, left + SIDE, top + SIDE + CAPTION - 4), 8, CARD, LINE)
    if card.thumbnail is not None:
        spare = (SIDE - card.thumbnail.width, SIDE - card.thumbnail.height)
        mask = Image.new("L", card.thumbnail.size, 0)
        ImageDraw.Draw(mask).rounded_rectangle((0, 0, card.thumbnail.width - 1, card.thumbnail.height - 1), 6, 255)
        sheet.paste(card.thumbnail, (left + spare[0] // 2, top + spare[1] // 2), mask)
    else:
        lines = [card.reason[start : start + 26] for start in range(0, min(len(card.reason), 104), 26)]
        draw.multiline_text((left + 10, top + 12), "\n".join(["cannot be shown:", *lines]), WARN, font)
    caption = _fitting(draw, card.caption, font, SIDE - 12)
    draw.text((left + 6, top + SIDE + 2), caption, INK if card.thumbnail else FAINT, font)


def _fitting(
    draw: ImageDraw.ImageDraw, text: str, font: "ImageFont.ImageFont | ImageFont.FreeTypeFont", width: int
) -> str:
    """The text, or its end after an ellipsis: the end of a path says more than its beginning."""
    text = " ".join(text.split())
    if draw.textlength(text, font) <= width:
        return text
    while text and draw.textlength("..." + text, font) > width:
        text = text[1:]
    return "..." + text
