"""What a report is made from: each part of a project, or the reason why it is missing."""

import os
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from eds.errors import EdsError, LockedError
from eds.project.budget import seconds_per_label
from eds.project.compare import find_newcomers
from eds.project.evaluate import Evaluation, evaluate_models
from eds.project.inputs import Inputs
from eds.project.journal import withdrawn
from eds.project.known_truth import truth_of_drawn
from eds.project.label_scores import score_labels
from eds.project.models import marked
from eds.project.pool_models import read_pool_lists
from eds.project.ranks_and_scores import Evidence, choose_models
from eds.project.redrawn_negatives import with_redrawn_negatives
from eds.project.results import to_jsonable
from eds.project.score import CONFIDENCE, RESAMPLES, ScoreOptions, is_current, table_options, write_scores
from eds.project.seen import seen_images
from eds.reports.document import Gap, Missing

if TYPE_CHECKING:
    import pandas as pd

    from eds.analysis import AnalysisInputs
    from eds.metrics import Measure, Result
    from eds.project import Project
    from eds.reports import Judging, ModelCard, ReportInputs, Search
    from eds.reports.inputs import CodeShape

MAKERS = {
    "images": "eds images scan, or eds images import",
    "suspects": "eds suspects pool",
    "truth": "eds truth decide, after experts have judged (eds labels serve)",
}
STRIP_QUERIES, STRIP = 2, 10  # queries, and images of a strip, for models of codes
FROM_SCORES = ("scores", "negatives", "rankings")  # parts that are missing if the models cannot be scored


@dataclass(frozen=True)
class ReportOptions:
    """What a report shows; each option is a parameter of `report`."""

    slices: tuple[str, ...] = ("category",)
    gallery: int = 3
    pictures: bool = True
    resamples: int = RESAMPLES
    confidence: float = CONFIDENCE
    pool_models: tuple[str, ...] = ()
    with_random: bool = False
    allow_missing: bool = False

    def params(self) -> dict[str, Any]:
        """Return the options that are not the default, by their names."""
        default = ReportOptions()
        changed = {name: value for name, value in vars(self).items() if value != getattr(default, name)}
        return {name: to_jsonable(value) for name, value in changed.items()}

    @classmethod
    def from_params(cls, params: Mapping[str, Any]) -> "ReportOptions":
        """Return the options that a report's provenance names."""
        known: dict[str, Any] = {name: params[name] for name in cls.__dataclass_fields__ if name in params}
        known = {name: tuple(value) if isinstance(value, list) else value for name, value in known.items()}
        return cls(**known)


@dataclass(frozen=True)
class Scoring:
    """Every model's measures for the report, and table scores where its intervals are those of the report."""

    evaluation: Evaluation
    table: "pd.DataFrame | None"


def collect(project: "Project", options: ReportOptions) -> "ReportInputs":
    """Return everything that the project has for a report; of what is missing, the reason.

    Scores models first where table scores is missing or stale.
    """
    from eds.reports import ReportInputs

    inputs, gaps, settings = Inputs(project), {}, project.config

    def attempt(name: str, make: Callable[[], Any]) -> Any:
        result = _attempt(make)
        if isinstance(result, Gap):
            gaps[name] = result
            return None
        return result

    images, suspects, truth = (
        attempt(name, partial(read_table, inputs, name)) for name in ("images", "suspects", "truth")
    )
    scoring = attempt("results", lambda: score_models(inputs, options))
    coded = attempt("codes", lambda: evaluate_codes(inputs, options))
    lists = attempt("pool_lists", lambda: find_pool_lists(inputs, options))
    gaps |= {name: gaps["results"] for name in FROM_SCORES if "results" in gaps}
    evidence = scoring.evaluation.evidence if scoring else None
    newcomers = find_newcomers(inputs, list(evidence.sources), options.pool_models) if evidence else None
    scored = _with_redrawn_negatives(inputs, evidence, lists, newcomers or (), options) if evidence else None
    seconds = seconds_per_label(project)
    return ReportInputs(
        settings.project.name or project.root.resolve().name,
        _depth_of_pool(project),
        seed=settings.project.seed,
        confidence=options.confidence,
        resamples=options.resamples,
        experts=settings.budget.experts,
        seconds=seconds.value,
        seconds_measured=seconds.measured,
        hourly=settings.budget.hourly,
        currency=settings.budget.currency,
        gallery=options.gallery,
        slices=options.slices or ("category",),
        image_root=project.pictures if options.pictures else None,
        images=images,
        known_truth=truth_of_drawn(inputs),
        universe=inputs.universe if images is not None else None,
        suspects=suspects,
        withdrawn=gone if len(gone := withdrawn(inputs.project, inputs.suspects, judged=True)) else None,
        truth=truth,
        with_random=options.with_random,
        judging=attempt("judging", lambda: read_judging(project, options)),
        models=attempt("models", lambda: describe_models(project)),
        searches=attempt("searches", lambda: describe_searches(project)) or (),
        codes=coded or (),
        code_shapes=(attempt("code_shapes", lambda: describe_codes(inputs, options)) or ()) if coded else (),
        pool_lists=lists,
        rankings=evidence.rankings if evidence else None,
        placed=evidence.placed if evidence else None,
        results=scoring.evaluation.results if scoring else None,
        table=scoring.table if scoring else None,
        scores=scored.scores if scored else None,
        negatives=scored.negatives if scored else None,
        negatives_without=scored.negatives_without if scored else None,
        label_scores=attempt("label_scores", lambda: _score_labels(inputs, options)),
        tables=describe_tables(project),
        newcomers=newcomers,
        trained=marked(project, evidence.sources) if evidence else {},
        learned=seen_images(project, project.models("embeddings")),
        gaps=gaps,
    )


