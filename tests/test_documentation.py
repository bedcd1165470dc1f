"""The documentation is held against the code: commands, tables, names, and every block that can run."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import eds
from eds.cli import cli
from tests.generated import ROOT, every_command, readmes, renewed

BLOCK = re.compile(r"^```(?P<kind>sh|python)\n(?P<text>.*?)^```", re.MULTILINE | re.DOTALL)
BLOCKS = [
    pytest.param(path, found.group("kind"), found.group("text"), id=f"{path.relative_to(ROOT)}-{number}")
    for path in readmes()
    if path.parent.name != "deploy"  # sets up a whole machine: tests/deploy_rehearsal.py types it in one of its own
    for number, found in enumerate(BLOCK.finditer(path.read_text(encoding="utf-8")))
]


@pytest.mark.parametrize("path", readmes(), ids=lambda path: str(path.relative_to(ROOT)))
def test_generated_parts_are_up_to_date(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text == renewed(text), "run: make docs"


@pytest.mark.parametrize(("path", "kind", "text"), BLOCKS)
def test_blocks_run(path: Path, kind: str, text: str, tmp_path: Path) -> None:
    """A block `sh` is typed in a fresh folder, a block `python` is run; what cannot run is marked `console`.

    In the readme's first example, comments beside and below `print` are what it prints.
    """
    program = ["bash", "-euo", "pipefail", "-c", text] if kind == "sh" else [sys.executable, "-c", text]
    paths = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        program, cwd=tmp_path, capture_output=True, text=True, env={**os.environ, "PATH": paths}, check=False
    )
    assert done.returncode == 0, done.stderr
    if path == ROOT / "README.md" and "simulate_experts" in text:
        stated = re.findall(r"^print\(.*\)  # (.+)$|^# (.+)$", text, re.MULTILINE)
        assert [line.strip() for line in done.stdout.splitlines()] == [
            (beside or below).strip() for beside, below in stated
        ]


def test_every_command_stands_in_the_readme_of_its_stage() -> None:
    undocumented = []
    for words, _ in every_command(cli, ["eds"]):
        folder = ROOT / "eds" / words[1]
        readme = folder / "README.md" if folder.is_dir() else ROOT / "README.md"
        if not readme.exists() or " ".join(words) not in readme.read_text(encoding="utf-8"):
            undocumented.append(" ".join(words))
    assert undocumented == []


def test_every_stage_has_a_readme() -> None:
    folders = {path.parent for path in (ROOT / "eds").glob("*/__init__.py")}
    assert {folder.name for folder in folders if not (folder / "README.md").exists()} == set()


def test_the_readme_lists_the_public_names() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `eds\.(\w+)`", text, re.MULTILINE)
    assert sorted(listed) == sorted(eds.__all__)


def test_public_functions_and_classes_have_docstrings() -> None:
    silent = [
        f"{path.relative_to(ROOT)}:{node.name}"
        for path in sorted((ROOT / "eds").rglob("*.py"))
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, (ast.FunctionDef, ast.ClassDef))
        and not node.name.startswith("_")
        and not ast.get_docstring(node)
    ]
    assert silent == []


def test_links_between_pages_lead_somewhere() -> None:
    broken = [
        f"{path.relative_to(ROOT)} -> {target}"
        for path in readmes()
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", path.read_text(encoding="utf-8"))
        if not (path.parent / target).exists()
    ]
    assert broken == []


def test_the_readmes_commands_exist_in_the_makefile() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    named = {
        name
        for path in readmes()
        for name in re.findall(r"\bmake ([a-z][a-z-]+)\b(?=[`\s,;.])", path.read_text(encoding="utf-8"))
    }
    assert {
        name for name in named if name not in targets and f"`make {name}`" in "".join(p.read_text() for p in readmes())
    } == set()
