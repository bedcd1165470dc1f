"""Hugging Face data set in MTEB's layout, with pictures.

A folder of Parquet that `datasets` loads without a network, and that MTEB evaluates as it is:

    corpus, queries   id, image {bytes, path}
    qrels             query-id, corpus-id, score: the labels that models are measured on
    top_ranked        query-id, corpus-ids: the judged candidates of each query, which MTEB re-ranks
    images, truth     as the tables: the catalogue, and every decided label
    suspects, votes   as the tables; runs: all models' lists

Each is a configuration with the split test. MTEB refuses a missing value anywhere in corpus or queries, counts a query
without a positive as 0, and cannot tell labels of random pairs from others: so corpus and queries hold pictures only,
qrels and top_ranked neither such queries nor such labels. For reading, corpus, queries and qrels suffice, as in MTEB's
own sets; where there are images and truth, these count.
"""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from eds.benchmarks.benchmark import PAIR, VOTE_COLUMNS, Benchmark, Location, suspects_from_pairs, truth_from_pairs
from eds.benchmarks.card import quote
from eds.benchmarks.files import AGAIN
from eds.benchmarks.pictures import ExportedPictures, KeepMetadata
from eds.benchmarks.validate import (
    MOST,
    Faults,
    check_columns,
    check_ids,
    check_paths,
    check_scalars,
    check_unique,
    ids_as_text,
    to_labels,
)
from eds.benchmarks.votes_file import check_votes
from eds.errors import InputError
from eds.schema import to_arrow, to_frame
from eds.suspects import benchmark_labels
from eds.tables import IMAGES, NEIGHBORS, SUSPECTS, TRUTH

SHARD = "test-00000-of-00001.parquet"
RULE = "imported hf"
PARTS = ("corpus", "queries", "qrels", "images", "truth", "suspects", "votes", "runs")
ID_OF = {"images": "image_id", "corpus": "id", "queries": "id"}
DECISION = ["votes_for", "votes_against", "unsure", "tie", "rule"]
PICTURE = pa.struct([pa.field("bytes", pa.binary()), pa.field("path", pa.string())])
BATCH = 64  # pictures held in memory at once
SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"), (10**7, "1M<n<10M"))
KNOWN_LICENCES = {
    *("apache-2.0", "mit", "cc0-1.0", "cc-by-4.0", "cc-by-sa-4.0", "cc-by-nc-4.0", "cc-by-nc-sa-4.0"),
    *("cc-by-nd-4.0", "cc-by-nc-nd-4.0", "odbl", "openrail", "unknown"),
}


def write(
    benchmark: Benchmark,
    folder: Path,
    *,
    no_images: Annotated[bool, "Write paths instead of pictures."] = False,
    keep_metadata: KeepMetadata = False,
) -> list[str]:
    """Write the configurations, and README.md with the front matter; return what they cannot hold."""
    images, truth = benchmark.images, benchmark.truth
    if images is None or truth is None:
        raise InputError("there are no labels", where="truth.parquet", hint="Decide first: eds truth decide.")
    not_held = ["the pictures: their paths only"] if no_images else []
    pictures = None if no_images else ExportedPictures(images, benchmark.image_root, keep_metadata)
    for name, other in (("corpus", "query"), ("queries", "candidate")):
        part = images.loc[images["role"] != other, ["image_id", "path"]]
        _write_pictures(part, np.flatnonzero(images["role"] != other), pictures, _shard(folder, name))
    if pictures is not None:
        not_held += pictures.write_manifest(folder)
        images = pictures.exported_digests(images)
    ordered = truth.sort_values(PAIR)
    measured = _measured(ordered, benchmark.suspects)
    qrels = measured.set_axis(["query-id", "corpus-id", "score"], axis=1)
    tables = {"qrels": pa.Table.from_pandas(qrels, preserve_index=False)}
    ranked = measured.groupby("query_id", sort=True)["candidate_id"].agg(list)
    candidates = pa.array(ranked.tolist(), pa.list_(pa.string()))
    tables["top_ranked"] = pa.table({"query-id": pa.array(ranked.index, pa.string()), "corpus-ids": candidates})
    tables["images"], as_text = _plain_images(images)
    tables["truth"] = to_arrow(ordered, TRUTH)
    if benchmark.suspects is not None:
        tables["suspects"] = to_arrow(benchmark.suspects, SUSPECTS)
    if benchmark.votes is not None and len(benchmark.votes):
        tables["votes"] = pa.Table.from_pandas(benchmark.votes, preserve_index=False)
    for name, table in tables.items():
        _write_tables([_without_empty_columns(table)], _shard(folder, name))
    names = ["corpus", "queries", *tables]
    if benchmark.runs:
        names.append("runs")
        parts = (part for model in benchmark.runs for part in benchmark.run_parts(model))
        _write_tables((to_arrow(part, NEIGHBORS) for part in parts), _shard(folder, "runs"))
    (folder / "README.md").write_text(front_matter(benchmark, names), encoding="utf-8")
    return [*not_held, *as_text]


