"""A benchmark that was read, held together: its rows against its catalogue, that against the project's files."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from eds.benchmarks import rows
from eds.benchmarks.benchmark import PAIR, Benchmark, Place, images_of
from eds.benchmarks.json_files import Faults
from eds.errors import InputError
from eds.schema import to_arrow, to_frame
from eds.tables import IMAGES

TOLD = ["product_id", "category", "role", "phase", "path"]  # what ids.tsv can tell of an image

APART_HERE = "give them different product ids in the project's catalogue (eds images import --map product_id=COLUMN)"


def of_the_project(
    benchmark: Benchmark, own: pd.DataFrame | None, root: Path, *, replace: bool = False
) -> tuple[Benchmark, bool]:
    """The benchmark with a catalogue: its own; else the project's (then true), to which it must fit; else of its ids.

    Formats without a catalogue are mostly judgements on one's own. A list of ids (trec's ids.tsv) knows less than a
    catalogue, so it takes the place of the project's only where that is asked for: `replace`.
    """
    benchmark = benchmark.with_(image_root=root)
    told = benchmark.images is not None and "catalogue" not in benchmark.places
    if told and (own is None or replace or "ids" not in benchmark.places):
        return benchmark, False
    if own is not None:
        notes = tuple(note for note in benchmark.notes if "tell no catalogue" not in note)
        if told and (other := _told_otherwise(benchmark.images, own)):
            notes += (f"{benchmark.places['ids'].file} tells {other:,} images otherwise than the project's catalogue, "
                      "which is kept; --replace takes the file's",)  # fmt: skip
        places = {name: place for name, place in benchmark.places.items() if name not in ("catalogue", "ids")}
        places["images"] = Place(Path("images.parquet"))
        return benchmark.with_(images=own, notes=notes, places=places), True
    if benchmark.images is None:
        parts = {name: one for name, one in _parts(benchmark).items() if set(PAIR) <= set(one.columns)}
        known = [one[PAIR].dropna() for one in parts.values()]
        every = pd.concat(known) if known else pd.DataFrame({name: [] for name in PAIR}, dtype=object)
        every = every[every.map(lambda one: isinstance(one, str)).all(axis=1).to_numpy(bool)]
        if not len(every):
            files = dict.fromkeys(str(place.file) for place in benchmark.places.values())
            raise InputError("holds no pairs of images", where=", ".join(files),
                             do="Nothing was imported. Give judgements of pairs, or lists.")  # fmt: skip
        made = to_frame(to_arrow(images_of(every["query_id"], every["candidate_id"]), IMAGES))
        note = "the files tell no catalogue: an id is its own path and product"
        places = {**benchmark.places, "catalogue": benchmark.places[next(iter(parts))]}
        benchmark = benchmark.with_(images=made, notes=(*benchmark.notes, note), places=places)
    return benchmark, False


def _told_otherwise(images: Any, own: pd.DataFrame) -> int:
    """How many images of a list of ids the catalogue does not have so."""
    rows = [frame[["image_id", *TOLD]].fillna("") for frame in (images, own)]
    return len(rows[0]) - len(rows[0].merge(rows[1], on=["image_id", *TOLD]))


def set_apart(benchmark: Benchmark) -> Benchmark:
    """The same, where a product of images that only ask is another one than a candidate's of the same id."""
    images: Any = benchmark.images
    asks = images["role"] == "query"
    named = images["phase"].fillna("query").astype(str) + ":" + images["product_id"]
    return benchmark.with_(images=images.assign(product_id=images["product_id"].where(~asks, named)))


def refuse_apart(benchmark: Benchmark, own: pd.DataFrame) -> None:
    """Products are set apart in a catalogue that is taken in; the project's own stays as it is."""
    told = "ids" in benchmark.places and "catalogue" not in benchmark.places
    raise InputError(
        f"--apart sets products apart in the catalogue that is imported, and the project's own ({len(own):,} images) is"
        " kept",
        where="images.parquet",
        do="Say --replace, too, which takes the file's catalogue."
        if told
        else f"{APART_HERE[0].upper()}{APART_HERE[1:]}.",
    )


