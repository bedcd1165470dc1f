"""Analyses of a project: what each needs is gathered, and what it finds is stored in analysis/NAME.json."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, is_dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eds.choices import UniverseChoice
from eds.errors import InputError
from eds.plugin_options import Option, convert, read_fields
from eds.project.compare import find_newcomers
from eds.project.inputs import PAIR, Inputs
from eds.project.label_scores import score_labels
from eds.project.mine import check_depth, read_heads
from eds.project.models import find_models, marked
from eds.project.pool import models_with_whole_ties, pool_depth, pooled_models
from eds.project.pool_models import read_pool_lists
from eds.project.ranks_and_scores import Evidence, Needs, choose_models, gather
from eds.project.redrawn_negatives import with_redrawn_negatives
from eds.project.results import Result, html_of, to_jsonable
from eds.project.seen import seen_images
from eds.project.universe import project_universe
from eds.registry import ANALYSES

if TYPE_CHECKING:
    import pandas as pd

    from eds.analysis import AnalysisInputs
    from eds.project import Project

COMPARED = {"rankings", "ranks", "scores"}  # inputs that come from models compared with each other
READ_FROM = {  # by input of an analysis the tables that it comes from
    "images": ("images",),
    "universe": ("images",),
    "suspects": ("suspects",),
    "truth": ("truth",),
    "labels": ("truth", "suspects"),
    "pool_lists": ("suspects", "neighbors"),
    "list_heads": ("neighbors",),
    "own_ranks": ("images", "embeddings"),
    "label_scores": ("truth", "embeddings", "neighbors"),
    **dict.fromkeys(COMPARED, ("embeddings", "neighbors")),
}


def _option(default: Any, text: str, *inputs: str) -> Any:
    return field(default=default, metadata={"help": text, "inputs": set(inputs)})


@dataclass(frozen=True)
class Selection:
    """Which models and labels an analysis is about: options of every analysis that has one of the named inputs."""

    pool_models: tuple[str, ...] = _option((), "A model that made the pool (default: as suspects say).", "pool_lists")
    other_models: tuple[str, ...] = _option((), "Another model to compare (default: all).", *COMPARED)
    models: tuple[str, ...] = _option(
        (), "Only this model (default: the pool's, else all).", "list_heads", "own_ranks", "label_scores"
    )
    pool_depth: int | None = _option(None, "Depth of a named pool model's lists (default: eds.toml).", "pool_lists")
    universe: UniverseChoice | None = _option(None, "Pairs that lists may hold, or all.", "universe")
    with_random: bool = _option(False, "Measure on the labels of random pairs, too.", "labels")
    allow_missing: bool = _option(
        False,
        "Leave out images without a vector, and count them.",
        "pool_lists",
        "own_ranks",
        "label_scores",
        *COMPARED,
    )


@dataclass(frozen=True)
class AnalysisResult(Result):
    """The result of an analysis with its options and the digests of the files it was made from; stored as `file`."""

    analysis: str
    options: Mapping[str, Any]
    made_from: Mapping[str, str]
    result: Any
    file: Path = field(repr=False)
    trained_on: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # by model, what of this project it learned

    @property
    def tables(self) -> "dict[str, pd.DataFrame]":
        """The parts of the result that are tables."""
        import pandas as pd

        result = self.result.to_dict() if hasattr(self.result, "to_dict") else self.result
        if is_dataclass(result) and not isinstance(result, type):
            result = {part.name: getattr(result, part.name) for part in fields(result)}
        parts = result if isinstance(result, Mapping) else {self.analysis: result}
        frames = {name: pd.DataFrame(part) if _is_rows(part) else part for name, part in parts.items()}
        return {name: frame for name, frame in frames.items() if isinstance(frame, pd.DataFrame)}

    def _repr_html_(self) -> str:
        result = self.result.to_dict() if hasattr(self.result, "to_dict") else self.result
        if is_dataclass(result) and not isinstance(result, type):
            result = {part.name: getattr(result, part.name) for part in fields(result)}
        parts = result if isinstance(result, Mapping) else {self.analysis: result}
        return "".join([html_of(parts, {}), *(f"<p>{note}</p>" for note in self.notes)])

    @property
    def notes(self) -> list[str]:
        """A sentence for the models whose values are not those of unseen data."""
        from eds.analysis.comparison_words import trained_notes

        return [f"† {note}" for note in trained_notes(self.trained_on)]

    @property
    def named(self) -> set[str]:
        """Every text and key of the result: among them the names of its models."""
        return set(_texts(to_jsonable(self.result)))


def _texts(value: Any) -> Iterator[str]:
    """Every text and key of a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield str(key)
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)


