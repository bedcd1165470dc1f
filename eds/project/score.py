"""Score: every model by every measure, with confidence intervals: table scores."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eds.project.compare import compare_models
from eds.project.evaluate import Evaluation, evaluate_models, models_to_score
from eds.project.inputs import Inputs
from eds.project.measures import format_bounds, format_value, parse_measures, short_names, shorten
from eds.project.models import find_models, generators
from eds.project.new_models import add_models, remove_if_refused
from eds.project.pool import pool_depth
from eds.project.ranks_and_scores import choose_models
from eds.project.results import Result, to_jsonable
from eds.project.seen import COLUMNS as SEEN
from eds.project.seen import add_seen
from eds.tables import SCORES, read_provenance

if TYPE_CHECKING:
    import pandas as pd

    from eds import metrics
    from eds.analysis import Comparison, MeasureFairness
    from eds.metrics import Measure
    from eds.project import Project, State

PRESET = "vsd"  # where no measure is named
FIRST = ("ROC-AUC", "VSD-HR@5", "VSD-MRR@5", "Judged@5")  # of its measures, those that are shown at first
# The same, where the lists keep the query's product or all its images.
FIRST_WITHOUT_RULES = ("ROC-AUC", "P@5", "RR@5", "Judged@5")
USUAL_WITHOUT_RULES = ("trec", *FIRST_WITHOUT_RULES)
RESAMPLES, CONFIDENCE = 2000, 0.95
PARTS = {"generator": "pool", "newcomer": "new"}  # of a model in the table
SELF_REMOVED = "self-removed"
RULES = ("exclude_product", "one_per_product", "category")
NAMES = {  # the parameters of `score` as the provenance and the command line name them
    "measures": "measure",
    "models": "model",
    "pool_models": "pool_model",
    "source": "from",
    "attributes": "attribute",
}


@dataclass(frozen=True)
class ScoreOptions:
    """What is scored, and how; each option is a parameter of `score`."""

    measures: tuple[str, ...] = (PRESET,)
    models: tuple[str, ...] = ()
    pool_models: tuple[str, ...] = ()
    source: str = "auto"
    by_query: bool = False
    resamples: int = RESAMPLES
    confidence: float = CONFIDENCE
    with_random: bool = False
    allow_missing: bool = False
    attributes: tuple[str, ...] = ()

    def params(self) -> dict[str, Any]:
        """Return the options that are not the default, by the names of the command line."""
        default = ScoreOptions()
        changed = {name: value for name, value in vars(self).items() if value != getattr(default, name)}
        return {NAMES.get(name, name): to_jsonable(value) for name, value in changed.items()}

    @classmethod
    def from_params(cls, params: Mapping[str, Any]) -> "ScoreOptions":
        """Return the options that a table's provenance names."""
        names = {name: NAMES.get(name, name) for name in cls.__dataclass_fields__}
        known: dict[str, Any] = {name: params[option] for name, option in names.items() if option in params}
        known = {name: tuple(value) if isinstance(value, list) else value for name, value in known.items()}
        return cls(**known)


