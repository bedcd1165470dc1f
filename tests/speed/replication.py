"""Votes that an adaptive campaign saves, and the error of its truth: `python -m tests.speed.replication`.

The long form of tests/truth/test_adaptive_votes.py: catalogues whose truth is known, experts who err, a relevance model
(right, useless, inverted, too sure). The error of the truth is compared with that of a panel that judges all in full.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from eds.pairs import Integers, Reals
from eds.truth.adaptive_votes import experts_error, needed_leads, recalibrated, stop_votes
from eds.truth.majority import tally

MODELS = ("right", "useless", "inverted", "too sure")
CONTROL = 0.1


@dataclass(frozen=True)
class Compared:
    """Of one catalogue."""

    votes: float  # a pair, control pairs included
    error: float
    panel_error: float  # of full panels


def probabilities(model: str, truth_logit: Reals, rng: np.random.Generator) -> Reals:
    """What the relevance model says of each pair."""
    if model == "useless":
        return rng.random(len(truth_logit))
    factor = {"right": 1.0, "inverted": -1.0, "too sure": 2.0}[model]
    return np.asarray(1 / (1 + np.exp(-factor * truth_logit)), np.float64)


def simulate(seed: int, model: str = "right", panel: int = 3, pairs: int = 20_000, error: float = 0.1) -> Compared:
    """Draw pairs (a third similar, f with an AUC of 0.9), let experts judge them in full, and stop the votes."""
    rng = np.random.default_rng([seed, panel])
    logit = rng.normal(-1.1, 2.3, pairs)
    truth = rng.random(pairs) < 1 / (1 + np.exp(-logit))
    errs = rng.beta(2, 2 / error - 2, panel)  # each expert's own
    turned = rng.random((pairs, panel)) < errs
    votes: Integers = rng.permuted((truth[:, None] ^ turned).astype(np.int64), axis=1)
    yes, no = votes.sum(axis=1), (1 - votes).sum(axis=1)
    control = rng.random(pairs) < CONTROL
    known = experts_error(yes[control], no[control])
    full = tally(yes, no, np.zeros(pairs, np.int64), np.full(pairs, panel))[1].astype(np.int64)
    at = np.flatnonzero(control)
    f = recalibrated(probabilities(model, logit, rng), at, full[at])
    stopped = stop_votes(votes, needed_leads(f, known, panel))
    label = np.where(control, full, stopped.label)
    asked = np.where(control, panel, stopped.votes)
    return Compared(float(asked.mean()), float((label != truth).mean()), float((full != truth).mean()))


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--catalogues", type=int, default=200)
    count = parser.parse_args(arguments).catalogues
    for panel in (3, 5):
        for model in MODELS:
            rows = [simulate(seed, model, panel) for seed in range(count)]
            votes, error, full = (np.mean([getattr(row, name) for row in rows]) for name in Compared.__annotations__)
            print(
                f"panel of {panel}, model {model:8}: {votes:.2f} votes a pair, {1 - votes / panel:.0%} fewer; "
                f"error {error:.4f}, of full panels {full:.4f}"
            )


if __name__ == "__main__":
    main()
