"""A contact sheet as one HTML page that needs nothing else: style and pictures are part of it."""

import base64
import io
from collections.abc import Callable

import pandas as pd
from PIL import Image

from eds.html import asset, render
from eds.images.sheet import By, choose
from eds.imaging import SIDES
from eds.io import Address

QUALITY = 80


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
    """The page as text; it shows the images that `eds.images.sheet.choose` selects."""
    groups = choose(
        images, root, by=by, count=count, caption=caption, seed=seed, side=SIDES["contact page"], progress=progress
    )
    return render(
        "eds.images/contact_sheet.html.j2",
        title=title or "Contact sheet",
        style=asset("eds.images", "contact_sheet.css"),
        groups=groups,
        shown=sum(len(group.cards) for group in groups),
        total=len(images),
        by=by,
        data_uri=_data_uri,
    )


def _data_uri(picture: Image.Image) -> str:
    stream = io.BytesIO()
    picture.save(stream, "JPEG", quality=QUALITY)
    return "data:image/jpeg;base64," + base64.b64encode(stream.getvalue()).decode()