def _measured(truth: pd.DataFrame, suspects: pd.DataFrame | None) -> pd.DataFrame:
    """Return the labels that models are measured on: no random pairs, no query without a positive."""
    labels = benchmark_labels(truth, suspects)[[*PAIR, "value"]]
    return labels[labels["query_id"].isin(labels.loc[labels["value"] == 1, "query_id"])]


def _without_empty_columns(table: pa.Table) -> pa.Table:
    """Return the table without columns that hold nothing: readers take their type for a fault."""
    full = [name for name in table.column_names if not len(table) or table.column(name).null_count < len(table)]
    return table.select(full)


def _write_tables(parts: Iterable[pa.Table], file: Path) -> None:
    """Write tables of one schema into one file, one after the other."""
    writer: pq.ParquetWriter | None = None
    try:
        for table in parts:
            plain = table.cast(pa.schema([_plain_field(field) for field in table.schema])).replace_schema_metadata(None)
            if writer is None:
                schema = plain.schema.with_metadata(_features(plain.schema))
                writer = pq.ParquetWriter(file, schema, compression="zstd")
            writer.write_table(plain.replace_schema_metadata(writer.schema.metadata))
    finally:
        if writer is not None:
            writer.close()


def _plain_field(field: pa.Field) -> pa.Field:
    kind = pa.string() if pa.types.is_large_string(field.type) or pa.types.is_null(field.type) else field.type
    return pa.field(field.name, pa.timestamp("us", "UTC") if pa.types.is_timestamp(kind) else kind)


def _shard(folder: Path, name: str) -> Path:
    (folder / name).mkdir()
    return folder / name / SHARD


def _features(schema: pa.Schema) -> dict[str, str]:
    """Return the schema's metadata by which `datasets` knows the columns."""
    features = {field.name: _feature(field.type) for field in schema}
    return {"huggingface": json.dumps({"info": {"features": features}})}


def _feature(kind: pa.DataType) -> dict[str, Any]:
    if kind == PICTURE:
        return {"_type": "Image"}
    if pa.types.is_list(kind):
        return {"_type": "List", "feature": _feature(kind.value_type)}
    names = {pa.float64(): "float64", pa.float32(): "float32", pa.timestamp("us", "UTC"): "timestamp[us, tz=UTC]"}
    return {"dtype": names.get(kind, str(kind)), "_type": "Value"}


def _plain_images(images: pd.DataFrame) -> tuple[pa.Table, list[str]]:
    """Return the images as Arrow, columns without a plain feature as text; and which these are."""
    table = pa.Table.from_pandas(images, preserve_index=False).replace_schema_metadata(None)
    as_text = []
    for index, field in enumerate(table.schema):
        kind = field.type
        plain = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)
        if plain or pa.types.is_string(kind):
            continue
        if not (pa.types.is_large_string(kind) or pa.types.is_null(kind)):
            as_text.append(f"the type of column {field.name} ({kind}): its values are written as text")
            texts = [None if value is None else str(value) for value in table.column(index).to_pylist()]
            table = table.set_column(index, field.name, pa.array(texts, pa.string()))
        table = table.set_column(index, field.name, table.column(index).cast(pa.string()))
    return table, as_text


