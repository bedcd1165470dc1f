"""Models' areas under the curve on pools that they had no part in.

A generator's own finds are the negatives that it ranks highest: they are its own errors, so its AUC on all labels is
lower than that of a new model of the same quality. On the pool that would exist without it, both are outsiders.
"""

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from eds.errors import InputError
from eds.metrics.auc import Ordered, segment_aucs
from eds.metrics.measure import Measure
from eds.metrics.pair_scores import align_scores
from eds.pairs import Flags, Integers, LabelledPairs, Reals, encode, unique_ids

AREAS = ("ROC-AUC", "PR-AUC")  # the measures that are computed on labelled pairs' scores alone


@dataclass(frozen=True, eq=False)
class OrderedScores:
    """One model's scored pairs, sorted once for every subset of the labels; arrays are (scored pairs,)."""

    row: Integers  # of the labelled pairs, in the order of `ordered`
    ordered: Ordered  # by query; its `value` is the label
    scored: Flags  # of the labelled pairs
    n_queries: int

    @classmethod
    def of(cls, labelled: LabelledPairs, score: Reals) -> "OrderedScores":
        """The pairs that have a score."""
        scored = np.isfinite(score)
        rows = np.flatnonzero(scored)
        ordered = Ordered.of(labelled.query[scored], np.arange(len(rows)), score[scored])
        rows = rows[ordered.value]
        by_query = Ordered(ordered.segment, labelled.value[rows], ordered.score)
        return cls(rows, by_query, scored, len(labelled.queries))

    def areas(self, kept: Flags) -> tuple[Reals, Reals]:
        """ROC- and PR-AUC by query of the kept labels, (queries,) each; both NaN without positive and negative."""
        chosen = kept[self.row]
        part = Ordered(self.ordered.segment[chosen], self.ordered.value[chosen], self.ordered.score[chosen])
        roc, precision = segment_aucs(part, self.n_queries)
        return roc, np.where(np.isnan(roc), np.nan, precision)

    def micro(self, kept: Flags) -> tuple[Reals, Reals]:
        """Micro ROC- and PR-AUC of the kept labels as pseudo-values of queries; see `micro_pseudo_values`."""
        row, ordered = self._by_score
        chosen = kept[row]
        parts = (ordered.segment[chosen], ordered.value[chosen], ordered.score[chosen])
        return micro_pseudo_values(*parts, self.n_queries)

    @cached_property
    def _by_score(self) -> tuple[Integers, Ordered]:
        """The pairs by descending score, so that sorting a subset is a single pass."""
        order = np.argsort(-self.ordered.score, kind="stable")
        parts = (self.ordered.segment[order], self.ordered.value[order], self.ordered.score[order])
        return self.row[order], Ordered(*parts)

    def by_query(self, measure: Measure, kept: Flags) -> Reals:
        """The measure by query on the kept labels, (queries,); of a micro measure pseudo-values."""
        areas = self.micro(kept) if measure.parameters["average"] == "micro" else self.areas(kept)
        return areas[AREAS.index(measure.name)]


@dataclass(frozen=True, eq=False)
class ReducedPools:
    """The labelled pairs, which model proposed which, and every model's scores of them."""

    labelled: LabelledPairs
    names: tuple[str, ...]  # models that proposed pairs, ascending
    proposed: Flags  # (names, pairs)
    scores: dict[str, OrderedScores]

    @classmethod
    def of(cls, pool_lists: pd.DataFrame, labels: pd.DataFrame, scores: pd.DataFrame | None) -> "ReducedPools":
        """From lists (model, query_id, candidate_id), labels, and scores of the labelled pairs."""
        return cls.on(LabelledPairs.from_frame(labels), pool_lists, scores)

    @classmethod
    def on(cls, labelled: LabelledPairs, pool_lists: pd.DataFrame, scores: pd.DataFrame | None) -> "ReducedPools":
        """From lists, labelled pairs, and scores of these."""
        names, proposed = proposals(pool_lists, labelled)
        aligned = {} if scores is None else align_scores(labelled, scores)
        ordered = {model: OrderedScores.of(labelled, score) for model, score in aligned.items()}
        return cls(labelled, tuple(names), proposed, ordered)

    @cached_property
    def times(self) -> Integers:
        """(pairs,) how many models proposed each pair."""
        return np.asarray(self.proposed.sum(axis=0), np.int64)

    def without(self, *models: str) -> Flags:
        """(pairs,) which labels the pool would have without these models: all but those of pairs only they proposed.

        Labels of pairs that no model proposed stay.
        """
        own = [self.names.index(name) for name in models if name in self.names]
        mine = self.proposed[own].sum(axis=0)
        return np.asarray((self.times == 0) | (self.times > mine))

    def self_removed(self, measure: Measure, model: str, generators: Collection[str]) -> Reals | None:
        """The measure of a model by query on the pools that it had no part in, (queries, pools); None: there is none.

        Of a generator the pool without it; of a newcomer the pool without each generator in turn.
        """
        columns = [self.areas(measure, model, self.without(*names)) for names in self.removals(model, generators)]
        return np.stack(columns, axis=1) if columns else None

    def removals(self, model: str, generators: Collection[str]) -> list[tuple[str, ...]]:
        """The models without which the pools of `self_removed` are."""
        own = model in generators
        removed: list[tuple[str, ...]] = [(model,)] if own else [(model, other) for other in sorted(generators)]
        return [names for names in removed if self.has_others(*names)]

    def has_others(self, *models: str) -> bool:
        """Whether a pool is left without these models: some other model proposed pairs."""
        return bool(set(self.names) - set(models))

    def areas(self, measure: Measure, model: str, kept: Flags) -> Reals:
        """The measure of a model by query on the kept labels, (queries,); of a micro measure pseudo-values."""
        return self.scores[model].by_query(measure, kept)


