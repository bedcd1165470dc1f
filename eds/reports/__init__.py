"""Stage `reports`: the tables, told to a reader without Python: one page, and its numbers as JSON and CSV."""

from eds.reports.document import Gap, Report
from eds.reports.facts import build
from eds.reports.files import write_report
from eds.reports.material import Judging, Material, ModelCard, Search

__all__ = ["Gap", "Judging", "Material", "ModelCard", "Report", "Search", "build", "write_report"]
