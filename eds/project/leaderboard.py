"""Leaderboard: models with intervals and significance groups, beside chance and experts; page, Markdown and JSON."""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, FiniteFloat

from eds.errors import InputError, ProjectError
from eds.io import checked, join, name_of, parent_of
from eds.io.reading import reading, shaped
from eds.project.inputs import PAIR, Inputs
from eds.project.measures import format_value, parse_measures, short_names
from eds.project.ranks_and_scores import official_rules
from eds.project.remote_paths import local_file
from eds.project.results import Result, to_jsonable
from eds.project.score import CONFIDENCE, RESAMPLES, SELF_REMOVED, ScoreResult, usual_measures

if TYPE_CHECKING:
    import pandas as pd

    from eds.metrics import Measure
    from eds.project import Project

PAGE, SUFFIXES = "leaderboard.html", (".html", ".md", ".json")
HUMAN, CHANCE = "experts (each against the others)", "chance"
EVERY = "*"
LIMITS = ("value", "low", "high")
TOLERANCE = 1e-9  # of a value that has no interval


@dataclass(frozen=True)
class LeaderboardRow:
    """A model, the experts or chance: by measure the value, its limits, its groups, and the cell as text."""

    kind: str  # model, human, chance
    name: str
    side: str | None  # of a model: generator or newcomer
    cells: Mapping[
        str, Mapping[str, Any]
    ]  # by measure: value, low, high, groups, text; self_removed where that is shown
    trained_on: tuple[str, ...] = ()  # what of this project a model learned from

    @property
    def remark(self) -> str:
        """What is said beside the name of a model that learned from this project's data."""
        from eds.analysis.comparison_words import trained_words

        return trained_words(self.trained_on) if self.trained_on else ""


@dataclass(frozen=True)
class LeaderboardResult(Result):
    """The rows in their order, what each measure is worth, how values changed since a baseline, and what failed."""

    name: str
    measures: tuple[str, ...]
    headings: tuple[str, ...]
    rows: tuple[LeaderboardRow, ...]
    fairness: Mapping[str, str]  # by measure: its grade on this pool
    notes: tuple[str, ...]
    queries: int
    pairs: int
    confidence: float
    changes: tuple[Mapping[str, Any], ...] = ()  # model, measure, before, value, below
    failures: tuple[str, ...] = ()
    files: tuple[str, ...] = field(default=())

    def table(self) -> list[list[str]]:
        """A row of texts for each row: the name, then a cell for each measure."""
        names = [f"{row.name} ({row.remark})" if row.remark else row.name for row in self.rows]
        return [
            [name, *(str(row.cells[measure]["text"]) for measure in self.measures)]
            for name, row in zip(names, self.rows, strict=True)
        ]

    @property
    def markdown(self) -> str:
        """The leaderboard for a README."""
        lines = [[_escaped(text) for text in row] for row in [["Model", *self.headings], *self.table()]]
        lines.insert(1, ["---"] * (1 + len(self.headings)))
        table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
        return "\n".join([f"### {self.name}", "", table, "", *(f"- {_escaped(note)}" for note in self.notes), ""])

    def raise_failures(self) -> None:
        """Refuse where a value is below what is required, or than the baseline's interval."""
        if self.failures:
            raise ProjectError(
                "one value is too low" if len(self.failures) == 1 else f"{len(self.failures):,} values are too low",
                where="leaderboard",
                hint="See the leaderboard, or change what is required.",
                faults=list(self.failures),
            )


def leaderboard(
    project: "Project",
    to: str | Path | None = None,
    *,
    measures: "str | Measure | Iterable[str | Measure]" = (),
    models: Sequence[str] = (),
    fail_below: Sequence[str] = (),
    compare: str | Path | None = None,
    resamples: int = RESAMPLES,
    confidence: float = CONFIDENCE,
) -> LeaderboardResult:
    """Write the leaderboard; see `Project.leaderboard`."""
    page = checked(to or project.root / PAGE)
    if Path(name_of(page)).suffix.lower() not in (".html", ".htm"):
        what = f"{name_of(page)} is not a page"
        raise InputError(what, where=str(page), hint="Name it like leaderboard.html: .md and .json go beside.")
    limits = [_limit(text) for text in fail_below]
    baseline = None if compare is None else _read_baseline(Path(compare))
    named = [measures] if isinstance(measures, str) or not isinstance(measures, Iterable) else list(measures)
    wanted = parse_measures(map(str, named or usual_measures(project)[1]))
    wanted += [one for _, one, _ in limits if one not in wanted]
    if project.dry_run:
        Inputs(project).measured_labels(wanted)  # refuse what scoring would refuse
        for suffix in SUFFIXES:
            project.would_write(join(parent_of(page), Path(name_of(page)).with_suffix(suffix).name))
        project.would_write(project.path("scores"), "with the leaderboard's measures")
        project.end_rehearsal()
    scores = project.score(wanted, models=models, resamples=resamples, confidence=confidence)
    result = _build(project, scores, wanted)
    result = _with_checks(result, limits, baseline)
    with local_file(page) as file:
        files = [str(join(parent_of(page), name)) for name in _write(result, file)]
    return replace(result, files=tuple(files))