def micro_pseudo_values(query: Integers, value: Integers, score: Reals, n: int) -> tuple[Reals, Reals]:
    """Micro ROC- and PR-AUC as values of n queries, (n,) each: their mean is the area, their spread its uncertainty.

    Formula: area + n d_q, d_q the derivative of the area by the weight of query q (infinitesimal jackknife). ROC: a
    positive adds (share of negatives below - area) / positives, a negative (share of positives above - area) /
    negatives, ties half. PR: a positive adds (precision at it - area) / positives and the sum over positives at or
    below it of F / (T + F)^2 / positives; a negative takes away that sum of T / (T + F)^2.
    Source: Efron 1982, The Jackknife, the Bootstrap and Other Resampling Plans, chapter 6; for ROC it is the estimate
    of clustered data of Obuchowski 1997 without its factor for few clusters.
    Conventions: without positives or negatives NaN; queries without pairs have the area itself.
    Example, run by doctest:
    >>> roc, precision = micro_pseudo_values(np.array([0, 0, 1]), np.array([1, 0, 1]), np.array([0.9, 0.5, 0.1]), 2)
    >>> roc.tolist(), round(float(precision.mean()), 6)
    ([1.0, 0.0], 0.833333)
    """
    positives = float(value.sum())
    negatives = len(value) - positives
    if not positives or not negatives:
        return np.full(n, np.nan), np.full(n, np.nan)
    order = np.argsort(-score, kind="stable")
    owner, positive, ranked = query[order], value[order] == 1, score[order]
    first = np.diff(ranked, prepend=np.inf) != 0
    group = np.cumsum(first) - 1
    starts = np.flatnonzero(first)
    ends = np.append(starts[1:], len(ranked)) - 1
    true, false = np.cumsum(positive)[ends].astype(np.float64), np.cumsum(~positive)[ends].astype(np.float64)
    true_before, false_before = np.append(0.0, true[:-1]), np.append(0.0, false[:-1])
    below = 1 - (false + false_before) / 2 / negatives  # share of negatives below each group
    above = (true + true_before) / 2 / positives
    in_group = true - true_before
    roc = float((in_group * below).sum() / positives)
    change = np.where(positive, (below[group] - roc) / positives, (above[group] - roc) / negatives)
    precision = true / (true + false)
    area = float((in_group * precision).sum() / positives)
    steps = in_group / (true + false) ** 2 / positives
    gain, loss = (np.cumsum((steps * part)[::-1])[::-1] for part in (false, true))  # of this group and all below
    moved = np.where(positive, (precision[group] - area) / positives + gain[group], -loss[group])
    return _spread_over(owner, change, n, roc), _spread_over(owner, moved, n, area)


def _spread_over(query: Integers, change: Reals, n: int, value: float) -> Reals:
    return np.asarray(value + n * np.bincount(query, change, n), np.float64)


def proposals(suspects: pd.DataFrame, labelled: LabelledPairs) -> tuple[list[str], Flags]:
    """The models that proposed pairs, ascending, and which labelled pair each proposed: models x pairs."""
    missing = [name for name in ("model", "query_id", "candidate_id") if name not in suspects.columns]
    if missing:
        raise InputError(
            f"column {', '.join(missing)} is missing", where="suspects", hint="Give lists, model by model."
        )
    models = unique_ids(suspects["model"])
    model, place = encode(suspects["model"], models), labelled.find_ids(suspects["query_id"], suspects["candidate_id"])
    result = np.zeros((len(models), len(labelled.value)), np.bool_)
    result[model[place >= 0], place[place >= 0]] = True
    return models.to_pylist(), result
