"""VSD-Fashion's raw files, and votes.

    metadata.json     {"images": [{"id": product, "path": ..., "phase": ..., ...}]}
    seeds.json        {"seeds": [path, ...]}
    annotations.json  [{"key": [seed, candidate], "value": 0|1}, ...]
    manifest.json     {"images": [{"path": ...}, ...]}           the images of a split; empty: all
    votes.jsonl       every vote, beside the annotations that hold only decisions

Every fault of every file is reported at once, with its entry; entries count from 0. The files name an image by its
path, so an image_id that differs from its path cannot be held.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import pandas as pd

from eds.benchmarks.benchmark import PAIR, Benchmark, Location, suspects_from_pairs, truth_from_pairs
from eds.benchmarks.files import plain_arrow, read_json
from eds.benchmarks.validate import Faults, check_path, missing_keys
from eds.benchmarks.votes_file import read_votes, write_votes
from eds.errors import InputError
from eds.images.readers.vsd import DOMAINS, read_parts
from eds.tables import BOX

MARKS_RANDOM = False
RULE = "imported vsd"
DO = "Nothing was imported. Correct the entries, or get the files again:"
ELSEWHERE = ("image_id", "role", "product_id", *BOX)  # columns that the files hold in another form


@dataclass(frozen=True)
class Files:
    """The files of one split."""

    metadata: Path
    annotations: Path
    seeds: Path | None = None
    manifest: Path | None = None

    def contents(self) -> dict[str, tuple[Path, Any]]:
        """Return every file there is, by its kind, with its content."""
        kinds = {
            "metadata": self.metadata,
            "seeds": self.seeds,
            "annotations": self.annotations,
            "manifest": self.manifest,
        }
        return {name: (file, read_json(file, exact=True)) for name, file in kinds.items() if file is not None}


def read(
    source: Path | None = None,
    *,
    metadata: Annotated[Path | None, "Images and products, if not SOURCE/metadata.json."] = None,
    annotations: Annotated[Path | None, "Labelled pairs, if not SOURCE/annotations.json."] = None,
    seeds: Annotated[Path | None, "Queries (default: the first image of each annotation)."] = None,
    manifest: Annotated[Path | None, "The images of a split (default: all)."] = None,
    votes: Annotated[Path | None, "Every vote, as an export writes it (votes.jsonl)."] = None,
    gallery_phases: Annotated[str, "Phases of the candidates, comma-separated (wild task)."] = "",
) -> Benchmark:
    """Read a folder with these file names, or the files themselves."""
    files = {"metadata": metadata, "annotations": annotations, "seeds": seeds, "manifest": manifest, "votes": votes}
    if source is not None:
        names = {name: source / f"{name}.{'jsonl' if name == 'votes' else 'json'}" for name in files}
        files = {name: file or (names[name] if names[name].is_file() else None) for name, file in files.items()}
    if missing := [name for name in ("metadata", "annotations") if files[name] is None]:
        hint = f"Give {' and '.join(f'--{name} FILE' for name in missing)}, or a folder with {missing[0]}.json."
        raise InputError(f"no file of {' or '.join(missing)}", where=str(source or "format vsd"), hint=hint)
    votes = files.pop("votes")
    contents = Files(**files).contents()  # type: ignore[arg-type]
    pairs, repeats = read_annotations(contents)
    phases = [phase.strip() for phase in gallery_phases.split(",") if phase.strip()]
    found = read_parts(contents, phases)
    notes = [note for note in found.notes if DOMAINS not in note]  # the check against the project reports these
    paths = [entry["path"] for entry in contents["metadata"][1]["images"]]
    if count := len(paths) - len(set(paths)):
        notes.append(f"{count:,} entries of the metadata are duplicates: each image counts once")
    if repeats:
        notes.append(f"{repeats:,} annotations repeat others: each pair counts once")
    queries = (found.images["role"] != "candidate").sum()
    if count := int(queries - pairs["query_id"].nunique()):
        notes += [f"{count:,} queries have no annotation"] if count > 0 else []
    frame, locations = None, {"images": Location(contents["metadata"][0])}
    if votes is not None:
        faults = Faults()
        frame, unknown = read_votes(votes, faults)
        faults.raise_any("the votes cannot be imported", "Nothing was imported. Rows count from 0:")
        notes, locations["votes"] = [*notes, *unknown], Location(votes)
    return Benchmark(
        found.images,
        truth_from_pairs(pairs, RULE),
        suspects_from_pairs(pairs),
        frame if frame is not None and len(frame) else None,
        locations=locations,
        notes=tuple(notes),
        excluded=frozenset(set(paths) - set(found.images["image_id"])),
    )


def read_annotations(contents: Mapping[str, tuple[Path, Any]]) -> tuple[pd.DataFrame, int]:
    """Return the labelled pairs (query_id, candidate_id, value), each once, and how many entries repeat others.

    All files (see Files.contents) are checked first; one error has all faults of all files.
    """
    faults = Faults()
    for name, (file, content) in contents.items():
        faults.add(file, _shape(name, content))
    faults.raise_any("wrong kind of file", "See the formats in eds/benchmarks/formats/vsd.py.")
    file, content = contents["metadata"]
    faults.add(file, _metadata(content["images"]))
    known = {entry["path"] for entry in content["images"] if isinstance(entry, dict) and _is_text(entry.get("path"))}
    if "seeds" in contents:
        file, content = contents["seeds"]
        faults.add(file, _named(((f"seed {number}", path) for number, path in enumerate(content["seeds"])), known))
    if "manifest" in contents:
        file, content = contents["manifest"]
        faults.add(file, _manifest(content["images"], known))
    file, content = contents["annotations"]
    rows: list[tuple[str, str, int]] = []
    faults.add(file, _annotations(content, known, rows))
    faults.raise_any("the files cannot be imported", DO)
    pairs = pd.DataFrame(rows, columns=[*PAIR, "value"])
    once = pairs.drop_duplicates().sort_values(PAIR, ignore_index=True)
    return once, len(pairs) - len(once)


def _shape(name: str, content: Any) -> Iterator[str]:
    """Yield what shows that the file is not of this kind at all."""
    if name == "annotations":
        if not isinstance(content, list):
            yield f'is {_kind(content)}, not a list: give [{{"key": [seed, candidate], "value": 0}}, ...]'
        elif not content:
            yield "holds no annotation"
        return
    key = "seeds" if name == "seeds" else "images"
    if not isinstance(content, dict):
        yield f"is {_kind(content)}, not an object with {key!r}"
    elif missing := missing_keys(content, [key]):
        yield from missing
    elif not isinstance(content[key], list):
        yield f"{key!r} is {_kind(content[key])}, not a list"
    elif not content[key] and name != "manifest":  # an empty manifest means the whole data set
        yield f"{key!r} is empty"


def _metadata(entries: list[Any]) -> Iterator[str]:
    seen: dict[str, tuple[int, Any]] = {}
    for number, entry in enumerate(entries):
        if not isinstance(entry, dict):
            yield f"image {number} is {_kind(entry)}, not an object"
            continue
        yield from (f"image {number} has {missing}" for missing in missing_keys(entry, ["id", "path"]))
        if "id" in entry and (isinstance(entry["id"], bool) or not isinstance(entry["id"], (str, int))):
            yield f"image {number} has id {entry['id']!r}: give text or a whole number"
        elif "id" in entry and isinstance(entry["id"], str) and not entry["id"].strip():
            yield f"image {number} has a blank id"
        if "path" in entry:
            path = entry["path"]
            yield from (f"image {number} has path {path!r}: {fault}" for fault in check_path(path))
            if _is_text(path):
                first, product = seen.setdefault(path, (number, entry.get("id")))
                if first != number and str(product) != str(entry.get("id")):
                    yield f"image {number} has path {path!r} as image {first} has, but another product"


def _named(paths: Iterator[tuple[str, Any]], known: set[str]) -> Iterator[str]:
    for name, path in paths:
        if not _is_text(path):
            yield f"{name} is {path!r}: give a path"
        elif path not in known:
            yield f"{name} {path!r} is not in the metadata: give the metadata of this split"


def _manifest(entries: list[Any], known: set[str]) -> Iterator[str]:
    for number, entry in enumerate(entries):
        if not isinstance(entry, dict):
            yield f"image {number} is {_kind(entry)}, not an object"
        elif missing := missing_keys(entry, ["path"]):
            yield f"image {number} has {missing[0]}"
        else:
            yield from _named(iter([(f"image {number}", entry["path"])]), known)


def _annotations(entries: list[Any], known: set[str], rows: list[tuple[str, str, int]]) -> Iterator[str]:
    """Yield the faults; valid entries are added to `rows`."""
    first: dict[tuple[str, str], tuple[int, int]] = {}
    for number, entry in enumerate(entries):
        if not isinstance(entry, dict):
            yield f"annotation {number} is {_kind(entry)}, not an object"
            continue
        missing = missing_keys(entry, ["key", "value"])
        yield from (f"annotation {number} has {text}" for text in missing)
        key, value = entry.get("key"), entry.get("value")
        bad = bool(missing)
        if "key" in entry and (not isinstance(key, list) or len(key) != 2 or not all(map(_is_text, key))):
            yield f"annotation {number} has key {key!r}: give [seed, candidate]"
            continue
        if "value" in entry and (isinstance(value, bool) or value not in (0, 1)):
            yield f"annotation {number} has value {value!r}: give 0 or 1; leave out what was not judged"
            bad = True
        if not isinstance(key, list):
            continue
        for name, path in zip(("seed", "candidate"), key, strict=True):
            if path not in known:
                yield f"annotation {number}: {name} {path!r} is not in the metadata: give the metadata of this split"
                bad = True
        if key[0] == key[1]:
            yield f"annotation {number} pairs {key[0]!r} with itself: leave it out"
            bad = True
        if bad:
            continue
        before, label = first.setdefault((key[0], key[1]), (number, 1 if value else 0))
        if label != value:
            yield f"annotation {number} gives {value} to {key!r}, annotation {before} gives {label}: keep one"
            continue
        rows.append((key[0], key[1], label))


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "text", bool: "true or false", int: "a number", float: "a number"}
    return names.get(type(value), "nothing")


def write(benchmark: Benchmark, folder: Path) -> list[str]:
    """Write the files, a manifest only where queries are not candidates; return what they cannot hold."""
    images, truth = benchmark.images, benchmark.truth
    if images is None or truth is None:
        raise InputError("there are no labels", where="truth.parquet", hint="Decide first: eds truth decide.")
    repeats = images.loc[images["path"].duplicated(), "path"]
    if len(repeats):
        what = f"{len(repeats):,} paths belong to several images, as {repeats.iloc[0]!r}"
        hint = "This format names an image by its path: give each a file of its own."
        raise InputError(what, where="images.parquet", hint=hint)
    not_held = []
    path_of = dict(zip(images["image_id"], images["path"], strict=True))
    renamed = int((images["image_id"] != images["path"]).sum())
    if renamed:
        not_held.append(f"{renamed:,} image ids: the path is the name")
    _dump(folder / "metadata.json", {"images": _entries(images)})
    _dump(folder / "seeds.json", {"seeds": images.loc[images["role"] != "candidate", "path"].tolist()})
    if (images["role"] == "query").any():
        candidates = images.loc[images["role"] != "query", "path"]
        _dump(folder / "manifest.json", {"images": [{"path": path} for path in candidates]})
    ordered = truth.sort_values(PAIR)
    sides = [ordered[name].map(path_of).fillna(ordered[name]) for name in PAIR]
    rows = zip(*sides, ordered["value"].tolist(), strict=True)
    _dump(
        folder / "annotations.json", [{"key": [query, candidate], "value": value} for query, candidate, value in rows]
    )
    votes = benchmark.votes
    if votes is not None and len(votes):
        named = {name: votes[name].map(path_of).fillna(votes[name]) for name in PAIR}
        write_votes(votes.assign(**named), folder / "votes.jsonl")
    if truth["votes_for"].sum() or truth["tie"].any():
        not_held.append("vote counts, ties and the rule behind each label (votes.jsonl has the votes)")
    if benchmark.suspects is not None and len(benchmark.suspects):
        not_held.append(f"{len(benchmark.suspects):,} suspects: origin, probability, sources, unlabelled pairs")
    if benchmark.runs:
        not_held.append(f"the lists of {len(benchmark.runs)} models")
    return [*not_held, "the pictures"]


def _entries(images: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the images as entries of the metadata: id is the product, bbox the box; missing values are left out."""
    plain = images.drop(columns=[name for name in ELSEWHERE if name in images])
    plain = plain.assign(id=images["product_id"])
    columns = ["id", "path", *(name for name in plain.columns if name not in ("id", "path"))]
    rows = plain_arrow(plain[columns]).to_pylist()
    boxes = images[BOX].astype("Int64").astype(object).where(images[BOX].notna(), None).to_numpy().tolist()
    for row, (left, top, right, bottom) in zip(rows, boxes, strict=True):
        if left is not None:
            row["bbox"] = {"x1": left, "y1": top, "x2": right, "y2": bottom}
    return [{name: value for name, value in row.items() if value is not None} for row in rows]


def _dump(file: Path, content: Any) -> None:
    file.write_text(json.dumps(content, ensure_ascii=False, allow_nan=False), encoding="utf-8")