def analyse(project: "Project", name: str, **options: Any) -> AnalysisResult:
    """Run an analysis and store what it finds; see `Project.analyse`."""
    analysis, inputs = ANALYSES.load(name), Inputs(project)
    values = convert(analysis_options(name), options, f"analysis {name}")
    chosen = Selection(**{key: value for key, value in values.items() if key in Selection.__dataclass_fields__})
    settings = analysis.Options(**{key: value for key, value in values.items() if not hasattr(chosen, key)})
    if getattr(settings, "k", 0) is None:
        settings = replace(settings, k=pool_depth(project) or project.config.suspects.k)
    default = getattr(analysis.Options(), "measures", ())
    if default and settings.measures == default and (depth := pool_depth(project)):
        from eds.metrics.presets import with_persistence

        settings = replace(settings, measures=with_persistence(default, depth))
    document = analysis.analyse(collect(inputs, analysis.INPUTS, settings, chosen), settings)
    used = {key: value for key, value in asdict(chosen).items() if key in dict.fromkeys(_selectable(analysis.INPUTS))}
    tables = dict.fromkeys(table for name in analysis.INPUTS for table in READ_FROM.get(name, ()))
    file = project.root / "analysis" / f"{name}.json"
    every = {**{item.name: getattr(settings, item.name) for item in read_fields(type(settings))}, **used}
    result = AnalysisResult(name, to_jsonable(every), _digests(project, list(tables)), document, file)
    models = {*project.models("embeddings"), *project.models("neighbors")} & result.named
    result = replace(result, trained_on=marked(project, sorted(models)))
    if project.read_only:
        project.say("The project cannot be written to: the result is not stored.")
    elif not project.would_write(file):
        _store(result)
    return result


def analysis_options(name: str) -> list[Option]:
    """Return the options of an analysis: its own, and those that select what it is about."""
    analysis = ANALYSES.load(name)
    selectable = _selectable(analysis.INPUTS)
    return [*read_fields(analysis.Options), *(item for item in read_fields(Selection) if item.name in selectable)]


def _selectable(needs: Sequence[str]) -> list[str]:
    fields = Selection.__dataclass_fields__
    return [name for name, item in fields.items() if item.metadata["inputs"] & set(needs)]


def collect(inputs: Inputs, needs: Sequence[str], settings: Any, chosen: Selection) -> "AnalysisInputs":
    """Return the inputs that an analysis needs."""
    from eds.analysis import AnalysisInputs

    values: dict[str, Any] = {"seed": inputs.project.config.project.seed}
    wanted = set(needs)
    if "truth" in wanted:
        inputs.decided_pairs()  # refuses where there are none
        values["truth"] = inputs.read("truth")
    if "labels" in wanted:
        values["labels"] = inputs.measured_pairs(with_random=chosen.with_random)
    if "images" in wanted:
        by = getattr(settings, "by", "")  # a column that results are split by
        values["images"] = inputs.images(*([by] if by else []))
    if "universe" in wanted:
        values["universe"] = project_universe(inputs, chosen.universe)
    if "suspects" in wanted:
        values["suspects"] = inputs.suspects
    if "pool_lists" in wanted:
        makers = find_models(inputs.project, chosen.pool_models)
        lists = read_pool_lists(inputs, makers, chosen.pool_depth, allow_missing=chosen.allow_missing)
        new = find_newcomers(inputs, sorted(lists["model"].unique()), makers)
        if not makers and len(new) < lists["model"].nunique():  # a model whose own pairs were added later made no pool
            lists = lists[~lists["model"].isin(new)].reset_index(drop=True)
        values["pool_lists"] = lists
    if wanted & COMPARED:
        values |= _compare(inputs, wanted, settings, chosen, values)
        values.setdefault("universe", inputs.universe)
    if "list_heads" in wanted:
        values["list_heads"] = _list_heads(inputs.project, chosen.models, settings.k)
    if "own_ranks" in wanted:
        values["own_ranks"] = _own_ranks(inputs, chosen)
        models = choose_models(inputs.project, chosen.models, "embeddings")
        values["trained"] = seen_images(inputs.project, list(models))
    if "label_scores" in wanted:
        values["label_scores"] = score_labels(inputs, chosen.models, allow_missing=chosen.allow_missing)
    return AnalysisInputs(**values)


