"""What Streamlit itself says (tools of tables, hints of fields), in the reader's language: it knows English only.

streamlit_page.py puts the script into Streamlit's page for readers of another language; English has none of it.
"""

import hashlib
import json
from functools import cache
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from annotator_ui import language
from annotator_ui.texts_leads import STREAMLIT
from annotator_ui.translation import Text

PLACE = "/streamlit-words.js"
KEPT = {"Cache-Control": "private, max-age=86400"}


def routes(base: str) -> list[Route]:
    """The route below `base`."""
    return [Route(f"{base}{PLACE}", _script, methods=["GET"])]


def script() -> str:
    """The script with the words in the language of the request."""
    texts = [text for text in STREAMLIT.words if isinstance(text, Text)]
    words = {text.source: str(text) for text in texts if str(text) != text.source}
    return f"const WORDS = {json.dumps(words)};\n{_code()}"


def tag(base: str) -> str:
    """The element that loads the script; its address changes with the words."""
    digest = hashlib.sha256(script().encode()).hexdigest()[:12]
    return f'<script defer src="{base}{PLACE}?of={language.current()}-{digest}"></script>'


@cache
def _code() -> str:
    return (Path(__file__).parent / "templates" / "streamlit_words.js").read_text(encoding="utf-8")


async def _script(_: Request) -> Response:
    return Response(script(), media_type="text/javascript", headers=KEPT)
