"""Croissant 1.0: CSV files with a description, and pictures.

croissant.json describes pairs.csv, images.csv and votes.csv. Of other tools' Croissant files only record sets with
these columns are read: they are found by their fields, whatever the files are called.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
from pydantic import BaseModel, Field

from eds.benchmarks import pairs_file
from eds.benchmarks.benchmark import PAIR, VOTE_COLUMNS, Benchmark, Location
from eds.benchmarks.files import convert_columns, read_csv, read_json, write_csv
from eds.benchmarks.pictures import ExportedPictures, KeepMetadata
from eds.benchmarks.validate import Faults, check_columns, check_ids, check_path, check_paths
from eds.benchmarks.votes_file import write_votes
from eds.errors import InputError
from eds.io.files import digest
from eds.io.reading import shaped
from eds.schema import to_arrow, to_frame
from eds.tables import IMAGES

SCHEMA_TERMS = (
    *("citeAs", "column", "equivalentProperty", "samplingRate", "extract", "field", "fileProperty", "fileObject"),
    *("fileSet", "format", "includes", "isLiveDataset", "jsonPath", "key", "md5", "parentField", "path", "recordSet"),
    *("references", "regex", "repeated", "replace", "separator", "source", "subField", "transform"),
)
CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "sc": "https://schema.org/",
    **{term: f"cr:{term}" for term in SCHEMA_TERMS},
}


class _Reference(BaseModel):
    id: str = Field(alias="@id")


class _Extract(BaseModel):
    column: str | None = None


class _Origin(BaseModel):
    fileObject: _Reference | None = None  # noqa: N815 - the format's name
    extract: _Extract = _Extract()


class _Field(BaseModel):
    dataType: str | list[str] | None = None  # noqa: N815 - the format's name
    source: _Origin = _Origin()


class _RecordSet(BaseModel):
    field: list[_Field] | _Field = []


class _Resource(BaseModel):
    id: str | None = Field(None, alias="@id")
    contentUrl: str | None = None  # noqa: N815 - the format's name


class _Description(BaseModel):
    """As much of a Croissant description as is read here."""

    distribution: list[_Resource] = []
    recordSet: list[_RecordSet]  # noqa: N815 - the format's name


TYPES = {"text": "sc:Text", "integer": "sc:Integer", "real": "sc:Float", "flag": "sc:Boolean", "time": "sc:DateTime"}
PICTURES = "images"  # the folder beside the description
VOTE_KINDS = {"value": "integer", "seconds": "real", "created_at": "time"}


def write(
    benchmark: Benchmark,
    folder: Path,
    *,
    no_images: Annotated[bool, "Write paths instead of pictures."] = False,
    keep_metadata: KeepMetadata = False,
) -> list[str]:
    """Write the description and its files; return what they cannot hold."""
    images = pairs_file.require_pairs(benchmark)
    pictures = None if no_images else ExportedPictures(images, benchmark.image_root, keep_metadata)
    kinds, not_held = pairs_file.write_pairs(benchmark, folder / "pairs.csv"), []
    if pictures is not None:
        for row, path in enumerate(images["path"]):
            target = folder / PICTURES / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(pictures.read(row))
        images = pictures.exported_digests(images)
        not_held += pictures.write_manifest(folder)
    write_csv(images, folder / "images.csv")
    sets = {"pairs": (kinds, PAIR), "images": (_kinds(images), ["image_id"])}
    if benchmark.votes is not None and len(benchmark.votes):
        write_votes(benchmark.votes, folder / "votes.csv")
        names = [name for name in VOTE_COLUMNS if name in benchmark.votes]
        sets["votes"] = ({name: VOTE_KINDS.get(name, "text") for name in names}, ["vote_id"])
    if pictures is None:
        not_held.append("the pictures: their paths only")
    if benchmark.runs:
        not_held.append(f"the lists of {len(benchmark.runs)} models")
    description = _describe(benchmark, folder, sets, pictures=pictures is not None)
    (folder / "croissant.json").write_text(json.dumps(description, ensure_ascii=False, indent=1), encoding="utf-8")
    return not_held


def _kinds(frame: pd.DataFrame) -> dict[str, str]:
    declared = {column.name: str(column.kind) for column in IMAGES.columns}
    dtypes = {"i": "integer", "u": "integer", "f": "real", "b": "flag"}
    kinds = {str(name): dtypes.get(getattr(frame[name].dtype, "kind", "O"), "text") for name in frame}
    return {name: declared.get(name, kind) for name, kind in kinds.items()}


def _describe(
    benchmark: Benchmark, folder: Path, sets: Mapping[str, tuple[Mapping[str, str], list[str]]], *, pictures: bool
) -> dict[str, Any]:
    card = benchmark.card
    files: list[dict[str, Any]] = [
        {
            "@type": "cr:FileObject",
            "@id": f"{name}.csv",
            "name": f"{name}.csv",
            "contentUrl": f"{name}.csv",
            "encodingFormat": "text/csv",
            "sha256": digest(folder / f"{name}.csv"),
        }
        for name in sets
    ]
    if pictures:
        names = {"@id": "image-files", "name": "image-files"}
        files.append({"@type": "cr:FileSet", **names, "includes": f"{PICTURES}/**", "encodingFormat": "image/*"})
    responsible_ai = {
        "rai:dataCollection": ["Collection"],
        "rai:dataAnnotationProtocol": ["Motivation", "Agreement"],
        "rai:annotationsPerItem": ["Experts"],
        "rai:dataBiases": ["Known bias", "Recall"],
    }
    texts = {
        name: " ".join(text for section in sections for text in card.statements.get(section, ()))
        for name, sections in responsible_ai.items()
    }
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": card.name,
        "description": f"{card.name}: pairs of images and experts' judgements of their similarity. See README.md.",
        "license": card.licence or "not stated",
        "url": card.address or "README.md",
        "version": card.version,
        "datePublished": card.made_on,
        "citeAs": card.citation or f"{card.name}, version {card.version}",
        **{name: text for name, text in texts.items() if text},
        "distribution": files,
        "recordSet": [_record_set(name, columns, key) for name, (columns, key) in sets.items()],
    }


def _record_set(name: str, columns: Mapping[str, str], key: list[str]) -> dict[str, Any]:
    fields = [
        {
            "@type": "cr:Field",
            "@id": f"{name}/{column}",
            "name": f"{name}/{column}",
            "dataType": TYPES[kind],
            "source": {"fileObject": {"@id": f"{name}.csv"}, "extract": {"column": column}},
        }
        for column, kind in columns.items()
    ]
    keys: Any = [{"@id": f"{name}/{column}"} for column in key]
    keys = keys if len(keys) > 1 else keys[0]
    return {"@type": "cr:RecordSet", "@id": name, "name": name, "key": keys, "field": fields}


def read(source: Path) -> Benchmark:
    """Read the record sets pairs, images and votes of an exported folder, or of its croissant.json."""
    file = source / "croissant.json" if source.is_dir() else source
    content = read_json(file)
    if not isinstance(content, dict) or "recordSet" not in content:
        raise InputError("describes no record sets", where=str(file), hint="Give a Croissant 1.0 file.")
    shaped(_Description, content, file, "Give a Croissant 1.0 file.")
    failed, hint = "the files cannot be imported", "Nothing was imported. Rows count from 0:"
    faults = Faults()
    files = _files(content, file, faults)
    faults.raise_any(failed, hint)
    if "pairs" not in files:
        what = "no record set has query_id, candidate_id and value"
        raise InputError(what, where=str(file), hint="Describe the pairs as eds exports them.")
    truth, suspects, notes = pairs_file.read_pairs(files["pairs"], "imported croissant", faults)
    locations = {name: Location(files["pairs"]) for name in ("truth", "suspects")}
    images = votes = None
    if "images" in files:
        images = _images(files["images"], _declared(content), faults)
        locations["images"] = Location(files["images"])
    if "votes" in files:
        votes, locations["votes"] = read_csv(files["votes"]), Location(files["votes"])
    faults.raise_any(failed, hint)
    pictures = file.parent / PICTURES
    return Benchmark(
        images,
        truth,
        suspects,
        votes,
        locations=locations,
        notes=tuple(notes),
        picture_folder=pictures if pictures.is_dir() else None,
    )


def _fields(record_set: Any) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Return each field of a record set with its source."""
    fields = record_set.get("field", []) if isinstance(record_set, dict) else []
    return [(field, field.get("source", {})) for field in fields if isinstance(field, dict)]


