"""The judging page's pure modules, tested by node's own test runner."""

import shutil
import subprocess
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1] / "judging_js"


def test_the_modules_of_the_judging_page() -> None:
    node = shutil.which("node")
    if node is None:
        pytest.fail("the judging page's tests need node 20 or newer: install it (Debian: apt-get install nodejs)")
    files = sorted(str(path) for path in TESTS.glob("*.test.mjs"))
    assert len(files) >= 9
    ran = subprocess.run([node, "--test", *files], capture_output=True, text=True, timeout=120, check=False)
    assert ran.returncode == 0, ran.stdout[-6000:] + ran.stderr[-2000:]
