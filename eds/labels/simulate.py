"""A campaign judged by simulated experts, through the same queue and the same `submit` as people's judgements."""

import hashlib
from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from eds.labels.judgements import Judgement, submit
from eds.labels.queue import Task, next_batch, progress
from eds.labels.store import Store

Answer = Callable[[str, pd.DataFrame], pd.DataFrame]
PORTION = 1000  # judgements in one transaction


def fill(store: Store, campaign: str, answer: Answer, *, progress_of: Callable[[int, int], None] | None = None) -> int:
    """Let every expert of the panel judge everything that is open; how many acts that took.

    `answer(expert, pairs)` gives value, seconds, created_at and session_id for pairs (query_id, candidate_id) in the
    expert's own order, row by row: `eds.synthetic.experts.judge` for that one expert does.
    """
    panel = progress(store, campaign)
    total, done = int(panel["left"].sum()), 0
    turn, before = 0, -1
    while done > before:  # an adaptive campaign asks further experts, others nothing more after the first turn
        before = done
        for expert in panel["expert"]:
            for round_ in (turn, turn + 1):  # what was unsure comes back once
                tasks = next_batch(store, campaign, expert, 10_000_000)
                if not tasks:
                    break
                labels = answer(
                    expert,
                    pd.DataFrame(
                        {
                            "query_id": [task.query_id for task in tasks],
                            "candidate_id": [task.candidate_id for task in tasks],
                        }
                    ),
                )
                for start in range(0, len(tasks), PORTION):
                    rows = slice(start, start + PORTION)
                    _submit(store, f"{campaign}/{expert}/{round_}", expert, tasks[rows], labels.iloc[rows])
                    done += len(tasks[rows])
                    if progress_of is not None:
                        progress_of(done, max(total, done))
        turn += 2
    return done


def _submit(store: Store, name: str, expert: str, tasks: Sequence[Task], labels: pd.DataFrame) -> None:
    values = [None if pd.isna(value) else int(value) for value in labels["value"]]
    seconds = labels["seconds"].astype(float).tolist()
    moments = labels["created_at"].dt.as_unit("us").astype(np.int64).tolist()
    acts = [
        Judgement(hashlib.sha256(f"{name}/{task.assignment}".encode()).hexdigest()[:32], task.assignment, value, pause)
        for task, value, pause in zip(tasks, values, seconds, strict=True)
    ]
    submit(store, expert, acts, session_id=str(labels["session_id"].iloc[0]), times=moments)
