"""The reader's language: of the account, or else of the browser; and the catalogues of texts, one file each.

The gate sets it for every request, `app.py` for every run of a script; `current()` is what texts and numbers are shown
in. A catalogue is `locale/LANGUAGE.po`, read at its first use, so an installed package needs no build step; a project
adds its own by `[annotator] locale = "FOLDER"` in eds.toml.
"""

import gettext
import io
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path

from babel import Locale, UnknownLocaleError, negotiate_locale
from babel.messages.mofile import write_mo
from babel.messages.pofile import PoFileError, read_po

from eds.errors import InputError

SOURCE = "en"  # the language of the texts*.py files
FOLDER = Path(__file__).with_name("locale")
STATE = "eds.language"  # in a Streamlit session: callbacks and fragments run in threads of their own
_REGIONS = {"en": "en_GB"}  # whose numbers and dates a language without a region has
_current: ContextVar[str] = ContextVar("language")
_folders: list[Path] = [FOLDER]


def add_folder(folder: Path) -> None:
    """Take the catalogues of this folder, too; they come before ours."""
    if not folder.is_dir():
        raise InputError(f"there is no folder {folder}", where="eds.toml: annotator.locale", hint="Or leave it out.")
    _folders[:] = list(dict.fromkeys((folder, FOLDER)))
    for read in (languages, catalogue, locale_of):
        read.cache_clear()
    for code in languages():
        catalogue(code)  # a file that cannot be read is reported now


@cache
def languages() -> Mapping[str, str]:
    """Return every language that there are texts in, with its own name for itself: en, English."""
    found = {SOURCE, *(path.stem for folder in _folders for path in folder.glob("*.po"))}
    return {code: _own_name(code) for code in sorted(found, key=lambda code: (code != SOURCE, code))}


def current() -> str:
    """Return the language of this request or script; English outside both."""
    language = _current.get("")
    return language or _of_script() or SOURCE


def use(language: str) -> None:
    """Show texts in this language from now on, in this thread or task."""
    _current.set(language)


@contextmanager
def speaking(language: str) -> Iterator[None]:
    """Show texts in this language within the block."""
    token = _current.set(language)
    try:
        yield
    finally:
        _current.reset(token)


def chosen(own: str, accepted: str) -> str:
    """Return the account's language, or else the best of the browser's Accept-Language.

    >>> chosen("", "fr-CH, de-AT;q=0.8, en;q=0.5"), chosen("en", "de"), chosen("", "ja")
    ('de', 'en', 'en')
    """
    if own in languages():
        return own
    wanted = []
    for place, part in enumerate(accepted[:500].split(",")):
        name, _, weight = part.strip().partition(";q=")
        try:
            wanted.append((-float(weight or 1), place, name.strip()))
        except ValueError:
            continue
    names = [name for weight, _, name in sorted(wanted) if weight < 0]
    return negotiate_locale(names, list(languages()), sep="-") or SOURCE


@cache
def locale_of(language: str) -> Locale:
    """Return whose numbers, dates and plurals a language has."""
    return Locale.parse(_REGIONS.get(language, language).replace("-", "_"))


def tag(language: str) -> str:
    """Return the language tag that numbers and dates of scripts are shown by: en-GB."""
    return str(locale_of(language)).replace("_", "-")


@cache
def catalogue(language: str) -> gettext.NullTranslations:
    """Return the texts of a language; those that are missing are English."""
    path = next((folder / f"{language}.po" for folder in _folders if (folder / f"{language}.po").exists()), None)
    if path is None:
        return gettext.NullTranslations()
    compiled = io.BytesIO()
    try:
        with path.open("rb") as file:
            write_mo(compiled, read_po(file, locale=str(locale_of(language)), abort_invalid=True))
    except (PoFileError, ValueError) as error:
        raise InputError(f"the catalogue cannot be read: {error}", where=str(path)) from error
    compiled.seek(0)
    return gettext.GNUTranslations(compiled)


def _own_name(code: str) -> str:
    try:
        locale = Locale.parse(code.replace("-", "_"))
    except (UnknownLocaleError, ValueError) as error:
        raise InputError(
            f"{code!r} is not a language", where=f"{code}.po", hint="Name the file by its language: fr.po, pt-BR.po."
        ) from error
    name = locale.get_display_name(locale) or code
    return name[0].upper() + name[1:]


def _of_script() -> str:
    """The language of the Streamlit session whose callback or fragment this is."""
    from streamlit.runtime.scriptrunner import get_script_run_ctx

    context = get_script_run_ctx(suppress_warning=True)
    if context is None:
        return ""
    import streamlit as st

    language = st.session_state.get(STATE, "")
    return language if isinstance(language, str) else ""
