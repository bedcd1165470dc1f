"""Stage `reports`: an HTML report of a project, and its numbers as JSON and CSV."""

from eds.reports.build import build
from eds.reports.document import Gap, Report
from eds.reports.files import write_report
from eds.reports.inputs import Judging, ModelCard, ReportInputs, Search

__all__ = ["Gap", "Judging", "ModelCard", "Report", "ReportInputs", "Search", "build", "write_report"]