def _write_pictures(
    images: pd.DataFrame, rows: npt.NDArray[np.int64], pictures: ExportedPictures | None, target: Path
) -> None:
    """Write ids and pictures, a batch at a time; without pictures paths only. `rows` are those of the catalogue."""
    plain = pa.schema([pa.field("id", pa.string()), pa.field("image", PICTURE)])
    schema = plain.with_metadata(_features(plain))
    ids, paths = images["image_id"].tolist(), images["path"].tolist()
    batch = BATCH if pictures is not None else max(len(ids), 1)
    with pq.ParquetWriter(target, schema, compression="zstd") as writer:
        for start in range(0, max(len(ids), 1), batch):
            part = slice(start, start + batch)
            data = [None if pictures is None else pictures.read(row) for row in rows[part].tolist()]
            content = [{"bytes": one, "path": path} for one, path in zip(data, paths[part], strict=True)]
            writer.write_table(pa.table([pa.array(ids[part], pa.string()), pa.array(content, PICTURE)], schema=schema))


def front_matter(benchmark: Benchmark, names: Sequence[str]) -> str:
    """Return the YAML by which a hub and `datasets` know the data set; every text is quoted."""
    card = benchmark.card
    pairs = 0 if benchmark.truth is None else len(benchmark.truth)
    size = next((text for most, text in SIZES if pairs < most), "n>10M")
    licence = card.licence.lower()
    lines = ["---", f"pretty_name: {quote(card.name)}"]
    lines += [f"license: {licence}"] if licence in KNOWN_LICENCES else ["license: other"]
    lines += [f"license_name: {quote(card.licence)}"] if licence and licence not in KNOWN_LICENCES else []
    lines += ["task_categories:", "- image-feature-extraction", "annotations_creators:", "- expert-generated"]
    lines += ["size_categories:", f"- {size}"]
    lines += ["tags:", "- visual-similarity", "- image-retrieval", "- mteb", "configs:"]
    for name in names:
        lines += [f"- config_name: {name}", "  data_files:", "  - split: test", f"    path: {name}/test-*"]
        lines += ["  default: true"] if name == "qrels" else []
    return "\n".join([*lines, "---", "", ""])


def read(source: Path) -> Benchmark:
    """Read a data set's folder; pictures in it are only named, see unpacked_pictures."""
    if not source.is_dir():
        raise InputError("is not a folder", where=str(source), hint="Give the folder of the data set.")
    faults = Faults()
    notes: list[str] = []
    parts, at = {}, {}
    for name in PARTS:
        if found := _shards(source, name):
            at[name] = Location(found[0] if len(found) == 1 else source / name)
            parts[name] = pd.concat([_read_shard(file) for file in found], ignore_index=True)
    if missing := [name for name in ("corpus", "queries", "qrels") if name not in parts]:
        hint = "Give a folder in MTEB's layout: corpus/, queries/, qrels/ with Parquet."
        raise InputError(f"has no {', no '.join(missing)}", where=str(source), hint=hint)
    images = _images(_with_catalogue(parts), at, faults, notes)
    truth, suspects = _truth(parts["qrels"], at["qrels"], faults, notes), None
    if "truth" in parts:
        decided = parts["truth"].rename(columns={"query_id": "query-id", "candidate_id": "corpus-id", "value": "score"})
        measured, truth = truth, _truth(decided, at["truth"], faults, notes)
        if measured is not None and truth is not None:
            _check_same(measured, truth, at["qrels"], faults)
    votes = _votes(parts["votes"], at["votes"], faults, notes) if "votes" in parts else None
    faults.raise_any("the data set cannot be imported", "Nothing was imported. Rows count from 0:")
    if "suspects" in parts:
        suspects = to_frame(to_arrow(parts["suspects"], SUSPECTS, str(at["suspects"].file)))
    elif truth is not None:
        suspects = suspects_from_pairs(truth)
    runs = {}
    if "runs" in parts:
        every = to_frame(to_arrow(parts["runs"], NEIGHBORS, str(at["runs"].file)))
        runs = {str(model): run for model, run in every.groupby("model", sort=True)}
        at |= {f"run of {model}": at["runs"] for model in runs}
    folders = (folder.name for folder in source.iterdir() if folder.is_dir() and _shards(source, folder.name))
    if unknown := sorted(set(folders) - {*PARTS, "top_ranked"}):
        notes.append(f"unknown folders {', '.join(unknown)} are ignored")
    shards = tuple(file for name in ("corpus", "queries") for file in _shards(source, name))
    locations = {**at, "images": at["corpus"], "truth": at.get("truth", at["qrels"])}
    return Benchmark(
        images, truth, suspects, votes, runs, locations=locations, notes=tuple(notes), picture_shards=shards
    )


