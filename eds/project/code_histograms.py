"""What measures on binary codes start from: every hash model's distance histograms, by source of grades."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from eds.errors import InputError, ProjectError
from eds.project.inputs import Inputs

if TYPE_CHECKING:
    import pandas as pd

    from eds.hashing.histograms import Grading
    from eds.metrics import Measure
    from eds.metrics.code_histograms import CodeHistograms
    from eds.project import Project

COLUMNS = {"product": ("product_id",), "category": ("category",), "types": ("product_id", "category")}


def on_codes(measures: "Sequence[Measure]") -> "list[Measure]":
    """Those of the measures that need codes, or grades."""
    return [measure for measure in measures if measure.definition.needs in ("codes", "graded")]


def hash_models(project: "Project", models: Sequence[str]) -> list[str]:
    """Those of the models whose vectors are codes."""
    from eds.vectors import read_model

    there = set(project.models("embeddings"))
    return [name for name in models if name in there and read_model(project.path("embeddings", name)).dtype == "bits"]


def coded(
    inputs: Inputs,
    models: Sequence[str],
    images: "pd.DataFrame",
    measures: "Sequence[Measure]",
    attributes: Sequence[str] = (),
    *,
    allow_missing: bool = False,
    with_random: bool = False,
) -> "dict[str, CodeHistograms]":
    """Return histograms of models of binary codes, and graded lists of others, as far as the measures need them."""
    from eds.hashing.code_usage import packed_code_usage
    from eds.metrics.code_histograms import CodeHistograms
    from eds.neighbors.code_search import code_gallery
    from eds.project.graded_lists import graded_lists
    from eds.project.ranks_and_scores import open_vectors

    asked, project = on_codes(measures), inputs.project
    if not asked:
        return {}
    names, depths = (
        hash_models(project, models),
        [measure.k for measure in asked if measure.definition.needs == "graded"],
    )
    others = [name for name in models if name not in names and name in project.models("embeddings")] if depths else []
    if others and None in depths:
        whole = next(measure for measure in asked if measure.definition.needs == "graded" and measure.k is None)
        raise InputError(
            f"{whole} needs a cut-off for models that are not binary codes: {', '.join(others)}",
            where="measure",
            hint=f"Write {whole.name}@100, or name models of codes (-m).",
        )
    if not names and any(measure.definition.needs == "codes" for measure in asked):
        raise ProjectError(
            f"{asked[0]} needs a model of binary codes, and there is none",
            where=str(project.root),
            hint="Make one (eds training hash), or import codes (eds embeddings import --similarity hamming).",
        )
    sources = {measure.parameters["grades"] for measure in asked if "grades" in measure.parameters}
    gradings = {source: grading(inputs, source, attributes, with_random=with_random) for source in sorted(sources)}
    radii = {
        source: max(
            (
                measure.k or 0
                for measure in asked
                if measure.definition.least == 0 and measure.parameters["grades"] == source
            ),
            default=None,
        )
        for source in sources
    }
    found = {}
    for name, (vectors, there) in open_vectors(project, others, images, allow_missing=allow_missing).items():
        deepest = max(depth for depth in depths if depth is not None)
        graded = graded_lists(project, name, vectors, there, gradings, deepest)
        found[name] = CodeHistograms(0, int((there["role"] != "query").sum()), graded)
    for name, (vectors, there) in open_vectors(project, names, images, allow_missing=allow_missing).items():
        codes = code_gallery(vectors, there)
        graded = {source: codes.histograms(gradings[source], radii[source]) for source in gradings}
        usage = packed_code_usage(codes.items, codes.bits)
        found[name] = CodeHistograms(codes.bits, len(codes.items), graded, usage)
    return found


def grading(inputs: Inputs, source: str, attributes: Sequence[str], *, with_random: bool = False) -> "Grading":
    """Return what the name of a source of grades means in this project."""
    from eds.hashing.histograms import Grading
    from eds.project.journal import suspects_and_withdrawn
    from eds.suspects import benchmark_labels

    project = inputs.project
    if project.config.neighbors.category != "any":
        raise InputError(
            "measures on codes compare with every candidate",
            where="eds.toml, neighbors.category",
            hint="Set it to any.",
        )
    kept = project.config.neighbors.exclude_product and source not in ("product", "types")
    if source == "attributes" and not attributes:
        raise InputError("no attribute is named", where="grades=attributes", hint="Name columns: --attribute COLUMN.")
    if source == "experts":
        return Grading(_expert_grades(project), exclude_product=kept)
    if source not in ("truth", "votes"):
        columns = COLUMNS.get(source) or tuple(attributes)
        return Grading(columns=columns, first_decides=source == "types", exclude_product=kept)
    truth = inputs.read("truth")
    truth = truth if with_random else benchmark_labels(truth, suspects_and_withdrawn(inputs))
    grade = truth["value"] if source == "truth" else truth["votes_for"]
    return Grading(truth[["query_id", "candidate_id"]].assign(grade=grade), exclude_product=kept)


def _expert_grades(project: "Project") -> "pd.DataFrame":
    """The mean grade of each pair that experts graded, rounded half up: whole grades have gains."""
    from eds.labels.frames import acts_frame
    from eds.project.campaign_statistics import votes_in_force
    from eds.project.label_store import opened
    from eds.truth.grades import mean_grades

    with opened(project) as store:
        found = mean_grades(votes_in_force(acts_frame(store)))
    if found.empty:
        raise InputError(
            "no expert gave a grade",
            where="grades=experts",
            hint="Make a campaign that asks for grades: eds labels campaigns add --similar-from 2.",
        )
    return found.assign(grade=np.floor(found["grade"] + 0.5).astype("int64"))[["query_id", "candidate_id", "grade"]]
