"""Pairs that deserve another look: those experts dispute, and those a model of experts is unsure of."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
import pandas as pd

from eds.truth.current_votes import UNSURE, current_acts
from eds.truth.dawid_skene import ITERATIONS, fit_votes
from eds.truth.experts import known_answers
from eds.truth.majority import DECIMALS
from eds.truth.votes import VOTING, votes_of


@dataclass(frozen=True)
class Consensus:
    """What Dawid and Skene's model says of the pairs and of the experts.

    `pairs`: query_id, candidate_id, votes_for, votes_against, majority (of the votes given, ties negative),
    posterior, entropy (bits), differs (posterior above 1/2 and majority disagree); the most uncertain first: the queue
    for another vote. `experts`: expert_id, judged, sensitivity, specificity, i.e. the diagonal of the confusion matrix,
    whose rows add to 1. `prior`: share of similar pairs. `change`: the last iteration's largest step.
    """

    pairs: pd.DataFrame
    experts: pd.DataFrame
    prior: float
    change: float


def disputed_pairs(
    labels: pd.DataFrame, *, as_of: datetime | None = None, voting: Sequence[str] = VOTING
) -> pd.DataFrame:
    """Pairs with votes for and against: ids, votes_for, votes_against, unsure, tie; the closest first.

    Order: smallest lead, then most votes, then ids.
    """
    votes = votes_of(current_acts(labels, as_of), voting)
    positive, negative, unsure = votes.counts()
    rows = np.flatnonzero((positive > 0) & (negative > 0))
    lead = np.abs(positive - negative)[rows]
    rows = rows[np.lexsort((rows, -(positive + negative)[rows], lead))]
    return votes.acts.frame(rows).assign(
        votes_for=positive[rows],
        votes_against=negative[rows],
        unsure=unsure[rows],
        tie=(positive == negative)[rows],
    )


def consensus(
    labels: pd.DataFrame,
    *,
    gold: pd.DataFrame | None = None,
    as_of: datetime | None = None,
    voting: Sequence[str] = VOTING,
    iterations: int = ITERATIONS,
) -> Consensus:
    """Fit Dawid and Skene's model: a second opinion beside the stored truth.

    `gold` (query_id, candidate_id, value) anchors pairs at their known answer, and experts' gold acts are then read
    too: this keeps the solution from flipping where votes are few.
    """
    acts = current_acts(labels, as_of)
    kinds = voting if gold is None or "gold" in voting else (*voting, "gold")
    votes = votes_of(acts, kinds)
    known = np.full(votes.n_pairs, UNSURE) if gold is None else known_answers(acts, gold)
    anchored = np.flatnonzero(known != UNSURE)
    fitted = fit_votes(votes, iterations, dict(zip(anchored.tolist(), known[anchored].tolist(), strict=True)))
    positive, negative, _ = votes.counts()
    posterior = fitted.posterior.round(DECIMALS)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.stack([share * np.log2(share) for share in (posterior, 1 - posterior)])
    entropy = -np.where(np.isnan(terms), 0.0, terms).sum(axis=0).round(DECIMALS)
    rows = np.flatnonzero(positive + negative > 0)
    rows = rows[np.lexsort((rows, -entropy[rows]))]
    majority = (positive > negative).astype(np.int64)[rows]
    pairs = votes.acts.frame(rows).assign(
        votes_for=positive[rows],
        votes_against=negative[rows],
        majority=majority,
        posterior=fitted.posterior[rows],
        entropy=entropy[rows] + 0.0,
        differs=(posterior[rows] > 0.5) != (majority == 1),
    )
    experts = pd.DataFrame(
        {
            "expert_id": pd.Series(acts.experts, dtype=labels["expert_id"].dtype),
            "judged": np.bincount(votes.expert[votes.value != UNSURE], minlength=len(acts.experts)),
            "sensitivity": fitted.confusion[:, 1, 1],
            "specificity": fitted.confusion[:, 0, 0],
        }
    )
    return Consensus(pairs, experts, fitted.prior, fitted.change)