def _with_catalogue(parts: dict[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """Return the parts, corpus and queries with the columns that the catalogue has of their images."""
    named = {
        name: ids_as_text(parts[name].get(key, pd.Series(dtype=object))) for name, key in ID_OF.items() if name in parts
    }
    if "images" not in parts or not all(ids.map(lambda one: isinstance(one, str)).all() for ids in named.values()):
        return parts
    catalogue = parts["images"].assign(image_id=named["images"]).drop(columns="role", errors="ignore")
    catalogue = catalogue.rename(columns={"image_id": "id"}).drop_duplicates("id")
    joined = {}
    for name in ("corpus", "queries"):
        own = parts[name].assign(id=named[name]).drop(columns=catalogue.columns.difference(["id"]), errors="ignore")
        joined[name] = own.merge(catalogue, on="id", how="left").set_axis(parts[name].index)
    return {**parts, **joined}


def _check_same(qrels: pd.DataFrame, truth: pd.DataFrame, at: Location, faults: Faults) -> None:
    """A label of qrels must be one of truth."""
    joined = qrels[[*PAIR, "value"]].merge(truth[[*PAIR, "value"]], on=PAIR, how="left", suffixes=("", "_decided"))
    wrong = qrels.index[(joined["value"] != joined["value_decided"]).to_numpy(bool)][:MOST]
    faults.add(at.file, (f"{at.row(row)} is not in truth/ with this label: remove one of the two" for row in wrong))


def _shards(folder: Path, name: str) -> list[Path]:
    """Return the Parquet files of a configuration, in order."""
    return sorted((folder / name).rglob("*.parquet")) if (folder / name).is_dir() else []


def _read_shard(file: Path) -> pd.DataFrame:
    """Read a shard without its pictures; of these only the path within the file and whether there are bytes."""
    try:
        with pq.ParquetFile(file) as opened:
            names = [name for name in opened.schema_arrow.names if name != "image"]
            table = opened.read(columns=names)
            frame = to_frame(table.cast(pa.schema([_short_strings(field) for field in table.schema])))
            if "image" in opened.schema_arrow.names:
                kind = opened.schema_arrow.field("image").type
                if not pa.types.is_struct(kind):
                    what = f"column image is {kind}, not {{bytes, path}}"
                    raise InputError(what, where=str(file), hint="Write it with datasets.Image().")
                paths, filled = [], []
                for batch in opened.iter_batches(batch_size=BATCH, columns=["image"]):
                    for picture in batch.column(0).to_pylist():
                        paths.append((picture or {}).get("path"))
                        filled.append(bool((picture or {}).get("bytes")))
                frame[".path"], frame[".filled"] = pd.Series(paths, dtype=object), pd.Series(filled, dtype=bool)
        return frame
    except (pa.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0].rstrip(".")
        raise InputError(f"is damaged, truncated or not Parquet ({reason})", where=str(file), hint=AGAIN) from error


def _short_strings(field: pa.Field) -> pa.Field:
    return pa.field(field.name, pa.string() if pa.types.is_large_string(field.type) else field.type)


def _images(parts: dict[str, pd.DataFrame], at: dict[str, Location], faults: Faults, notes: list[str]) -> Any:
    frames = []
    for name, role in (("corpus", "candidate"), ("queries", "query")):
        frame = _image_part(parts[name].assign(role=role), name, at[name], faults, notes)
        if frame is not None:
            frames.append(frame)
    if faults:
        return None
    corpus, queries = frames
    both = set(corpus["id"]) & set(queries["id"])
    merged = corpus.assign(role=corpus["role"].where(~corpus["id"].isin(both), "both"))
    if both and "path" in parts["corpus"]:
        shared = (frame[frame["id"].isin(both)].set_index("id")[["path", "product_id"]] for frame in frames)
        left, right = (frame.sort_index() for frame in shared)
        differing = left.index[(left != right).any(axis=1)]
        text = "has another path or product in corpus: give it an id of its own"
        faults.add(at["queries"].file, (f"{name!r} {text}" for name in differing))
    rest = queries[~queries["id"].isin(both)]
    table = pd.concat([merged, rest], ignore_index=True) if len(rest) else merged
    table = table.rename(columns={"id": "image_id"})
    for column in IMAGES.columns:
        if column.name not in table:
            kind = "Int64" if column.kind == "integer" else object
            table[column.name] = pd.Series([None] * len(table), dtype=kind, index=table.index)
    return None if faults else to_frame(to_arrow(table, IMAGES, str(at["corpus"].file)))


def _image_part(frame: pd.DataFrame, name: str, at: Location, faults: Faults, notes: list[str]) -> pd.DataFrame | None:
    """Return corpus or queries with id, path and product, without the columns about pictures."""
    if not check_columns(frame, ["id"], at, faults) or not check_scalars(frame[["id"]], at, faults):
        return None
    frame = frame.assign(id=ids_as_text(frame["id"]))
    check_ids(frame, ["id"], at, faults)
    check_unique(frame, "id", at, faults)
    if "path" not in frame:
        frame = frame.assign(path=[f"{name}/{image}" for image in frame["id"]])
        notes.append(f"{name} has no column path: pictures are named {name}/ID")
    check_paths(frame, at, faults)
    if ".filled" in frame:
        bare = frame.index[~frame[".filled"].astype(bool) & frame[".path"].isna()]
        text = "has an image without bytes and path: the picture is missing"
        faults.add(at.file, (f"{at.row(row)} {text}" for row in bare))
    if "product_id" not in frame:
        frame = frame.assign(product_id=frame["id"])
    return frame.drop(columns=[name for name in (".path", ".filled") if name in frame])


def _truth(qrels: pd.DataFrame, at: Location, faults: Faults, notes: list[str]) -> pd.DataFrame | None:
    if not check_columns(qrels, ["query-id", "corpus-id", "score"], at, faults):
        return None
    frame = qrels.rename(columns={"query-id": "query_id", "corpus-id": "candidate_id", "score": "value"})
    if not check_scalars(frame[[*PAIR, "value"]], at, faults):
        return None
    frame = frame.assign(**{name: ids_as_text(frame[name]) for name in PAIR})
    check_ids(frame, PAIR, at, faults)
    score = pd.to_numeric(frame["value"], errors="coerce")
    bad = frame["value"][score.isna()].iloc[:MOST]
    faults.add(at.file, (f"{at.row(row)} has score {value!r}: give a number" for row, value in bad.items()))
    frame, changes = to_labels(frame.assign(value=score.fillna(0)), at, faults)
    notes += changes
    if not len(frame):
        faults.add(at.file, ["holds no pairs"])
    if faults:
        return None
    if set(DECISION) <= set(frame.columns):
        return to_frame(to_arrow(frame[TRUTH.names], TRUTH, str(at.file))).set_axis(frame.index, axis=0)
    return truth_from_pairs(frame, RULE)


def _votes(votes: pd.DataFrame, at: Location, faults: Faults, notes: list[str]) -> pd.DataFrame | None:
    checked, unknown = check_votes(votes, at, faults)
    notes += unknown
    ids = [name for name in (*PAIR, "expert_id", "task", "worker") if name in votes]
    if checked is None:
        return None
    empty = {name: None for name in VOTE_COLUMNS if name not in checked}
    return checked.assign(**{name: ids_as_text(checked[name]) for name in ids}, **(empty if "expert_id" in ids else {}))
