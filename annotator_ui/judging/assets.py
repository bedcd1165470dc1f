"""The judging page's own files: scripts and styles, served under an address that changes with their content.

So a browser may keep them for ever, and a new version of the program is a new address.
"""

import hashlib
import re
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent / "static"
IMPORTED = re.compile(r'(?:\bfrom|\bimport)\s*["\'`]\./([\w.-]+\.js)["\'`]')  # by a script, of its own folder
TYPES = {".js": "text/javascript; charset=utf-8"}


@cache
def files() -> dict[str, bytes]:
    """Every script by its name."""
    return {path.name: path.read_bytes() for path in sorted(FOLDER.iterdir()) if path.suffix in TYPES}


@cache
def modules(start: str) -> tuple[str, ...]:
    """The scripts that a start needs: itself, those that they import, and the one that knows the language."""
    line, found = [start, "words.js"], list[str]()
    while line:
        name = line.pop(0)
        if name not in found:
            found.append(name)
            line += IMPORTED.findall(files()[name].decode())
    return tuple(found)


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
