"""Compare scored models, each on its side: it built the pool, or it came later."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from eds.project.models import find_models, marked, roles
from eds.project.redrawn_negatives import with_redrawn_negatives

if TYPE_CHECKING:
    import pandas as pd

    from eds import metrics
    from eds.analysis import AnalysisInputs, Comparison, MeasureFairness
    from eds.project.evaluate import Evaluation
    from eds.project.inputs import Inputs
    from eds.project.score import ScoreOptions


def find_newcomers(inputs: "Inputs", models: Sequence[str], pool_models: Sequence[str]) -> list[str]:
    """Return the models that are new: those that are evaluated, and generators whose finds are not judged yet.

    With `pool_models` those built the pool, and the others are new.
    """
    from eds.analysis import newcomers

    if pool_models:
        return newcomers.new_models(models, pool_models, inputs.suspects["stratum"].unique())
    known = roles(inputs.project, inputs)
    makers = [name for name in models if known.get(name) == "generator"]
    late = newcomers.less_judged(inputs.proposals, inputs.decided_pairs(), makers) if inputs.exists("truth") else ()
    return [name for name in models if name not in makers or name in late]


def compare_models(
    inputs: "Inputs",
    evaluation: "Evaluation",
    results: "Sequence[metrics.Result]",
    table: "pd.DataFrame",
    options: "ScoreOptions",
) -> "tuple[Comparison, tuple[MeasureFairness, ...]]":
    """Return how the scored models compare by each measure, and which measures are fair to newcomers.

    Fairness is found only where there is a newcomer, for each generator is then scored again as if it were new.
    """
    from eds.analysis import compare, grade_fairness

    makers = find_models(inputs.project, options.pool_models)
    newcomers = find_newcomers(inputs, list(evaluation.evidence.sources), makers)
    known = collect(inputs, evaluation, results, options)
    comparison = compare(
        results,
        known,
        newcomers=newcomers,
        trained=marked(inputs.project, evaluation.evidence.sources),
        table=table,
        level=options.confidence,
        resamples=options.resamples,
    )
    if not comparison.newcomers:
        return comparison, ()
    known = with_redrawn_negatives(
        inputs, known, evaluation.evidence.sources, comparison.newcomers, allow_missing=options.allow_missing
    )
    return comparison, grade_fairness(comparison, known, resamples=options.resamples)


def collect(
    inputs: "Inputs", evaluation: "Evaluation", results: "Sequence[metrics.Result]", options: "ScoreOptions"
) -> "AnalysisInputs":
    """Return what a comparison is computed from."""
    from eds.analysis import AnalysisInputs
    from eds.analysis.newcomers import UNMADE, chosen_for
    from eds.project.pool_models import read_pool_lists

    evidence, lists = evaluation.evidence, UNMADE
    if options.pool_models or len(inputs.proposals):
        later = [name for name in chosen_for(inputs.suspects["stratum"].unique()) if name in evidence.sources]
        named = [*options.pool_models, *later] if options.pool_models else []
        lists = read_pool_lists(inputs, named, None, allow_missing=options.allow_missing)
    return AnalysisInputs(
        pool_lists=lists,
        labels=inputs.measured_labels([result.measure for result in results], with_random=options.with_random),
        rankings=evidence.rankings,
        ranks=evidence.placed,
        scores=evidence.scores,
        negatives=inputs.drawn_negatives([result.measure for result in results]),
        pooled=inputs.pooled_pairs,
        universe=inputs.universe,
        seed=inputs.project.config.project.seed,
    )