def _compare(
    inputs: Inputs, wanted: set[str], settings: Any, chosen: Selection, values: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the ranks and scores of the labelled pairs by the pool's models and the others.

    Where a measure counts sampled negatives, these too, also as they are without each pool model's lists.
    """
    import pandas as pd

    from eds.analysis import AnalysisInputs

    project, lists = inputs.project, values["pool_lists"]
    models = _models_to_compare(project, lists, chosen.other_models)
    measures = getattr(settings, "measures", ())
    counts_pooled = any(measure.definition.counts_pooled for measure in measures)
    pooled = inputs.pooled_pairs if counts_pooled else None
    needs = Needs(lists=bool(wanted & {"rankings", "ranks"}), other_pairs=pooled)
    negatives = inputs.drawn_negatives(measures)
    pairs = values["labels"] if negatives is None else pd.concat([values["labels"], negatives], ignore_index=True)
    evidence = gather(inputs, models, inputs.images(), pairs, needs, allow_missing=chosen.allow_missing)
    if gone := sorted(set(lists["model"]) - set(models)):
        project.say(f"Pool models without vectors or lists are not compared: {', '.join(gone)}.")
    if evidence.scores is None or not len(evidence.scores):
        raise InputError("no labelled pair has a score", where=str(project.root), hint="Add the models' vectors.")
    if unscored := sorted(set(models) - set(evidence.scores["model"])):
        project.say(f"No labelled pair has a score by {', '.join(unscored)}, so they have no AUC.")
    _say_left_out(project, evidence)
    known = AnalysisInputs(pool_lists=lists, scores=evidence.scores, negatives=negatives)
    known = with_redrawn_negatives(inputs, known, models, allow_missing=chosen.allow_missing)
    return {
        "rankings": evidence.rankings,
        "ranks": evidence.placed,
        "scores": known.scores,
        "pooled": pooled,
        "negatives": negatives,
        "negatives_without": known.negatives_without,
    }


def _models_to_compare(project: "Project", lists: "pd.DataFrame", others: Sequence[str]) -> dict[str, str]:
    """Return the pool's models and the others, and where each is taken from."""
    known, others = choose_models(project, ()), find_models(project, others)
    makers = [name for name in sorted(lists["model"].unique()) if name in known]
    if wrong := sorted(set(others) & set(makers)):
        raise InputError(f"{', '.join(wrong)} made the pool", where="option --other-model", hint="Name other models.")
    return choose_models(project, [*makers, *others]) if others else known


def _list_heads(project: "Project", models: Sequence[str], k: int) -> "pd.DataFrame":
    from eds.suspects import shared_ranks

    known = project.models("neighbors")
    names = find_models(project, models) or [name for name in pooled_models(project) if name in known] or known
    ties = models_with_whole_ties(project, names, None)
    heads = read_heads(project, names, k, ties)
    check_depth(project, names, k, f"overlap at k = {k}")
    return shared_ranks(heads, ties)


def _own_ranks(inputs: Inputs, chosen: Selection) -> Any:
    import pandas as pd

    models = choose_models(inputs.project, chosen.models, "embeddings")
    pairs = pd.DataFrame({name: pd.Series([], dtype="str") for name in PAIR})
    needs = Needs(lists=False, scores=False, products=True)
    evidence = gather(inputs, models, inputs.images(), pairs, needs, allow_missing=chosen.allow_missing)
    _say_left_out(inputs.project, evidence)
    return evidence.own


def _say_left_out(project: "Project", evidence: Evidence) -> None:
    for model, notes in evidence.notes.items():
        if notes:
            project.say(f"{model}: {'; '.join(notes)}.")


def _digests(project: "Project", tables: Sequence[str]) -> dict[str, str]:
    from eds.io.files import digest

    files: list[Path] = []
    for table in tables:
        models = project.models(table) if table in ("embeddings", "neighbors") else [None]
        paths = [project.path(table, model) for model in models]
        files += [path / "model.json" if table == "embeddings" else path for path in paths]
    return {path.relative_to(project.root).as_posix(): digest(path) for path in files if path.is_file()}


def _store(result: AnalysisResult) -> None:
    from eds.io.files import write_text

    write_text(result.file, json.dumps(result.to_dict(), ensure_ascii=False, allow_nan=False, indent=1))


def _is_rows(part: Any) -> bool:
    return isinstance(part, list) and bool(part) and all(isinstance(row, Mapping) for row in part)
