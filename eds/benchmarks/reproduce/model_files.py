"""Models that come as files: finished vectors or TREC runs in a folder, one file a model, named after it.

DIR/dino.npy  DIR/dino.ids.txt     vectors and the image of each row (.npz, .parquet, .safetensors too)
DIR/Argus ID+C.parquet             as the paper writes it, or as we do (argus_id_c); ids in the file
DIR/ids.txt                        for all files that have no ids of their own
DIR/TASK/...                       where a task has files of its own
DIR/runs/dino.run  DIR/ids.tsv     runs, as `eds benchmarks export trec` writes them; runs may stand in DIR itself
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import pandas as pd

from eds.benchmarks.benchmark import PAIR
from eds.benchmarks.formats import trec
from eds.benchmarks.reproduce.paper import named
from eds.errors import InputError

VECTORS = (".npy", ".npz", ".parquet", ".safetensors")
IDS = (".txt", ".csv", ".tsv", ".parquet")
SHOWN = 3
One = TypeVar("One")


@dataclass(frozen=True)
class VectorFile:
    """One model's vectors, and where the ids stand if not in the file itself."""

    vectors: Path
    ids: Path | None


def vectors_in(folder: Path, task: str) -> dict[str, VectorFile]:
    """By model its file of vectors, ascending."""
    place = _place(folder, task)
    files = [file for file in sorted(place.iterdir()) if file.suffix in VECTORS and not _is_ids(file)]
    models = _by_name(place, ((named(file.stem), file) for file in files))
    if not models:
        do = f"Name files after their models, as dino.npy with dino.ids.txt ({', '.join(VECTORS)})."
        raise InputError("holds no vectors", where=str(place), do=do)
    return {name: VectorFile(file, _ids_of(file)) for name, file in models.items()}


def run_files(folder: Path, task: str) -> tuple[dict[str, Path], Path | None]:
    """By model its run, ascending; and ids.tsv where there is one."""
    place = _place(folder, task)
    at = place / "runs" if (place / "runs").is_dir() else place
    files = [file for file in sorted(at.iterdir()) if file.name.endswith(trec.ENDINGS)]
    if not files:
        raise InputError("holds no TREC runs", where=str(at), do=f"Name them MODEL.run ({', '.join(trec.ENDINGS)}).")
    ids = next((one for one in (place / "ids.tsv", at / "ids.tsv") if one.is_file()), None)
    return _by_name(at, ((named(_stem(file)), file) for file in files)), ids


def read_runs(files: Mapping[str, Path], ids: Path | None) -> dict[str, pd.DataFrame]:
    """By model its run as table neighbors; damaged lines are told by their number."""
    read = trec.read(None, None, files, ids)
    return {name: read.runs[name].reset_index(drop=True) for name in files}


def official_lists(run: pd.DataFrame, images: pd.DataFrame, *, every_image: bool = False) -> pd.DataFrame:
    """A run as lists of table neighbors by the benchmark's rules, ranked anew from 0.

    Left out: whoever asks that is no query, whatever is offered that is no candidate, the query itself, other images of
    its product, and of each product all but the best image; with `every_image` products do not count. Order: score
    descending, then id. Ids that the catalogue does not have are refused.
    """
    known = set(images["image_id"])
    strange = sorted(set(pd.concat([run["query_id"], run["candidate_id"]])) - known)
    if strange:
        more = f" and {len(strange) - SHOWN:,} more" if len(strange) > SHOWN else ""
        raise InputError(
            f"the run names images that the metadata do not have: {', '.join(strange[:SHOWN])}{more}",
            do="Give the run of this task, or ids.tsv beside it.",
        )
    role = images["role"]
    asked, offered = images.loc[role != "candidate", "image_id"], images.loc[role != "query", "image_id"]
    kept = run[run["query_id"].isin(asked) & run["candidate_id"].isin(offered)]
    kept = kept[kept["query_id"] != kept["candidate_id"]]
    kept = kept.sort_values(["query_id", "score", "candidate_id"], ascending=[True, False, True])
    if not every_image:
        product = images.set_index("image_id")["product_id"]
        kept = kept.assign(own=kept["query_id"].map(product), other=kept["candidate_id"].map(product))
        kept = kept[kept["own"] != kept["other"]].drop_duplicates(["query_id", "other"]).drop(columns=["own", "other"])
    ranked: pd.DataFrame = kept.assign(rank=kept.groupby("query_id").cumcount().astype("int64")).reset_index(drop=True)
    return ranked


def unscored(run: pd.DataFrame, pairs: pd.DataFrame, images: pd.DataFrame) -> int:
    """How many of the pairs, of a query with a candidate, the run holds no score of."""
    role = images["role"]
    asked, offered = images.loc[role != "candidate", "image_id"], images.loc[role != "query", "image_id"]
    askable = pairs[pairs["query_id"].isin(asked) & pairs["candidate_id"].isin(offered)][PAIR].drop_duplicates()
    return len(askable) - len(askable.merge(run[PAIR], on=PAIR))


def _place(folder: Path, task: str) -> Path:
    return folder / task if (folder / task).is_dir() else folder


def _stem(file: Path) -> str:
    ending = max((one for one in trec.ENDINGS if file.name.endswith(one)), key=len)
    return file.name.removesuffix(ending)


def _is_ids(file: Path) -> bool:
    return file.stem == "ids" or file.stem.endswith(".ids")


def _ids_of(file: Path) -> Path | None:
    beside = [file.with_name(f"{file.stem}.ids{ending}") for ending in IDS]
    beside += [file.with_suffix(ending) for ending in (".txt", ".csv", ".tsv")]
    if file.suffix != ".parquet":  # that has its ids in itself
        beside += [file.with_name(f"ids{ending}") for ending in IDS]
    return next((one for one in beside if one.is_file()), None)


def _by_name(place: Path, found: Iterable[tuple[str, One]]) -> dict[str, One]:
    """By model what is found of it; two of one model are refused."""
    listed = list(found)
    models = dict(sorted(listed, key=lambda one: one[0]))
    if len(models) < len(listed):
        names = [name for name, _ in listed]
        twice = sorted({name for name in names if names.count(name) > 1})
        raise InputError(f"holds several files of model {', '.join(twice)}", where=str(place), do="Keep one of each.")
    return models
