"""Every model's scores of all pairs that have a label, random pairs included."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from eds.errors import InputError
from eds.project.inputs import PAIR, Inputs
from eds.project.ranks_and_scores import Needs, choose_models, gather

if TYPE_CHECKING:
    import pandas as pd


def score_labels(inputs: Inputs, models: Sequence[str] = (), *, allow_missing: bool = False) -> "pd.DataFrame":
    """Return model, query_id, candidate_id and score of the labelled pairs, by `models` or by all.

    A model without vectors has the scores of its lists alone: pairs that are not in them have none.
    """
    project = inputs.project
    chosen = choose_models(project, models)
    pairs = inputs.decided_pairs()[PAIR]
    evidence = gather(inputs, chosen, inputs.images(), pairs, Needs(lists=False), allow_missing=allow_missing)
    if evidence.scores is None or not len(evidence.scores):
        raise InputError("no labelled pair has a score", where=str(project.root), hint="Add the models' vectors.")
    for model, notes in evidence.notes.items():
        if notes:
            project.say(f"{model}: {'; '.join(notes)}.")
    return evidence.scores
