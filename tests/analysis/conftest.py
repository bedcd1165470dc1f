"""A small project that is analysed, and the commands that do it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eds.cli.analysis import analysis as group
from eds.project import Project
from tests.metrics.projects import answers, project_in

Call = Callable[..., Any]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return project_in(tmp_path / "p", seed=2)


@pytest.fixture
def call(project: Project) -> Call:
    """Type words at a command; give the result in the JSON document."""
    typed = answers(group, project)
    return lambda *words: typed(*words)["result"]
