"""Every study of fewer expert hours in one table: `python -m tests.speed.hours [--out FILE]`.

Coverage of every kind of estimate, widths, anytime errors, promises, planned widths, replication; on catalogues whose
truth is known. `--catalogues N` says how many of each (500), `--only PART` runs the studies whose name has that part.
The table is stored in notebooks/05_half_the_hours.csv, which the notebook and eds/analysis/README.md show.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from eds.analysis.anytime import beta_binomial_sequence
from eds.analysis.standing import anytime_outside, macro_auc, model_rate, widths
from eds.analysis.totals import Estimate, Sampled
from eds.analysis.weighted_draws import outside_sample
from eds.intervals import wilson_interval
from eds.pairs import Integers, Reals
from eds.suspects import Batching, pool, prefix_weights, reorder
from tests.analysis.test_judge_estimates import JUDGES, RATE, by_fitted
from tests.analysis.test_judge_estimates import one as judged_by
from tests.analysis.test_standing import watched_pool
from tests.speed.replication import MODELS
from tests.speed.replication import simulate as replicate
from tests.speed.stopping import promised
from tests.speed.weighted_draws import by_strata
from tests.suspects.test_weighted_pairs import SIZE as DRAWN_FROM
from tests.suspects.test_weighted_pairs import drawn_world
from tests.suspects.test_weighted_pairs import simulate as weighted

STORED = Path(__file__).parents[2] / "notebooks" / "05_half_the_hours.csv"
ORDERS = ("random", "fusion", "bandit", "learned", "contrast")
QUERIES, CANDIDATES, DEPTH, MODELS_COMPARED, BATCH = 60, 40, 5, 3, 60
PAIR = ["query_id", "candidate_id"]
Row = tuple[str, str, str, float]  # study, design, what is measured (and wanted), value
Study = Callable[[int], Iterator[Row]]


def half_judged(order: str, seed: int) -> tuple[list[float], list[tuple[float, float]], list[float]]:
    """P@k and AUC of each model by half a pool judged in this order: values, limits, and those of the whole."""
    rng = np.random.default_rng([seed, 11])
    own = rng.normal(0, 0.6, QUERIES)[:, None]
    latent = own + rng.normal(0, 1.2, (QUERIES, CANDIDATES))
    similar = rng.random(latent.shape) < 1 / (1 + np.exp(1.2 - 1.5 * latent))
    noise = np.array([0.6, 1.0, 1.4])[:, None, None]
    scores = latent + noise * rng.standard_normal((MODELS_COMPARED, *latent.shape))
    rows = []
    for model, score in enumerate(scores):
        first = np.argsort(-score, axis=1)[:, :DEPTH]
        listed = {"model": f"m{model}", "query": np.repeat(np.arange(QUERIES), DEPTH), "candidate": first.ravel()}
        rows.append(pd.DataFrame({**listed, "rank": np.tile(np.arange(DEPTH), QUERIES)}))
    lists = pd.concat(rows, ignore_index=True)
    lists["query_id"], lists["candidate_id"] = (
        lists["query"].map("q{:03d}".format),
        lists["candidate"].map("c{:03d}".format),
    )
    lists["score"] = scores[
        lists["model"].str[1:].astype(int), lists["query"].to_numpy(), lists["candidate"].to_numpy()
    ]
    learns = order not in ("random", "fusion")
    suspects = pool(
        lists[["model", *PAIR, "rank", "score"]], DEPTH, Batching("random" if learns else order, BATCH, seed)
    )
    value = similar[
        suspects["query_id"].str[1:].astype(int).to_numpy(), suspects["candidate_id"].str[1:].astype(int).to_numpy()
    ].astype(np.int64)
    truth = suspects[PAIR].assign(value=value)
    half = len(suspects) // 2
    if learns:
        seen = suspects["position"].to_numpy() < half // 2
        suspects = reorder(suspects, truth.loc[seen, PAIR], Batching(order, BATCH, seed, truth=truth[seen]))
        truth = suspects[PAIR].merge(truth, on=PAIR)
    done = np.argsort(np.argsort(suspects["position"].to_numpy(), kind="stable")) < half
    weight = prefix_weights(suspects, suspects.loc[done, PAIR])
    query: Integers = np.asarray(suspects["query_id"].str[1:].astype("int64"), np.int64)
    candidate = np.asarray(suspects["candidate_id"].str[1:].astype("int64"), np.int64)
    labels: Integers = truth["value"].to_numpy(np.int64)
    values, limits, exact = [], [], []
    for model in range(MODELS_COMPARED):
        mine = suspects["sources"].str.contains(f"m{model}:").to_numpy()
        known = np.where(done, labels, -1)
        whole: Reals = np.ones(int(mine.sum()))
        rate, interval = model_rate(query[mine], known[mine], weight[mine], 0.95)
        values.append(rate)
        limits.append((interval.low, interval.high))
        exact.append(model_rate(query[mine], labels[mine], whole, 0.95)[0])
    for model in range(MODELS_COMPARED):
        score = scores[model, query, candidate]
        every = np.bincount(query)[query].astype(np.float64)
        area, interval = macro_auc(query[done], labels[done], score[done], weight[done], 0.95, every[done])
        values.append(area)
        limits.append((interval.low, interval.high))
        exact.append(macro_auc(query, labels, score, np.ones(len(query)), 0.95)[0])
    return values, limits, exact


def coverage_of_models(count: int) -> Iterator[Row]:
    """How often intervals of half a pool hold what a whole pool of other queries of the kind says, by order."""
    for order in ORDERS:
        found = [half_judged(order, seed) for seed in range(count)]
        expected = np.mean([exact for _, _, exact in found], axis=0)
        low, high = (np.array([[pair[side] for pair in limits] for _, limits, _ in found]) for side in (0, 1))
        inside = ((low <= expected) & (expected <= high)).mean(axis=0)
        yield "coverage", f"half a pool, order {order}", "P@k, 3 models [.94, .97]", float(inside[:3].mean())
        yield "coverage", f"half a pool, order {order}", "AUC, 3 models [.94, .97]", float(inside[3:].mean())


def coverage_of_draws(count: int) -> Iterator[Row]:
    """Coverage of the positives, and so of p and of the recall of a judged pool; the width, by design and f."""
    strata = [by_strata(seed) for seed in range(count)]
    base = float(np.median([(high - low) / truth for truth, low, high in strata]))
    for kind in ("strata", "uniform", "right", "useless", "inverted"):
        rows = strata
        if kind == "uniform":
            rows = [by_strata(seed, uniform=True) for seed in range(count)]
        elif kind != "strata":
            drawn = [weighted(kind, seed) for seed in range(count)]
            rows = [(truth, *sample.limits(0.95)) for truth, sample in drawn]
        inside = [low <= truth <= high for truth, low, high in rows]
        width = float(np.median([(high - low) / truth for truth, low, high in rows]))
        name = kind if kind in ("strata", "uniform") else f"weighted, f {kind}"
        yield "coverage", name, "p, positives, recall [.94, .97]", float(np.mean(inside))
        wanted = "at equal hours <= .75" if kind == "right" else "at equal hours"
        yield "width", name, f"of strata, {wanted}", width / base


def second_judges(count: int) -> Iterator[Row]:
    """PPI++: coverage, and the largest width of any catalogue, with each judge."""
    for judge in JUDGES:
        found = [judged_by(judge, seed, 100, whole=False) for seed in range(count)]
        inside = np.mean([one.interval.low <= RATE <= one.interval.high for one in found])
        width = max(
            (one.interval.high - one.interval.low) / (one.plain_interval.high - one.plain_interval.low) for one in found
        )
        worth = float(np.median([one.worth for one in found]))
        yield "second judge", judge, "coverage [.94, .97]", float(inside)
        yield "second judge", judge, "widest of plain <= 1.05", float(width)
        yield "second judge", judge, "labels that a label is worth", worth


def fitted_judges(count: int) -> Iterator[Row]:
    """Judges fitted on labels of the same queries, used as if they were not: why `--blind` must be said."""
    for leaf in (20, 3):
        found = [by_fitted(leaf, seed) for seed in range(count)]
        inside = np.mean([one.interval.low <= RATE <= one.interval.high for one in found])
        yield (
            "second judge",
            f"fitted on the same queries, trees of {leaf} labels a leaf",
            "coverage if used",
            float(inside),
        )


def looks(count: int) -> Iterator[Row]:
    """How often a look every 50 pairs excludes the truth at least once."""
    rng = np.random.default_rng(0)
    wrong = fooled = 0
    for _ in range(count):
        hits = np.cumsum(rng.random(2000) < 0.05)
        seen = [(int(hits[n - 1]), n) for n in range(50, 2001, 50)]
        wrong += any(not low <= 0.05 <= high for low, high in (beta_binomial_sequence(*look) for look in seen))
        fooled += any(not low <= 0.05 <= high for low, high in (wilson_interval(*look) for look in seen))
    yield "anytime", "limits for every look", "error over 40 looks <= .05", wrong / count
    yield "anytime", "Wilson limits", "error over 40 looks", fooled / count
    wrong = sum(watched_pool(seed)[0] for seed in range(count))
    yield "anytime", "limits for every look, a pool judged in part", "error over 29 looks <= .05", wrong / count
    for kind in ("right", "useless"):
        wrong = sum(watched_draws(kind, seed) for seed in range(count // 5))
        yield (
            "anytime",
            f"limits for every look, weighted draws, f {kind}",
            "error over 36 looks <= .05",
            wrong / (count // 5),
        )


def watched_draws(kind: str, seed: int) -> bool:
    """Whether the limits for every look exclude the positives at some look, every 50 labels of the draws."""
    truth, draws = drawn_world(kind, seed)
    for seen in range(50, sum(len(draw.value) for draw in draws) + 1, 50):
        left, so_far = seen, []
        for draw in draws:
            reached = np.arange(len(draw.value)) < left
            left = max(left - len(draw.value), 0)
            if reached.any():
                so_far.append(replace(draw, value=np.where(reached, draw.value, -1), reached=reached))
        sample = outside_sample(DRAWN_FROM, so_far)
        if sample is not None:
            limits = anytime_outside([sample], 0.95)
            if not limits.low <= truth <= limits.high:
                return True
    return False


def promises(count: int) -> Iterator[Row]:
    """How often 90 % of the similar pairs are held as promised, and the cost over the oracle's."""
    for guess in ("right", "useless"):
        rows = [promised(seed, guess=guess) for seed in range(count)]
        design, wanted = f"90 % with 95 % confidence, f {guess}", " <= 1.3" if guess == "right" else ""
        for measured, values in (
            ("kept >= .95", [row.kept for row in rows]),
            ("kept where a depth narrowly fails >= .95", [row.narrowly for row in rows]),
            ("one depth less would do", [row.shallower for row in rows]),
            ("cost of the oracle's <= 1.3", [row.pools for row in rows]),
            (f"cost of the oracle's, with the draw{wanted}", [row.every for row in rows]),
        ):
            yield "promise", design, measured, float(np.mean(values))


