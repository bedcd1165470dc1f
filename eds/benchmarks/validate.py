"""Validation of foreign benchmarks: rows by themselves, against the catalogue, and against the project's files.

Checks work on whole columns and report every fault by file and row; `Faults` raises them as one error.
"""

import difflib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

import numpy as np
import pandas as pd

from eds.benchmarks.benchmark import PAIR, Benchmark, Location, images_from_ids
from eds.errors import InputError
from eds.io.reading import CONTROL
from eds.schema import to_arrow, to_frame
from eds.tables import IMAGES

SHOWN = 10  # faults of one file that a message shows
MOST = 200  # faults of one kind that are collected
IN_IDS = ["product_id", "category", "role", "phase", "path"]  # what a list of ids can hold of an image
NO_CATALOGUE = "the files hold no catalogue"  # a note that begins so is dropped when the project has one
SEPARATE_HERE = "give them different product ids in the project's catalogue (eds images import --map product_id=COLUMN)"


class Faults:
    """Faults of several files, raised together: each fault with its file."""

    def __init__(self) -> None:
        self._by_file: dict[str, list[str]] = {}

    def add(self, file: Path, faults: Iterable[str]) -> None:
        """Remember the faults of a file."""
        self._by_file.setdefault(str(file), []).extend(faults)

    def __bool__(self) -> bool:
        return any(self._by_file.values())

    def raise_any(self, what: str, hint: str) -> None:
        """Raise one error for all of them, or return when there are none."""
        lines = []
        for file, faults in self._by_file.items():
            lines += [f"{file}: {fault}" for fault in faults[:SHOWN]]
            lines += [f"{file}: and {len(faults) - SHOWN:,} more"] if len(faults) > SHOWN else []
        if lines:
            where = ", ".join(file for file, faults in self._by_file.items() if faults)
            raise InputError(what, where=where, hint=hint, faults=lines)


def missing_keys(entry: Mapping[str, Any], needed: Iterable[str]) -> list[str]:
    """Return what an object lacks, each with the key that was perhaps meant.

    >>> missing_keys({"vlaue": 1, "key": []}, ["key", "value"])
    ["no 'value' (it has vlaue, key; did you mean vlaue?)"]
    """
    lacking = []
    for name in needed:
        if name in entry:
            continue
        near = difflib.get_close_matches(name, [str(key) for key in entry], n=1)
        hint = f"; did you mean {near[0]}?" if near else ""
        lacking.append(f"no {name!r} (it has {', '.join(map(str, entry)) or 'nothing'}{hint})")
    return lacking


def check_path(path: Any) -> list[str]:
    """Return the faults of an image's path; none if it stays below the image root."""
    if not isinstance(path, str):
        return ["it is not text"]
    if not path.strip():
        return ["it is blank"]
    faults = []
    if any(ord(sign) < 32 or sign in "\x7f\x85\u2028\u2029" for sign in path):
        faults.append("it contains a line break or another control character; rename the image")
    if PurePosixPath(path).is_absolute() or PureWindowsPath(path).drive or path.startswith("\\"):
        faults.append("it is absolute; give it relative to the image root")
    if ".." in path.replace("\\", "/").split("/"):
        faults.append("it leads out of the image root (..)")
    return faults


def check_columns(frame: pd.DataFrame, needed: list[str], at: Location, faults: Faults) -> bool:
    """Return whether the frame has these columns; those that are missing become faults."""
    lacking = missing_keys(dict.fromkeys(map(str, frame.columns)), needed)
    faults.add(at.file, (text.replace("no ", "has no column ", 1) for text in lacking))
    return not lacking


def check_ids(frame: pd.DataFrame, names: list[str], at: Location, faults: Faults) -> None:
    """Ids must be text that is not blank and has no control characters."""
    for name in names:
        column = frame[name].astype(object)
        text = column.map(lambda value: isinstance(value, str)).astype(bool)
        faults.add(at.file, _by_row(column, ~text, at, name, "give text"))
        strings = column.where(text, "x").astype(str)
        faults.add(at.file, _by_row(column, strings.str.strip() == "", at, name, "it is blank; name the image"))
        bad = strings.str.contains(CONTROL, regex=True).astype(bool)
        faults.add(at.file, _by_row(column, bad, at, name, "it contains a control character; rename the image"))


