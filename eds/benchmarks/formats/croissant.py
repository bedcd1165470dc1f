"""Croissant 1.0: croissant.json that describes pairs.csv, images.csv, votes.csv, and the pictures where they go along.

What a Croissant export of another tool holds beyond these record sets is not read: the record sets pairs, images and
votes are found by their fields, whatever the files are called.
"""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from eds.benchmarks import pairs_file, picture_files, rows, votes_files
from eds.benchmarks.benchmark import VOTE_COLUMNS, Benchmark, Place
from eds.benchmarks.json_files import Faults, read_json
from eds.benchmarks.text_files import as_kinds, read_csv, write_csv
from eds.errors import InputError
from eds.files import digest
from eds.schema import to_arrow, to_frame
from eds.tables import IMAGES

CONTEXT: dict[str, Any] = {
    "@language": "en", "@vocab": "https://schema.org/", "citeAs": "cr:citeAs", "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "equivalentProperty": "cr:equivalentProperty", "samplingRate": "cr:samplingRate",
    "cr": "http://mlcommons.org/croissant/", "rai": "http://mlcommons.org/croissant/RAI/",
    "data": {"@id": "cr:data", "@type": "@json"}, "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/", "examples": {"@id": "cr:examples", "@type": "@json"}, "extract": "cr:extract",
    "field": "cr:field", "fileProperty": "cr:fileProperty", "fileObject": "cr:fileObject", "fileSet": "cr:fileSet",
    "format": "cr:format", "includes": "cr:includes", "isLiveDataset": "cr:isLiveDataset", "jsonPath": "cr:jsonPath",
    "key": "cr:key", "md5": "cr:md5", "parentField": "cr:parentField", "path": "cr:path", "recordSet": "cr:recordSet",
    "references": "cr:references", "regex": "cr:regex", "repeated": "cr:repeated", "replace": "cr:replace",
    "sc": "https://schema.org/", "separator": "cr:separator", "source": "cr:source", "subField": "cr:subField",
    "transform": "cr:transform",
}  # fmt: skip
TYPES = {"text": "sc:Text", "integer": "sc:Integer", "real": "sc:Float", "flag": "sc:Boolean", "time": "sc:DateTime"}
VOTES = {"value": "integer", "seconds": "real", "created_at": "time"}
DO = "Nothing was imported. Rows count from 0:"


def write(benchmark: Benchmark, folder: Path, *, pictures: bool) -> list[str]:
    """Write the description and its files; what they cannot hold."""
    if benchmark.images is None or (benchmark.truth is None and benchmark.suspects is None):
        raise InputError("there are no pairs", where="suspects.parquet", do="Find some first: eds suspects pool.")
    sources = picture_files.found(benchmark.images, benchmark.image_root) if pictures else None
    lost = pairs_file.write(benchmark, folder / "pairs.csv")
    write_csv(benchmark.images, folder / "images.csv")
    kinds = {
        "pairs": (pairs_file.COLUMNS, ["query_id", "candidate_id"]),
        "images": (_kinds(benchmark.images), ["image_id"]),
    }
    if benchmark.votes is not None and len(benchmark.votes):
        votes_files.write_votes(benchmark.votes, folder / "votes.csv")
        names = [name for name in VOTE_COLUMNS if name in benchmark.votes]
        kinds["votes"] = ({name: VOTES.get(name, "text") for name in names}, ["vote_id"])
    if sources is not None:
        for path, file in zip(benchmark.images["path"], sources, strict=True):
            target = folder / "images" / path
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, target)
    else:
        lost.append("the pictures: their paths only")
    if benchmark.runs:
        lost.append(f"the lists of {len(benchmark.runs)} models")
    described = _description(benchmark, folder, kinds, pictures=pictures)
    (folder / "croissant.json").write_text(json.dumps(described, ensure_ascii=False, indent=1), encoding="utf-8")
    return lost


def _kinds(frame: pd.DataFrame) -> dict[str, str]:
    own = {column.name: str(column.kind) for column in IMAGES.columns}
    dtypes = {"i": "integer", "u": "integer", "f": "real", "b": "flag"}
    return {
        str(name): own.get(str(name), dtypes.get(getattr(frame[name].dtype, "kind", "O"), "text")) for name in frame
    }


def _description(
    benchmark: Benchmark, folder: Path, kinds: Mapping[str, tuple[Mapping[str, str], list[str]]], *, pictures: bool
) -> dict[str, Any]:
    card = benchmark.card
    files: list[dict[str, Any]] = [
        {"@type": "cr:FileObject", "@id": f"{name}.csv", "name": f"{name}.csv", "contentUrl": f"{name}.csv",
         "encodingFormat": "text/csv", "sha256": digest(folder / f"{name}.csv")}
        for name in kinds
    ]  # fmt: skip
    if pictures:
        files.append({"@type": "cr:FileSet", "@id": "image-files", "name": "image-files", "includes": "images/**",
                      "encodingFormat": "image/*"})  # fmt: skip
    sets = [_record_set(name, columns, key) for name, (columns, key) in kinds.items()]
    told: dict[str, Any] = {
        "rai:dataCollection": _words(card.told.get("Collection", ())),
        "rai:dataAnnotationProtocol": _words([*card.told.get("Motivation", ()), *card.told.get("Agreement", ())]),
        "rai:annotationsPerItem": _words(card.told.get("Experts", ())),
        "rai:dataBiases": _words([*card.told.get("Known bias", ()), *card.told.get("Recall", ())]),
    }
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": card.name,
        "description": f"{card.name}: pairs of images and what experts say of their visual similarity. See README.md.",
        "license": card.licence or "not told",
        "url": "README.md" if not card.address else card.address,
        "version": card.version,
        "datePublished": card.made_on,
        "citeAs": card.citation or f"{card.name}, version {card.version}",
        **{name: text for name, text in told.items() if text},
        "distribution": files,
        "recordSet": sets,
    }