@dataclass(frozen=True)
class ScoreResult(Result):
    """Table scores; how the models compare by each measure; and which measures are fair to newcomers."""

    table: "pd.DataFrame"
    comparison: "Comparison"
    fairness: "tuple[MeasureFairness, ...]"  # empty where no model is new
    confidence: float
    resamples: int
    results: "Sequence[metrics.Result]" = field(repr=False)  # with the values of every query
    shown: "tuple[Measure, ...]" = ()  # at first; empty: all

    def to_dict(self) -> dict[str, Any]:
        """Return the table's rows with what each number rests on, the comparison, and the settings."""
        document = {
            "scores": self.rows(),
            "comparison": self.comparison.to_dict(),
            "fairness": self.fairness,
            "confidence": self.confidence,
            "resamples": self.resamples,
        }
        return {key: to_jsonable(value) for key, value in document.items()}

    def rows(self) -> list[dict[str, Any]]:
        """Return the table's rows; those over all queries with every count, and the model's side."""
        counts = {(result.model, str(result.measure)): count_queries(result) for result in self.results}
        rows: list[dict[str, Any]] = []
        records: list[Any] = self.table.to_dict(orient="records")
        for row in records:
            whole = not isinstance(row["query_id"], str)
            row["trained_on"] = list(self.comparison.trained.get(row["model"], ()))
            row["query_id"] = None if whole else row["query_id"]
            row["note"] = row["note"] if isinstance(row["note"], str) and row["note"] else None
            row |= (
                {"side": self.comparison.sides[row["model"]], **counts[row["model"], row["measure"]]} if whole else {}
            )
            rows.append(row)
        return rows

    @property
    def measures(self) -> "list[Measure]":
        """Every measure that was scored, each once."""
        return list(dict.fromkeys(result.measure for result in self.results))

    @property
    def summary(self) -> "pd.DataFrame":
        """The table of the measures that are shown at first."""
        return self.tabulate(self.shown or self.measures)

    def tabulate(self, measures: "Sequence[Measure]") -> "pd.DataFrame":
        """A row for each model and a column for each measure: value, interval or ceiling, and * for the best models.

        AUC is self-removed where models of both sides are compared. The first measure orders the models.
        """
        import pandas as pd

        whole = self.table[self.table["query_id"].isna()]
        cells = {(row["model"], row["measure"]): row for row in whole.to_dict(orient="records")}
        compared = self.comparison.get(measures[0]) if measures else None
        models = [] if compared is None else [item.model for item in compared.models]
        models += [name for name in self.comparison.sides if name not in models]
        columns: dict[str, list[str]] = {"model": models}
        if self.comparison.trained:
            columns["trained on"] = [", ".join(self.comparison.trained.get(name, ())) for name in models]
        if self.comparison.mixed:
            columns["part"] = [PARTS[self.comparison.sides[name]] for name in models]
        for name, measure in zip(short_names(measures), measures, strict=True):
            part = self.comparison.get(measure)
            reduced = part is not None and part.on_reduced_pools
            heading = f"{name}, {SELF_REMOVED}" if reduced else name
            columns[heading] = [self._cell(model, measure, cells[model, str(measure)]) for model in models]
            parts = {side: [cells[model, str(measure)][side] for model in models] for side in SEEN}
            for side, over in parts.items() if pd.DataFrame(parts).notna().any(axis=None) else ():
                columns[f"{name} {side}"] = [
                    self._part(model, measure, value) for model, value in zip(models, over, strict=True)
                ]
        return pd.DataFrame(columns)

    def _part(self, model: str, measure: "Measure", value: float) -> str:
        """Return a value over seen or unseen queries, as a lower bound where the whole one is."""
        part = self.comparison.get(measure)
        bound = part is not None and model in part and part[model].lower_bound and value == value
        return (">= " if bound else "") + format_value({"value": value}, measure)

    @property
    def leaderboard(self) -> "pd.DataFrame":
        """The summary with values only: a short line for each model."""
        short = self.summary.copy()
        for column in short.columns.difference(["model", "part", "trained on"]):
            short[column] = short[column].str.replace(r" \[[^\]]*\]", "", regex=True)
        return short

    @property
    def trained(self) -> list[str]:
        """The models that were trained on this catalogue: their values over seen and unseen queries differ."""
        known = self.table[self.table["seen"].notna() | self.table["unseen"].notna()]
        return sorted(known["model"].unique())

    def _cell(self, model: str, measure: "Measure", row: Mapping[Any, Any]) -> str:
        """Return a value with its interval; a lower bound with its ceiling; * for the best, † as in the legend."""
        part = self.comparison.get(measure)
        sign = " †" if (model, str(measure)) in self._partly_scored else ""
        if part is None or model not in part:
            return format_value(row, measure) + sign
        item = part[model]
        mark = (" *" if item.best else "") + sign
        if part.on_reduced_pools:
            own = {"value": item.self_removed, "low": item.self_removed_low, "high": item.self_removed_high}
            return format_value(own, measure) + mark
        return (format_bounds(item, measure) if item.lower_bound else format_value(row, measure)) + mark

    @property
    def _partly_scored(self) -> set[tuple[str, str]]:
        """The models and measures whose value leaves out pairs without a score: lists have none of what they lack."""
        return {
            (result.model, str(result.measure))
            for result in self.results
            if count_queries(result)["pairs_without_score"]
        }

    def _repr_html_(self) -> str:
        return f"{self.summary.to_html(index=False)}<p>{self.legend}</p>"

    @property
    def counts(self) -> dict[str, list[dict[str, Any]]]:
        """By measure what every model's value rests on."""
        counts: dict[str, list[dict[str, Any]]] = {}
        for result in self.results:
            n = result.values.n if result.values else 0
            counts.setdefault(str(result.measure), []).append({"n": n, **count_queries(result)})
        return counts

    @property
    def notes(self) -> list[str]:
        """What must be known before the numbers of the summary are used."""
        from eds.analysis import comparison_words

        shown = self.shown or self.measures
        undefined = [
            result
            for result in self.results
            if result.measure in shown
            and (result.values is None or result.values.value is None or result.values.value != result.values.value)
        ]
        parts = tuple(part for part in self.comparison if part.measure in shown)
        notes = comparison_words.trained_notes(self.comparison.trained)
        notes += comparison_words.notes(replace(self.comparison, measures=parts))
        if self.trained:
            trained = ", ".join(self.trained)
            notes.insert(0, f"Trained here: {trained}. Seen: queries whose product was trained on; unseen: the others.")
        remarks = _remarks([result for result in self.results if result.measure in shown])
        if left_out := sorted(note for note in remarks if "left out" in note or "taken from its lists" in note):
            notes.append("; ".join(note.removesuffix(".") for note in left_out[:2]) + ".")
        if alone := self._nothing_of_a_product(shown):
            notes.insert(0, alone)
        if undefined:
            names = dict.fromkeys(f"{result.measure} of {result.model}" for result in undefined)
            notes.append(f"n/a: undefined, {len(names):,} value{'s' if len(names) > 1 else ''}; --explain shows why.")
        return notes + self._without_interval(shown)

    def _nothing_of_a_product(self, shown: "Sequence[Measure]") -> str:
        """What to do where no query has another image of its product, so that no measure by product has a value."""
        found = [result for result in self.results if result.measure in shown]
        by_product = [result for result in found if result.measure.parameters.get("grades") == "product"]
        if not by_product or any(result.values and result.values.value == result.values.value for result in by_product):
            return ""
        return "No query has another image of its product; by category: -M hash-category, or grades=category."

    def _without_interval(self, shown: "Sequence[Measure]") -> list[str]:
        """A line for each reason for which defined values lack an interval, with the measures concerned."""
        from eds.intervals import CENSUS, NOT_REQUESTED

        whole = self.table[self.table["query_id"].isna() & self.table["value"].notna()]
        whole = whole[whole["measure"].isin(list(map(str, shown)))]
        parts = whole[whole["no_interval"].notna()].groupby("no_interval", sort=True)
        every = whole.groupby("measure").size()
        lines = []
        for reason, part in parts:
            if reason in (NOT_REQUESTED, CENSUS):
                continue
            names = [
                shorten([str(measure)])[0] + ("" if len(rows) == every[measure] else f" ({', '.join(rows['model'])})")
                for measure, rows in part.groupby("measure", sort=False)
            ]
            lines.append(f"No interval for {', '.join(names)}: {reason}.")
        return lines

    @property
    def remarks(self) -> list[str]:
        """What the evaluation noted of the models: images without a vector, undefined values."""
        return _remarks(self.results)

    @property
    def legend(self) -> str:
        """One line that says how to read the summary."""
        from eds.analysis import comparison_words

        marks = comparison_words.legend(self.comparison)
        intervals = f"[{100 * self.confidence:g} % interval over queries]" if self.resamples else ""
        shown = set(map(str, self.shown or self.measures))
        partly = any(measure in shown for _, measure in self._partly_scored)
        sign = "† only over pairs that have a score: not comparable with a value of vectors" if partly else ""
        return "  ".join(filter(None, (marks, sign, intervals)))


