"""Verify the table `images` against the files: missing, damaged, changed and duplicate files."""

from collections.abc import Callable

import numpy as np
import pandas as pd

from eds.choices import FileCheck
from eds.images.scan import scan
from eds.imaging.locations import MISSING
from eds.io import Address

COLUMNS = ["image_id", "path", "problem", "detail"]


def check_files(
    images: pd.DataFrame,
    root: Address,
    *,
    check: FileCheck = "full",
    workers: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> pd.DataFrame:
    """One row per problem: `image_id, path, problem, detail`; every file is read, without the cache.

    Problems: `missing` (there is no such file), `unreadable`, `changed` (the sha256 differs from the table), `unseen`
    (the table has no sha256 yet), `duplicate` (equal to the file of another image).
    """
    seen = scan(images, root, check=check, near=None, workers=workers, progress=progress)
    absent = seen.bad["reason"] == MISSING
    problem = np.where(absent, "missing", "unreadable")
    unreadable = seen.bad.rename(columns={"reason": "detail"}).assign(problem=problem)
    before = images.set_index("image_id")["sha256"].reindex(seen.images["image_id"]).reset_index(drop=True)
    unseen = seen.images[before.isna().to_numpy(dtype=bool)].assign(problem="unseen", detail="no sha256 in the table")
    differs = (before.notna() & (before != seen.images["sha256"])).to_numpy(dtype=bool)
    changed = seen.images[differs].assign(problem="changed", detail="sha256 differs from the table")
    first = seen.exact.groupby("sha256")["image_id"].transform("first")
    again = seen.exact[(first != seen.exact["image_id"]).to_numpy(dtype=bool)]
    duplicate = again.assign(problem="duplicate", detail="same file as " + first.loc[again.index].astype(str))
    parts = [part[COLUMNS] for part in (unreadable, changed, unseen, duplicate) if len(part)]
    if not parts:
        return pd.DataFrame(columns=COLUMNS, dtype=object)
    return pd.concat(parts, ignore_index=True)
