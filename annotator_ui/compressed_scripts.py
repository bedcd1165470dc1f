"""Streamlit's scripts and styles, compressed once and kept, since Streamlit sends them as they are.

The first page needs 3 MB of them, which is a minute on a slow connection; compressed it is a third. Compressing each
answer again would take processor time from the judgements, so the bytes stay in memory: about 1 MB.
"""

import gzip
import mimetypes
import re
from pathlib import Path

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send
from streamlit import file_util

from annotator_ui.lanes import in_lane

SUFFIXES = (".js", ".css")
LARGE = 1024  # bytes; a smaller file gains nothing
# Streamlit fetches its font of icons at every start, 376 kB, by asking for what shows a space. Told which characters
# the names of icons are made of, browsers fetch it when an icon is shown: never where pairs are judged. Only there,
# because without its space the font does not set the height of the lines that icons stand in.
LATER = "icons=later"  # the query of the styles whose icons are fetched when they are shown
ICONS = b"font-family:Material Symbols Rounded;"
SHOWN = ICONS + b"unicode-range:U+30-39,U+5F,U+61-7A;"
TEXTS = re.compile(
    rb"@font-face\{font-family:Source Sans;[^}]*\}"
)  # 171 kB, before our theme has come; ours is the system's
LASTING = "public, immutable, max-age=31536000"  # as Streamlit's own: names hold a digest of the content


class CompressedScripts:
    """The middleware: answers for these files alone, and only to clients that take gzip."""

    def __init__(self, app: ASGIApp, base: str = "") -> None:
        self.app = app
        folder = Path(file_util.get_static_dir())
        files = (path for suffix in SUFFIXES for path in (folder / "static").rglob(f"*{suffix}"))
        self._files = {f"{base}/{path.relative_to(folder).as_posix()}": path for path in files}
        self._kept: dict[tuple[str, bool], bytes] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send a compressed file, or let the request through."""
        path = self._files.get(scope["path"]) if scope["type"] == "http" and scope["method"] == "GET" else None
        if path is None or "gzip" not in Headers(scope=scope).get("accept-encoding", ""):
            await self.app(scope, receive, send)
            return
        later = scope.get("query_string") == LATER.encode()
        content = self._kept.get((scope["path"], later))
        if content is None:  # two at once compress twice, and keep the same bytes
            content = self._kept[scope["path"], later] = await in_lane("background", _compressed, path, later)
        headers = {"Vary": "Accept-Encoding", "Cache-Control": LASTING}
        if content:
            headers["Content-Encoding"] = "gzip"
        else:
            content = path.read_bytes()
        media_type = mimetypes.guess_type(path.name)[0]
        await Response(content, headers=headers, media_type=media_type)(scope, receive, send)


def _compressed(path: Path, later: bool) -> bytes:
    """The file's bytes compressed; nothing where that does not pay."""
    content = path.read_bytes()
    if path.suffix == ".css":
        content = TEXTS.sub(b"", content.replace(ICONS, SHOWN) if later else content)
    return gzip.compress(content, 9, mtime=0) if len(content) >= LARGE else b""
