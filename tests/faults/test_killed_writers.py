"""A process killed at any moment of a write leaves the old table or the new one, never a torn one."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

from eds import tables
from eds.tables import NEIGHBORS

WRITER = """
import itertools, pathlib, sys
import numpy as np, pandas as pd
from eds import tables
target = pathlib.Path(sys.argv[1])
for round in itertools.count(1):
    rows = 20_000
    frame = pd.DataFrame({
        "model": "m", "query_id": "q", "candidate_id": np.arange(rows).astype(str),
        "rank": np.arange(rows), "score": np.full(rows, float(round)),
    })
    tables.write(frame, tables.NEIGHBORS, target, tables.Provenance(f"round {round}"))
    print(round, flush=True)
"""


def test_kill_9_in_the_middle_of_writes(tmp_path: Path) -> None:
    target = tmp_path / "m.parquet"
    chance = random.Random(0)
    for _ in range(8):
        command = [sys.executable, "-c", WRITER, str(target)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
            assert writer.stdout is not None
            writer.stdout.readline()  # it has started and written once
            time.sleep(chance.uniform(0, 0.15))
            os.kill(writer.pid, signal.SIGKILL)
            last = [1, *map(int, writer.stdout.read().split())][-1]
        frame = tables.read(target, NEIGHBORS)
        made_by, rows = tables.read_provenance(target, NEIGHBORS)
        assert len(frame) == rows == 20_000
        assert frame["score"].nunique() == 1
        written = int(frame["score"].iloc[0])
        assert made_by.operation == f"round {written}"
        assert written >= last  # whatever was acknowledged is there
    tables.write(frame, NEIGHBORS, target, made_by)
    assert [path.name for path in tmp_path.iterdir()] == ["m.parquet"]  # the killed ones' leftovers are gone
