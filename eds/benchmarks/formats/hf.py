"""A Hugging Face data set in MTEB's layout: a folder of Parquet that `datasets` loads without a network.

    corpus, queries   id, image {bytes, path}, and the columns of table images
    qrels             query-id, corpus-id, score, and the columns of table truth
    top_ranked        query-id, corpus-ids: the judged candidates of each query
    suspects, votes   as the tables; runs: all models' lists

Each is a configuration with the split test. Of MTEB's own sets corpus, queries and qrels suffice for reading.
"""

from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from eds.benchmarks import picture_files, rows, votes_files
from eds.benchmarks.benchmark import PAIR, Benchmark, Place, decided, pooled
from eds.benchmarks.formats.hf_files import as_text, features, readme_front, shards, write_pictures
from eds.benchmarks.json_files import Faults
from eds.errors import InputError
from eds.schema import to_arrow, to_frame
from eds.tables import IMAGES, NEIGHBORS, SUSPECTS, TRUTH

SHARD = "test-00000-of-00001.parquet"
RULE = "imported hf"
DO = "Nothing was imported. Rows count from 0:"
FURTHER = ["votes_for", "votes_against", "unsure", "tie", "rule"]


def write(benchmark: Benchmark, folder: Path, *, pictures: bool) -> tuple[list[str], str]:
    """Write the configurations; what they cannot hold, and the card's front matter."""
    images, truth = benchmark.images, benchmark.truth
    if images is None or truth is None:
        raise InputError("there is nothing judged", where="truth.parquet", do="Decide first: eds truth decide.")
    lost = []
    if pictures:
        files = pd.Series(list(picture_files.found(images, benchmark.image_root)), index=images.index)
    else:
        files = None
        lost.append("the pictures: their paths only")
    plain, told = as_text(images.rename(columns={"image_id": "id"}))
    lost += told
    for name, own in (("corpus", "query"), ("queries", "candidate")):
        part = (images["role"] != own).to_numpy()
        target = _shard(folder, name)
        write_pictures(plain.filter(pa.array(part)), None if files is None else files[part].tolist(), target)
    ordered = truth.sort_values(PAIR)
    qrels = ordered.rename(columns={"query_id": "query-id", "candidate_id": "corpus-id", "value": "score"})
    written = {"qrels": pa.Table.from_pandas(qrels, preserve_index=False)}
    ranked = ordered.groupby("query_id", sort=True)["candidate_id"].agg(list)
    written["top_ranked"] = pa.table({"query-id": pa.array(ranked.index, pa.string()),
                                      "corpus-ids": pa.array(ranked.tolist(), pa.list_(pa.string()))})  # fmt: skip
    if benchmark.suspects is not None:
        written["suspects"] = to_arrow(benchmark.suspects, SUSPECTS)
    if benchmark.votes is not None and len(benchmark.votes):
        written["votes"] = pa.Table.from_pandas(benchmark.votes, preserve_index=False)
    if benchmark.runs:
        written["runs"] = pa.concat_tables([to_arrow(run, NEIGHBORS) for run in benchmark.runs.values()])
    for name, table in written.items():
        table = table.cast(pa.schema([_plain(one) for one in table.schema])).replace_schema_metadata(None)
        pq.write_table(table.replace_schema_metadata(features(table.schema)), _shard(folder, name), compression="zstd")
    return lost, readme_front(benchmark, ["corpus", "queries", *written])


def _plain(field: pa.Field) -> pa.Field:
    kind = pa.string() if pa.types.is_large_string(field.type) or pa.types.is_null(field.type) else field.type
    return pa.field(field.name, pa.timestamp("us", "UTC") if pa.types.is_timestamp(kind) else kind)


def _shard(folder: Path, name: str) -> Path:
    (folder / name).mkdir()
    return folder / name / SHARD


