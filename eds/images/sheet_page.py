"""A contact sheet as one HTML page that needs nothing else: styles and pictures are in it, all text is escaped."""

import base64
import io
from collections.abc import Callable
from html import escape

import pandas as pd
from PIL import Image

from eds.images.sheet import By, Card, Group, choose
from eds.storage import Address

SIDE = 320  # pixels of a thumbnail: sharp on dense screens
QUALITY = 80
STYLE = """
:root {
  color-scheme: light dark;
  --paper: #f4f3f0; --card: #fff; --ink: #22262b; --faint: #666b72; --line: #dfddd8; --warn: #a33a2c;
}
@media (prefers-color-scheme: dark) {
  :root { --paper: #16181b; --card: #1f2226; --ink: #e8e6e1; --faint: #9aa0a8; --line: #33373d; --warn: #f0917f; }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; max-width: 90rem; padding: 2rem clamp(1rem, 4vw, 3rem) 4rem;
  background: var(--paper); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif;
}
h1 { font-size: 1.6rem; font-weight: 650; margin: 0; }
p { color: var(--faint); margin: .2rem 0 0; }
h2 {
  font-size: 1.05rem; font-weight: 600; margin: 2.2rem 0 .8rem; padding-bottom: .4rem;
  border-bottom: 1px solid var(--line); overflow-wrap: anywhere;
}
h2 small { color: var(--faint); font-weight: 400; margin-left: .5rem; }
ul {
  list-style: none; margin: 0; padding: 0; display: grid; gap: 1rem;
  grid-template-columns: repeat(auto-fill, minmax(9.5rem, 1fr));
}
figure {
  margin: 0; background: var(--card); border: 1px solid var(--line); border-radius: .6rem; overflow: hidden;
}
.field { display: grid; place-items: center; aspect-ratio: 1; background: #fff; }
img { display: block; width: 100%; height: 100%; object-fit: contain; }
.reason { background: none; color: var(--warn); font-size: .8rem; padding: .8rem; overflow-wrap: anywhere; }
figcaption {
  font-size: .78rem; padding: .4rem .6rem .5rem; border-top: 1px solid var(--line); overflow-wrap: anywhere;
}
@media print { body { background: none; } figure { break-inside: avoid; } }
"""


def contact_page(
    images: pd.DataFrame,
    root: Address,
    *,
    by: By = "category",
    count: int = 60,
    caption: str = "image_id",
    title: str = "",
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> str:
    """The page as text; the choice of images is that of `eds.images.sheet.choose`."""
    groups = choose(images, root, by=by, count=count, caption=caption, seed=seed, side=SIDE, progress=progress)
    shown = sum(len(group.cards) for group in groups)
    heading = escape(title or "Contact sheet")
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; img-src data:; '
        "style-src 'unsafe-inline'\">\n"
        f"<title>{heading}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{heading}</h1>\n"
        f"<p>{shown:,} of {len(images):,} images, by {escape(by)}</p>\n"
        + "".join(map(_section, groups))
        + "</main>\n</body>\n</html>\n"
    )


def _section(group: Group) -> str:
    number = f"{len(group.cards):,} of {len(group.cards) + group.more:,}" if group.more else f"{len(group.cards):,}"
    cards = "".join(map(_figure, group.cards))
    return f"<section>\n<h2>{escape(group.name)}<small>{number}</small></h2>\n<ul>\n{cards}</ul>\n</section>\n"


def _figure(card: Card) -> str:
    caption = escape(card.caption)
    if card.thumbnail is None:
        field = f'<div class="field reason">cannot be shown: {escape(card.reason)}</div>'
    else:
        field = f'<div class="field"><img loading="lazy" alt="{caption}" src="{_uri(card.thumbnail)}"></div>'
    return f"<li><figure>{field}<figcaption>{caption}</figcaption></figure></li>\n"


def _uri(picture: Image.Image) -> str:
    stream = io.BytesIO()
    picture.save(stream, "JPEG", quality=QUALITY)
    return "data:image/jpeg;base64," + base64.b64encode(stream.getvalue()).decode()
