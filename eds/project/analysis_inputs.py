"""Generators against outsiders: the options of the analyses that compare them, and what all of them start from."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from eds.errors import InputError
from eds.project.inputs import Inputs
from eds.project.pool_models import generator_lists

if TYPE_CHECKING:
    import pandas as pd

    from eds.analysis import AnalysisInputs
    from eds.project import Project
    from eds.project.ranks_and_scores import Evidence

TABLES = ["suspects", "truth", "embeddings", "neighbors"]  # what such an analysis reads


@dataclass(frozen=True)
class Compared:
    """The generators' lists, the labels, and every compared model's ranks (if asked for) and scores of the pairs."""

    lists: "pd.DataFrame"
    truth: "pd.DataFrame"
    evidence: "Evidence"
    scores: "pd.DataFrame"
    pooled: "pd.DataFrame | None"  # the pool's pairs, judged or not, whose ranks are known where they were asked for

    @property
    def inputs(self) -> "AnalysisInputs":
        """The same as analyses take it."""
        from eds.analysis import AnalysisInputs

        return AnalysisInputs(
            pool_lists=self.lists,
            labels=self.truth,
            rankings=self.evidence.rankings,
            ranks=self.evidence.placed,
            scores=self.scores,
            pooled=self.pooled,
        )


def compared(
    project: "Project",
    pool_models: Sequence[str],
    other_models: Sequence[str],
    k: int | None,
    with_random: bool,
    allow_missing: bool,
    *,
    whole: bool = True,
    with_pool: bool = False,
) -> Compared:
    """Generators and outsiders on the labelled pairs; `whole` counts ranks, too, `with_pool` those of the pool's pairs.

    Models without scores are told.
    """
    from eds.project.ranks_and_scores import Needs, gather

    inputs = Inputs(project)
    truth = inputs.measured_pairs(with_random=with_random)
    lists = generator_lists(inputs, pool_models, k, allow_missing=allow_missing)
    models = _models(project, lists, other_models)
    pooled = inputs.pooled_pairs if with_pool else None
    needs = Needs(lists=whole, besides=pooled)
    found = gather(inputs, models, inputs.images(), truth, needs, allow_missing=allow_missing)
    gone = sorted(set(lists["model"]) - set(models))
    if gone:
        project.say(f"Generators without vectors or lists are not evaluated: {', '.join(gone)}.")
    if found.scores is None or not len(found.scores):
        raise InputError("no labelled pair has a score", where=str(project.root), do="Bring the models' vectors.")
    unscored = sorted(set(models) - set(found.scores["model"]))
    if unscored:
        project.say(f"No labelled pair has a score by {', '.join(unscored)}, so that there is no AUC of it.")
    return Compared(lists, truth, found, found.scores, pooled)


def _models(project: "Project", lists: "pd.DataFrame", others: Sequence[str]) -> dict[str, str]:
    """The generators and the outsiders, with where each is taken from; generators that are gone by now are missing."""
    from eds.project.ranks_and_scores import chosen_models

    there = chosen_models(project, ())
    makers = [name for name in sorted(lists["model"].unique()) if name in there]
    wrong = sorted(set(others) & set(makers))
    if wrong:
        raise InputError(f"{', '.join(wrong)} made the pool", where="option --other-model", do="Name other models.")
    return chosen_models(project, [*makers, *others]) if others else there
