"""A small project that is analysed, and the commands that do it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from eds.cli.analysis import analysis as group
from eds.workspace import Project
from tests.metrics.projects import project_in

Call = Callable[..., Any]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return project_in(tmp_path / "p", seed=2)


@pytest.fixture
def call(project: Project) -> Call:
    def run(*words: str) -> Any:
        options = ["--json", "-q", "-p", str(project.root)]
        return json.loads(CliRunner().invoke(group, [*words, *options], catch_exceptions=False).stdout)

    return run
