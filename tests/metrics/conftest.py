"""A small project that is measured, and the command that does it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eds.cli.metrics import metrics as group
from eds.project import Project
from tests.metrics.projects import answers, project_in

Call = Callable[..., Any]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return project_in(tmp_path / "p")


@pytest.fixture
def call(project: Project) -> Call:
    return answers(group, project)
