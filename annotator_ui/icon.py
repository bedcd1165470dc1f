"""The icon in the browser's tab, drawn: two garments' tags that overlap. A PNG, so that no font host is asked."""

import io
from functools import cache

from PIL import Image, ImageDraw
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from annotator_ui.theme import LIGHT

SIDE = 64


@cache
def png() -> bytes:
    """The icon."""
    picture = Image.new("RGBA", (4 * SIDE, 4 * SIDE))
    draw = ImageDraw.Draw(picture)
    draw.rounded_rectangle((16, 16, 160, 160), 36, fill=LIGHT["primary"])
    draw.rounded_rectangle((88, 88, 240, 240), 36, fill="#ffffff", outline=LIGHT["primary"], width=20)
    memory = io.BytesIO()
    picture.resize((SIDE, SIDE), Image.Resampling.LANCZOS).save(memory, "PNG")
    return memory.getvalue()


def routes(base: str) -> list[Route]:
    """Where Streamlit's page looks for its icon."""
    return [Route(f"{base}/favicon.png", show)]


async def show(request: Request) -> Response:
    """The icon."""
    return Response(png(), media_type="image/png", headers={"Cache-Control": "private, max-age=86400"})
