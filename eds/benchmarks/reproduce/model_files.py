"""Models that come as files: vectors or TREC runs in a folder, one file per model, named after it.

DIR/dino.npy  DIR/dino.ids.txt     vectors and the image of each row (.npz, .parquet, .safetensors too)
DIR/Argus ID+C.parquet             named as in the paper, or as in eds (argus_id_c); ids in the file
DIR/ids.txt                        for all files without ids of their own
DIR/TASK/...                       where a task has files of its own
DIR/runs/dino.run  DIR/ids.tsv     runs, as `eds benchmarks export trec` writes them; also directly in DIR
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import pandas as pd

from eds.benchmarks.benchmark import PAIR
from eds.benchmarks.formats import trec
from eds.benchmarks.reproduce.paper import known_model
from eds.errors import InputError

VECTORS = (".npy", ".npz", ".parquet", ".safetensors")
IDS = (".txt", ".csv", ".tsv", ".parquet")
SHOWN = 3
File = TypeVar("File")


@dataclass(frozen=True)
class VectorFile:
    """One model's vectors, and the file of their ids if it is another."""

    vectors: Path
    ids: Path | None


def find_vectors(folder: Path, task: str) -> dict[str, VectorFile]:
    """Return the file of vectors of each model, ascending."""
    folder = _task_folder(folder, task)
    files = [file for file in sorted(folder.iterdir()) if file.suffix in VECTORS and not _is_ids(file)]
    models = _by_model(folder, ((known_model(file.stem), file) for file in files))
    if not models:
        hint = f"Name files after their models, as dino.npy with dino.ids.txt ({', '.join(VECTORS)})."
        raise InputError("holds no vectors", where=str(folder), hint=hint)
    return {name: VectorFile(file, _find_ids(file)) for name, file in models.items()}


def find_runs(folder: Path, task: str) -> tuple[dict[str, Path], Path | None]:
    """Return the run of each model, ascending; and ids.tsv where there is one."""
    folder = _task_folder(folder, task)
    inner = folder / "runs" if (folder / "runs").is_dir() else folder
    files = [file for file in sorted(inner.iterdir()) if file.name.endswith(trec.ENDINGS)]
    if not files:
        hint = f"Name them MODEL.run ({', '.join(trec.ENDINGS)})."
        raise InputError("holds no TREC runs", where=str(inner), hint=hint)
    ids = next((file for file in (folder / "ids.tsv", inner / "ids.tsv") if file.is_file()), None)
    return _by_model(inner, ((known_model(trec.model_name(file)), file) for file in files)), ids


def read_runs(files: Mapping[str, Path], ids: Path | None) -> dict[str, pd.DataFrame]:
    """Read the run of each model as table neighbors; damaged lines are reported by number."""
    runs = trec.read_files(None, files, ids).runs
    return {name: runs[name].reset_index(drop=True) for name in files}


def official_lists(run: pd.DataFrame, images: pd.DataFrame, *, every_image: bool = False) -> pd.DataFrame:
    """Return a run as lists of table neighbors by the benchmark's rules, ranked from 0.

    Left out: queries and candidates without that role, the query itself, other images of its product, and of each
    product all but the best image; with `every_image` products do not count. Order: score descending, then id. Ids
    that the catalogue does not have are refused.
    """
    known = set(images["image_id"])
    unknown = sorted(set(pd.concat([run["query_id"], run["candidate_id"]])) - known)
    if unknown:
        more = f" and {len(unknown) - SHOWN:,} more" if len(unknown) > SHOWN else ""
        what = f"the run names images that the metadata do not have: {', '.join(unknown[:SHOWN])}{more}"
        raise InputError(what, hint="Give the run of this task, or ids.tsv beside it.")
    queries, candidates = _by_role(images)
    kept = run[run["query_id"].isin(queries) & run["candidate_id"].isin(candidates)]
    kept = kept[kept["query_id"] != kept["candidate_id"]]
    kept = kept.sort_values(["query_id", "score", "candidate_id"], ascending=[True, False, True])
    if not every_image:
        product = images.set_index("image_id")["product_id"]
        kept = kept.assign(own=kept["query_id"].map(product), other=kept["candidate_id"].map(product))
        kept = kept[kept["own"] != kept["other"]].drop_duplicates(["query_id", "other"]).drop(columns=["own", "other"])
    ranked: pd.DataFrame = kept.assign(rank=kept.groupby("query_id").cumcount().astype("int64")).reset_index(drop=True)
    return ranked


def count_unscored(run: pd.DataFrame, pairs: pd.DataFrame, images: pd.DataFrame) -> int:
    """Count the pairs of a query with a candidate that the run has no score of."""
    queries, candidates = _by_role(images)
    needed = pairs[pairs["query_id"].isin(queries) & pairs["candidate_id"].isin(candidates)][PAIR].drop_duplicates()
    return len(needed) - len(needed.merge(run[PAIR], on=PAIR))


def _by_role(images: pd.DataFrame) -> tuple["pd.Series[str]", "pd.Series[str]"]:
    role = images["role"]
    return images.loc[role != "candidate", "image_id"], images.loc[role != "query", "image_id"]


def _task_folder(folder: Path, task: str) -> Path:
    return folder / task if (folder / task).is_dir() else folder


def _is_ids(file: Path) -> bool:
    return file.stem == "ids" or file.stem.endswith(".ids")


def _find_ids(file: Path) -> Path | None:
    beside = [file.with_name(f"{file.stem}.ids{ending}") for ending in IDS]
    beside += [file.with_suffix(ending) for ending in (".txt", ".csv", ".tsv")]
    if file.suffix != ".parquet":  # which holds its ids itself
        beside += [file.with_name(f"ids{ending}") for ending in IDS]
    return next((ids for ids in beside if ids.is_file()), None)


def _by_model(folder: Path, files: Iterable[tuple[str, File]]) -> dict[str, File]:
    """Return the file of each model; two of one model are refused."""
    listed = sorted(files, key=lambda item: item[0])
    models = dict(listed)
    if len(models) < len(listed):
        names = [name for name, _ in listed]
        repeated = sorted({name for name in names if names.count(name) > 1})
        what = f"has several files of model {', '.join(repeated)}"
        raise InputError(what, where=str(folder), hint="Keep one of each.")
    return models
