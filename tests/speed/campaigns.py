"""Any sequence of campaigns, votes, leavers and adjudications: labels change only as 18.5 says. The long form.

Runs the state machine of tests/truth/test_campaigns_machine.py on more and longer sequences, drawn anew each time.

Run: python -m tests.speed.campaigns [--sequences 300] [--steps 40]
"""

import argparse
import time
from collections import Counter
from typing import ClassVar

from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.truth.test_campaigns_machine import Campaigns


class Counted(Campaigns):
    """The machine, which counts what happened."""

    seen: ClassVar[Counter[str]] = Counter()

    def teardown(self) -> None:
        self.seen.update(
            sequences=1,
            campaigns=len(self.world.campaigns),
            votes=self.acts,
            leavers=sum(len(campaign.gone) for campaign in self.world.campaigns.values()),
            adjudications=len(self.world.decided),
            labels=len(self.stored),
        )
        super().teardown()


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--sequences", type=int, default=300)
    options.add_argument("--steps", type=int, default=40)
    given = options.parse_args()
    start = time.perf_counter()
    run_state_machine_as_test(
        Counted,
        settings=settings(
            max_examples=given.sequences,
            stateful_step_count=given.steps,
            deadline=None,
            database=None,
            suppress_health_check=[*HealthCheck],
        ),
    )
    words = ", ".join(f"{count:,} {name}" for name, count in Counted.seen.items())
    print(f"{words}: no label changed otherwise; {time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
