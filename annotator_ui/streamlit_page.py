"""Streamlit's page as we send it: in the reader's language, and with what its first look needs, no more.

Its own file has `lang="en"` and English words for every reader, and fetches a font that no page of ours shows: seconds
on a slow connection. Pages where pairs are judged name the scripts that they will need, which Streamlit would ask for
one after another; so they come while its own are still under way.
"""

import gzip
import re
from functools import cache
from pathlib import Path

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit import file_util

from annotator_ui import language, streamlit_words
from annotator_ui.compressed_scripts import LATER
from annotator_ui.judging import assets

# Not asked of Streamlit for a page: a copy that the browser has may be another one, and it comes as it is.
WHOLE = (b"if-none-match", b"if-modified-since", b"range", b"accept-encoding")
ENGLISH = b'<html lang="en">'
END = b"</head>"
# Where its server is; it would ask below the page's own address first, and find nothing there.
BACKEND = "window.__streamlit={BACKEND_BASE_URL:location.origin+document.currentScript.dataset.base}"
FONT = re.compile(rb'<link\s+rel="preload"[^>]*\bas="font"[^>]*>')
STYLE = re.compile(rb"(static/css/index\.[\w-]+\.css)")
# Pages that mount the judging component, and the script that it starts there.
JUDGING = {"pair": "main.js", "grid": "main.js", "practice": "practice.js", "adjudicate": "adjudicate.js"}
PARTS = ("Html.*.js", "BidiComponent.*.js")  # Streamlit's scripts of what these pages are made of


class StreamlitPage:
    """The middleware: Streamlit's page as this request needs it; everything else as it is."""

    def __init__(self, app: ASGIApp, base: str = "") -> None:
        self.app, self._base = app, base
        self._page = (Path(file_util.get_static_dir()) / "index.html").read_bytes()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer the request, or let it through."""
        if scope["type"] != "http" or scope["method"] != "GET":
            await self.app(scope, receive, send)
            return
        asked = Headers(scope=scope)
        zipped = "text/html" in asked.get("accept", "") and "gzip" in asked.get("accept-encoding", "")
        if "text/html" in asked.get("accept", ""):
            scope = {**scope, "headers": [item for item in scope["headers"] if item[0] not in WHOLE]}
        start: Message | None = None

        async def sending(message: Message) -> None:
            nonlocal start
            if message["type"] == "http.response.start" and self._is_page(message):
                start = message
                return
            if start is None:
                await send(message)
                return
            body = message.get("body", b"")
            if body == self._page:
                body = self._written(scope["path"].removeprefix(self._base).strip("/"))
                headers = MutableHeaders(scope=start)
                if zipped:
                    body = gzip.compress(body, 6, mtime=0)
                    headers["Content-Encoding"] = "gzip"
                headers.add_vary_header("Accept-Encoding")
                headers["Content-Length"] = str(len(body))
                for name in ("ETag", "Last-Modified"):
                    if name in headers:
                        del headers[name]
            begun, start = start, None
            await send(begun)
            await send({**message, "body": body})

        await self.app(scope, receive, sending)

    def _is_page(self, message: Message) -> bool:
        headers = MutableHeaders(scope=message)
        length = headers.get("Content-Length")
        return headers.get("Content-Type", "").startswith("text/html") and length == str(len(self._page))

    def _written(self, place: str) -> bytes:
        """The page of this address in the language of the request."""
        body, of = FONT.sub(b"", self._page), language.current()
        added = f'<script data-base="{self._base}">{BACKEND}</script>'
        if place in JUDGING:
            body = STYLE.sub(rb"\1?" + LATER.encode(), body)
            added += "".join(_early(self._base, JUDGING[place]))
        if of != language.SOURCE:
            body = body.replace(ENGLISH, f'<html lang="{of}">'.encode(), 1)
            added += streamlit_words.tag(self._base)
        return body.replace(END, added.encode() + END, 1)


@cache
def _early(base: str, start: str) -> tuple[str, ...]:
    """The elements that ask for a judging page's scripts at once, those of Streamlit before ours."""
    ours = [f"judging/{assets.version()}/{name}" for name in assets.modules(start)]
    return tuple(
        f'<link rel="modulepreload" crossorigin fetchpriority="low" href="{base}/{path}">'
        for path in [*(f"static/js/{name}" for name in late_scripts()), *ours]
    )


@cache
def late_scripts() -> tuple[str, ...]:
    """Return the scripts of Streamlit that a judging page needs and Streamlit's page does not name."""
    folder = Path(file_util.get_static_dir())
    named = (folder / "index.html").read_text(encoding="utf-8")
    line = [path.name for pattern in PARTS for path in sorted((folder / "static" / "js").glob(pattern))]
    found: list[str] = []
    while line:
        name = line.pop(0)
        if name in named or name in found:
            continue
        found.append(name)
        line += assets.IMPORTED.findall((folder / "static" / "js" / name).read_text(encoding="utf-8"))
    return tuple(found)