def _with_redrawn_negatives(
    inputs: Inputs,
    evidence: Evidence,
    lists: "pd.DataFrame | None",
    newcomers: Collection[str],
    options: ReportOptions,
) -> "AnalysisInputs":
    """Return scores and negatives, also as they are without each pool model's lists."""
    from eds.analysis import AnalysisInputs

    known = AnalysisInputs(pool_lists=lists, scores=evidence.scores, negatives=inputs.negatives)
    return with_redrawn_negatives(inputs, known, evidence.sources, newcomers, allow_missing=options.allow_missing)


def read_table(inputs: Inputs, name: str) -> "pd.DataFrame":
    """Return a table of the project; raise Missing where there is none, or where it is empty."""
    if not inputs.exists(name):
        raise Missing(Gap(f"There is no table {name} yet.", MAKERS[name]))
    frame = inputs.read(name)
    if not len(frame):
        raise Missing(Gap(f"Table {name} is empty.", MAKERS[name]))
    return frame


def score_models(inputs: Inputs, options: ReportOptions) -> Scoring:
    """Return every model's measures; write table scores first where it is missing or stale."""
    for name in ("images", "truth"):
        read_table(inputs, name)
    project, wanted = inputs.project, _measures(inputs)
    chosen = ScoreOptions(
        resamples=options.resamples,
        confidence=options.confidence,
        with_random=options.with_random,
        allow_missing=options.allow_missing,
    )
    state = project.state("scores")
    kept = table_options(project, state, chosen)
    evaluation, table = None, inputs.read("scores") if state.condition == "fresh" else None
    if os.access(project.root, os.W_OK) and not is_current(inputs, state, kept):
        try:
            with project.writing("metrics.score"):
                evaluation, table = write_scores(inputs, kept, more=wanted)
        except LockedError:
            raise
        except EdsError as error:  # its models or measures may be gone: the report shows what there is
            project.say(f"Table scores cannot be made again: {error}")
            table = None
    usable = (kept.source, kept.with_random) == (chosen.source, chosen.with_random) and (
        kept.allow_missing <= chosen.allow_missing
    )
    if evaluation is None or kept.models or not usable:
        evaluation = evaluate_models(
            inputs, wanted, allow_missing=options.allow_missing, with_random=options.with_random, reasons=False
        )
    same = usable and (kept.resamples, kept.confidence) == (chosen.resamples, chosen.confidence)
    return Scoring(Evaluation(evaluation.of(wanted), evaluation.evidence), table if same else None)


def _measures(inputs: Inputs) -> "list[Measure]":
    from eds.reports.sections.scores import measures

    settings = inputs.project.config.neighbors
    official = settings.exclude_product and settings.one_per_product
    wanted = measures(inputs.negatives is not None, _depth_of_pool(inputs.project))
    return [measure for measure in wanted if official or measure.definition.needs != "official lists"]


