"""A project's models by measures: what each value is computed from is gathered, and nothing that no measure needs."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from eds.errors import InputError
from eds.project.labelled_pairs import drawn_negatives, measured_labels, pooled_pairs

if TYPE_CHECKING:
    import pandas as pd

    from eds.metrics import Measure, Result
    from eds.project import Project
    from eds.project.ranks_and_scores import Evidence

LISTS = ("lists", "official lists")
CATALOGUE = ("image_id", "product_id", "category", "role")  # all that lists and ranks need of table images


def evaluated(
    project: "Project",
    measures: "Sequence[Measure]",
    models: Sequence[str] = (),
    source: str = "auto",
    *,
    allow_missing: bool = False,
    with_random: bool = False,
    truth: "pd.DataFrame | None" = None,
    attributes: Sequence[str] = (),
    reasons: bool = True,
) -> "tuple[list[Result], Evidence]":
    """Results that keep their values by query, and what they were computed from.

    `reasons`: count what keeps positives out of official lists, too, though that takes lists where ranks would do.
    """
    import pandas as pd

    from eds.metrics import ScoringInputs, evaluate
    from eds.project.code_histograms import coded, hash_models
    from eds.project.ranks_and_scores import chosen_models, gather
    from eds.tables import IMAGES, read

    _check_rules(project, measures)
    needs = {measure.definition.needs for measure in measures}
    images = read(project.path("images"), IMAGES, None if "codes" in needs else CATALOGUE)
    labels = measured_labels(project, measures, with_random=with_random) if truth is None else truth
    negatives = drawn_negatives(project, measures)
    pairs = labels if negatives is None else pd.concat([labels, negatives], ignore_index=True)
    cuts = [measure.k or 0 for measure in measures if measure.definition.needs in LISTS]  # 0: the whole ranking
    chosen = chosen_models(project, models, source)
    if needs == {"codes"} and not models:  # of other models there is nothing to tell
        chosen = {name: chosen[name] for name in hash_models(project, list(chosen))}
    _check_own_product(project, measures, chosen)
    histograms = coded(project, list(chosen), images, measures, attributes, allow_missing=allow_missing,
                       with_random=with_random)  # fmt: skip
    pooled = pooled_pairs(project)
    official = [measure.k or 0 for measure in measures if measure.definition.needs == "official lists"]
    found = gather(
        project, chosen, images, pairs, lists=bool(cuts),
        depth=max(cuts, default=0) if all(cuts) else None, scores="scores" in needs,
        besides=pooled if any(measure.definition.counts_pooled for measure in measures) else None,
        heads=max(official, default=0) if reasons else 0,
        products="product lists" in needs, allow_missing=allow_missing,
    )  # fmt: skip
    inputs = ScoringInputs(
        labels,
        rankings=found.rankings,
        scores=found.scores,
        images=images,
        negatives=negatives,
        ranks=found.placed,
        own_ranks=found.own,
        codes=histograms or None,
        pooled=pooled,
        heads=found.heads,
        category=project.config.neighbors.category,
    )
    results = evaluate(inputs, measures)
    for name, codes in histograms.items():
        found.notes.setdefault(name, []).append(f"codes of {codes.bits} bits, {codes.n:,} candidates")
    return [_noted(result, found.notes.get(result.model, [])) for result in results], found


def _noted(result: "Result", notes: Sequence[str]) -> "Result":
    from dataclasses import replace

    return replace(result, note="; ".join([*notes, *([result.note] if result.note else [])])) if notes else result


def _check_rules(project: "Project", measures: "Sequence[Measure]") -> None:
    official = [str(measure) for measure in measures if measure.definition.needs == "official lists"]
    settings = project.config.neighbors
    off = [name for name in ("exclude_product", "one_per_product") if not getattr(settings, name)]
    if official and off:
        raise InputError(
            f"{official[0]} needs lists without the query's product and with one image of each product",
            where=f"eds.toml, {', '.join(f'neighbors.{name}' for name in off)}",
            do="Set them to true, or ask for other measures (eds metrics list).",
        )


def _check_own_product(project: "Project", measures: "Sequence[Measure]", chosen: Mapping[str, str]) -> None:
    """Lists that leave out the query's product tell nothing of it: a number from them would be 0 for every model."""
    asked = [str(measure) for measure in measures if measure.definition.needs == "product lists"]
    settings = project.config.neighbors
    on = [name for name in ("exclude_product", "one_per_product") if getattr(settings, name)]
    bare = [name for name, source in chosen.items() if source == "neighbors"]
    if asked and on and bare:
        raise InputError(
            f"{asked[0]} needs lists with every picture of the query's product, and the project's lists leave them out:"
            f" {', '.join(bare)}",
            where=f"eds.toml, {', '.join(f'neighbors.{name}' for name in on)}",
            do="Bring these models' vectors (eds embeddings compute, or import), or name the other models (-m MODEL).",
        )
