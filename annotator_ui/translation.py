"""Texts in the reader's language. The English ones in texts*.py are the message ids of the catalogues.

    class COVERAGE(Texts):
        title = "Coverage"                                  COVERAGE.title is in the reader's language
        left = "{left:,} of {total:,} are left"             .format() writes numbers and dates as the language does
        pairs = plural("{n:,} pair", "{n:,} pairs")         .format(n=3) takes the right form

    PAGE = Messages("PAGE") | {"back": "Campaigns"}         the same for texts that a script gets: for_script(PAGE)

A text is looked up when it is read, so nothing may keep one beyond a request. What must keep one (the title of a
screen) says `say(title)` when it shows it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from annotator_ui import language
from annotator_ui.formats import fill


class Text(str):
    """A text in the reader's language; it knows its English source and where that is."""

    __slots__ = ("key", "source")
    key: str
    source: str

    def format(self, *values: object, **named: object) -> str:
        """Fill in values; numbers and dates as the language writes them."""
        return fill(str(self), values, named)


@dataclass(frozen=True)
class Plural:
    """A text with forms for one and for many, chosen by the value named `by`."""

    one: str
    many: str
    by: str = "n"
    key: str = ""

    def format(self, **named: Any) -> str:
        """Fill in values; the form is that of the number `by`."""
        return fill(self.form(named[self.by]), (), named)

    def form(self, number: float) -> str:
        """Return the unfilled text for this number."""
        if number != int(number):
            number = 2  # a fraction: the languages we know take the form of many
        texts = language.catalogue(language.current())
        found = texts.npgettext(self.key, self.one, self.many, int(number))
        return texts.ngettext(self.one, self.many, int(number)) if found in (self.one, self.many) else found


def plural(one: str, many: str, by: str = "n") -> Plural:
    """Return a text whose form depends on the number `by` that is filled in."""
    return Plural(one, many, by)


def say(text: str) -> str:
    """Return a text that was kept in the language of now; anything else as it is."""
    return _translated(text.source, text.key) if isinstance(text, Text) else text


def _translated(value: Any, key: str) -> Any:
    """Return what a text class holds, with every text in the reader's language; numbers and signs as they are."""
    if isinstance(value, str):
        texts = language.catalogue(language.current())
        found = texts.pgettext(key, value)
        text = Text(texts.gettext(value) if found == value and value else found)
        text.key, text.source = key, value
        return text
    if isinstance(value, Plural):
        return Plural(value.one, value.many, value.by, key)
    if isinstance(value, tuple | list):
        return type(value)(_translated(item, key) for item in value)
    if isinstance(value, dict):
        return {name: _translated(item, f"{key}.{name}") for name, item in value.items()}
    return value


class _Translating(type):
    """Looks up the attributes of its classes when they are read."""

    def __init__(cls, name: str, bases: tuple[type, ...], attributes: dict[str, Any]) -> None:
        super().__init__(name, bases, attributes)
        if bases:
            _register(name, {key: value for key, value in attributes.items() if not key.startswith("_")})

    def __getattribute__(cls, name: str) -> Any:
        value = super().__getattribute__(name)
        return value if name.startswith("_") else _translated(value, f"{cls.__name__}.{name}")


class Texts(metaclass=_Translating):
    """A class whose attributes are texts: strings, plurals, and tuples, lists and dicts of them."""


class Messages(dict[str, Any]):
    """A dict of texts, looked up when they are read: `PAGE = Messages("PAGE") | {"back": "Campaigns"}`."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    def __or__(self, texts: dict[str, Any]) -> "Messages":  # type: ignore[override]  # of these it is the only use
        """Return it with these texts."""
        self.update(texts)
        _register(self.name, texts)
        return self

    def __getitem__(self, name: str) -> Any:
        return _translated(super().__getitem__(name), f"{self.name}.{name}")


_groups: dict[str, Mapping[str, Any]] = {}


def _register(name: str, texts: Mapping[str, Any]) -> None:
    _groups[name] = texts


def groups() -> Mapping[str, Mapping[str, Any]]:
    """Return the English texts of every class and dict of texts that was imported, by its name."""
    return dict(_groups)


@cache
def _for_script(name: str, of: str) -> Any:
    """The texts of one group in one language, as a script takes them: of plurals every form by its category."""
    with language.speaking(of):
        return {key: _plain(_translated(value, f"{name}.{key}"), of) for key, value in _groups[name].items()}


def for_script(*texts: Messages) -> dict[str, Any]:
    """Return texts in the reader's language by the lower-case names of their groups."""
    of = language.current()
    return {group.name.lower(): _for_script(group.name, of) for group in texts}


def _plain(value: Any, of: str) -> Any:
    if isinstance(value, Plural):
        return {"by": value.by, **dict(_forms(value, of))}
    if isinstance(value, list | tuple):
        return [_plain(item, of) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item, of) for key, item in value.items()}
    return str(value) if isinstance(value, str) else value


def _forms(text: Plural, of: str) -> Iterator[tuple[str, str]]:
    """Every form of a plural by the category that Intl.PluralRules names."""
    category, seen = language.locale_of(of).plural_form, set[str]()
    for number in (*range(201), 10**6):
        if (found := category(number)) not in seen:
            seen.add(found)
            yield found, text.form(number)
    if "other" not in seen:
        yield "other", text.form(2)
