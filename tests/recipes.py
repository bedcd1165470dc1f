"""The recipes of CONTRIBUTING.md, carried out on a copy of the packages: what a recipe shows is what the test runs.

A recipe is a section. Each of its code blocks that begins with a comment `# path/of/the/file.py` is a file to add.
"""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
_FILE = re.compile(r"^```\w+\n# (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Copy:
    """A copy of the packages in a folder, with the files of a recipe added."""

    root: Path
    added: tuple[str, ...]

    def python(self, code: str) -> str:
        """Run the code against the copy and return what it printed."""
        environment = {**os.environ, "PYTHONPATH": str(self.root), "NO_COLOR": "1", "COLUMNS": "120"}
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=self.root, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def eds(self, *words: str) -> str:
        """Run `eds WORDS` against the copy and return what it printed."""
        return self.python(f"import sys; sys.argv = {['eds', *words]!r}; from eds.cli import main; main()")


def follow(title: str, folder: Path) -> Copy:
    """Copy the packages into the folder and add the files that the recipe of that title shows."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    assert section, f"CONTRIBUTING.md has no section {title!r}"
    files = _FILE.findall(section[1])
    assert files, f"the section {title!r} of CONTRIBUTING.md shows no file"
    for package in ("eds", "annotator_ui"):
        shutil.copytree(ROOT / package, folder / package)
    for path, code in files:
        assert not (folder / path).exists(), f"{path} exists already"
        (folder / path).write_text(code, encoding="utf-8")
    return Copy(folder, tuple(path for path, _ in files))
