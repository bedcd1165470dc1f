"""A computing process killed with -9 costs no finished shard, and the result is that of a run that was let be."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from eds.embeddings.compute import compute
from eds.tables import IMAGES, Provenance, read, write
from eds.vectors import Vectors
from tests.embeddings.toy import Toy, catalogue

ROOT = Path(__file__).parents[2]
SHARD = 8
COMPUTING = """
import sys
from pathlib import Path
from eds.embeddings.compute import compute
from eds.tables import IMAGES, Provenance, read
from tests.embeddings.toy import Toy
root = Path(sys.argv[1])
compute(read(root / "images.parquet", IMAGES), root / "images", {"m": Toy(pause=0.02)}, {"m": root / "m"},
        batch=4, workers=2, shard_rows=8, provenance={"m": Provenance("test")})
"""


@pytest.mark.parametrize("after", [1, 3])
def test_kill_9_and_resume(tmp_path: Path, after: int) -> None:
    write(catalogue(tmp_path / "images", 60), IMAGES, tmp_path / "images.parquet", Provenance("test"))
    command = [sys.executable, "-c", COMPUTING, str(tmp_path)]
    with subprocess.Popen(command, cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT)}) as process:
        deadline = time.monotonic() + 60
        while len(list((tmp_path / "m").glob("*.ids.parquet"))) < after and time.monotonic() < deadline:
            assert process.poll() is None
            time.sleep(0.005)
        os.kill(process.pid, signal.SIGKILL)
    assert not (tmp_path / "m" / "model.json").exists()
    finished = [path.with_name(f"{path.name[:5]}.npy") for path in sorted((tmp_path / "m").glob("*.ids.parquet"))]
    assert len(finished) >= after
    before = {path: (path.stat().st_ino, path.stat().st_mtime_ns) for path in finished}

    images, toy = read(tmp_path / "images.parquet", IMAGES), Toy()
    resumed = run(images, tmp_path, toy, "m")
    run(images, tmp_path, Toy(), "whole")

    assert {path: (path.stat().st_ino, path.stat().st_mtime_ns) for path in finished} == before
    assert sum(toy.batches) == 60 - SHARD * len(finished)
    assert resumed == 60 - SHARD * len(finished)
    vectors, whole = Vectors.open(tmp_path / "m"), Vectors.open(tmp_path / "whole")
    vectors.verify()
    assert vectors.ids.tolist() == whole.ids.tolist()
    assert [shard.sha256 for shard in vectors.model.shards] == [shard.sha256 for shard in whole.model.shards]
    assert np.array_equal(vectors.take(np.arange(60)), whole.take(np.arange(60)))
    assert not [path for path in (tmp_path / "m").iterdir() if path.name.startswith(".") or "ids." in path.name[5:]]


def run(images: pd.DataFrame, root: Path, toy: Toy, name: str) -> int:
    summary = compute(
        images,
        root / "images",
        {name: toy},
        {name: root / name},
        batch=4,
        workers=2,
        shard_rows=SHARD,
        provenance={name: Provenance("test")},
    )
    return summary.models[0].computed
