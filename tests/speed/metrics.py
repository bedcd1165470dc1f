"""Metrics at the paper's size beside the matrix product, scikit-learn, pytrec_eval and ranx: ratios within one run.

Goals: the four AUCs 100 times faster than scikit-learn by query; rank measures at least as fast as pytrec_eval and
3 x ranx; ten times the pairs at most twelve times the time. A whole evaluation is measured by `tests.speed.evaluation`.

Run: python -m tests.speed.metrics
"""

import os
import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import average_precision_score, roc_auc_score

from eds import metrics
from eds.metrics import Measure
from eds.metrics.auc_report import summary, two_sided
from eds.metrics.definition import ModelInputs
from eds.metrics.judged_lists import judge, read_rankings
from eds.pairs import LabelledPairs, Reals
from tests.timing import best

QUERIES, IMAGES, DEPTH, PAIRS = 2000, 52_712, 9, 54_170
RANKED = ["AP@10", "RR@10", "nDCG@10", "P@10", "Success@10"]


def pairs_frame(n_pairs: int, seed: int = 0) -> pd.DataFrame:
    """As many labelled pairs, evenly over the queries; 85 % positive."""
    rng = np.random.default_rng(seed)
    query = np.sort(rng.integers(0, QUERIES, n_pairs))
    candidate = np.arange(n_pairs) % IMAGES
    value = (rng.random(n_pairs) < 0.848).astype(np.int64)
    return pd.DataFrame({"query_id": names("q", query), "candidate_id": names("c", candidate), "value": value})


def names(letter: str, numbers: "np.ndarray[tuple[int], np.dtype[np.int64]]") -> "pd.Series[str]":
    known = pd.Series([f"{letter}{number:06d}" for number in range(int(numbers.max()) + 1)], dtype="str")
    return known.take(numbers).reset_index(drop=True)


def sklearn_loop(labelled: LabelledPairs, score: Reals) -> tuple[float, float, float, float]:
    """The four AUCs as one writes them with scikit-learn, query by query."""
    used = np.flatnonzero(two_sided(labelled.query, labelled.value, len(labelled.queries)))
    roc, precision = [], []
    for query in used:
        mine = labelled.query == query
        roc.append(roc_auc_score(labelled.value[mine], score[mine]))
        precision.append(average_precision_score(labelled.value[mine], score[mine]))
    whole = roc_auc_score(labelled.value, score), average_precision_score(labelled.value, score)
    return float(whole[0]), float(whole[1]), float(np.mean(roc)), float(np.mean(precision))


def areas() -> None:
    labels = pairs_frame(PAIRS)
    labelled, score = LabelledPairs.from_frame(labels), np.random.default_rng(1).normal(size=PAIRS)
    ours = best(lambda: summary(labelled, score), 20)
    start = time.perf_counter()
    theirs = sklearn_loop(labelled, score)
    loop = time.perf_counter() - start
    apart = np.abs(np.subtract(theirs, list(summary(labelled, score).values())[:4])).max()
    print(
        f"four AUCs: {ours * 1e3:.1f} ms; scikit-learn by query {loop:.2f} s: {loop / ours:.0f} x (goal 100);"
        f" largest difference {apart:.1e}"
    )
    before = ours
    for times in (10, 100):
        many = LabelledPairs.from_frame(pairs_frame(times * PAIRS))
        drawn = np.random.default_rng(2).normal(size=len(many.value))
        took = best(lambda many=many, drawn=drawn: summary(many, drawn), 3)  # type: ignore[misc]
        print(f"  {times} times the pairs, arrays alone: {took / ours:.1f} x, {took / before:.1f} x the step before")
        before = took
    seconds = []
    for times in (1, 10):
        frame = pairs_frame(times * PAIRS)
        told = frame.drop(columns="value").assign(model="m", score=np.random.default_rng(3).normal(size=len(frame)))
        seconds.append(best(partial(metrics.auc_report, told, frame), 3))
    print(f"  ten times, from tables, as a user has it: {seconds[1] / seconds[0]:.1f} x (goal 12)")


