"""`eds reports`: one page that tells it all, with the same numbers as JSON and CSV beside it."""

from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from eds.cli.addresses import ADDRESS, file_for
from eds.cli.console import Console, command
from eds.cli.options import allow_missing, generator, with_random

if TYPE_CHECKING:
    from eds.io import Address
    from eds.project import Project
    from eds.reports import Gap, Report, ReportInputs


@click.group()
def reports() -> None:
    """Tell a reader without Python what came out, and how far it can be trusted."""


@command(reports, "write", example="eds reports write --out report.html --slice category")
@click.option("--out", type=ADDRESS, help="The page, a path or s3://bucket/name.html (default: report.html).")
@click.option("--resamples", type=click.IntRange(0), default=2000, help="Resamples behind each limit; 0: no limits.")
@click.option("--gallery", type=click.IntRange(0, 200), default=8, help="Pairs in each gallery; 0: none.")
@click.option("--slice", "slices", multiple=True, metavar="COLUMN",
              help="A column of images to tell numbers by (default: category); may be given several"
              " times.")  # fmt: skip
@click.option("--no-pictures", is_flag=True, help="Leave pictures out: only names in the galleries.")
@click.option("--level", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.95, help="Of the limits.")
@generator
@with_random
@allow_missing
def write(console: Console, out: "Address | None", **options: Any) -> None:
    """Write the report: HTML, and beside it its numbers as JSON and CSV. What is missing is told where it belongs."""
    from eds.errors import InputError
    from eds.io import join, name_of, parent_of
    from eds.reports import Gap

    name = "report.html" if out is None else name_of(out)
    if Path(name).suffix.lower() not in (".html", ".htm"):
        raise InputError(f"{name} is no page", where="--out", do="Name it as report.html: JSON and CSV stand beside.")
    place = out or console.project.root / name
    with file_for(place) as file:
        report, files = written(console.project, file, **options)
        sizes = {str(join(parent_of(place), path.name)): path.stat().st_size for path in files}
    gaps = [{"section": part.key, "missing": block.what, "do": block.do}
            for part in report.sections for block in part.blocks if isinstance(block, Gap)]  # fmt: skip
    document = {"files": sizes, "sections": [part.key for part in report.sections], "missing": gaps}
    lines = [f"Wrote {path} ({size / 1e6:,.1f} MB)" for path, size in sizes.items()]
    lines += [f"Missing in {gap['section']}: {gap['missing']}" for gap in gaps]
    console.answer(document, "\n".join(lines))


def written(project: "Project", out: Path, **options: Any) -> "tuple[Report, tuple[Path, Path, Path]]":
    """The report, and the files it was written to, the page first."""
    from eds.reports import build, write_report

    material = gathered(project, **options)
    made = {
        "when": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"), "eds": _version(), "confidence": material.confidence,
        "resamples": material.resamples, "seed": material.seed, "k": material.k, "cut": material.cut,
    }  # fmt: skip
    with project.progress("report", "sections") as progress:
        report = build(material, made, progress)
    return report, write_report(report, out)


def gathered(
    project: "Project",
    *,
    resamples: int = 2000,
    gallery: int = 8,
    slices: tuple[str, ...] = (),
    no_pictures: bool = False,
    level: float = 0.95,
    makers: tuple[str, ...] = (),
    with_random: bool = False,
    allow_missing: bool = False,
) -> "ReportInputs":
    """Everything that the project has for a report; what it lacks is kept as the reason."""
    from eds.project import report_inputs as read
    from eds.reports import ReportInputs

    gaps = {}
    settings = project.config

    def attempt(name: str, make: Callable[[], Any]) -> Any:
        found = _attempt(make)
        if isinstance(found, _gap()):
            gaps[name] = found
            return None
        return found

    images, suspects, truth = (
        attempt(name, partial(read.table, project, name)) for name in ("images", "suspects", "truth")
    )
    which = {"allow_missing": allow_missing, "with_random": with_random}
    scored = attempt("results", lambda: read.results(project, images, truth, suspects, **which))
    coded = attempt("codes", lambda: read.codes(project, truth, **which))
    lists = attempt("pool_lists", lambda: read.generators(project, suspects, makers, allow_missing=allow_missing))
    for name in ("scores", "negatives", "rankings"):
        gaps |= {name: gaps["results"]} if "results" in gaps else {}
    found, evidence, negatives = scored or (None, None, None)
    return ReportInputs(
        settings.project.name or project.root.resolve().name,
        read.pool_depth(project),
        seed=settings.project.seed, confidence=level, resamples=resamples, experts=settings.budget.experts,
        seconds=settings.budget.seconds, hourly=settings.budget.hourly, currency=settings.budget.currency,
        gallery=gallery, slices=slices or ("category",), image_root=None if no_pictures else project.pictures,
        images=images, suspects=suspects, truth=truth, with_random=with_random,
        judging=attempt("judging", lambda: read.judging(project, resamples, level)),
        models=attempt("models", lambda: read.models(project)),
        searches=attempt("searches", lambda: read.searches(project)) or (), codes=coded or (),
        pool_lists=lists,
        rankings=evidence.rankings if evidence else None, placed=evidence.placed if evidence else None,
        results=found, scores=evidence.scores if evidence else None, negatives=negatives,
        tables=read.states(project), gaps=gaps,
    )  # fmt: skip


def _gap() -> "type[Gap]":
    from eds.reports import Gap

    return Gap


def _attempt(make: Callable[[], Any]) -> Any:
    """What `make` gives, or why it cannot."""
    from eds.errors import EdsError
    from eds.reports import Gap
    from eds.reports.document import Missing

    try:
        return make()
    except Missing as missing:
        return missing.gap
    except EdsError as error:
        told = f"{error.what[:1].upper()}{error.what[1:].rstrip('.')}."
        return Gap(" ".join([told, *error.faults[:3]]), error.do)


def _version() -> str:
    from importlib.metadata import version

    return version("eds")
