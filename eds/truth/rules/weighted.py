"""More weight for than against, experts weighted by their agreement with the others; a tie is negative."""

from collections.abc import Mapping

import numpy as np

from eds.errors import InputError
from eds.truth.current_votes import UNSURE, Ints
from eds.truth.majority import DECIMALS, Ruling
from eds.truth.rules._settled import relabel
from eds.truth.votes import Votes, agreement_with_others


def decide(votes: Votes, panel: Ints, weights: Mapping[str, float] | None = None) -> Ruling:
    """Positive if the experts for it weigh more than those against.

    Formula: label 1 iff sum of weights for > sum of weights against.
    Conventions: a tie is negative; labels the pairs that the majority labels; `weights` (expert -> weight from 0 up)
    default to what each expert's agreement with the others is worth, `earned_weights`.
    """
    given = earned_weights(votes) if weights is None else weights
    names = votes.acts.experts.tolist()
    wrong = [name for name in names if not 0 <= given.get(name, -1.0) < float("inf")]
    if wrong:
        raise InputError(
            f"{len(wrong)} experts have no weight from 0 up, first {wrong[0]!r}",
            where="rule weighted",
            hint="Give every expert a weight.",
        )
    weight = np.array([given[name] for name in names], dtype=np.float64)
    sign = np.where(votes.value == UNSURE, 0.0, np.where(votes.value == 1, 1.0, -1.0))
    lead = np.bincount(votes.pair, weights=sign * weight[votes.expert], minlength=votes.n_pairs).round(DECIMALS)
    return relabel(votes, panel, lead > 0)


def earned_weights(votes: Votes) -> dict[str, float]:
    """Each expert's weight from agreement with the others.

    Formula: max(0, ln(a / (1-a))), a = (agreed + 1) / (compared + 2).
    Source: log-odds are the best weights of independent voters (Nitzan and Paroush 1982).
    Conventions: compared are pairs where the expert judged and the others have a majority; the added 1 and 2 keep it
    finite; an expert who agrees in at most half the cases weighs nothing.
    """
    agreed, compared, _ = agreement_with_others(votes)
    share = (agreed + 1) / (compared + 2)
    return dict(zip(votes.acts.experts.tolist(), np.maximum(0.0, np.log(share / (1 - share))).tolist(), strict=True))
