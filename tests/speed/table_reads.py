"""How often a verb reads each table of a small project: once, and vectors' ids once per model.

Run as `python -m tests.speed.table_reads`. Before tables were kept for the length of an operation, `score` read
suspects.parquet 11 times (18 reads in all), and `report` 4 times (12 reads in all).
"""

import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from eds import tables
from tests.metrics.projects import project_in


def main() -> None:
    reads: Counter[str] = Counter()
    read = tables.read

    def counted(path: Path, *given: Any, **named: Any) -> pd.DataFrame:
        reads[path.name] += 1
        return read(path, *given, **named)

    tables.read = counted
    with tempfile.TemporaryDirectory() as folder:
        project = project_in(Path(folder) / "p")
        images = project.read("images")["image_id"].tolist()
        vectors, ids = Path(folder) / "v.npy", Path(folder) / "ids.txt"
        np.save(vectors, np.random.default_rng(1).normal(size=(len(images), 6)).astype(np.float32))
        ids.write_text("".join(f"{name}\n" for name in images))
        verbs: dict[str, Callable[[], Any]] = {
            "pool": project.pool,
            "score": lambda: project.score(resamples=0),
            "score of a new model": lambda: project.score(resamples=0, new={"ours": vectors}, ids={"ours": ids}),
            "report": lambda: project.report(resamples=0, pictures=False),
        }
        for name, verb in verbs.items():
            reads.clear()
            verb()
            each = ", ".join(f"{table} {count}" for table, count in sorted(reads.items()))
            sys.stdout.write(f"{name}: {reads.total()} reads ({each})\n")


if __name__ == "__main__":
    main()
