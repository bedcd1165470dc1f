"""The judging page's own files: scripts and styles, served under an address that changes with their content.

So a browser may keep them for ever, and a new version of the program is a new address.
"""

import hashlib
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent / "static"
TYPES = {".js": "text/javascript; charset=utf-8"}


@cache
def files() -> dict[str, bytes]:
    """Every script by its name."""
    return {path.name: path.read_bytes() for path in sorted(FOLDER.iterdir()) if path.suffix in TYPES}


@cache
def version() -> str:
    """The digest of all scripts."""
    text = hashlib.sha256()
    for name, content in files().items():
        text.update(f"{name} {len(content)}\n".encode())
        text.update(content)
    return text.hexdigest()[:16]


def styles() -> str:
    """The styles of the component, one text."""
    return "\n".join(path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*.css")))


def loader() -> str:
    """The script that Streamlit starts: it fetches the others."""
    return (FOLDER / "loader.js").read_text(encoding="utf-8")