def checked(benchmark: Benchmark, *, kept: bool = False) -> tuple[Benchmark, Faults]:
    """Every pair must be of images that there are; products shared between domains and missing files are told.

    `kept`: the catalogue is the project's own.
    """
    faults, images, notes = Faults(), benchmark.images, list(benchmark.notes)
    if images is None:
        return benchmark, faults
    for name, frame in _parts(benchmark).items():
        place = benchmark.places.get(name)
        if place is not None and name != "votes":
            rows.known(frame, PAIR, images["image_id"], place, faults)
    if "catalogue" in benchmark.places:
        _ids_as_paths(benchmark, images, faults)
    asked = _outside(benchmark.truth, images)
    if asked:
        notes.append(asked)
    if shared := _shared_products(benchmark, images, "import with --apart" if not kept else APART_HERE):
        notes.append(shared)
    if lost := _lost_pictures(benchmark, images):
        notes.append(lost)
    return benchmark.with_(notes=tuple(notes)), faults


def _parts(benchmark: Benchmark) -> dict[str, pd.DataFrame]:
    """What names pairs, by the name under which its place is told."""
    parts = {"truth": benchmark.truth, "suspects": benchmark.suspects, "votes": benchmark.votes}
    found = {name: frame for name, frame in parts.items() if frame is not None}
    return found | {f"run of {model}": run for model, run in benchmark.runs.items()}


def _ids_as_paths(benchmark: Benchmark, images: pd.DataFrame, faults: Faults) -> None:
    """Where the files tell ids only, an id is the path of its picture: it must stay below the image root."""
    paths = zip(images["image_id"], images["path"], strict=True)
    wrong = {name: path for name, path in paths if rows.path_faults(path)}
    for name, frame in _parts(benchmark).items() if wrong else ():
        if set(PAIR) <= set(frame.columns) and name in benchmark.places:
            rows.as_paths(frame, wrong, benchmark.places[name], faults)


def _lost_pictures(benchmark: Benchmark, images: pd.DataFrame) -> str:
    """How many pictures are not there; of Parquet files that hold some it is not asked."""
    root = benchmark.image_root
    if root is None or not all(one.is_dir() for one in benchmark.pictures):
        return ""
    homes = (root, *benchmark.pictures)
    gone = np.array([bool(rows.path_faults(path)) or not any((home / path).is_file() for home in homes)
                     for path in images["path"]], dtype=bool)  # fmt: skip
    if not gone.any():
        return ""
    first = images[gone].iloc[0]
    return (
        f"{int(gone.sum()):,} of {len(images):,} pictures are not below {' or '.join(map(str, homes))}, as "
        f"{first['path']!r} ({_place(benchmark, first)}): put them there to look at pairs or compute embeddings; "
        "measures need none"
    )


def _place(benchmark: Benchmark, image: "pd.Series[Any]") -> str:
    """The file and row that tell an image."""
    places = benchmark.places
    if "catalogue" in places:
        return f"named in {places['catalogue'].file}"
    name = "queries" if image["role"] == "query" and "queries" in places else "images" if "images" in places else "ids"
    return f"{places[name].file} {places[name].of(image.name)}" if name in places else str(image["image_id"])


def _outside(truth: pd.DataFrame | None, images: pd.DataFrame) -> str:
    """Labelled pairs that no list can hold."""
    if truth is None:
        return ""
    asked = truth["query_id"].isin(images.loc[images["role"] != "candidate", "image_id"])
    offered = truth["candidate_id"].isin(images.loc[images["role"] != "query", "image_id"])
    count = int((~(asked & offered)).sum())
    return f"{count:,} labelled pairs are not of a query and a candidate: every measure counts them" if count else ""


def _shared_products(benchmark: Benchmark, images: pd.DataFrame, do: str) -> str:
    """The trap of two collections that number their products alike: strangers look like one product."""
    apart = images["role"] == "query"
    wild, shop = images[apart], images[~apart]
    both = wild[wild["product_id"].isin(set(shop["product_id"]))]
    if not len(both) or set(both["phase"].dropna()) & set(shop["phase"].dropna()):
        return ""  # within one collection the views of a product share its id, as they should
    first = both.iloc[0]
    other = shop[shop["product_id"] == first["product_id"]].iloc[0]
    return (
        f"{both['product_id'].nunique():,} product ids belong to queries and to candidates of another domain, as "
        f"{first['product_id']!r} of {first['image_id']!r} and {other['image_id']!r} ({_place(benchmark, first)}; "
        f"{_place(benchmark, other)}): lists leave out a query's own product; if these are different products, "
        f"{do}"
    )
