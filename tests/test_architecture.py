"""The shape of the code: who imports whom, how long files are, which names are banned, what is public."""

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import eds

ROOT = Path(__file__).parents[1]
SOURCES = sorted((ROOT / "eds").rglob("*.py"))
BANNED = {"utils", "helpers", "common", "core", "misc", "manager", "base"}
LONGEST = 600


def test_the_import_contracts_hold() -> None:
    done = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def test_no_file_is_long_without_a_reason() -> None:
    lengths = {}
    for path in SOURCES:
        text = path.read_text(encoding="utf-8")
        if "longer than others because" not in text[:1500]:
            lengths[path.relative_to(ROOT).as_posix()] = text.count("\n")
    assert {name: length for name, length in lengths.items() if length > LONGEST} == {}


def test_no_banned_names() -> None:
    names = {part for path in SOURCES for part in path.relative_to(ROOT).with_suffix("").parts}
    assert names & BANNED == set()


def test_every_module_says_what_it_is() -> None:
    silent = [
        path.name for path in SOURCES if path.stat().st_size and not ast.get_docstring(ast.parse(path.read_text()))
    ]
    assert silent == []


def test_nothing_is_checked_by_assert() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Assert)
    ]
    assert found == []


def test_the_public_names_import_and_are_few() -> None:
    assert len(eds.__all__) <= 25
    assert {name for name in eds.__all__ if getattr(eds, name) is None} == set()
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        getattr(eds, "nothing")  # noqa: B009 - the attribute must not exist


def test_an_analyst_or_annotator_installs_no_torch() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    heavy = {"torch", "torchvision", "timm", "open-clip-torch", "openvino"}
    needs = {"": project["dependencies"], **project["optional-dependencies"]}
    packages = {name: {re.split(r"[<>=\[ ]", need)[0] for need in listed} for name, listed in needs.items()}
    assert {name: found & heavy for name, found in packages.items() if found & heavy} == {
        "vision": heavy,
        "onnx": {"openvino"},
        "offline": {"openvino"},
    }


def test_constraints_pin_versions_and_name_no_host() -> None:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    assert [line for line in lines if not re.fullmatch(r"#.*|[A-Za-z0-9._-]+==[0-9][^\s/@]*", line)] == []