def evaluate_codes(inputs: Inputs, options: ReportOptions) -> "list[Result]":
    """Return the measures on binary codes, of the models that have codes; none where there is no such model."""
    from eds.project.code_histograms import hash_models
    from eds.reports.sections.codes import CATEGORY, PRODUCT, measures

    names = hash_models(inputs.project, inputs.project.models("embeddings"))
    if not names:
        return []
    images = inputs.images()
    alone = images["product_id"].is_unique and images["category"].notna().any()
    evaluation = evaluate_models(
        inputs,
        measures(inputs.exists("truth"), CATEGORY if alone else PRODUCT),
        names,
        allow_missing=options.allow_missing,
        with_random=options.with_random,
    )
    return list(evaluation.results)


def _score_labels(inputs: Inputs, options: ReportOptions) -> "pd.DataFrame":
    for name in ("images", "suspects", "truth"):
        read_table(inputs, name)
    return score_labels(inputs, allow_missing=options.allow_missing)


def describe_codes(inputs: Inputs, options: ReportOptions) -> "list[CodeShape]":
    """Return how the models of codes fill them, and the nearest candidates of some drawn queries."""
    import numpy as np

    from eds.hashing.code_usage import packed_code_usage
    from eds.hashing.codes import number_words
    from eds.neighbors.code_search import code_gallery
    from eds.project.code_histograms import hash_models
    from eds.project.ranks_and_scores import open_vectors
    from eds.reports.hash_charts import fill_of
    from eds.reports.inputs import CodeShape

    project, shapes = inputs.project, []
    names = hash_models(project, project.models("embeddings"))
    for name, (vectors, there) in open_vectors(
        project, names, inputs.images(), allow_missing=True, inputs=inputs
    ).items():
        codes = code_gallery(vectors, there)
        queries = codes.query_ids.to_pylist()
        drawn = sorted(queries, key=lambda query: sha256(query.encode()).digest())[:STRIP_QUERIES]
        nearest = {}
        for query in drawn:
            place = queries.index(query)
            apart = np.bitwise_count(codes.items ^ codes.queries[place]).astype(np.int64)
            order = [at for at in np.argsort(apart, kind="stable")[: STRIP + 1].tolist() if at != codes.own[place]]
            nearest[query] = [(codes.item_ids[at].as_py(), int(apart[at])) for at in order[:STRIP]]
        usage = packed_code_usage(codes.items, codes.bits)
        fill = fill_of(number_words(codes.items, codes.bits), codes.bits)
        shapes.append(CodeShape(name, codes.bits, fill, usage["distinct"], usage["max_bucket"], nearest))
    return shapes


def find_pool_lists(inputs: Inputs, options: ReportOptions) -> "pd.DataFrame":
    """Return the lists that the pool was made of."""
    read_table(inputs, "suspects")
    return read_pool_lists(inputs, options.pool_models, None, allow_missing=options.allow_missing)


def describe_searches(project: "Project") -> "list[Search]":
    """Return how each model's lists were searched, from their provenance."""
    from eds import tables
    from eds.reports import Search

    found = []
    for name in project.models("neighbors"):
        made_by, _ = tables.read_provenance(project.path("neighbors", name), tables.NEIGHBORS)
        given, settings, notes = made_by.params, made_by.settings, made_by.notes
        search = given.get("search", settings.get("neighbors.search")) or made_by.command
        found.append(
            Search(
                name,
                str(search),
                given.get("k", settings.get("neighbors.k")),
                notes.get("recall"),
                notes.get("compared"),
                bool(given.get("allow_low_recall")),
            )
        )
    return found


