"""The examples in docstrings of the annotator run. (Screens and app.py are scripts: they cannot be imported.)"""

import doctest
import importlib

import pytest

MODULES = [
    "auth.client",
    "auth.openid",
    "auth.security_headers",
    "escape_markdown",
    "formats",
    "guideline_html",
    "language",
    "picture_tokens",
]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    found = doctest.testmod(importlib.import_module(f"annotator_ui.{name}"), optionflags=doctest.NORMALIZE_WHITESPACE)
    assert found.attempted > 0
    assert found.failed == 0
