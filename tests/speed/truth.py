"""Truth of 118,216 pairs x 3 votes, and agreement of the same: seconds, and ratios to reading the table's columns."""

import os
import time

import numpy as np
import pandas as pd

from eds import tables, truth
from eds.tables import LABELS
from tests.timing import best

PAIRS, EXPERTS = 118_216, 3


def votes(pairs: int = PAIRS, experts: int = EXPERTS) -> pd.DataFrame:
    """A finished campaign in the order in which acts arrive; one act in fifty corrects an earlier one."""
    rng = np.random.default_rng(0)
    query = np.array([f"wild/query_{number:06d}.jpg" for number in range(4_300)])
    candidate = np.array([f"img/WOMEN/Sweaters/id_{number:08d}/01_1_front.jpg" for number in range(50_000)])
    pair = np.tile(rng.choice(len(query) * len(candidate), pairs, replace=False), experts)
    expert = np.repeat(np.arange(experts), pairs)
    rows = rng.permutation(len(pair))
    rows = np.concatenate([rows, rows[: len(rows) // 50]])
    count = len(rows)
    label_id = np.array([f"{number:032x}" for number in range(count)], dtype=object)
    supersedes = np.full(count, None, dtype=object)
    supersedes[len(pair) :] = label_id[: count - len(pair)]
    value = pd.array((rng.random(count) < 0.848).astype(np.int64), dtype="Int64")
    value[rng.random(count) < 0.02] = pd.NA
    frame = pd.DataFrame(
        {
            "label_id": label_id,
            "query_id": query[pair[rows] // len(candidate)],
            "candidate_id": candidate[pair[rows] % len(candidate)],
            "expert_id": np.array([f"expert-{number:02d}" for number in range(experts)])[expert[rows]],
            "value": value,
            "seconds": rng.random(count) * 10,
            "created_at": pd.Timestamp("2026-01-01", tz="UTC") + pd.to_timedelta(np.arange(count), unit="s"),
            "session_id": "s1",
            "kind": "normal",
            "supersedes": supersedes,
            "guideline": "1",
        }
    )
    empty = LABELS.empty()
    return frame.astype({name: empty[name].dtype for name in LABELS.names if name != "created_at"})


def main() -> None:
    """Print the figures; the truth must take less than half a second."""
    labels = votes()
    works = {
        "check the table": lambda: tables.check(labels, LABELS),
        "decide, majority": lambda: truth.decide(labels, EXPERTS),
        "decide, dawid-skene": lambda: truth.decide(labels, EXPERTS, rule="dawid-skene"),
        "agreement, 2,000 resamples": lambda: truth.panel_agreement(labels),
        "expert profiles": lambda: truth.expert_profiles(labels),
        "disputed pairs": lambda: truth.disputed_pairs(labels),
        "plain pandas groupby of values": lambda: labels.groupby(["query_id", "candidate_id"])["value"].agg(
            ["sum", "count"]
        ),
    }
    seconds = {name: best(work) for name, work in works.items()}
    before = time.process_time()
    truth.decide(labels, EXPERTS)
    processor = time.process_time() - before
    print(f"{PAIRS:,} pairs x {EXPERTS} votes, {len(labels):,} acts; load {os.getloadavg()[0]:.1f}")
    for name, took in seconds.items():
        print(f"{name:32} {took:7.3f} s  ratio to the groupby {took / seconds['plain pandas groupby of values']:6.2f}")
    print(f"decide / goal of 0.5 s = {seconds['decide, majority'] / 0.5:.2f} (goal: below 1); ", end="")
    print(f"of processor time it takes {processor:.3f} s")


if __name__ == "__main__":
    main()
