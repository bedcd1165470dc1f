"""Analyses at the paper's size beside scikit-learn: ratios within one run.

Goals: 1,000 bootstraps over queries of all four AUCs below 2 s; leave-one-out 6 x 6 below 0.6 s (scikit-learn: about
215 times as long); time linear in pairs.

Run: python -m tests.speed.analysis
"""

import os
import time
from functools import partial

import numpy as np
import pandas as pd

from eds import analysis
from eds.analysis.analyses.leave_one_out import MEASURES
from eds.analysis.bootstrap import resampled_aucs
from eds.analysis.reduced_pools import proposals
from eds.intervals import draw_queries
from eds.metrics.pair_scores import align_scores
from eds.pairs import LabelledPairs, Reals
from tests.speed.metrics import PAIRS, QUERIES, pairs_frame, sklearn_loop
from tests.timing import best

MODELS, RESAMPLES = 6, 1000


def bootstraps() -> None:
    times, drawing = draw_queries(QUERIES, RESAMPLES), best(lambda: draw_queries(QUERIES, RESAMPLES), 3)
    seconds = []
    for factor in (1, 10):
        labelled = LabelledPairs.from_frame(pairs_frame(factor * PAIRS))
        score = np.random.default_rng(0).normal(size=len(labelled.value))
        seconds.append(best(lambda labelled=labelled, score=score: resampled_aucs(labelled, score, times), 2))  # type: ignore[misc]
    print(
        f"{RESAMPLES:,} bootstraps of all four AUCs: {seconds[0]:.2f} s, and {drawing:.2f} s to draw (goal 2 s);"
        f" ten times the pairs: {seconds[1] / seconds[0]:.1f} x"
    )


def by_sklearn(labelled: LabelledPairs, scores: dict[str, Reals], suspects: pd.DataFrame) -> float:
    """Seconds of scikit-learn's loops for one removed model, times the number of models."""
    _, proposed = proposals(suspects, labelled)
    kept = proposed.sum(axis=0) - proposed[0] > 0
    part = labelled.select(kept)
    start = time.perf_counter()
    for score in scores.values():
        sklearn_loop(part, score[kept])
    return (time.perf_counter() - start) * len(proposed)


def left_out() -> None:
    labels = pairs_frame(PAIRS)
    rng = np.random.default_rng(1)
    models = [f"m{number}" for number in range(MODELS)]
    pairs = labels.drop(columns="value")
    scores = pd.concat([pairs.assign(model=m, score=0.3 * labels["value"] + rng.normal(size=PAIRS)) for m in models])
    suspects = pd.concat([pairs[rng.random(PAIRS) < 0.3].assign(model=model) for model in models], ignore_index=True)
    labelled = LabelledPairs.from_frame(labels)
    theirs = by_sklearn(labelled, align_scores(labelled, scores), suspects)
    total = 0.0
    inputs = analysis.AnalysisInputs(pool_lists=suspects, labels=labels, scores=scores)
    for measure in MEASURES:
        took = best(partial(analysis.leave_one_out, inputs, measure), 3)
        total += took
        print(f"leave-one-out {MODELS} x {MODELS} from tables, {measure}: {took:.2f} s (goal 0.6 s)")
    print(f"  all four: scikit-learn by query (measured for one removed model) {theirs:.0f} s: {theirs / total:.0f} x")
    reading = best(lambda: align_scores(labelled, scores), 3)
    print(f"  of which reading {len(scores):,} scores from a table, each time: {reading:.2f} s")


def main() -> None:
    print(f"{QUERIES:,} queries, {PAIRS:,} pairs, {MODELS} models; load {os.getloadavg()[0]:.1f}")
    bootstraps()
    left_out()


if __name__ == "__main__":
    main()
