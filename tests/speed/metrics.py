"""Metrics at the paper's size, against scikit-learn's loops over queries: ratios within one run.

Goals: the four AUCs 100 times faster than scikit-learn by query; 1,000 bootstraps of all four below 2 s; leave-one-out
6 x 6 below 0.6 s; ten times the pairs at most twelve times the time.

Run: python -m tests.speed.metrics
"""

import os
import time

import numpy as np
import pandas as pd
from sklearn.metrics import average_precision_score, roc_auc_score

from eds import analysis, metrics
from eds.analysis.bootstrap import draw_queries, resampled_aucs
from eds.metrics.auc_report import summary, two_sided
from eds.metrics.ids import Reals
from eds.metrics.labelled import Labelled, read_labels, scores_of
from eds.metrics.lists import read_rankings
from tests.timing import best

QUERIES, DEPTH, MODELS, PAIRS = 2000, 9, 6, 54_170


def pairs_frame(n_pairs: int, seed: int = 0) -> pd.DataFrame:
    """As many labelled pairs, evenly over the queries; 85 % positive."""
    rng = np.random.default_rng(seed)
    query = np.sort(rng.integers(0, QUERIES, n_pairs))
    candidate = np.arange(n_pairs) % 52_712
    value = (rng.random(n_pairs) < 0.848).astype(np.int64)
    return pd.DataFrame({"query_id": names("q", query), "candidate_id": names("c", candidate), "value": value})


def names(letter: str, numbers: "np.ndarray[tuple[int], np.dtype[np.int64]]") -> "pd.Series[str]":
    known = pd.Series([f"{letter}{number:06d}" for number in range(int(numbers.max()) + 1)], dtype="str")
    return known.take(numbers).reset_index(drop=True)


def sklearn_loop(labelled: Labelled, score: Reals) -> tuple[float, float, float, float]:
    """The four AUCs as one writes them with scikit-learn, query by query."""
    used = np.flatnonzero(two_sided(labelled.query, labelled.value, len(labelled.queries)))
    roc, precision = [], []
    for query in used:
        mine = labelled.query == query
        roc.append(roc_auc_score(labelled.value[mine], score[mine]))
        precision.append(average_precision_score(labelled.value[mine], score[mine]))
    whole = roc_auc_score(labelled.value, score), average_precision_score(labelled.value, score)
    return float(whole[0]), float(whole[1]), float(np.mean(roc)), float(np.mean(precision))


def main() -> None:
    labels = pairs_frame(PAIRS)
    rng = np.random.default_rng(1)
    drawn = {f"m{number}": labels["value"] * 0.3 + rng.normal(size=PAIRS) for number in range(MODELS)}
    scores = pd.concat([labels.drop(columns="value").assign(model=name, score=score) for name, score in drawn.items()])
    labelled = read_labels(labels)
    score = scores_of(labelled, scores)["m0"]
    print(f"{QUERIES:,} queries, {PAIRS:,} pairs, {MODELS} models; load {os.getloadavg()[0]:.1f}")

    ours = best(lambda: summary(labelled, score))
    start = time.perf_counter()
    theirs = sklearn_loop(labelled, score)
    loop = time.perf_counter() - start
    report = summary(labelled, score)
    apart = np.abs(np.subtract(theirs, [report[name] for name in list(report)[:4]])).max()
    print(f"four AUCs: {ours * 1e3:.1f} ms; scikit-learn by query {loop:.2f} s: {loop / ours:.0f} x (goal 100);"
          f" largest difference {apart:.1e}")  # fmt: skip

    ten = read_labels(pairs_frame(10 * PAIRS))
    many = rng.normal(size=len(ten.value))
    print(f"ten times the pairs, arrays alone: {best(lambda: summary(ten, many)) / ours:.1f} x the time", end="; ")
    one_frame, ten_frame = (
        frame.drop(columns="value").assign(model="m", score=rng.normal(size=len(frame)))
        for frame in (labels, pairs_frame(10 * PAIRS))
    )
    ten_labels = pairs_frame(10 * PAIRS)
    small, large = (
        best(lambda told=told, known=known: metrics.auc_report(told, known))  # type: ignore[misc]
        for told, known in ((one_frame, labels), (ten_frame, ten_labels))
    )
    print(f"from tables, as a user has it: {large / small:.1f} x (goal 12)")

    times = draw_queries(QUERIES, 1000)
    took = best(lambda: resampled_aucs(labelled, score, times), 3)
    drawing = best(lambda: draw_queries(QUERIES, 1000), 3)
    print(f"1,000 bootstraps of all four: {took:.2f} s, and {drawing:.2f} s to draw (goal 2 s)")

    proposed = labels.drop(columns="value").assign(model="m0")
    suspects = pd.concat(
        [proposed[rng.random(PAIRS) < 0.3].assign(model=f"m{number}") for number in range(MODELS)], ignore_index=True
    )
    for metric in ("micro_roc_auc", "macro_pr_auc"):
        took = best(lambda metric=metric: analysis.leave_one_out(suspects, labels, scores, metric), 3)  # type: ignore[misc]
        print(f"leave-one-out 6 x 6 from frames, {metric}: {took:.2f} s (goal 0.6 s)")
    read = best(lambda: scores_of(labelled, scores), 3)
    print(f"  of which reading {len(scores):,} scores from a frame: {read:.2f} s")

    lists = pd.DataFrame(
        {
            "model": "m0",
            "query_id": names("q", np.repeat(np.arange(QUERIES), DEPTH)),
            "candidate_id": names("c", rng.permuted(np.tile(np.arange(200), (QUERIES, 1)), axis=1)[:, :DEPTH].ravel()),
            "rank": np.tile(np.arange(DEPTH), QUERIES),
        }
    )
    judged = read_rankings(lists).judged(labelled)["m0"]
    evidence = metrics.definition.Evidence(labelled, judged, score)
    measures = [measure for measure in metrics.preset("vsd").measures if measure.definition.needs != "scores"]
    took = best(lambda: [m.definition.compute(evidence, m.k, m.parameters) for m in measures])
    print(f"{len(measures)} rank measures of one model: {took * 1e3:.1f} ms; the lists read and labelled"
          f" {best(lambda: read_rankings(lists).judged(labelled)) * 1e3:.0f} ms")  # fmt: skip


if __name__ == "__main__":
    main()