def _remarks(results: "Sequence[metrics.Result]") -> list[str]:
    """What was noted of the results, each text once, with the models and the number of measures it is about."""
    models: dict[str, dict[str, int]] = {}
    for result in results:
        if result.note:
            counts = models.setdefault(result.note, {})
            counts[result.model] = counts.get(result.model, 0) + 1
    every = {result.model for result in results}
    return [
        f"{'every model' if len(counts) == len(every) > 1 else ', '.join(counts)}: {text}"
        f" ({max(counts.values()):,} measure{'s' if max(counts.values()) > 1 else ''})."
        for text, counts in models.items()
    ]


def score(
    project: "Project",
    measures: "str | Measure | Iterable[str | Measure]" = (),
    *,
    models: Sequence[str] = (),
    new: Mapping[str, str | Path] | None = None,
    ids: Mapping[str, str | Path] | None = None,
    pool_models: Sequence[str] = (),
    source: str = "auto",
    by_query: bool = False,
    resamples: int = RESAMPLES,
    confidence: float = CONFIDENCE,
    with_random: bool = False,
    allow_missing: bool = False,
    attributes: Sequence[str] = (),
) -> ScoreResult:
    """Score models by measures and write table scores; see `Project.score`."""
    named = [measures] if isinstance(measures, str) or not isinstance(measures, Iterable) else list(measures)
    texts, first = (named, ()) if named else usual_measures(project)
    new, ids = new or {}, ids or {}
    models = find_models(project, models)
    names = tuple(dict.fromkeys([*models, *new])) if models else ()
    options = ScoreOptions(
        tuple(map(str, texts)),
        names,
        tuple(pool_models),
        source,
        by_query,
        resamples,
        confidence,
        with_random,
        allow_missing,
        tuple(attributes),
    )
    if project.read_only and not new:
        project.say("The project cannot be written to: the scores are not stored.")
        project = project.rehearsal()
    inputs = Inputs(project)
    wanted = measures_of(inputs, options)
    if inputs.exists("truth") and len(wanted) < len(parse_measures(options.measures)):
        project.say("Columns on sampled negatives are left out: draw negatives with eds suspects negatives.")
    with project.writing("metrics.score"), remove_if_refused(project):
        inputs.measured_labels(wanted, with_random=with_random)  # refuse before anything is computed
        if known := [name for name in models if name not in new]:
            choose_models(project, known)
        if new and project.dry_run:  # their vectors and ranks are not there to be scored
            project.would("replace" if inputs.exists("scores") else "make", project.path("scores"), ", ".join(new))
        add_models(inputs, new, ids, allow_missing=allow_missing)
        if new:
            project.end_rehearsal()
        files = {
            "new": [f"{name}={item}" for name, item in new.items()],
            "ids": [f"{name}={item}" for name, item in ids.items()],
        }
        result = _score(inputs, options, {name: value for name, value in files.items() if value})
    return replace(result, shown=tuple(parse_measures(first, depth=pool_depth(project))))


