import importlib.metadata

import pytest

from eds.errors import MissingExtraError, UnknownNameError
from eds.registry import Entry, Registry

SHAPES = Registry(
    "shapes",
    {
        "path": Entry("pathlib:PurePath", "a path"),
        "heavy": Entry("package_that_is_not_there:Thing", "needs much", extra="vision"),
        "odd": Entry("another_package_not_there:Thing"),
        "ours": Entry("eds.no_such_module:Thing"),
    },
)


def test_a_name_gives_its_object() -> None:
    assert SHAPES.load("path").__name__ == "PurePath"


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(UnknownNameError, match=r"Did you mean heavy\? Known: path, heavy, odd, ours"):
        SHAPES.load("heavi")


def test_a_missing_package_says_what_to_install() -> None:
    with pytest.raises(
        MissingExtraError, match=r'needs the package package_that_is_not_there.*pip install "eds\[vision\]"'
    ):
        SHAPES.load("heavy")
    with pytest.raises(MissingExtraError, match="pip install another_package_not_there"):
        SHAPES.load("odd")


def test_a_module_of_ours_that_is_missing_is_our_bug() -> None:
    with pytest.raises(ModuleNotFoundError):
        SHAPES.load("ours")


def test_an_entry_point_adds_a_name_but_never_replaces_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    points = (
        importlib.metadata.EntryPoint("mine", "pathlib:PurePosixPath", "eds.shapes"),
        importlib.metadata.EntryPoint("path", "os:sep", "eds.shapes"),
    )
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: points if group == "eds.shapes" else ())
    assert SHAPES.load("mine").__name__ == "PurePosixPath"
    assert SHAPES.load("path").__name__ == "PurePath"
