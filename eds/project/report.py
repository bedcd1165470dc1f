"""Report: an HTML page of the whole project, and its numbers as JSON and CSV."""

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from eds.distribution import VERSION
from eds.errors import InputError
from eds.io import checked, join, name_of, parent_of
from eds.project.remote_paths import local_file
from eds.project.report_inputs import ReportOptions, collect
from eds.project.results import Result
from eds.project.score import CONFIDENCE, RESAMPLES

if TYPE_CHECKING:
    from eds.project import Project
    from eds.reports import Report
    from eds.tables import Provenance

PAGE = "report.html"


@dataclass(frozen=True)
class MissingPart(Result):
    """What a section of the report lacks, and the command that makes it."""

    section: str
    missing: str
    hint: str


@dataclass(frozen=True)
class ReportResult(Result):
    """The files of a report with their sizes in bytes, the page first; its sections; and what is missing in them."""

    files: Mapping[str, int]
    sections: tuple[str, ...]
    missing: tuple[MissingPart, ...]


def report(
    project: "Project",
    to: str | Path | None = None,
    *,
    slices: Sequence[str] = ("category",),
    gallery: int = 3,
    pictures: bool = True,
    resamples: int = RESAMPLES,
    confidence: float = CONFIDENCE,
    pool_models: Sequence[str] = (),
    with_random: bool = False,
    allow_missing: bool = False,
    keep: bool = False,
) -> ReportResult:
    """Write the report; see `Project.report`."""
    options = ReportOptions(
        tuple(slices), gallery, pictures, resamples, confidence, tuple(pool_models), with_random, allow_missing
    )
    return _report(project, to, options, keep=keep)


def refresh(project: "Project") -> ReportResult | None:
    """Write report.html again, with the parameters it was made with, if it is missing or stale; None if up to date."""
    made_by = read_provenance(project.root / PAGE)
    if report_condition(project) == "fresh":
        return None
    return _report(project, None, ReportOptions.from_params(made_by.params if made_by else {}))


def report_condition(project: "Project") -> Literal["absent", "fresh", "stale"]:
    """Whether report.html is there, and was made from what the project holds now."""
    made_by = read_provenance(project.root / PAGE)
    if made_by is None:
        return "absent"
    now = _provenance(project, ReportOptions.from_params(made_by.params))
    return "fresh" if (made_by.parents, made_by.settings) == (now.parents, now.settings) else "stale"


def read_provenance(page: Path) -> "Provenance | None":
    """Return what made a report, from the JSON beside the page; None where there is no report, or an unreadable one."""
    from eds.tables import Provenance

    try:
        made = json.loads(page.with_suffix(".json").read_text(encoding="utf-8"))["made"]
        return Provenance.from_json(json.dumps(made["provenance"])) if page.exists() else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def build_report(project: "Project", options: ReportOptions) -> "Report":
    """Return the report as a document, without writing it; table scores is made first if it is missing or stale."""
    from eds.reports import build

    inputs = collect(project, options)
    made = {
        "when": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "eds": VERSION,
        "confidence": inputs.confidence,
        "resamples": inputs.resamples,
        "seed": inputs.seed,
        "k": inputs.k,
        "cut": inputs.cut,
        "provenance": asdict(_provenance(project, options)),
    }
    with project.progress("report", "sections") as progress:
        return build(inputs, made, progress)


def _report(project: "Project", to: str | Path | None, options: ReportOptions, *, keep: bool = False) -> ReportResult:
    from eds.reports import Gap, write_report

    page = checked(to or project.root / PAGE)
    if Path(name_of(page)).suffix.lower() not in (".html", ".htm"):
        raise InputError(
            f"{name_of(page)} is not a page",
            where=str(page),
            hint="Name it like report.html: .json and .csv go beside.",
        )
    if project.dry_run:
        for suffix in (".html", ".json", ".csv"):
            project.would_write(join(parent_of(page), Path(name_of(page)).with_suffix(suffix).name))
        if project.state("scores").condition != "fresh":
            project.would_write(project.path("scores"), "missing or stale: made first")
        project.end_rehearsal()
    with local_file(page) as file:
        document = build_report(project, options)
        if keep:
            _keep(file)
        sizes = {str(join(parent_of(page), path.name)): path.stat().st_size for path in write_report(document, file)}
    missing = tuple(
        MissingPart(section.key, block.what, block.hint)
        for section in document.sections
        for block in section.blocks
        if isinstance(block, Gap)
    )
    return ReportResult(sizes, tuple(section.key for section in document.sections), missing)


def _keep(page: Path) -> None:
    """Copy an earlier page and its numbers to names with the time when it was made, as report-2026-05-01-1412.html."""
    if not page.exists():
        return
    made = datetime.fromtimestamp(page.stat().st_mtime, UTC).strftime("%Y-%m-%d-%H%M")
    for file in (page, page.with_suffix(".json"), page.with_suffix(".csv")):
        if file.exists():
            shutil.copy2(file, file.with_stem(f"{page.stem}-{made}"))


def _provenance(project: "Project", options: ReportOptions) -> "Provenance":
    tables = [project.path(name) for name in ("images", "suspects", "truth", "scores")]
    models = [project.path(kind, model) for kind in ("embeddings", "neighbors") for model in project.models(kind)]
    labels = [project.path("labels")] if project.path("labels").exists() or project.config.labels.url else []
    settings: dict[str, Any] = {"project.seed": project.config.project.seed}
    parents = [*(path for path in tables if path.exists()), *models, *labels]
    return project.provenance("reports.write", settings, parents, params=options.params())
