"""A small project that is measured, and the command that does it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from eds.cli.metrics import metrics as group
from eds.workspace import Project
from tests.metrics.projects import project_in

Call = Callable[..., Any]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return project_in(tmp_path / "p")


@pytest.fixture
def call(project: Project) -> Call:
    def run(*words: str) -> Any:
        options = ["--json", "-q", "-p", str(project.root)]
        return json.loads(CliRunner().invoke(group, [*words, *options], catch_exceptions=False).stdout)

    return run
