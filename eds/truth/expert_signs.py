"""Signs that an expert's judgements need a look: answers in a moment, gold below the line, errors that become more.

A sign is given where its confidence interval leaves no doubt, so that chance alone calls hardly anybody.
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd

from eds.intervals import wilson_interval
from eds.tables import LABELS
from eds.truth.current_votes import KINDS, UNSURE, Acts, Ints, current_acts
from eds.truth.error_drift import error_drift
from eds.truth.experts import known_answers
from eds.truth.votes import Votes, votes_of

Kind = Literal["speed", "gold", "drift"]
Look = Literal["latest", "fastest", "apart", "gold"]
QUICK = {"pair": 1.0, "grid": 0.1}  # seconds below which an answer came in a moment; of a grid for each candidate
QUICK_LINE = 0.1  # share of such answers above which an expert is a speeder
GOLD_LINE = 0.8  # share of right answers to gold
DRIFT_P = 0.01  # of each series of an expert
DRIFT_LEAST = 0.05  # a smaller rise of the error rate matters little
SHOWN = 12  # pairs that a sign names


@dataclass(frozen=True)
class ExpertSign:
    """What is noticed about an expert: so many of so many answers, with the interval of their share."""

    kind: Kind
    expert: str
    count: int  # quick answers, right answers to gold, errors since the change
    of: int
    share: float
    low: float
    high: float
    line: float  # what the share is held against: its limit; of a drift the error rate before
    series: str = ""  # of a drift: gold, repeats, others (agreement with the majority of the others)
    since: pd.Timestamp | None = None  # of a drift: the first answer after the change
    pairs: tuple[tuple[str, str], ...] = ()  # examples, at most SHOWN


def expert_signs(
    acts: pd.DataFrame, gold: pd.DataFrame, *, gold_line: float = GOLD_LINE, confidence: float = 0.95
) -> list[ExpertSign]:
    """Return the signs of all experts: by expert, then speed, gold, drift.

    `acts` are those of a campaign (table labels, perhaps with `mode`), `gold` the known answers (query_id,
    candidate_id, value).
    Formula:     speed: the lower limit of the share of quick answers is above QUICK_LINE; gold: the upper limit of the
                 share of right answers is below `gold_line`; drift: `error_drift` of wrong gold, of repeats answered
                 otherwise, or of votes against the majority of the others has p < DRIFT_P and rises by DRIFT_LEAST
    Source:      Wilson's interval (1927); CUSUM as in `error_drift`
    Conventions: acts in force, unsure ones count for speed only; of several series that drift the one with the
                 smallest p is given
    """
    found = current_acts(acts[LABELS.names])
    mode = acts["mode"].to_numpy()[found.row] if "mode" in acts.columns else np.full(len(found.row), "pair")
    quick = found.seconds < np.vectorize(lambda name: QUICK.get(name, QUICK["pair"]), otypes=[float])(mode)
    timed = ~np.isnan(found.seconds)
    right, known = _gold(found, gold)
    series = {"gold": (known, ~right), "repeats": _repeats(found), "others": _others(found)}
    signs: list[ExpertSign] = []
    for number, name in enumerate(found.experts.tolist()):
        mine = found.expert == number
        share = _share(int((mine & quick).sum()), int((mine & timed).sum()), confidence)
        if share is not None and share["low"] > QUICK_LINE:
            rows = np.flatnonzero(mine & quick)
            rows = rows[np.argsort(found.seconds[rows], kind="stable")]
            signs.append(ExpertSign("speed", name, **share, line=QUICK_LINE, pairs=_pairs(found, rows)))
        share = _share(int((mine & known & right).sum()), int((mine & known).sum()), confidence)
        if share is not None and share["high"] < gold_line:
            wrong = np.flatnonzero(mine & known & ~right)
            signs.append(ExpertSign("gold", name, **share, line=gold_line, pairs=_pairs(found, wrong)))
        drifts = [
            drift
            for kind, (counted, error) in series.items()
            if (drift := _drift(found, name, kind, np.flatnonzero(mine & counted), error, confidence)) is not None
        ]
        signs += [sign for _, sign in sorted(drifts, key=lambda item: item[0])[:1]]
    return signs


def expert_answers(acts: pd.DataFrame, gold: pd.DataFrame, expert: str, kind: Look) -> pd.DataFrame:
    """Return an expert's answers in force: query_id, candidate_id, value, seconds, created_at.

    Of kind `latest` all, the latest first; `fastest` first; `apart` from the majority of the others, and `gold`
    answered wrongly, the latest first.
    """
    found = current_acts(acts[LABELS.names])
    chosen = found.experts[found.expert] == expert if len(found.experts) else np.zeros(0, dtype=np.bool_)
    if kind == "gold":
        right, known = _gold(found, gold)
        chosen &= known & ~right
    elif kind == "apart":
        counted, error = _others(found)
        chosen &= counted & error
    elif kind == "fastest":
        chosen &= ~np.isnan(found.seconds)
    rows = np.flatnonzero(chosen)
    by = found.seconds[rows] if kind == "fastest" else -found.order[rows]
    rows = rows[np.argsort(by, kind="stable")]
    beside = acts[["value", "seconds", "created_at"]].iloc[found.row[rows]].reset_index(drop=True)
    return pd.concat([found.frame(found.pair[rows]), beside], axis=1)


def _share(count: int, of: int, confidence: float) -> dict[str, Any] | None:
    if not of:
        return None
    low, high = wilson_interval(count, of, confidence)
    return {"count": count, "of": of, "share": count / of, "low": float(low), "high": float(high)}


def _drift(
    acts: Acts, name: str, kind: str, rows: Ints, error: "np.ndarray[Any, Any]", confidence: float
) -> tuple[float, ExpertSign] | None:
    rows = rows[np.argsort(acts.order[rows])]
    found = error_drift(error[rows], acts.query[acts.pair[rows]]) if len(rows) else None
    if found is None or found.p >= DRIFT_P or found.rise < DRIFT_LEAST:
        return None
    share = _share(found.errors_after, found.answers_after, confidence) or {}
    late = rows[found.answers_before :]
    since = pd.Timestamp(int(acts.created[late[0]]), unit="us", tz="UTC")
    pairs = _pairs(acts, late[error[late]][::-1])
    line = found.errors_before / found.answers_before
    return found.p, ExpertSign("drift", name, **share, line=line, series=kind, since=since, pairs=pairs)


def _gold(acts: Acts, gold: pd.DataFrame) -> tuple["np.ndarray[Any, Any]", "np.ndarray[Any, Any]"]:
    """Which acts answer gold rightly, and which answer gold at all."""
    answer = known_answers(acts, gold)[acts.pair]
    known = (acts.kind == KINDS.index("gold")) & (answer != UNSURE) & (acts.value != UNSURE)
    return acts.value == answer, known


def _repeats(acts: Acts) -> tuple["np.ndarray[Any, Any]", "np.ndarray[Any, Any]"]:
    """Which acts answer a pair again, and which of them otherwise than before."""
    whole = acts.pair * max(len(acts.experts), 1) + acts.expert
    first = np.searchsorted(whole, whole)  # acts are sorted by pair, expert, kind: repeats come last
    repeat = (acts.kind == KINDS.index("repeat")) & (first != np.arange(len(whole)))
    counted = repeat & (acts.value != UNSURE) & (acts.value[first] != UNSURE)
    return counted, acts.value != acts.value[first]


def _others(acts: Acts) -> tuple["np.ndarray[Any, Any]", "np.ndarray[Any, Any]"]:
    """Which acts are votes where the others have a majority, and which of them are against it."""
    votes: Votes = votes_of(acts)
    positive, negative, _ = votes.counts()
    lead = (positive - negative)[votes.pair] - np.where(votes.value == 1, 1, -1)
    counted, error = np.zeros(len(acts.row), dtype=np.bool_), np.zeros(len(acts.row), dtype=np.bool_)
    counted[votes.row] = (votes.value != UNSURE) & (lead != 0)
    error[votes.row] = (lead > 0) != (votes.value == 1)
    return counted, error


def _pairs(acts: Acts, rows: Ints) -> tuple[tuple[str, str], ...]:
    frame = acts.frame(acts.pair[rows[:SHOWN]])
    return tuple(zip(frame["query_id"].astype(str), frame["candidate_id"].astype(str), strict=True))
