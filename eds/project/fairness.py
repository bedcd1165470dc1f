"""What `eds metrics score` says of new models: which measures are fair to them, and against whom nothing is decided."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from eds.analysis import Fairness
    from eds.metrics import Measure, Result
    from eds.project import Project
    from eds.project.ranks_and_scores import Evidence


@dataclass(frozen=True, eq=False)
class Fair:
    """The new models, those whose lists the pool was made of (none where that is not known), and the verdicts."""

    new: list[str]
    makers: list[str]
    found: "Fairness"


def new_models(project: "Project", models: Sequence[str], makers: Sequence[str]) -> list[str]:
    """Of these models the new ones; `makers` where they are named, else those that the suspects tell."""
    from eds.analysis import newcomers
    from eds.project.pool_models import told_makers

    known = set(makers) or set(told_makers(project)[0]["model"])
    return newcomers.new_models(models, known, _strata(project))


def _strata(project: "Project") -> list[object]:
    from eds.project.pool import read_suspects

    return list(read_suspects(project)["stratum"].unique())


def beside(
    project: "Project", measures: "Sequence[Measure]", models: Sequence[str], source: str, makers: Sequence[str]
) -> "list[Measure]":
    """Rank-biased precision, whose interval tells what labels could still change; nothing where no model is new."""
    from eds.metrics import Measure
    from eds.project.ranks_and_scores import chosen_models

    rbp = Measure("RBP")
    if rbp in measures or not any(map(_by_labels, measures)):
        return []
    return [rbp] if new_models(project, [*chosen_models(project, models, source)], makers) else []


def _by_labels(measure: "Measure") -> bool:
    return measure.definition.needs in ("lists", "official lists", "scores")


def judged_fair(
    project: "Project", results: "Sequence[Result]", found: "Evidence", makers: Sequence[str], *,
    with_random: bool = False, allow_missing: bool = False,
) -> Fair | None:  # fmt: skip
    """The verdicts on the new models among those scored; None where there is none, or nothing hangs on labels."""
    from eds.analysis import AnalysisInputs, fairness
    from eds.analysis.newcomers import UNMADE, chosen_for
    from eds.project.labelled_pairs import drawn_negatives, measured_pairs, pooled_pairs
    from eds.project.pool_models import generator_lists, told_makers

    new = new_models(project, list(found.sources), makers)
    if not new or not any(_by_labels(result.measure) for result in results):
        return None
    known = bool(makers) or len(told_makers(project)[0]) > 0
    named = [*makers, *(name for name in chosen_for(_strata(project)) if name in found.sources)] if makers else []
    lists = generator_lists(project, named, None, allow_missing=allow_missing) if known else UNMADE
    drawn = drawn_negatives(project, [result.measure for result in results])
    inputs = AnalysisInputs(
        pool_lists=lists,
        labels=measured_pairs(project, with_random=with_random),
        rankings=found.rankings,
        ranks=found.placed,
        scores=found.scores,
        negatives=drawn,
        pooled=pooled_pairs(project),
    )
    return Fair(new, sorted(set(lists["model"])), fairness(results, new, inputs))