def read_judging(project: "Project", options: ReportOptions) -> "Judging":
    """Return the judgements, agreement, profiles, disputes and guidelines of the label store."""
    from eds.analysis.aspects import aspects_named
    from eds.errors import InputError
    from eds.labels.frames import acts_frame
    from eds.project.campaign_statistics import votes_in_force
    from eds.project.decide import decide_votes, read_votes
    from eds.project.label_store import opened
    from eds.reports import Judging
    from eds.truth import disputed_pairs, expert_profiles, panel_agreement
    from eds.truth.grades import grade_agreement

    if not (project.path("labels").exists() or project.config.labels.url):
        raise Missing(Gap("Nobody has judged yet: there is no label store.", "eds labels campaigns add, then serve"))
    kept = read_votes(project)
    if not len(kept.labels):
        raise Missing(Gap("Nobody has judged yet.", "eds labels serve"))
    found = panel_agreement(
        kept.labels,
        early_stop=kept.early_stop,
        control=kept.control,
        resamples=options.resamples,
        level=options.confidence,
        seed=project.config.project.seed,
    )
    texts = {}
    with opened(project) as store:
        from eds.labels.guidelines import guideline_named

        acts = acts_frame(store)

        for version in sorted(kept.labels["guideline"].dropna().unique()):
            try:
                texts[str(version)] = guideline_named(store, str(version)).content
            except InputError:
                continue  # a version that is named and was never stored: the report shows its name
    profiles = expert_profiles(kept.labels, gold=kept.gold, level=options.confidence)
    counts = decide_votes(kept, project.config.truth.rule).counts
    disputed, beside = disputed_pairs(kept.labels), votes_in_force(acts)
    return Judging(
        kept.labels,
        found,
        profiles,
        disputed,
        kept.early_stop,
        texts,
        counts,
        aspects_named(beside, disputed),
        grade_agreement(beside),
    )


def describe_models(project: "Project") -> "list[ModelCard]":
    """Return the models with their preprocessing and digests; of those that have lists only, the name."""
    from eds.reports import ModelCard
    from eds.vectors import read_model

    cards = []
    for name, source in choose_models(project, ()).items():
        if source == "neighbors":
            cards.append(ModelCard(name, source, spec="lists only"))
            continue
        made = read_model(project.path("embeddings", name))
        loader, of = str(made.spec.get("loader", "")), str(made.spec.get("name", ""))
        weights = f"@{made.spec['weights']}" if made.spec.get("weights") else ""
        spec = f"{loader}:{of}{weights}" if of else loader
        if isinstance(base := made.spec.get("base"), dict):  # codes of another model's vectors
            spec = " ".join(map(str, (loader, made.spec.get("objective", ""), "of", base.get("model", "?"))))
        if made.random:
            spec += ", random weights"
        seen = describe_preprocessing(made.spec.get("preprocessing"))
        digest = made.weights_digest or made.preprocessing_digest
        cards.append(ModelCard(name, source, loader, spec, made.dimension, made.similarity, seen, digest))
    return cards


def describe_preprocessing(steps: Any) -> str:
    """Return what a model sees of a picture, in words.

    >>> describe_preprocessing({"size": 256, "resize": "shortest", "interpolation": "bicubic", "crop": 224})
    'shortest side to 256 (bicubic), crop 224'
    """
    if not isinstance(steps, dict) or not steps.get("size"):
        return ""
    side = "shortest side" if steps.get("resize") == "shortest" else str(steps.get("resize") or "resized")
    parts = [f"{side} to {steps['size']}" + (f" ({steps['interpolation']})" if steps.get("interpolation") else "")]
    parts += [f"crop {steps['crop']}"] if steps.get("crop") else []
    parts += [str(steps["channels"])] if steps.get("channels") else []
    return ", ".join(parts)


def _depth_of_pool(project: "Project") -> int:
    from eds.project.pool import pool_depth

    return pool_depth(project) or project.config.suspects.k


def describe_tables(project: "Project") -> list[dict[str, Any]]:
    """Return each table of the project: rows, what made it, fresh or stale, its digest."""
    from eds.io.files import digest

    found = []
    for state in project.states():
        path = (
            project.path(state.table, state.model)
            if state.model or state.table not in ("embeddings", "neighbors")
            else None
        )
        file = path / "model.json" if path is not None and path.is_dir() else path
        there = file is not None and file.is_file() and state.table != "labels"
        found.append(
            {
                "path": state.path,
                "rows": state.rows,
                "condition": state.condition,
                "made_by": state.made_by,
                "digest": digest(file)[:16] if there and file else None,
            }
        )
    return found


def _attempt(make: Callable[[], Any]) -> Any:
    """Return what `make` returns, or the reason why it cannot."""
    try:
        return make()
    except Missing as missing:
        return missing.gap
    except EdsError as error:
        text = f"{error.what[:1].upper()}{error.what[1:].rstrip('.')}."
        return Gap(" ".join([text, *error.faults[:3]]), error.hint)