def refresh(project: "Project") -> ScoreResult | None:
    """Score again, with the parameters of the table, if it is missing or stale or lacks a model that it would hold now.

    Return None where it is up to date, and where there are no labels or no models yet.
    """
    state = project.state("scores")
    options = table_options(project, state)
    ready = project.path("truth").exists() and (project.models("embeddings") or project.models("neighbors"))
    inputs = Inputs(project)
    if not ready or is_current(inputs, state, options):
        return None
    with project.writing("metrics.score"):
        return _score(inputs, options, {})


def _score(inputs: Inputs, options: ScoreOptions, params: Mapping[str, Any]) -> ScoreResult:
    evaluation, table = write_scores(inputs, options, params=params)
    results = evaluation.of(measures_of(inputs, options))
    comparison, fairness = compare_models(inputs, evaluation, results, table, options)
    return ScoreResult(table, comparison, fairness, options.confidence, options.resamples, results)


def measures_of(inputs: Inputs, options: ScoreOptions) -> "list[Measure]":
    """Return the measures that the options name, those of presets as far as the project has what they need."""
    drawn = inputs.exists("suspects") and inputs.negatives is not None
    return parse_measures(options.measures, drawn_negatives=drawn, depth=pool_depth(inputs.project))


def write_scores(
    inputs: Inputs, options: ScoreOptions, *, more: "Sequence[Measure]" = (), params: Mapping[str, Any] | None = None
) -> "tuple[Evaluation, pd.DataFrame]":
    """Score by the options' measures and write table scores; return everything that was evaluated, and the table.

    `more` measures are evaluated as well, and not written. The caller holds the project.
    """
    project, measures = inputs.project, measures_of(inputs, options)
    evaluation = evaluate_models(
        inputs,
        list(dict.fromkeys([*measures, *more])),
        _with_generators(inputs, options),
        options.source,
        allow_missing=options.allow_missing,
        with_random=options.with_random,
        attributes=options.attributes,
    )
    table = add_intervals(inputs, evaluation.of(measures), options)
    settings = {f"neighbors.{key}": project.config.value(f"neighbors.{key}") for key in RULES}
    settings["project.seed"] = project.config.project.seed
    parents = [project.path("images"), *(project.path(name) for name in ("truth", "suspects") if inputs.exists(name))]
    parents += [project.path(kind, model) for model, kind in evaluation.evidence.sources.items()]
    stored, every = _with_kept_rows(inputs, options, table)
    made_by = project.provenance("metrics.score", settings, parents, params={**stored.params(), **(params or {})})
    if stored is not options:  # what the rows that are kept were made from
        before, _ = read_provenance(project.path("scores"), SCORES)
        made_by = replace(made_by, parents={**before.parents, **made_by.parents})
    project.write(every, "scores", made_by)
    return evaluation, table


