"""Evaluate models by measures: what each value is computed from is gathered, and nothing that no measure needs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from eds.errors import InputError
from eds.project.inputs import Inputs
from eds.project.ranks_and_scores import Needs, choose_models, gather

if TYPE_CHECKING:
    import pandas as pd

    from eds import metrics
    from eds.metrics import Measure
    from eds.project import Project
    from eds.project.ranks_and_scores import Evidence

LISTS = ("lists", "official lists")


@dataclass(frozen=True)
class Evaluation:
    """Results that keep the values of every query, and what they were computed from."""

    results: "Sequence[metrics.Result]"
    evidence: "Evidence"

    def of(self, measures: "Sequence[Measure]") -> "list[metrics.Result]":
        """Return the results of these measures."""
        wanted = set(measures)
        return [result for result in self.results if result.measure in wanted]


def models_to_score(
    project: "Project", measures: "Sequence[Measure]", models: Sequence[str] = (), source: str = "auto"
) -> dict[str, str]:
    """Return the models by which the measures can be computed, and where each is taken from."""
    from eds.project.code_histograms import hash_models

    chosen = choose_models(project, models, source)
    needs = {measure.definition.needs for measure in measures}
    if not models and "codes" in needs and needs <= {"codes", "graded"}:
        return {name: chosen[name] for name in hash_models(project, list(chosen))}
    return chosen


def evaluate_models(
    inputs: Inputs,
    measures: "Sequence[Measure]",
    models: Sequence[str] = (),
    source: str = "auto",
    *,
    allow_missing: bool = False,
    with_random: bool = False,
    truth: "pd.DataFrame | None" = None,
    attributes: Sequence[str] = (),
    reasons: bool = True,
) -> Evaluation:
    """Return every model's value of every measure.

    `truth` replaces the labels of the project. `reasons`: also count what keeps positives out of official lists, though
    that takes lists where ranks would do.
    """
    import pandas as pd

    from eds.metrics import ScoringInputs, evaluate
    from eds.project.code_histograms import coded

    project = inputs.project
    _check_rules(project, measures)
    needs = {measure.definition.needs for measure in measures}
    images = inputs.images(*attributes)
    labels = inputs.measured_labels(measures, with_random=with_random) if truth is None else truth
    negatives = inputs.drawn_negatives(measures)
    pairs = labels if negatives is None else pd.concat([labels, negatives], ignore_index=True)
    cuts = [measure.k or 0 for measure in measures if measure.definition.needs in LISTS]  # 0: the whole ranking
    chosen = models_to_score(project, measures, models, source)
    _check_own_product(project, measures, chosen)
    histograms = coded(
        inputs, list(chosen), images, measures, attributes, allow_missing=allow_missing, with_random=with_random
    )
    official = [measure.k or 0 for measure in measures if measure.definition.needs == "official lists"]
    evidence = gather(
        inputs,
        chosen,
        images,
        pairs,
        Needs(
            lists=bool(cuts),
            depth=max(cuts, default=0) if all(cuts) else None,
            heads=max(official, default=0) if reasons else 0,
            other_pairs=inputs.pooled_pairs if any(measure.definition.counts_pooled for measure in measures) else None,
            scores="scores" in needs,
            products="product lists" in needs,
        ),
        allow_missing=allow_missing,
    )
    scoring = ScoringInputs(
        labels,
        rankings=evidence.rankings,
        scores=evidence.scores,
        images=images,
        negatives=negatives,
        ranks=evidence.placed,
        own_ranks=evidence.own,
        codes=histograms or None,
        pooled=inputs.pooled_pairs,
        heads=evidence.heads,
        category=project.config.neighbors.category,
    )
    results = evaluate(scoring, measures)
    for name, codes in ((name, codes) for name, codes in histograms.items() if codes.bits):
        evidence.notes.setdefault(name, []).append(f"codes of {codes.bits} bits, {codes.n:,} candidates")
    return Evaluation([_add_notes(result, evidence.notes.get(result.model, [])) for result in results], evidence)


def _add_notes(result: "metrics.Result", notes: Sequence[str]) -> "metrics.Result":
    return replace(result, note="; ".join([*notes, *([result.note] if result.note else [])])) if notes else result


def _check_rules(project: "Project", measures: "Sequence[Measure]") -> None:
    official = [str(measure) for measure in measures if measure.definition.needs == "official lists"]
    settings = project.config.neighbors
    off = [name for name in ("exclude_product", "one_per_product") if not getattr(settings, name)]
    if official and off:
        raise InputError(
            f"{official[0]} needs lists without the query's product and with one image of each product",
            where=f"eds.toml, {', '.join(f'neighbors.{name}' for name in off)}",
            hint="Set them to true, or choose other measures (eds metrics list).",
        )


def _check_own_product(project: "Project", measures: "Sequence[Measure]", chosen: Mapping[str, str]) -> None:
    """Refuse lists without the query's product where it is looked for: the value would be 0 for every model."""
    asked = [str(measure) for measure in measures if measure.definition.needs == "product lists"]
    settings = project.config.neighbors
    on = [name for name in ("exclude_product", "one_per_product") if getattr(settings, name)]
    bare = [name for name, source in chosen.items() if source == "neighbors"]
    if asked and on and bare:
        raise InputError(
            f"{asked[0]} needs lists with every picture of the query's product, and the project's lists leave them out:"
            f" {', '.join(bare)}",
            where=f"eds.toml, {', '.join(f'neighbors.{name}' for name in on)}",
            hint="Add these models' vectors (eds embeddings compute, or import), or name the other models (-m MODEL).",
        )
