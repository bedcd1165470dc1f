"""What checking a table costs beside writing it, on a million rows."""

import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from eds import tables
from tests.timing import best


def lists(queries: int = 2000, k: int = 500, images: int = 50_000) -> pd.DataFrame:
    """Lists of one model, with ids as long as DeepFashion's paths."""
    rng = np.random.default_rng(0)
    ids = np.array([f"img/WOMEN/Sweaters/id_{number:08d}/01_1_front.jpg" for number in range(images)])
    chosen = np.concatenate([rng.choice(images, k, replace=False) for _ in range(queries)])
    return pd.DataFrame(
        {
            "model": "beit",
            "query_id": ids[np.repeat(np.arange(queries), k)],
            "candidate_id": ids[chosen],
            "rank": np.tile(np.arange(k), queries),
            "score": rng.random(queries * k),
        }
    )


def main() -> None:
    """Print the ratios; checking must cost less than writing."""
    frame = lists()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.parquet"
        checked = best(lambda: tables.check(frame, tables.NEIGHBORS))
        plain = best(lambda: pq.write_table(pa.Table.from_pandas(frame), path, compression="zstd"))
        written = best(lambda: tables.write(frame, tables.NEIGHBORS, path, tables.Provenance("speed")))
        read = best(lambda: tables.read(path, tables.NEIGHBORS))
    print(
        f"{len(frame):,} rows: check {checked:.3f} s, pandas to plain Parquet {plain:.3f} s, "
        f"our checked write {written:.3f} s, read {read:.3f} s; "
        f"check / plain write = {checked / plain:.2f} (goal: below 1)"
    )


if __name__ == "__main__":
    main()