def _files(content: dict[str, Any], file: Path, faults: Faults) -> dict[str, Path]:
    """Return the local file of pairs, images and votes, by the columns that record sets take from it."""
    entries = [entry for entry in content.get("distribution", []) if isinstance(entry, dict)]
    addresses = {entry.get("@id"): entry.get("contentUrl") for entry in entries}
    files: dict[str, Path] = {}
    for number, record_set in enumerate(content["recordSet"]):
        sources = [source for _, source in _fields(record_set)]
        columns = {source.get("extract", {}).get("column") for source in sources}
        objects = {(source.get("fileObject") or {}).get("@id") for source in sources}
        if columns >= {"query_id", "expert_id", "value"}:
            kind = "votes"
        elif columns >= {"query_id", "candidate_id", "value"}:
            kind = "pairs"
        elif columns >= {"image_id", "path"}:
            kind = "images"
        else:
            continue
        address = addresses.get(next(iter(objects))) if len(objects) == 1 else None
        where = f"record set {number} has file {address!r}"
        if wrong := check_path(address):
            faults.add(file, (f"{where}: {fault}" for fault in wrong))
        elif not (file.parent / str(address)).is_file():
            faults.add(file, [f"{where}, which is missing: put it beside {file.name}"])
        else:
            files[kind] = file.parent / str(address)
    return files


def _declared(content: dict[str, Any]) -> dict[str, str]:
    """Return the kind of each column by the fields' data types, for further columns of the catalogue."""
    kinds = {name: kind for kind, name in TYPES.items() if kind != "time"}
    fields = [pair for record_set in content["recordSet"] for pair in _fields(record_set)]
    declared = {source.get("extract", {}).get("column"): str(field.get("dataType")) for field, source in fields}
    return {str(column): kinds[name] for column, name in declared.items() if name in kinds}


def _images(file: Path, declared: dict[str, str], faults: Faults) -> pd.DataFrame | None:
    frame, at = read_csv(file), Location(file)
    if not check_columns(frame, ["image_id", "path", "product_id", "role"], at, faults):
        return None
    check_ids(frame, ["image_id", "product_id"], at, faults)
    check_paths(frame, at, faults)
    kinds = {str(name): declared.get(str(name), "text") for name in frame}
    frame = convert_columns(frame, kinds | {column.name: str(column.kind) for column in IMAGES.columns}, file, faults)
    return None if faults else to_frame(to_arrow(frame, IMAGES, str(file)))
