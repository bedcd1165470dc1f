"""Contact sheets: an overview of the catalogue as a picture; `eds.images.sheet_page` makes an HTML page of it.

Both show the same selection of images, grouped by category or by product. In place of an image that cannot be read
they show the reason. Text in the picture is set in Pillow's own typeface, which has Latin letters only.
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import pandas as pd
from PIL import Image, ImageDraw, ImageFont, ImageOps

from eds.errors import ImageError, InputError
from eds.imaging import SIDES, Box, inside, open_rgb
from eds.io import Address
from eds.tables import BOX

By = Literal["category", "product"]
Font = ImageFont.ImageFont | ImageFont.FreeTypeFont
SIDE = SIDES["contact sheet"]
GAP, MARGIN, CAPTION, HEADING, TITLE = 14, 36, 26, 40, 62
TALLEST = 8000  # pixels of a page: higher ones are slow to open, and cannot be printed
PAPER, CARD, INK, FAINT, LINE, WARN = "#f4f3f0", "#ffffff", "#22262b", "#7b8087", "#e1dfda", "#a33a2c"


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
    """A sheet of about `count` images as an RGB picture, however tall; `caption` is a column of `images`."""
    return _draw(*_laid_out(images, root, columns, by, count, caption, title, seed))


def contact_sheets(
    images: pd.DataFrame,
    root: Address,
    *,
    by: By = "category",
    count: int = 60,
    columns: int = 6,
    caption: str = "image_id",
    title: str = "",
    seed: int = 0,
) -> list[Image.Image]:
    """The same as pages, none of them taller than TALLEST pixels."""
    groups, columns, title = _laid_out(images, root, columns, by, count, caption, title, seed)
    cards = [(group, card) for group in groups for card in group.cards]
    rows = (TALLEST - 2 * MARGIN - TITLE) // (HEADING + SIDE + CAPTION + GAP)
    pages = [cards[first : first + rows * columns] for first in range(0, len(cards), rows * columns)]
    drawn = []
    for number, page in enumerate(pages, 1):
        parts: dict[str, list[Card]] = {}
        for group, card in page:
            parts.setdefault(group.name, []).append(card)
        sizes = {group.name: len(group.cards) + group.more for group in groups}
        part = [Group(name, tuple(mine), sizes[name] - len(mine)) for name, mine in parts.items()]
        drawn.append(_draw(part, columns, title if len(pages) == 1 else f"{title} ({number} of {len(pages)})"))
    return drawn


def _laid_out(
    images: pd.DataFrame, root: Address, columns: int, by: By, count: int, caption: str, title: str, seed: int
) -> tuple[list[Group], int, str]:
    if columns < 1:
        raise InputError(f"columns is {columns}", hint="Use 1 or more.")
    groups = choose(images, root, by=by, count=count, caption=caption, seed=seed)
    if by == "product":
        groups = _merge(groups)
    return groups, columns, title or f"{len(images):,} images"


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
    corners = chosen[BOX].astype("Float64").astype(object).to_numpy().tolist()
    rows = zip(chosen["_group"], chosen["path"], chosen[caption], corners, strict=True)
    for done, (name, path, text, corner) in enumerate(rows, 1):
        groups.setdefault(str(name), []).append(make_card(root, path, "" if pd.isna(text) else str(text), corner, side))
        if progress:
            progress(done, len(chosen))
    return [Group(name, tuple(cards), int(sizes.loc[name]) - len(cards)) for name, cards in sorted(groups.items())]


def make_card(root: Address, path: str, caption: str, corners: Sequence[object], side: int) -> Card:
    """The thumbnail of an image or of its box; small pictures are enlarged, so that all can be seen alike."""
    edges = [None if pd.isna(corner) else int(float(str(corner))) for corner in corners]  # type: ignore[call-overload]
    left, top, right, bottom = edges
    try:
        complete = left is not None and top is not None and right is not None and bottom is not None
        box = Box(left, top, right, bottom) if complete else None  # type: ignore[arg-type]
        picture = open_rgb(inside(root, path), box=box, draft=side)
    except ImageError as error:
        return Card(caption, None, error.what)
    return Card(caption, ImageOps.contain(picture, (side, side), Image.Resampling.LANCZOS))


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
    """The cards of all groups one after the other; a group's heading is above its first card in each row.

    So the height follows from the number of images, however many groups they are in.
    """
    cell, head = SIDE + GAP, HEADING if any(group.name for group in groups) else 0
    row = head + SIDE + CAPTION + GAP
    cards = [(group, index) for group in groups for index in range(len(group.cards))]
    width = 2 * MARGIN + columns * cell - GAP
    sheet = Image.new("RGB", (width, MARGIN + TITLE + -(-len(cards) // columns) * row + MARGIN), PAPER)
    draw = ImageDraw.Draw(sheet)
    large, medium, small = (ImageFont.load_default(size) for size in (26, 16, 12))
    draw.text((MARGIN, MARGIN - 6), _fitting(draw, title, large, width - 2 * MARGIN), INK, large)
    for place, (group, index) in enumerate(cards):
        left, top = MARGIN + place % columns * cell, MARGIN + TITLE + place // columns * row
        if group.name and (index == 0 or place % columns == 0):
            run = min(len(group.cards) - index, columns - place % columns) * cell - GAP
            _draw_heading(draw, group, (left, top), run, medium, small)
        _draw_card(sheet, draw, group.cards[index], (left, top + head), small)
    return sheet


def _draw_heading(
    draw: ImageDraw.ImageDraw, group: Group, at: tuple[int, int], width: int, font: Font, small: Font
) -> None:
    """The group's name over its cards of this row, with the number shown where there is room."""
    left, top = at
    total = len(group.cards) + group.more
    shown = f"{len(group.cards):,} of {total:,}" if group.more else f"{total:,}"
    room = width - draw.textlength(shown, small) - 12
    name = _fitting(draw, group.name, font, int(room if room > 80 else width))
    draw.text((left, top), name, INK, font)
    if room > 80:
        draw.text((left + draw.textlength(name, font) + 12, top + 3), shown, FAINT, small)
    draw.line((left, top + 26, left + width, top + 26), LINE)


def _draw_card(
    sheet: Image.Image,
    draw: ImageDraw.ImageDraw,
    card: Card,
    at: tuple[int, int],
    font: Font,
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


def _fitting(draw: ImageDraw.ImageDraw, text: str, font: Font, width: int) -> str:
    """The text, or its end after an ellipsis: the end of a path says more than its beginning."""
    text = " ".join(text.split())
    if draw.textlength(text, font) <= width:
        return text
    while text and draw.textlength("..." + text, font) > width:
        text = text[1:]
    return "..." + text
