"""The wheel and the sdist: they hold what the checkout holds, and the wheel works where nothing of the checkout is."""

import email
import json
import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

from eds import registry
from eds.benchmarks.formats import FORMATS
from eds.distribution import NAME, VERSION

ROOT = Path(__file__).parents[1]
INSTALL = re.compile(r"""install\(['"](\w+)['"]\)""")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    (found,) = built.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment that holds the wheel alone."""
    folder = tmp_path_factory.mktemp("empty")
    venv.create(folder, with_pip=False, symlinks=True)
    python = folder / "bin" / "python"
    command: list[str | Path] = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        python,
        "install",
        "-q",
        "--no-deps",
        "--no-index",
        wheel,
    ]
    subprocess.run(command, check=True)
    return python.parent


def files_of_the_packages() -> set[str]:
    """Every file of the checkout that belongs to the packages."""
    found = [path for package in ("eds", "annotator_ui") for path in (ROOT / package).rglob("*") if path.is_file()]
    return {path.relative_to(ROOT).as_posix() for path in found if "__pycache__" not in path.parts}


def run(program: Path, *words: str, folder: Path) -> str:
    """The output of a program of the environment; what the wheel needs comes from this one, eds does not."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "EDS_"))}
    environment["PYTHONPATH"] = sysconfig.get_path("purelib")  # its links to a checkout are not followed
    done = subprocess.run([program, *words], cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_wheel_holds_every_file_of_the_packages_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
        assert names == files_of_the_packages()
        for name in names:
            assert archive.read(name) == (ROOT / name).read_bytes()


def test_the_sdist_holds_what_builds_and_tests_it(built: Path) -> None:
    (found,) = built.glob("*.tar.gz")
    with tarfile.open(found) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert files_of_the_packages() <= names
    assert {"pyproject.toml", "README.md", "LICENSE", "Makefile", "constraints.txt", "tests/conftest.py"} <= names
    assert not {name for name in names if name.startswith((".venv", ".git/", ".ci"))}


def test_its_metadata_names_every_extra_that_a_message_names(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        metadata = email.message_from_bytes(archive.read(name))
    assert (metadata["Name"], metadata["Version"]) == (NAME, VERSION)
    extras = set(metadata.get_all("Provides-Extra") or [])
    families = [value for value in vars(registry).values() if isinstance(value, registry.Plugins)]
    named = {family._find(member).extra for family in [*families, FORMATS] for member in family} - {""}
    for path in sorted([*(ROOT / "eds").rglob("*.py"), *(ROOT / "annotator_ui").rglob("*.py")]):
        named |= set(INSTALL.findall(path.read_text(encoding="utf-8")))
    assert {"vision", "offline", "annotator"} <= named <= extras
    required = [text for text in metadata.get_all("Requires-Dist") or [] if "extra ==" not in text]
    assert not [text for text in required if re.match(r"(torch|timm|open|streamlit|transformers)", text)]


def test_the_command_line_runs_from_the_wheel(installed: Path, tmp_path: Path) -> None:
    where = run(installed / "python", "-c", "import eds; print(eds.__file__)", folder=tmp_path)
    assert Path(where.strip()).is_relative_to(installed.parent)
    assert "eds demo" in run(installed / "eds", "demo", "--help", folder=tmp_path)
    assert VERSION in run(installed / "eds", "--version", folder=tmp_path)


def test_the_demo_runs_from_the_wheel(installed: Path, tmp_path: Path) -> None:
    """Templates of the page, scripts of the report and the migrations of the label store are inside."""
    words = ("--products", "10", "--views", "1", "--wild", "3", "--size", "64", "--json")
    models = ("--model", "hsv=descriptor:hsv", "--model", "lbp=descriptor:lbp")
    told = json.loads(run(installed / "eds", "demo", "shop", *words, *models, folder=tmp_path))
    assert told["pairs"] > 0
    assert "</html>" in (tmp_path / "shop" / "report.html").read_text(encoding="utf-8")
