"""Plug-ins of one file: names and helps are read without importing, members are imported on use."""

import importlib.metadata
import subprocess
import sys
from pathlib import Path

import pytest

from eds.errors import MissingExtraError, UnknownNameError
from eds.registry import Plugins


@pytest.fixture
def shapes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Plugins:
    """A family of shapes in a package of its own."""
    package = f"toys_of_{abs(hash(request.node.name))}"
    folder = tmp_path / package / "shapes"
    folder.mkdir(parents=True)
    members = {
        "round_shape": '"""A circle."""\n\n\ndef draw() -> str:\n    return "o"\n',
        "flat": '# A comment first.\nr"""A line.\n"""\nNAME = "flat_line"\n\n\ndef draw() -> str:\n    return "-"\n',
        "heavy": '"""Needs much."""\nEXTRA = "vision"\nimport package_that_is_not_there\n',
        "other": '"""Needs a package that no extra names."""\nimport package_that_is_not_there.inner\n',
        "broken": f'"""Imports a module of its own package that does not exist."""\nimport {package}.missing\n',
        "_shared": '"""Not a member."""\n',
    }
    for name, text in members.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    return Plugins(f"{package}.shapes", "shape", "draw")


def test_a_file_is_a_member_and_nothing_is_imported_to_know_it(shapes: Plugins) -> None:
    assert shapes.names() == ("broken", "flat_line", "heavy", "other", "round-shape")
    assert shapes.help("round-shape") == "A circle."
    assert shapes.help("flat_line") == "A line."
    assert "flat_line" in shapes
    assert "flat" not in shapes
    assert not [name for name in sys.modules if name.startswith(shapes.package)]


def test_a_member_is_imported_on_use(shapes: Plugins) -> None:
    assert shapes.load("round-shape")() == "o"
    assert shapes.load("flat_line")() == "-"
    assert Plugins(shapes.package, "shape").load("flat_line").__doc__.startswith("A line")


def test_an_unknown_name_lists_the_known_ones(shapes: Plugins) -> None:
    with pytest.raises(UnknownNameError) as caught:
        shapes.load("round_shape")
    assert caught.value.what == "unknown shape 'round_shape'"
    assert caught.value.hint.startswith("Did you mean round-shape?")
    assert all(name in caught.value.hint for name in shapes)


def test_a_missing_package_says_what_to_install(shapes: Plugins) -> None:
    with pytest.raises(MissingExtraError, match=r"needs the package package_that_is_not_there") as caught:
        shapes.load("heavy")
    assert caught.value.hint == 'Run: pip install "eds-benchmark[vision]".'
    with pytest.raises(MissingExtraError) as caught:
        shapes.load("other")
    assert caught.value.hint == "Run: pip install package_that_is_not_there."


def test_a_missing_module_of_the_own_package_is_a_bug(shapes: Plugins) -> None:
    with pytest.raises(ModuleNotFoundError):
        shapes.load("broken")


def test_an_entry_point_adds_a_member_but_never_replaces_one(shapes: Plugins, monkeypatch: pytest.MonkeyPatch) -> None:
    points = (
        importlib.metadata.EntryPoint("mine", "pathlib:PurePosixPath", shapes.package),
        importlib.metadata.EntryPoint("round-shape", "os:sep", shapes.package),
    )
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: points if group == shapes.package else ())
    assert "mine" in shapes.names()
    assert shapes.load("mine").__name__ == "PurePosixPath"
    assert shapes.load("round-shape")() == "o"


def test_importing_the_registry_is_light() -> None:
    heavy = "{'numpy', 'pandas', 'pyarrow', 'torch', 'pydantic'} & set(sys.modules)"
    code = f"import sys, eds.registry; sys.exit(bool({heavy}))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