def _with_generators(inputs: Inputs, options: ScoreOptions) -> list[str]:
    """Return the models that the options name, and beside them those that made the pool; none: all models."""
    project = inputs.project
    there = set(models_to_score(project, (), (), options.source)) if options.models else set()
    beside = find_models(project, options.pool_models) or [
        name for table in ("embeddings", "neighbors") for name in generators(project, table, inputs)
    ]
    return list(dict.fromkeys([*options.models, *(name for name in beside if name in there)]))


def _with_kept_rows(
    inputs: Inputs, options: ScoreOptions, table: "pd.DataFrame"
) -> "tuple[ScoreOptions, pd.DataFrame]":
    """Return the table with the rows of other models and measures that are up to date, and the options of both.

    Rows that were made otherwise, or from tables that have changed since, are dropped.
    """
    import pandas as pd

    project, state = inputs.project, inputs.project.state("scores")
    if state.operation != "metrics.score" or state.condition not in ("fresh", "stale"):
        return options, table
    before = table_options(project, state)
    old, new = (table.set_index(["model", "measure"]).index for table in (inputs.read("scores"), table))
    rows = inputs.read("scores")[~old.isin(new)]
    same = replace(before, measures=(), models=(), by_query=False) == replace(
        options, measures=(), models=(), by_query=False
    )
    if not len(rows) or not same or state.condition == "stale":
        if len(rows):
            why = "from tables that have changed since" if same else "with other options"
            project.say(f"{len(rows):,} values in table scores were made {why}: they are dropped.")
        return options, table
    measures = tuple(dict.fromkeys([*before.measures, *options.measures]))
    models = tuple(dict.fromkeys([*before.models, *options.models])) if before.models and options.models else ()
    by_query = options.by_query or before.by_query
    stored = replace(options, measures=measures, models=models, by_query=by_query)
    parts = [part.sort_values(["model", "measure", "query_id"], na_position="first") for part in (rows, table)]
    return stored, pd.concat(parts, ignore_index=True)


def table_options(project: "Project", state: "State", default: ScoreOptions | None = None) -> ScoreOptions:
    """Return the options that table scores was made with; the default, with a preset that the rules allow, if none."""
    if state.operation == "metrics.score":
        return ScoreOptions.from_params(state.params)
    return replace(default or ScoreOptions(), measures=usual_measures(project)[0])


def usual_measures(project: "Project") -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return what is scored where no measure is named, as far as the rules of the lists allow, and what of it is shown.

    The published measures are defined on lists without the query's product and with one image of each product.
    """
    rules = project.config.neighbors
    if rules.exclude_product and rules.one_per_product:
        return (PRESET,), FIRST
    return USUAL_WITHOUT_RULES, FIRST_WITHOUT_RULES


def is_current(inputs: Inputs, state: "State", options: ScoreOptions) -> bool:
    """Return whether table scores is fresh, and holds every model that its options ask for."""
    if state.condition != "fresh":
        return False
    scored, measures = set(inputs.read("scores")["model"]), measures_of(inputs, options)
    return bool(options.models) or scored >= set(
        models_to_score(inputs.project, measures, options.models, options.source)
    )


def add_intervals(inputs: Inputs, results: "Sequence[metrics.Result]", options: ScoreOptions) -> "pd.DataFrame":
    """Return the results as table scores, each with its confidence interval; by query, too, if the options say so."""
    import pandas as pd

    from eds.analysis import score_limits
    from eds.metrics import scores_table

    with inputs.project.progress("intervals", "measures") as progress:
        seed = inputs.project.config.project.seed
        table = score_limits(results, options.resamples, options.confidence, seed, progress=progress)
    table = add_seen(inputs, table, results)
    if options.by_query:
        every = scores_table(results, by_query=True)
        table = pd.concat([table, every[every["query_id"].notna()]], ignore_index=True)
    return table


def count_queries(result: "metrics.Result") -> dict[str, Any]:
    """Return what a number rests on: used, skipped and why, unlabelled, without a score; None: not counted."""
    counts = dict(result.values.counts) if result.values else {}
    skipped = {
        name.removeprefix("queries ").removesuffix(" skipped"): count
        for name, count in counts.items()
        if name.endswith(" skipped") and count
    }
    return {
        "queries_used": counts.get("queries used"),
        "queries_skipped": sum(skipped.values()) if counts else None,
        "skipped_because": skipped,
        "pairs_used": counts.get("pairs used"),
        "pairs_unlabelled": counts.get("places unlabelled", counts.get("pairs unlabelled")),
        "pairs_without_score": counts.get("pairs without a score"),
        "counts": counts,
    }
