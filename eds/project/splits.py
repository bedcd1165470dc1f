"""Table splits of a project: made once, obeyed by every training, stored with every trained model."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from eds.choices import Searched, SplitBy
from eds.errors import InputError, ProjectError
from eds.project.results import Result

if TYPE_CHECKING:
    import pandas as pd

    from eds.project import Project
    from eds.training.supervision import Supervision

OPERATION = "training.split"


@dataclass(frozen=True)
class SplitOptions:
    """How table splits is made: drawn, one of the standard splits by name, or a column of table images."""

    by: SplitBy = "product"
    validation_share: float = 0.1
    test_share: float = 0.2
    searched: Searched | None = None  # what test queries are compared with; None: queries, of a column others
    seed: int | None = None  # None: the project's
    standard: str | None = None
    column: str | None = None
    meaning: Mapping[str, str] | None = None  # of the column: value -> part


@dataclass(frozen=True)
class SplitResult(Result):
    """Table splits: images by part, and how many of them the test queries are compared with."""

    table: "pd.DataFrame"
    train: int
    validation: int
    query: int
    database: int
    searched: int
    trained_alone: int  # trained models that were made with another split

    def to_dict(self) -> dict[str, Any]:
        """The counts; the rows are in the project's splits.parquet."""
        return {name: value for name, value in super().to_dict().items() if name != "table"}


def make_split(project: "Project", options: SplitOptions, *, replace: bool = False) -> SplitResult:
    """Make table splits; see `Project.split`."""
    from eds.project.runs import trained_runs
    from eds.training.splits import draw_split, split_by_column, standard_split

    if options.standard and options.column:
        raise InputError("a standard split and a column are named", where="splits", hint="Name one of them.")
    drawn = ("by", "validation_share", "test_share", *(("searched",) if options.standard else ("seed",)))
    unused = [name for name in drawn if getattr(options, name) != getattr(SplitOptions, name)]
    if (options.standard or options.column) and unused:
        words = ", ".join(f"--{name.replace('_', '-')}" for name in unused)
        kind = f"split {options.standard}" if options.standard else f"column {options.column}"
        raise InputError(f"{words} without effect: {kind} decides it", where="splits", hint="Leave it out.")
    if options.meaning and not options.column:
        raise InputError("values of no column are mapped", where="splits", hint="Name the column: --column.")
    with project.writing(OPERATION):
        path = project.path("splits")
        if path.exists() and not replace:
            raise ProjectError(
                "the project has a split, and scores of models trained with another cannot be compared",
                where=str(path),
                hint="Use --replace to draw another; models keep the split that they were trained with.",
            )
        images = project.read("images")
        seed = project.config.project.seed if options.seed is None else options.seed
        if options.standard:
            table = standard_split(images, options.standard, seed)
        elif options.column:
            table = split_by_column(images, options.column, options.meaning, options.searched or "others")
        else:
            shares = {"validation_share": options.validation_share, "test_share": options.test_share}
            table = draw_split(images, options.by, searched=options.searched or "queries", seed=seed, **shares)
        params = {name: value for name, value in vars(options).items() if value != getattr(SplitOptions(), name)}
        if options.meaning:
            params["map"] = [f"{value}={part}" for value, part in params.pop("meaning").items()]
        project.write(table, "splits", project.provenance(OPERATION, {"project.seed": seed}, [], params=params))
    trained = frozenset(table.loc[table["part"].isin(["train", "validation"]), "image_id"])
    others = sum(run.seen != trained for run in trained_runs(project))
    counts = table["part"].value_counts()
    parts = {name: int(counts.get(name, 0)) for name in ("train", "validation", "query", "database")}
    return SplitResult(table, **parts, searched=int(table["searched"].sum()), trained_alone=others)


def with_split(project: "Project", labels: "Supervision") -> "Supervision":
    """The labels with the project's split, if it has one; says so where it leaves nothing to test on."""
    from dataclasses import replace

    from eds.training.splits import rows_of

    if not project.path("splits").exists():
        return labels
    parts = rows_of(project.read("splits"), list(labels.ids))
    if not len(parts.test):
        project.say("Warning: no image is left to test on; every score is of images that were trained on.")
    return replace(labels, parts=parts)
