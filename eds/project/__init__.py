"""A project and what is done with it: every verb once, for Python, the command line and the browser."""

from eds.project.project import Project, State
from eds.project.reporter import SILENT, Progress, Reporter
from eds.project.results import Result

__all__ = ["SILENT", "Progress", "Project", "Reporter", "Result", "State"]
