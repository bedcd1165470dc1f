"""HTML from Jinja2 templates: one environment, in which every value is escaped.

A template is named by its package and its file in the package's folder `templates`: "eds.reports/page.html.j2".
"""

import re
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")  # characters that no XML may contain
BIDI = re.compile("[\u202a-\u202e\u2066-\u2069]")  # they would reverse the text around them


def clean(value: Any) -> str:
    r"""A text in which control and bidirectional characters are replaced.

    >>> clean("a\x00b")
    'a\ufffdb'
    """
    return BIDI.sub("\ufffd", CONTROLS.sub("\ufffd", str(value)))


def render(template: str, /, **values: Any) -> str:
    """The text of a template with these values."""
    return environment().get_template(template).render(values)


def asset(package: str, name: str) -> Markup:
    """A style sheet or script from the package's templates, inserted unchanged."""
    return Markup(_read(package, name))  # noqa: S704 - our own file, never data


@cache
def environment() -> Environment:
    """The environment of all templates."""
    return Environment(
        loader=FunctionLoader(lambda name: _read(*name.split("/", 1))),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=lambda value: clean(value) if isinstance(value, str) and not isinstance(value, Markup) else value,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def _read(package: str, name: str) -> str:
    return files(package).joinpath("templates", name).read_text(encoding="utf-8")