def check_unique(frame: pd.DataFrame, name: str, at: Location, faults: Faults) -> None:
    """A column's values must differ."""
    repeats = frame.index[frame[name].duplicated()]
    faults.add(at.file, (f"{at.row(row)} has duplicate {name} {frame[name].loc[row]!r}: keep one" for row in repeats))


def check_paths(frame: pd.DataFrame, at: Location, faults: Faults) -> None:
    """Every path must stay below the image root."""
    rows = ((row, path, fault) for row, path in frame["path"].items() for fault in check_path(path))
    faults.add(at.file, (f"{at.row(row)} has path {path!r}: {fault}" for row, path, fault in rows))


def check_scalars(frame: pd.DataFrame, at: Location, faults: Faults) -> bool:
    """Return whether no value is a list or an object; those that are become faults."""
    found: list[str] = []
    for name in frame.columns:
        nested = frame[name].map(lambda value: isinstance(value, (dict, list, tuple, np.ndarray))).astype(bool)
        found += _by_row(frame[name], nested, at, str(name), "give text or a number")
    faults.add(at.file, found)
    return not found


def check_known(frame: pd.DataFrame, names: list[str], ids: "pd.Series[Any]", at: Location, faults: Faults) -> None:
    """Every id must be an image of the catalogue."""
    known = set(ids)
    hint = "no image of the catalogue has this id; add the image or leave the row out"
    for name in names:
        faults.add(at.file, _by_row(frame[name], ~frame[name].isin(known), at, name, hint))


def ids_as_text(column: "pd.Series[Any]") -> "pd.Series[Any]":
    """Return ids as text: whole numbers become it, everything else stays so that `check_ids` can report it."""
    texts: pd.Series[Any] = column.astype(object).map(
        lambda value: (
            str(value) if isinstance(value, (int, np.integer)) and not isinstance(value, (bool, np.bool_)) else value
        )
    )
    return texts


def drop_repeats(frame: pd.DataFrame, at: Location, faults: Faults) -> tuple[pd.DataFrame, list[str]]:
    """Return the judgements (query_id, candidate_id, value), each pair once, and a note on repeats.

    Contradictions, and pairs of an image with itself, are faults.
    """
    same = (frame["query_id"] == frame["candidate_id"]).to_numpy(bool)
    selves = frame["query_id"][same].iloc[:MOST].items()
    faults.add(at.file, (f"{at.row(row)} pairs {name!r} with itself: leave it out" for row, name in selves))
    numbers = frame.groupby(PAIR, sort=False, dropna=False).ngroup().to_numpy()
    first = pd.Series(np.arange(len(frame))).groupby(numbers).transform("first").to_numpy()
    repeats = first != np.arange(len(frame))
    values = frame["value"].astype(object).where(frame["value"].notna(), None).to_numpy()
    for row in np.flatnonzero(repeats & (values != values[first]))[:MOST]:
        pair = " ".join(map(str, frame[PAIR].iloc[row]))
        here, before = at.row(frame.index[row]), at.row(frame.index[first[row]])
        text = f"{here} gives {values[row]} to {pair!r}, {before} gives {values[first[row]]}: keep one"
        faults.add(at.file, [text])
    if not repeats.any():
        return frame, []
    row = int(np.flatnonzero(repeats)[0])
    here, before = at.row(frame.index[row]), at.row(frame.index[first[row]])
    note = (
        f"{at.file}: {int(repeats.sum()):,} {at.unit}s repeat others ({here} repeats {before}): each pair counts once"
    )
    return frame[~repeats], [note]


def _drop_unjudged(frame: pd.DataFrame, at: Location) -> tuple[pd.DataFrame, list[str]]:
    """Return the rows without grades below 0, which trec_eval reads as pooled but unjudged, and a note."""
    below = (frame["value"] < 0).to_numpy(bool)
    if not below.any():
        return frame, []
    first = at.row(frame.index[below][0])
    note = f"{at.file}: {int(below.sum()):,} {at.unit}s have a grade below 0, as {first}: unjudged pairs, left out"
    return frame[~below], [note]


def to_labels(judged: pd.DataFrame, at: Location, faults: Faults) -> tuple[pd.DataFrame, list[str]]:
    """Return graded judgements as labels 1 and 0, each pair once, without unjudged ones; and notes."""
    graded = int((judged["value"] > 1).sum())
    notes = [f"{graded:,} grades above 1 count as similar: labels are 1 and 0"] if graded else []
    judged, unjudged = _drop_unjudged(judged, at)
    judged, repeats = drop_repeats(judged.assign(value=(judged["value"] > 0).astype("int64")), at, faults)
    return judged, [*notes, *unjudged, *repeats]


