"""What browsers may do with our pages: the security headers, and which requests count as forged."""

import base64
import hashlib
import re
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

from annotator_ui.streamlit_page import BACKEND

PLAIN = (  # our own pages: at most the script of passkeys
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
# Of use to what may run scripts only. JSON may not; it is sent with every label, and so is kept short.
PERMISSIONS = ("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()")
HTTPS = "max-age=31536000"
SAFE = ("GET", "HEAD", "OPTIONS")


@cache
def streamlit_policy() -> str:
    """The policy of Streamlit's page: its own scripts, and its inline scripts (its index.html's and ours) by hash."""
    import streamlit

    index = Path(streamlit.__file__).with_name("static") / "index.html"
    inline = re.findall(r"<script>(.*?)</script>", index.read_text(encoding="utf-8"), re.DOTALL)
    hashes = "".join(
        f" 'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'" for text in (*inline, BACKEND)
    )
    return (
        f"default-src 'self'; script-src 'self' blob:{hashes}; style-src 'self' 'unsafe-inline'; "
        "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; worker-src 'self' blob:; "
        "object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    )


def same_origin(origin: str | None, site_header: str | None, host: str | None) -> bool:
    """Whether a request comes from our own pages, as far as the browser says (other programs say nothing).

    >>> same_origin("http://eds.example:8501", None, "eds.example:8501"), same_origin("null", None, "eds.example")
    (True, False)
    >>> same_origin(None, None, "eds.example"), same_origin(None, "cross-site", "eds.example")
    (True, False)
    """
    if site_header is not None and site_header not in ("same-origin", "none"):
        return False
    if origin is None:
        return True
    return host is not None and urlsplit(origin).netloc.lower() == host.lower()