def _build(project: "Project", scores: ScoreResult, measures: "Sequence[Measure]") -> LeaderboardResult:
    from eds.analysis.comparison_words import notes as comparison_notes
    from eds.analysis.comparison_words import trained_notes

    inputs = Inputs(project)
    labels = inputs.measured_labels(measures)
    rows = [*_model_rows(scores, measures), *_reference_rows(project, inputs, labels, measures)]
    fairness = {item.measure: item.grade for item in scores.fairness}
    names = dict(zip(map(str, measures), short_names(measures), strict=True))
    reduced = {str(one): scores.comparison.get(one) for one in measures}
    headings = [
        f"{name}, {SELF_REMOVED}" if (part := reduced[text]) and part.on_reduced_pools else name
        for text, name in names.items()
    ]
    notes = [
        f"{len(labels):,} judged pairs of {labels['query_id'].nunique():,} queries. [{100 * scores.confidence:g} % "
        "interval over queries]. Models that share a letter in a column are not distinguishable (paired, Holm).",
        "* best: no ranked model is better beyond sampling error.",
        f"{HUMAN}: the mean, [lowest, highest expert]; only where an answer of yes or no can be scored.",
        "chance: equal scores, or the mean over random orders of all candidates.",
        *trained_notes(scores.comparison.trained),
        *comparison_notes(scores.comparison),
    ]
    if fairness:
        graded = "; ".join(f"{names[text]}: {grade}" for text, grade in fairness.items() if text in names)
        notes.append(f"Fairness to models that did not build the pool: {graded}.")
    return LeaderboardResult(
        project.config.project.name or project.root.name,
        tuple(names),
        tuple(headings),
        tuple(rows),
        fairness,
        tuple(notes),
        int(labels["query_id"].nunique()),
        len(labels),
        scores.confidence,
    )


def _model_rows(scores: ScoreResult, measures: "Sequence[Measure]") -> list[LeaderboardRow]:
    shown = scores.tabulate(measures)
    texts = {str(one): scores.tabulate([one]).set_index("model") for one in measures}
    whole = scores.table[scores.table["query_id"].isna()].set_index(["model", "measure"])
    rows = []
    for model in shown["model"]:
        cells = {}
        for measure in map(str, measures):
            column = next(name for name in texts[measure].columns if name not in ("trained on", "part"))
            compared = scores.comparison.get(measure)
            groups = compared.groups if compared else ()
            letters = "".join(_letter(at) for at, group in enumerate(groups) if model in group)
            row = whole.loc[(model, measure)]
            text = str(texts[measure].loc[model, column])
            cells[measure] = {
                **{key: to_jsonable(row[key]) for key in LIMITS},
                "groups": letters,
                "text": f"{text} {letters}".strip(),
            }
            if compared and compared.on_reduced_pools and model in compared:
                own = compared[model]
                held = (own.self_removed, own.self_removed_low, own.self_removed_high)
                cells[measure]["self_removed"] = {key: to_jsonable(one) for key, one in zip(LIMITS, held, strict=True)}
        trained = tuple(scores.comparison.trained.get(model, ()))
        rows.append(LeaderboardRow("model", str(model), scores.comparison.sides.get(model), cells, trained))
    return rows


