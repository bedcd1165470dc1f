"""Streamlit's page in the reader's language: its own file has `lang="en"` and English words for every reader."""

from pathlib import Path

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit import file_util

from annotator_ui import language, streamlit_words

# Not asked of Streamlit for a page: a copy that the browser has may be in another language, and it comes as it is.
WHOLE = (b"if-none-match", b"if-modified-since", b"range", b"accept-encoding")
ENGLISH = b'<html lang="en">'


class PageLanguage:
    """The middleware: Streamlit's page with the language of the request; everything else as it is."""

    def __init__(self, app: ASGIApp, base: str = "") -> None:
        self.app, self._base = app, base
        self._page = (Path(file_util.get_static_dir()) / "index.html").read_bytes()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer the request, or let it through."""
        of = language.current()
        if scope["type"] != "http" or scope["method"] != "GET" or of == language.SOURCE:
            await self.app(scope, receive, send)
            return
        if b"text/html" in dict(scope["headers"]).get(b"accept", b""):
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
                body = body.replace(ENGLISH, f'<html lang="{of}">'.encode(), 1)
                body = body.replace(b"</head>", streamlit_words.tag(self._base).encode() + b"</head>", 1)
                headers = MutableHeaders(scope=start)
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