def _record_set(name: str, columns: Mapping[str, str], key: list[str]) -> dict[str, Any]:
    fields = [
        {"@type": "cr:Field", "@id": f"{name}/{column}", "name": f"{name}/{column}", "dataType": TYPES[kind],
         "source": {"fileObject": {"@id": f"{name}.csv"}, "extract": {"column": column}}}
        for column, kind in columns.items()
    ]  # fmt: skip
    keys: Any = [{"@id": f"{name}/{column}"} for column in key]
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "key": keys if len(keys) > 1 else keys[0],
        "field": fields,
    }


def _words(sentences: Any) -> str:
    return " ".join(str(one) for one in sentences)


def read(place: Path) -> Benchmark:
    """An exported folder, or its croissant.json: pairs, images and votes of the record sets."""
    file = place / "croissant.json" if place.is_dir() else place
    content = read_json(file)
    if not isinstance(content, dict) or "recordSet" not in content:
        raise InputError("describes no record sets", where=str(file), do="Give a Croissant 1.0 file.")
    faults = Faults()
    files = _files(content, file, faults)
    faults.refuse("the files cannot be imported", DO)
    if "pairs" not in files:
        raise InputError("no record set has query_id, candidate_id and value", where=str(file),
                         do="Describe the pairs as eds exports them.")  # fmt: skip
    truth, suspects, notes = pairs_file.read(files["pairs"], "imported croissant", faults)
    places = {name: Place(files["pairs"]) for name in ("truth", "suspects")}
    images = None
    if "images" in files:
        images = _images(files["images"], _declared(content), faults)
        places["images"] = Place(files["images"])
    votes = None
    if "votes" in files:
        votes, places["votes"] = read_csv(files["votes"]), Place(files["votes"])
    faults.refuse("the files cannot be imported", DO)
    return Benchmark(images, truth, suspects, votes, places=places, notes=tuple(notes))


def _files(content: dict[str, Any], file: Path, faults: Faults) -> dict[str, Path]:
    """Which local file holds pairs, images and votes, by the columns that the record sets take from it."""
    addresses = {
        one.get("@id"): one.get("contentUrl") for one in content.get("distribution", []) if isinstance(one, dict)
    }
    found: dict[str, Path] = {}
    for number, one in enumerate(content["recordSet"]):
        fields = one.get("field", []) if isinstance(one, dict) else []
        sources = [field.get("source", {}) for field in fields if isinstance(field, dict)]
        columns = {source.get("extract", {}).get("column") for source in sources}
        objects = {(source.get("fileObject") or {}).get("@id") for source in sources}
        kind = ("votes" if {"query_id", "expert_id", "value"} <= columns
                else "pairs" if {"query_id", "candidate_id", "value"} <= columns
                else "images" if {"image_id", "path"} <= columns else "")  # fmt: skip
        if not kind:
            continue
        address = addresses.get(next(iter(objects))) if len(objects) == 1 else None
        if wrong := rows.path_faults(address):
            faults.add(file, (f"record set {number} has file {address!r}: {told}" for told in wrong))
        elif not (file.parent / str(address)).is_file():
            faults.add(file, [f"record set {number} has file {address!r}, which is missing: put it beside {file.name}"])
        else:
            found[kind] = file.parent / str(address)
    return found


def _declared(content: dict[str, Any]) -> dict[str, str]:
    """The kind of each column by the fields' data types, for columns of the catalogue that are nobody's but its own."""
    kinds = {name: kind for kind, name in TYPES.items() if kind != "time"}
    fields = [field for one in content["recordSet"] if isinstance(one, dict) for field in one.get("field", [])]
    told = {field.get("source", {}).get("extract", {}).get("column"): str(field.get("dataType")) for field in fields
            if isinstance(field, dict)}  # fmt: skip
    return {str(column): kinds[name] for column, name in told.items() if name in kinds}


def _images(file: Path, declared: dict[str, str], faults: Faults) -> pd.DataFrame | None:
    frame, place = read_csv(file), Place(file)
    if not rows.columns(frame, ["image_id", "path", "product_id", "role"], place, faults):
        return None
    rows.ids(frame, ["image_id", "product_id"], place, faults)
    rows.paths(frame, place, faults)
    further = {str(name): declared.get(str(name), "text") for name in frame}
    frame = as_kinds(frame, further | {column.name: str(column.kind) for column in IMAGES.columns}, file, faults)
    return None if faults.any() else to_frame(to_arrow(frame, IMAGES, str(file)))