def _by_row(column: "pd.Series[Any]", bad: Any, at: Location, name: str, hint: str) -> Iterator[str]:
    wrong = column[np.asarray(bad, dtype=bool)]
    for row, value in wrong.iloc[:MOST].items():
        shown = None if pd.api.types.is_scalar(value) and pd.isna(value) else value
        yield f"{at.row(row)} has {name} {shown!r}: {hint}"
    if len(wrong) > MOST:
        yield f"and {len(wrong) - MOST:,} more of this kind"


def with_catalogue(
    benchmark: Benchmark, own: pd.DataFrame | None, root: Path, *, replaced: bool = False
) -> tuple[Benchmark, bool]:
    """Return the benchmark with a catalogue: its own, else the project's (then true), else one made of its ids.

    Formats without a catalogue mostly hold judgements on one's own images. A list of ids (trec's ids.tsv) knows less
    than a catalogue, so it takes the place of the project's only where `replaced` asks for that.
    """
    benchmark = replace(benchmark, image_root=root)
    has_images = benchmark.images is not None and "catalogue" not in benchmark.locations
    if has_images and (own is None or replaced or "ids" not in benchmark.locations):
        return benchmark, False
    if own is not None:
        notes = tuple(note for note in benchmark.notes if not note.startswith(NO_CATALOGUE))
        if has_images and (count := _count_differing(benchmark.images, own)):
            file = benchmark.locations["ids"].file
            notes += (
                f"{file} describes {count:,} images differently from the project's catalogue, which is kept; --replace"
                " takes the file's",
            )
        locations = {name: at for name, at in benchmark.locations.items() if name not in ("catalogue", "ids")}
        locations["images"] = Location(Path("images.parquet"))
        return replace(benchmark, images=own, notes=notes, locations=locations), True
    if benchmark.images is None:
        frames = {name: frame for name, frame in _judgements(benchmark).items() if set(PAIR) <= set(frame.columns)}
        pairs = [frame[PAIR].dropna() for frame in frames.values()]
        every = pd.concat(pairs) if pairs else pd.DataFrame({name: [] for name in PAIR}, dtype=object)
        every = every[every.map(lambda name: isinstance(name, str)).all(axis=1).to_numpy(bool)]
        if not len(every):
            files = dict.fromkeys(str(at.file) for at in benchmark.locations.values())
            hint = "Nothing was imported. Give judgements of pairs, or lists."
            raise InputError("holds no pairs of images", where=", ".join(files), hint=hint)
        images = to_frame(to_arrow(images_from_ids(every["query_id"], every["candidate_id"]), IMAGES))
        notes = (*benchmark.notes, f"{NO_CATALOGUE}: each id is its own path and product")
        locations = {**benchmark.locations, "catalogue": benchmark.locations[next(iter(frames))]}
        benchmark = replace(benchmark, images=images, notes=notes, locations=locations)
    return benchmark, False


def _count_differing(images: Any, own: pd.DataFrame) -> int:
    """Count the images of a list of ids that the catalogue describes differently."""
    here, there = (frame[["image_id", *IN_IDS]].fillna("") for frame in (images, own))
    return len(here) - len(here.merge(there, on=["image_id", *IN_IDS]))


def separate_products(benchmark: Benchmark) -> Benchmark:
    """Return the benchmark where products of images that are only queries differ from candidates' of the same id."""
    images: Any = benchmark.images
    only_queries = images["role"] == "query"
    named = images["phase"].fillna("query").astype(str) + ":" + images["product_id"]
    products = images["product_id"].where(~only_queries, named)
    return replace(benchmark, images=images.assign(product_id=products))


def check_benchmark(benchmark: Benchmark, *, kept: bool = False) -> tuple[Benchmark, Faults]:
    """Check every pair against the catalogue; shared products and missing pictures become notes.

    `kept`: the catalogue is the project's own.
    """
    faults, images, notes = Faults(), benchmark.images, list(benchmark.notes)
    if images is None:
        return benchmark, faults
    for name, frame in _judgements(benchmark).items():
        at = benchmark.locations.get(name)
        if at is not None and name != "votes":
            check_known(frame, PAIR, images["image_id"], at, faults)
    if "catalogue" in benchmark.locations:
        _check_ids_as_paths(benchmark, images, faults)
    remedy = SEPARATE_HERE if kept else "import with --separate"
    found = (
        _outside(benchmark.truth, images),
        _shared_products(benchmark, images, remedy),
        _missing_pictures(benchmark, images),
    )
    return replace(benchmark, notes=(*notes, *filter(None, found))), faults