def read(place: Path) -> Benchmark:
    """A data set's folder; pictures within it are only named here, see hf_files.unpack."""
    faults = Faults()
    notes: list[str] = []
    parts, files = {}, {}
    for name in ("corpus", "queries", "qrels", "suspects", "votes", "runs"):
        found = shards(place, name)
        if found:
            files[name] = Place(found[0] if len(found) == 1 else place / name)
            parts[name] = pd.concat([_read(file) for file in found], ignore_index=True)
    lacking = [name for name in ("corpus", "queries", "qrels") if name not in parts]
    if lacking:
        raise InputError(f"has no {', no '.join(lacking)}", where=str(place),
                         do="Give a folder in MTEB's layout: corpus/, queries/, qrels/ with Parquet.")  # fmt: skip
    images = _images(parts, files, faults, notes)
    truth, suspects = _truth(parts["qrels"], files["qrels"], faults, notes), None
    votes = _votes(parts["votes"], files["votes"], faults, notes) if "votes" in parts else None
    faults.refuse("the data set cannot be imported", DO)
    if "suspects" in parts:
        suspects = to_frame(to_arrow(parts["suspects"], SUSPECTS, str(files["suspects"].file)))
    elif truth is not None:
        suspects = pooled(truth)
    runs = {}
    if "runs" in parts:
        every = to_frame(to_arrow(parts["runs"], NEIGHBORS, str(files["runs"].file)))
        runs = {str(model): run for model, run in every.groupby("model", sort=True)}
        files |= {f"run of {model}": files["runs"] for model in runs}
    known = {"corpus", "queries", "qrels", "top_ranked", "suspects", "votes", "runs"}
    strange = sorted(
        one.name for one in place.iterdir() if one.is_dir() and one.name not in known and shards(place, one.name)
    )
    if strange:
        notes.append(f"folders {', '.join(strange)} mean nothing here and are left out")
    pictures = [file for name in ("corpus", "queries") for file in shards(place, name)]
    places = {"images": files["corpus"], "truth": files["qrels"], **files}
    return Benchmark(images, truth, suspects, votes, runs, places=places, notes=tuple(notes),
                     pictures=tuple(pictures))  # fmt: skip


def _read(file: Path) -> pd.DataFrame:
    """A shard without its pictures; of these their name within the file and whether there are bytes."""
    try:
        with pq.ParquetFile(file) as opened:
            names = [name for name in opened.schema_arrow.names if name != "image"]
            frame = to_frame(_strings(opened.read(columns=names)))
            if "image" in opened.schema_arrow.names:
                kind = opened.schema_arrow.field("image").type
                if not pa.types.is_struct(kind):
                    raise InputError(f"column image is {kind}, not {{bytes, path}}", where=str(file),
                                     do="Write it with datasets.Image().")  # fmt: skip
                named, filled = [], []
                for batch in opened.iter_batches(batch_size=64, columns=["image"]):
                    for one in batch.column(0).to_pylist():
                        named.append((one or {}).get("path"))
                        filled.append(bool((one or {}).get("bytes")))
                frame[".named"], frame[".filled"] = pd.Series(named, dtype=object), pd.Series(filled, dtype=bool)
        return frame
    except (pa.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0].rstrip(".")
        raise InputError(f"is damaged, cut off or not Parquet ({reason})", where=str(file),
                         do="Nothing was imported. Get the whole file again.") from error  # fmt: skip


def _strings(table: pa.Table) -> pa.Table:
    return table.cast(pa.schema([
        pa.field(one.name, pa.string() if pa.types.is_large_string(one.type) else one.type) for one in table.schema
    ]))  # fmt: skip