def on_lists() -> None:
    """Lists of all labelled pairs of a query: 27 places on average, every one labelled."""
    labels = pairs_frame(PAIRS)
    scored = labels.assign(model="m", score=np.random.default_rng(4).permutation(PAIRS))
    scored = scored.sort_values(["query_id", "score"], ascending=[True, False])
    lists = scored.assign(rank=scored.groupby("query_id").cumcount())[["model", "query_id", "candidate_id", "rank"]]
    labelled = LabelledPairs.from_frame(labels)
    judged = judge(read_rankings(lists), None, labelled)["m"]
    measures = [Measure.parse(text) for text in RANKED]

    def ours() -> list[float]:
        evidence = ModelInputs(labelled, judged)
        return [measure.definition.compute(evidence, measure.k, measure.parameters).value for measure in measures]

    def from_frames() -> object:
        return metrics.evaluate(metrics.ScoringInputs(labels, rankings=lists), measures)

    arrays, frames = best(ours, 20), best(from_frames)
    print(f"{', '.join(RANKED)} on {PAIRS:,} places: {arrays * 1e3:.1f} ms, from tables {frames * 1e3:.0f} ms")
    qrels, run = as_dicts(labels, "value"), as_dicts(scored, "score")
    dicts = best(lambda: (as_dicts(labels, "value"), as_dicts(scored, "score")), 3)
    told = {"pytrec_eval": by_pytrec_eval(qrels, run), "ranx": by_ranx(qrels, run)}
    for name, (ready, build, values) in told.items():
        alone, whole = best(ready), best(build, 3) + dicts
        apart = np.abs(np.subtract(values(), ours())).max()
        print(
            f"  {name}: {alone / arrays:.1f} x ours; from tables, its dictionaries made, {whole / frames:.1f} x;"
            f" largest difference {apart:.1e}"
        )


def as_dicts(frame: pd.DataFrame, column: str) -> dict[str, dict[str, int | float]]:
    found: dict[str, dict[str, int | float]] = {}
    for query, candidate, value in zip(frame["query_id"], frame["candidate_id"], frame[column].tolist(), strict=True):
        found.setdefault(query, {})[candidate] = value
    return found


Way = tuple[Callable[[], object], Callable[[], object], Callable[[], list[float]]]


def by_pytrec_eval(qrels: Any, run: dict[str, dict[str, int | float]]) -> Way:
    import pytrec_eval

    asked = ["map_cut_10", "recip_rank", "ndcg_cut_10", "P_10", "success_10"]
    scores = {query: {name: float(value) for name, value in told.items()} for query, told in run.items()}
    judge = pytrec_eval.RelevanceEvaluator(qrels, set(asked))
    # it counts queries without a positive as 0, and its reciprocal rank has no cut
    positive = [query for query, told in qrels.items() if any(told.values())]
    cut = {query: dict(sorted(told.items(), key=lambda item: -item[1])[:10]) for query, told in scores.items()}

    def values() -> list[float]:
        told = judge.evaluate(cut)
        return [float(np.mean([told[query][name] for query in positive])) for name in asked]

    return (
        lambda: judge.evaluate(scores),
        lambda: pytrec_eval.RelevanceEvaluator(qrels, set(asked)).evaluate(scores),
        values,
    )


def by_ranx(qrels: dict[str, dict[str, int | float]], run: dict[str, dict[str, int | float]]) -> Way:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import ranx

        asked = ["map@10", "mrr@10", "ndcg@10", "precision@10", "hit_rate@10"]
        positive = {query: told for query, told in qrels.items() if any(told.values())}

        def build() -> tuple[object, object]:
            scores = {query: {c: float(s) for c, s in run[query].items()} for query in positive}
            return ranx.Qrels(positive), ranx.Run(scores)

        truth, ready = build()

        def evaluate(told: object = truth, lists: object = ready) -> dict[str, float]:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found: dict[str, float] = ranx.evaluate(told, lists, asked, save_results_in_run=False)
                return found

        evaluate()  # compiles
        return evaluate, lambda: evaluate(*build()), lambda: [float(evaluate()[name]) for name in asked]


def main() -> None:
    print(f"{QUERIES:,} queries, {PAIRS:,} pairs; load {os.getloadavg()[0]:.1f}")
    areas()
    on_lists()


if __name__ == "__main__":
    main()
