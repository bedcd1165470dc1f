"""Bring the catalogues in locale/ up to date with the English texts: `python -m annotator_ui.catalogues [FOLDER]`.

A new text is added without a translation, one that is gone is removed, what is translated stays. A text is listed
once, wherever it is used. Where a language needs two words for it, add a second entry with `msgctxt "HOME.left"`: the
place of the text is in the comment above it.
"""

import importlib
import io
import pkgutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from babel.messages import Catalog
from babel.messages.pofile import read_po, write_po

import annotator_ui
from annotator_ui.language import FOLDER, locale_of
from annotator_ui.translation import Plural, groups

HEAD = """msgid ""
msgstr ""
"Language: {language}\\n"
"Content-Type: text/plain; charset=utf-8\\n"
"Plural-Forms: {plural}\\n"

"""
Source = str | tuple[str, str]  # of a plural both forms


@dataclass(frozen=True)
class Entry:
    """One English text at one place."""

    key: str  # HOME.left, GUIDE.keys_pair, OVERVIEW.roles.lead
    source: Source


def entries() -> list[Entry]:
    """Return every text with a letter in it, as often as it is used."""
    for module in pkgutil.iter_modules(annotator_ui.__path__):
        if module.name.startswith("texts"):
            importlib.import_module(f"annotator_ui.{module.name}")
    return [
        entry
        for name, texts in groups().items()
        for key, value in texts.items()
        for entry in _texts(f"{name}.{key}", value)
    ]


def update(path: Path) -> Catalog:
    """Return the catalogue of this file with exactly the texts there are."""
    with path.open("rb") as file:
        old = read_po(file, locale=str(locale_of(path.stem)))
    new = Catalog(old.locale, project="eds", fuzzy=False)
    used: dict[Source, list[str]] = {}
    for entry in entries():
        used.setdefault(entry.source, []).append(entry.key)
    for source, keys in used.items():
        known = old.get(_first(source))
        same = known is not None and known.id == (list(source) if isinstance(source, tuple) else source)
        new.add(source, known.string if (known and same) or (known and known.id == source) else "", auto_comments=keys)
        for key in keys:
            own = old.get(_first(source), key)
            if own is not None and own.context:
                new.add(source, own.string, context=key)
    return new


def main(folder: Path = FOLDER) -> None:
    """Update every catalogue of a folder."""
    for path in sorted(folder.glob("*.po")):
        catalogue = update(path)
        text = io.BytesIO()
        write_po(text, catalogue, width=120, omit_header=True)
        head = HEAD.format(language=path.stem, plural=catalogue.plural_forms)
        path.write_text(head + text.getvalue().decode(), encoding="utf-8")


def _texts(key: str, value: Any) -> Iterator[Entry]:
    if isinstance(value, Plural):
        yield Entry(key, (value.one, value.many))
    elif isinstance(value, str) and any(sign.isalpha() for sign in value):
        yield Entry(key, value)
    elif isinstance(value, tuple | list):
        for item in value:
            yield from _texts(key, item)
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from _texts(f"{key}.{name}", item)


def _first(source: Source) -> str:
    return source[0] if isinstance(source, tuple) else source


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