def _images(parts: dict[str, pd.DataFrame], files: dict[str, Place], faults: Faults, notes: list[str]) -> Any:
    found = []
    for name, role in (("corpus", "candidate"), ("queries", "query")):
        frame, place = parts[name], files[name]
        if not rows.columns(frame, ["id"], place, faults):
            return None
        if not rows.plain(frame[["id"]], place, faults):
            continue
        frame = frame.assign(id=rows.texts(frame["id"]), role=role)
        rows.ids(frame, ["id"], place, faults)
        twice = frame.index[frame["id"].duplicated()]
        faults.add(
            place.file, (f"{place.of(row)} has id {frame['id'].loc[row]!r} a second time: keep one" for row in twice)
        )
        if "path" not in frame:
            frame = frame.assign(path=[f"{name}/{one}" for one in frame["id"]])
            notes.append(f"{name} has no column path: pictures are named {name}/ID")
        rows.paths(frame, place, faults)
        if ".filled" in frame:
            bare = frame.index[~frame[".filled"].astype(bool) & frame[".named"].isna()]
            faults.add(
                place.file,
                (f"{place.of(row)} has an image without bytes and path: the picture is missing" for row in bare),
            )
        if "product_id" not in frame:
            frame = frame.assign(product_id=frame["id"])
        found.append(frame.drop(columns=[one for one in (".named", ".filled") if one in frame]))
    if faults.any():
        return None
    corpus, queries = found
    both = set(corpus["id"]) & set(queries["id"])
    merged = corpus.assign(role=corpus["role"].where(~corpus["id"].isin(both), "both"))
    if both and "path" in parts["corpus"]:
        left, right = (one[one["id"].isin(both)].set_index("id")[["path", "product_id"]].sort_index() for one in found)
        differs = left.index[(left != right).any(axis=1)]
        faults.add(files["queries"].file, (f"{one!r} is another image or product in corpus: give it an id of its own"
                                           for one in differs))  # fmt: skip
    rest = queries[~queries["id"].isin(both)]
    table = pd.concat([merged, rest], ignore_index=True) if len(rest) else merged
    table = table.rename(columns={"id": "image_id"})
    for column in IMAGES.columns:
        if column.name not in table:
            kind = "Int64" if column.kind == "integer" else object
            table[column.name] = pd.Series([None] * len(table), dtype=kind, index=table.index)
    if faults.any():
        return None
    return to_frame(to_arrow(table, IMAGES, str(files["corpus"].file)))


def _truth(qrels: pd.DataFrame, place: Place, faults: Faults, notes: list[str]) -> pd.DataFrame | None:
    if not rows.columns(qrels, ["query-id", "corpus-id", "score"], place, faults):
        return None
    frame = qrels.rename(columns={"query-id": "query_id", "corpus-id": "candidate_id", "score": "value"})
    if not rows.plain(frame[[*PAIR, "value"]], place, faults):
        return None
    frame = frame.assign(**{name: rows.texts(frame[name]) for name in PAIR})
    rows.ids(frame, PAIR, place, faults)
    score = pd.to_numeric(frame["value"], errors="coerce")
    bad = frame.index[score.isna()]
    faults.add(
        place.file, (f"{place.of(row)} has score {frame['value'].loc[row]!r}: give a number" for row in bad[:200])
    )
    graded = int((score > 1).sum())
    if graded:
        notes.append(f"{graded:,} grades above 1 count as similar: labels are 1 and 0")
    frame, told = rows.judged(frame.assign(value=score.fillna(0)), place)
    frame = frame.assign(value=(frame["value"] > 0).astype("int64"))
    frame, again = rows.judgements(frame, place, faults)
    notes += [*told, *again]
    if not len(frame):
        faults.add(place.file, ["holds no pairs"])
    if faults.any():
        return None
    if set(FURTHER) <= set(frame.columns):
        return to_frame(to_arrow(frame[TRUTH.names], TRUTH, str(place.file))).set_axis(frame.index, axis=0)
    return decided(frame, RULE)


def _votes(votes: pd.DataFrame, place: Place, faults: Faults, notes: list[str]) -> pd.DataFrame | None:
    sound, told = votes_files.sound(votes, place, faults)
    notes += told
    named = [name for name in (*PAIR, "expert_id", "task", "worker") if name in votes]
    return None if sound is None else sound.assign(**{name: rows.texts(sound[name]) for name in named})
