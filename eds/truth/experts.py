"""Statistics of each expert: positive rate, agreement, drift, speed, gold score, consistency."""

from collections.abc import Sequence
from datetime import datetime

import numpy as np
import numpy.typing as npt
import pandas as pd

from eds.errors import InputError
from eds.intervals import UNDEFINED, Interval, rate_interval
from eds.truth.current_votes import KINDS, UNSURE, Acts, Ints, current_acts
from eds.truth.votes import VOTING, Votes, agreement_with_others, places, votes_of

Flags = npt.NDArray[np.bool_]


def expert_profiles(
    labels: pd.DataFrame,
    *,
    gold: pd.DataFrame | None = None,
    as_of: datetime | None = None,
    voting: Sequence[str] = VOTING,
    level: float = 0.95,
) -> pd.DataFrame:
    """A row for every expert, by name.

    `gold` holds the known answers: query_id, candidate_id, value. The columns:
    `answers` (current votes), `judged` (of them not unsure), `positive`, `positive_rate`, `low`, `high`, `no_interval`
    (over queries, or the reason why there is none), `skip_rate` (unsure of answers); `compared`, `agreed`,
    `with_others` (agreement with the majority of the *others*, where they have one), `others_tied`;
    `first_half_rate`, `second_half_rate`, `drift` (of the positive rate, second minus first half of the judged votes
    in time), `drift_with_others` (of that agreement); `median_seconds` (of votes); `gold_judged`, `gold_right`,
    `gold_score` (right of judged gold acts); `repeats`, `repeat_same`, `repeat_consistency` (of repeat acts whose
    first judgement, normal or else gold, is known; unsure ones left out). A share of nothing is NaN.
    """
    acts = current_acts(labels, as_of)
    votes = votes_of(acts, voting)
    size = len(acts.experts)
    result = votes.value != UNSURE
    answers, judged = _count(votes.expert, size), _count(votes.expert[result], size)
    positive = _count(votes.expert[votes.value == 1], size)
    intervals = _intervals(votes, size, level)
    agreed, compared, tied = agreement_with_others(votes)
    late = _second_half(votes, judged)
    halves = [
        _share(_count(votes.expert[(votes.value == 1) & half], size), _count(votes.expert[result & half], size))
        for half in (~late, late)
    ]
    against = [_share(*agreement_with_others(votes, half)[:2]) for half in (~late, late)]
    gold_judged, gold_right = _gold(acts, gold)
    repeats, same = _repeats(acts)
    return pd.DataFrame(
        {
            "expert_id": pd.Series(acts.experts, dtype=labels["expert_id"].dtype),
            "answers": answers,
            "judged": judged,
            "positive": positive,
            "positive_rate": _share(positive, judged),
            "low": [interval.low for interval in intervals],
            "high": [interval.high for interval in intervals],
            "no_interval": pd.Series([interval.no_interval for interval in intervals], dtype=object),
            "skip_rate": _share(answers - judged, answers),
            "compared": compared,
            "agreed": agreed,
            "with_others": _share(agreed, compared),
            "others_tied": tied,
            "first_half_rate": halves[0],
            "second_half_rate": halves[1],
            "drift": halves[1] - halves[0],
            "drift_with_others": against[1] - against[0],
            "median_seconds": _median_seconds(votes),
            "gold_judged": gold_judged,
            "gold_right": gold_right,
            "gold_score": _share(gold_right, gold_judged),
            "repeats": repeats,
            "repeat_same": same,
            "repeat_consistency": _share(same, repeats),
        }
    )


def _intervals(votes: Votes, experts: int, level: float) -> list[Interval]:
    """The interval of each expert's positive rate, over queries."""
    query, size = votes.acts.query[votes.pair], len(votes.acts.query_names)
    intervals = []
    for expert in range(experts):
        mine = (votes.expert == expert) & (votes.value != UNSURE)
        positive, judged = (_count(query[chosen], size) for chosen in (mine & (votes.value == 1), mine))
        intervals.append(rate_interval(positive, judged, level) if mine.any() else Interval.none(UNDEFINED))
    return intervals


def known_answers(acts: Acts, gold: pd.DataFrame) -> Ints:
    """The known answer of each pair of the acts, UNSURE where none is known."""
    at = places(acts, gold, "gold answers")
    value = pd.to_numeric(gold["value"], errors="coerce") if "value" in gold else pd.Series(np.nan, gold.index)
    if not value.isin([0, 1]).all():
        raise InputError(
            f"{int((~value.isin([0, 1])).sum()):,} values are neither 1 nor 0",
            where="gold answers",
            hint="Give query_id, candidate_id and value, the known answer.",
        )
    known = np.full(acts.n_pairs, UNSURE, dtype=np.int64)
    known[at[at >= 0]] = value.to_numpy(dtype=np.int64)[at >= 0]
    return known


def _gold(acts: Acts, gold: pd.DataFrame | None) -> tuple[Ints, Ints]:
    size = len(acts.experts)
    if gold is None:
        return np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
    known = known_answers(acts, gold)[acts.pair]
    judged = (acts.kind == KINDS.index("gold")) & (known != UNSURE) & (acts.value != UNSURE)
    return _count(acts.expert[judged], size), _count(acts.expert[judged & (acts.value == known)], size)


def _repeats(acts: Acts) -> tuple[Ints, Ints]:
    """Repeats with a first judgement, and those that say the same. Acts are sorted by pair, expert, kind."""
    size = len(acts.experts)
    whole = acts.pair * max(size, 1) + acts.expert
    again = np.flatnonzero((acts.kind == KINDS.index("repeat")) & (acts.value != UNSURE))
    first = np.searchsorted(whole, whole[again])  # the pair's act of the lowest kind: normal, else gold, else itself
    use = (acts.value[first] != UNSURE) & (first != again)
    again, first = again[use], first[use]
    same = again[acts.value[again] == acts.value[first]]
    return _count(acts.expert[again], size), _count(acts.expert[same], size)


def _second_half(votes: Votes, judged: Ints) -> Flags:
    """Whether a judged vote belongs to the later half of its expert's; of an odd number the middle one is later."""
    result = np.flatnonzero(votes.value != UNSURE)
    result = result[np.lexsort((votes.acts.order[votes.row[result]], votes.expert[result]))]
    starts = np.cumsum(judged) - judged
    place = np.arange(len(result)) - starts[votes.expert[result]]
    late = np.zeros(len(votes.value), dtype=np.bool_)
    late[result] = place >= judged[votes.expert[result]] // 2
    return late


def _median_seconds(votes: Votes) -> npt.NDArray[np.float64]:
    seconds = pd.Series(votes.acts.seconds[votes.row]).groupby(votes.expert).median()
    return np.asarray(seconds.reindex(range(len(votes.acts.experts))), dtype=np.float64)


def _count(places_of: Ints, size: int) -> Ints:
    return np.bincount(places_of, minlength=size).astype(np.int64)


def _share(part: Ints, whole: Ints) -> npt.NDArray[np.float64]:
    return np.asarray(np.where(whole > 0, part / np.maximum(whole, 1), np.nan), dtype=np.float64)