def _letter(at: int) -> str:
    """The letter of a group: a to z, then aa and on."""
    return ascii_lowercase[at % 26] * (1 + at // 26)


def _reference_rows(
    project: "Project", inputs: Inputs, labels: "pd.DataFrame", measures: "Sequence[Measure]"
) -> list[LeaderboardRow]:
    import pandas as pd

    from eds.analysis.reference_rows import chance_level, human_ceiling
    from eds.neighbors.rules import list_lengths
    from eds.pairs import LabelledPairs

    votes, rows = _votes(project, labels), []
    if votes is not None and votes["expert_id"].nunique() > 1:
        ceilings = {str(one): human_ceiling(one, votes) for one in measures}
        if any(ceilings.values()):
            found = {name: (one.value, one.low, one.high) if one else None for name, one in ceilings.items()}
            rows.append(_reference("human", HUMAN, measures, found))
    labelled = LabelledPairs.from_frame(labels)
    lengths = list_lengths(inputs.images(), pd.Series(labelled.queries.to_pylist()), official_rules(project))
    seed = project.config.project.seed
    levels = {str(one): (chance_level(one, labelled, lengths, seed),) for one in measures}
    rows.append(_reference("chance", CHANCE, measures, levels))
    return rows


def _votes(project: "Project", labels: "pd.DataFrame") -> "pd.DataFrame | None":
    """The experts' current answers of yes and no on the labelled pairs; None where there are none."""
    import pandas as pd

    from eds.project.decide import has_votes, read_votes

    if not has_votes(project):
        return None
    from eds.truth.current_votes import UNSURE, current_acts
    from eds.truth.votes import votes_of

    votes = votes_of(current_acts(read_votes(project).labels))
    acts = votes.acts
    frame = pd.DataFrame(
        {
            "query_id": acts.query_names[acts.query[votes.pair]],
            "candidate_id": acts.candidate_names[acts.candidate[votes.pair]],
            "expert_id": acts.experts[votes.expert],
            "value": votes.value.astype("int64"),
        }
    )
    return frame[frame["value"] != UNSURE].merge(labels[PAIR], on=PAIR)


def _reference(
    kind: str, name: str, measures: "Sequence[Measure]", found: Mapping[str, tuple[float, ...] | None]
) -> LeaderboardRow:
    cells = {}
    for measure in measures:
        value, low, high = (*(found[str(measure)] or (None,)), None, None)[:3]
        known = value is not None and not math.isnan(value)
        text = format_value({"value": value, "low": low, "high": high}, measure) if known else "-"
        cells[str(measure)] = {"value": value if known else None, "low": low, "high": high, "groups": "", "text": text}
    return LeaderboardRow(kind, name, None, cells)


def _limit(text: str) -> "tuple[str, Measure, float]":
    """Parse [MODEL:]MEASURE=VALUE into model (or every one), measure and value."""
    from eds.metrics import Measure

    head, _, number = text.rpartition("=")
    model, colon, measure = head.rpartition(":")
    try:
        least = float(number)
    except ValueError:
        least = math.nan
    if not head or math.isnan(least):
        raise InputError(f"invalid limit {text!r}", where="--fail-below", hint="Write [MODEL:]MEASURE=VALUE.")
    return (model if colon else EVERY, Measure.parse(measure), least)


class _Limits(BaseModel):
    value: FiniteFloat | None
    low: FiniteFloat | None = None


class _Cell(_Limits):
    self_removed: _Limits | None = None


class _Row(BaseModel):
    name: str
    kind: str
    cells: dict[str, _Cell] = {}


class _Board(BaseModel):
    rows: list[_Row]


def _read_baseline(file: Path) -> dict[tuple[str, str], _Cell]:
    """The cells of an earlier leaderboard's JSON, by model and measure."""
    hint = "Give the leaderboard.json that an earlier eds benchmarks leaderboard wrote."
    with reading(file, "is not a leaderboard", hint):
        board = shaped(_Board, json.loads(file.read_text(encoding="utf-8")), file, hint)
    models = (row for row in board.rows if row.kind == "model")
    return {(row.name, name): cell for row in models for name, cell in row.cells.items()}


def _with_checks(
    result: LeaderboardResult,
    limits: "Sequence[tuple[str, Measure, float]]",
    baseline: Mapping[tuple[str, str], _Cell] | None,
) -> LeaderboardResult:
    models = {row.name: row for row in result.rows if row.kind == "model"}
    failures = []
    for model, measure, least in limits:
        if model != EVERY and model not in models:
            known = ", ".join(models)
            raise InputError(
                f"no model {model!r} on the leaderboard", where="--fail-below", hint=f"There are: {known}."
            )
        for name, row in models.items():
            shown_as, value = str(measure), row.cells[str(measure)]["value"]
            if own := row.cells[str(measure)].get("self_removed"):
                shown_as, value = f"{measure}, {SELF_REMOVED},", own["value"]
            if model in (EVERY, name) and (value is None or value < least):
                shown = "undefined" if value is None else f"{value:.4g}"
                failures.append(f"{name}: {shown_as} is {shown}, below {least:g}")
    changes = []
    for (name, text), before in (baseline or {}).items():
        if name not in models or text not in models[name].cells:
            failures.append(f"{name}: {text} was on the baseline and is missing")
            continue
        cell, then = models[name].cells[text], _Limits(value=before.value, low=before.low)
        if before.self_removed and "self_removed" in cell:
            cell, then = cell["self_removed"], before.self_removed
        value, was, low = cell["value"], then.value, then.low
        if was is None:
            continue
        least = was - TOLERANCE if low is None else low
        below = value is None or value < least
        changes.append({"model": name, "measure": text, "before": was, "value": value, "below": below})
        if below:
            shown = "undefined" if value is None else f"{value:.4g}"
            limit = "" if low is None else f", below its interval from {low:.4g}"
            failures.append(f"{name}: {text} was {was:.4g} and is {shown}{limit}")
    return replace(result, changes=tuple(changes), failures=tuple(failures))


def _write(result: LeaderboardResult, page: Path) -> list[str]:
    """Write the page, and beside it Markdown and JSON; return their names."""
    from eds.html import asset, render
    from eds.io.files import write_text

    style = asset("eds.project", "leaderboard.css")
    text, data = page.with_suffix(".md"), page.with_suffix(".json")
    write_text(data, json.dumps(result.to_dict(), ensure_ascii=False, allow_nan=False, indent=1) + "\n")
    write_text(text, result.markdown)
    write_text(page, render("eds.project/leaderboard.html.j2", board=result, style=style))
    return [page.name, text.name, data.name]


def _escaped(text: str) -> str:
    r"""A text as a Markdown table takes it.

    >>> _escaped("a|b *")
    'a\\|b \\*'
    """
    return "".join(f"\\{sign}" if sign in "\\|*_`<[]" else sign for sign in text)
