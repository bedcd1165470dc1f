"""How often the interval of weighted draws covers the truth, and its width: `python -m tests.speed.weighted_draws`.

The long form of tests/suspects/test_weighted_pairs.py and of the widths: 500 catalogues for each guess of the relevance
model (right, useless, inverted). Beside them as many draws spread over strata, near and rest.
"""

import argparse
from collections.abc import Sequence

import numpy as np

from eds.analysis.planning import whole_allocation
from eds.analysis.totals import Sampled, outside_total
from eds.intervals import wilson_interval
from tests.suspects.test_weighted_pairs import simulate


def by_strata(seed: int, n: int = 1800, *, uniform: bool = False) -> tuple[float, float, float]:
    """The truth of the catalogue of `right`, and its limits by near and rest, allocated by their true rates.

    `uniform`: by as many draws from all.
    """
    rng = np.random.default_rng([seed, len("right")])
    quality = rng.normal(size=12_000)
    near = rng.random(12_000) < 1 / (1 + np.exp(3.5 - 1.8 * quality))
    rest = rng.random(150_000) < 0.0002
    if uniform:
        every = rng.permutation(np.concatenate([near, rest]))
        total = outside_total([Sampled("all", len(every), n, n, int(every[:n].sum()))], 0.95, "squared")
        return float(every.sum()), total.low, total.high
    counts = whole_allocation([len(near), len(rest)], [near.mean(), rest.mean()], n)
    parts = [
        Sampled(name, len(value), count, count, int(value[rng.permutation(len(value))[:count]].sum()))
        for name, value, count in zip(("near", "rest"), (near, rest), counts, strict=True)
    ]
    total = outside_total(parts, 0.95, "squared")
    return float(near.sum() + rest.sum()), total.low, total.high


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--catalogues", type=int, default=500)
    catalogues = range(parser.parse_args(arguments).catalogues)
    strata = [by_strata(seed) for seed in catalogues]
    base = float(np.median([(high - low) / truth for truth, low, high in strata]))
    for kind in ("strata", "right", "useless", "inverted"):
        rows = strata
        if kind != "strata":
            drawn = [simulate(kind, seed) for seed in catalogues]
            rows = [(truth, *sample.limits(0.95)) for truth, sample in drawn]
        inside = sum(low <= truth <= high for truth, low, high in rows)
        width = float(np.median([(high - low) / truth for truth, low, high in rows]))
        low, high = wilson_interval(inside, len(rows))
        print(
            f"{kind:9} covered {inside / len(rows):.3f} [{low:.3f}, {high:.3f}], width {width:.3f} of the truth, "
            f"{width / base:.2f} of strata"
        )


if __name__ == "__main__":
    main()
