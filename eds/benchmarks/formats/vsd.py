"""VSD-Fashion's raw files as a benchmark: what they must be like, and their annotations as decided labels.

    metadata     {"images": [{"id": product, "path": ..., "phase": ..., ...}]}
    seeds        {"seeds": [path, ...]}
    annotations  [{"key": [seed, candidate], "value": 0|1}, ...]
    manifest     {"images": [{"path": ...}, ...]}

Every fault of every file is told at once, with the entry it stands in; entries count from 0. Not here: how
metadata become the table images (that is the reader of the catalogue, which knows boxes and roles).
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from eds.benchmarks.json_files import Faults, read_json, wrong_keys
from eds.benchmarks.rows import path_faults
from eds.schema import to_arrow, to_frame
from eds.tables import SUSPECTS, TRUTH

RULE = "imported vsd"
DO = "Nothing was imported. Mend the entries, or get the files again:"


@dataclass(frozen=True)
class Files:
    """The files of one split."""

    metadata: Path
    annotations: Path
    seeds: Path | None = None
    manifest: Path | None = None

    def contents(self) -> dict[str, tuple[Path, Any]]:
        """Every file that is given, by its kind, with what it holds."""
        given = {"metadata": self.metadata, "seeds": self.seeds, "annotations": self.annotations,
                 "manifest": self.manifest}  # fmt: skip
        return {name: (file, read_json(file, exact=True)) for name, file in given.items() if file is not None}


@dataclass(frozen=True, eq=False)
class Annotations:
    """The labelled pairs, each once, in the order of their ids."""

    pairs: pd.DataFrame  # query_id, candidate_id, value
    repeated: int  # entries that said again what another one had said

    def truth(self) -> pd.DataFrame:
        """As table truth. Whose votes stand behind a label the files do not tell: all counts are 0."""
        votes = dict.fromkeys(("votes_for", "votes_against", "unsure"), 0)
        return to_frame(to_arrow(self.pairs.assign(**votes, tie=False, rule=RULE), TRUTH))

    def suspects(self) -> pd.DataFrame:
        """As table suspects: the benchmark's pool as far as it was judged. Which model proposed what is not told."""
        rows = self.pairs[["query_id", "candidate_id"]].assign(
            origin="pool", batch=0, position=range(len(self.pairs)), sources=None, stratum="imported", probability=1.0
        )
        return to_frame(to_arrow(rows, SUSPECTS))

    def outside(self, queries: Collection[str], candidates: Collection[str]) -> dict[str, int]:
        """Labelled pairs that no list can hold, by the reason: counted by every measure, and told."""
        asked = self.pairs["query_id"].isin(list(queries))
        offered = self.pairs["candidate_id"].isin(list(candidates))
        return {
            "pairs whose first image is no query": int((~asked).sum()),
            "pairs whose second image is no candidate": int((~offered).sum()),
        }


def read_annotations(contents: Mapping[str, tuple[Path, Any]]) -> Annotations:
    """The labels of the annotations, after all the files (see Files.contents) were found sound.

    Otherwise one error tells all faults of all files.
    """
    faults = Faults()
    for name, (file, content) in contents.items():
        faults.add(file, _shape(name, content))
    faults.refuse("are not the files they are given as", "Look at the formats: eds benchmarks import vsd --help.")
    file, content = contents["metadata"]
    faults.add(file, _metadata(content["images"]))
    known = {entry["path"] for entry in content["images"] if isinstance(entry, dict) and _text(entry.get("path"))}
    if "seeds" in contents:
        file, content = contents["seeds"]
        faults.add(file, _named(((f"seed {n}", path) for n, path in enumerate(content["seeds"])), known))
    if "manifest" in contents:
        file, content = contents["manifest"]
        faults.add(file, _manifest(content["images"], known))
    file, content = contents["annotations"]
    rows: list[tuple[str, str, int]] = []
    faults.add(file, _annotations(content, known, rows))
    faults.refuse("the files cannot be imported", DO)
    pairs = pd.DataFrame(rows, columns=["query_id", "candidate_id", "value"])
    once = pairs.drop_duplicates().sort_values(["query_id", "candidate_id"], ignore_index=True)
    return Annotations(once, len(pairs) - len(once))