def _judgements(benchmark: Benchmark) -> dict[str, pd.DataFrame]:
    """Every frame that names pairs, by the name of its location."""
    parts = {"truth": benchmark.truth, "suspects": benchmark.suspects, "votes": benchmark.votes}
    frames = {name: frame for name, frame in parts.items() if frame is not None}
    return frames | {f"run of {model}": run for model, run in benchmark.runs.items()}


def _check_ids_as_paths(benchmark: Benchmark, images: pd.DataFrame, faults: Faults) -> None:
    """Where the files hold only ids, an id is the path of its picture: it must stay below the image root."""
    paths = zip(images["image_id"], images["path"], strict=True)
    wrong = {name: found for name, path in paths if (found := check_path(path))}
    for part, frame in _judgements(benchmark).items() if wrong else ():
        if not set(PAIR) <= set(frame.columns) or part not in benchmark.locations:
            continue
        at = benchmark.locations[part]
        for name in PAIR:
            first = frame[frame[name].isin(list(wrong))].drop_duplicates(name)[name]
            for row, image in first.items():
                text = f"{at.row(row)} has {name} {image!r}, so path {image!r}"
                faults.add(at.file, (f"{text}: {fault}" for fault in wrong[image]))


def _missing_pictures(benchmark: Benchmark, images: pd.DataFrame) -> str:
    """Note how many pictures are missing; with Parquet files that hold pictures, nothing is checked."""
    root = benchmark.image_root
    if root is None or benchmark.picture_shards:
        return ""
    folders = [folder for folder in (root, benchmark.picture_folder) if folder is not None]
    there = [not check_path(path) and any((folder / path).is_file() for folder in folders) for path in images["path"]]
    missing = ~np.array(there, dtype=bool)
    if not missing.any():
        return ""
    first = images[missing].iloc[0]
    return (
        f"{int(missing.sum()):,} of {len(images):,} pictures are missing below {root}, as {first['path']!r}"
        f" ({_source_of(benchmark, first)}): put them there to look at pairs or compute embeddings; measures need none"
    )


def _source_of(benchmark: Benchmark, image: "pd.Series[Any]") -> str:
    """Name the file and row of an image."""
    locations = benchmark.locations
    if "catalogue" in locations:
        return f"named in {locations['catalogue'].file}"
    is_query = image["role"] == "query" and "queries" in locations
    name = "queries" if is_query else "images" if "images" in locations else "ids"
    return f"{locations[name].file} {locations[name].row(image.name)}" if name in locations else str(image["image_id"])


def _outside(truth: pd.DataFrame | None, images: pd.DataFrame) -> str:
    """Note labelled pairs that no list can hold."""
    if truth is None:
        return ""
    query = truth["query_id"].isin(images.loc[images["role"] != "candidate", "image_id"])
    candidate = truth["candidate_id"].isin(images.loc[images["role"] != "query", "image_id"])
    count = int((~(query & candidate)).sum())
    return f"{count:,} labelled pairs are not of a query and a candidate: every measure counts them" if count else ""


def _shared_products(benchmark: Benchmark, images: pd.DataFrame, remedy: str) -> str:
    """Note the trap of two collections that number their products alike: strangers look like one product."""
    only_queries = images["role"] == "query"
    wild, shop = images[only_queries], images[~only_queries]
    both = wild[wild["product_id"].isin(set(shop["product_id"]))]
    if not len(both) or set(both["phase"].dropna()) & set(shop["phase"].dropna()):
        return ""  # within one collection the views of a product share its id, as they should
    first = both.iloc[0]
    other = shop[shop["product_id"] == first["product_id"]].iloc[0]
    return (
        f"{both['product_id'].nunique():,} product ids belong to queries and to candidates of another domain, as "
        f"{first['product_id']!r} of {first['image_id']!r} and {other['image_id']!r} ({_source_of(benchmark, first)}; "
        f"{_source_of(benchmark, other)}): lists leave out a query's own product; if these are different products, "
        f"{remedy}"
    )
