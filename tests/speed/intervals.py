"""Coverage of the 95 % intervals over queries, long form: every cell should lie between 92 and 98 %.

Beside the intervals of `eds.intervals`, percentiles of a bootstrap over queries on the same worlds: what they replace.

Run: python -m tests.speed.intervals
"""

import numpy as np

from eds.intervals import draw_queries, percentile_interval
from tests.interval_coverage import RATES, SIZES, WORLDS, World, coverage, difference_coverage, micro_coverage

TIMES = {20: 5000, 50: 5000, 200: 3000, 2000: 1500}
MICRO = 1000  # of micro AUC: of 300, one cell in nine is off by 2 percentage points by chance
FEWER = {20: 800, 50: 800, 200: 300}  # where every interval is a bootstrap


def percentiles(world: World, n: int, rate: float, times: int) -> float:
    """The coverage of percentiles of the bootstrap, among samples whose queries differ."""
    rng, drawn = np.random.default_rng([3, n]), draw_queries(n, 500).astype(float)
    held = printed = 0
    for _ in range(times):
        a, w = world(n, rate, rng)
        if np.ptp(a / w):
            low, high = percentile_interval((drawn @ a) / (drawn @ w))
            held, printed = held + (low <= rate <= high), printed + 1
    return held / printed


def main() -> None:
    print(f"{'':24}{'n':>6}" + "".join(f"{f'rate {rate}':>26}" for rate in RATES))
    print(f"{'':30}" + f"{'covered  width  percentiles':>26}" * len(RATES))
    for name, world in WORLDS.items():
        for n in SIZES:
            cells = []
            for rate in RATES:
                result = coverage(world, n, rate, TIMES[n])
                other = f"{percentiles(world, n, rate, FEWER[n]):.3f}" if n in FEWER else ""
                cells.append(f"{result.share:.3f}  {result.width:.3f}  {other:>5}")
            print(f"{name:24}{n:6}" + "".join(f"{cell:>26}" for cell in cells), flush=True)
    for n in FEWER:
        cells = [f"{micro_coverage(n, rate, MICRO, 1500).share:.3f}" for rate in RATES]
        print(f"{'micro ROC-AUC':24}{n:6}" + "".join(f"{cell:>26}" for cell in cells), flush=True)
    for n in (8, *FEWER):
        print(
            f"{'difference of two AUCs':24}{n:6}{difference_coverage(n, FEWER.get(n, 800), 1500).share:>26.3f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