def _shape(name: str, content: Any) -> Iterator[str]:
    """What tells that the file is not of this kind at all."""
    if name == "annotations":
        if not isinstance(content, list):
            yield f'is no list but {_kind(content)}: give [{{"key": [seed, candidate], "value": 0}}, ...]'
        elif not content:
            yield "holds not one annotation"
        return
    key = "seeds" if name == "seeds" else "images"
    if not isinstance(content, dict):
        yield f"is no object with {key!r} but {_kind(content)}"
    elif wrong := wrong_keys(content, [key]):
        yield from wrong
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
        yield from (f"image {number} has {told}" for told in wrong_keys(entry, ["id", "path"]))
        if "id" in entry and (isinstance(entry["id"], bool) or not isinstance(entry["id"], (str, int))):
            yield f"image {number} has id {entry['id']!r}: give text or a whole number"
        elif "id" in entry and isinstance(entry["id"], str) and not entry["id"].strip():
            yield f"image {number} has a blank id"
        if "path" in entry:
            path = entry["path"]
            yield from (f"image {number} has path {path!r}: {told}" for told in path_faults(path))
            if _text(path):
                first, product = seen.setdefault(path, (number, entry.get("id")))
                if first != number and str(product) != str(entry.get("id")):
                    yield f"image {number} has path {path!r} as image {first} has, but another product"


def _named(paths: Iterator[tuple[str, Any]], known: set[str]) -> Iterator[str]:
    for place, path in paths:
        if not _text(path):
            yield f"{place} is {path!r}: give a path"
        elif path not in known:
            yield f"{place} {path!r} is not in the metadata: give those of this split"


def _manifest(entries: list[Any], known: set[str]) -> Iterator[str]:
    for number, entry in enumerate(entries):
        if not isinstance(entry, dict):
            yield f"image {number} is {_kind(entry)}, not an object"
        elif wrong := wrong_keys(entry, ["path"]):
            yield f"image {number} has {wrong[0]}"
        else:
            yield from _named(iter([(f"image {number}", entry["path"])]), known)


def _annotations(entries: list[Any], known: set[str], rows: list[tuple[str, str, int]]) -> Iterator[str]:
    """The faults; sound entries are put into `rows`."""
    first: dict[tuple[str, str], tuple[int, int]] = {}
    for number, entry in enumerate(entries):
        if not isinstance(entry, dict):
            yield f"annotation {number} is {_kind(entry)}, not an object"
            continue
        wrong = wrong_keys(entry, ["key", "value"])
        yield from (f"annotation {number} has {told}" for told in wrong)
        key, value = entry.get("key"), entry.get("value")
        bad = bool(wrong)
        if "key" in entry and (not isinstance(key, list) or len(key) != 2 or not all(map(_text, key))):
            yield f"annotation {number} has key {key!r}: give [seed, candidate]"
            continue
        if "value" in entry and (isinstance(value, bool) or value not in (0, 1)):
            yield f"annotation {number} has value {value!r}: give 0 or 1; leave out what was not judged"
            bad = True
        if not isinstance(key, list):
            continue
        for place, path in zip(("seed", "candidate"), key, strict=True):
            if path not in known:
                yield f"annotation {number}: {place} {path!r} is not in the metadata: give those of this split"
                bad = True
        if key[0] == key[1]:
            yield f"annotation {number} is {key[0]!r} with itself: leave it out"
            bad = True
        if bad:
            continue
        before, said = first.setdefault((key[0], key[1]), (number, 1 if value else 0))
        if said != value:
            yield f"annotation {number} says {value} of {key!r}, annotation {before} says {said}: decide for one"
            continue
        rows.append((key[0], key[1], said))


def _text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "text", bool: "true or false", int: "a number", float: "a number"}
    return names.get(type(value), "nothing")