def plans(count: int) -> Iterator[Row]:
    """The width that is planned for more draws over the one that they give: uniform ones, and weighted ones."""
    rng = np.random.default_rng(6)
    size, positives, whole = 200_000, 4000, Estimate(2000, 2000, 2000)
    planned, met = [], []
    for _ in range(count):
        now, later = (int(rng.hypergeometric(positives, size - positives, n)) for n in (1000, 3000))
        planned += widths(whole, [Sampled("all", size, 1000, 1000, now)], size, 1000, 0.95, (3.0,))
        met += widths(whole, [Sampled("all", size, 3000, 3000, later)], size, 3000, 0.95, (1.0,))
    ratio = np.mean([one.p_width for one in planned]) / np.mean([one.p_width for one in met])
    yield "planning", "3 times the draws", "planned width of the real one, within .1", float(ratio)
    nothing, size = Estimate(0, 0, 0), 162_000
    for kind in ("right", "useless"):
        first = [weighted(kind, seed)[1] for seed in range(count // 5)]
        more = [weighted(kind, seed, batches=4)[1] for seed in range(count // 5, 2 * (count // 5))]
        wide = np.mean([widths(nothing, [one], size, 1800, 0.95, (34 / 18,))[0].p_width for one in first])
        real = np.mean([widths(nothing, [one], size, 3400, 0.95, (1.0,))[0].p_width for one in more])
        yield "planning", f"twice the draws, weighted, f {kind}", "planned width of the real one", float(wide / real)


def replication(count: int) -> Iterator[Row]:
    """Votes saved at the same error of the truth, by panels of three and of five."""
    for panel in (3, 5):
        for model in MODELS:
            rows = [replicate(seed, model, panel) for seed in range(count)]
            votes, error, full = (float(np.mean([getattr(row, name) for row in rows])) for name in vars(rows[0]))
            wanted = " (>= .40)" if model == "right" else ""
            yield "replication", f"panel of {panel}, f {model}", f"votes saved{wanted}", 1 - votes / panel
            yield "replication", f"panel of {panel}, f {model}", "error of a full panel's (<= 1)", error / full


STUDIES: dict[str, Study] = {
    study.__name__: study
    for study in (
        coverage_of_draws,
        coverage_of_models,
        second_judges,
        fitted_judges,
        looks,
        promises,
        plans,
        replication,
    )
}


def run(name: str, count: int) -> pd.DataFrame:
    """The table of one study."""
    rows = pd.DataFrame(STUDIES[name](count), columns=["study", "design", "measured", "value"])
    return rows.assign(repetitions=count)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--catalogues", type=int, default=500)
    parser.add_argument("--only", default="", help="Part of a study's name.")
    parser.add_argument("--out", type=Path, default=STORED)
    options = parser.parse_args(arguments)
    for name in STUDIES:
        if options.only not in name:
            continue
        table = run(name, options.catalogues)
        print(table.to_string(index=False), flush=True)
        if options.out.exists():
            before = pd.read_csv(options.out)
            both = pd.concat([before, table], ignore_index=True)
            table = both.drop_duplicates(["study", "design", "measured"], keep="last")
        table.round(4).to_csv(options.out, index=False)


if __name__ == "__main__":
    main()
