"""Mutated files for every importer: each must end in a result that makes sense, or in one error of eds.

`python -m tests.faults.foreign_files 2000 [IMPORTER...]` is the long form, test_foreign_files.py the short one.
"""

import json
import random
import shutil
import sys
import tempfile
import traceback
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from eds import tables
from eds.benchmarks.formats import load_format
from eds.embeddings.formats import read_ids, read_vectors
from eds.errors import EdsError
from eds.images.detect import detect
from eds.images.sources import Source, read_source
from eds.io.fiftyone import packed
from eds.io.reading import CONTROL, reading
from eds.labels import backup, vote_columns, vote_files
from eds.labels.frames import labels_frame
from eds.labels.store import open_store
from eds.labels.transfer import export_votes
from eds.labels.validation import MOST_SECONDS
from eds.project import Project, exchange
from tests.benchmarks.cases import benchmark
from tests.labels.stores import begin, judge_all

ODD: list[Any] = [
    *(None, [], {}, "", "x", "\x1b[31m", "\u202eevil", True, -1, 0, 0.5, 1e308, 2**64, 10**400, "nan", "=1+1"),
    *([[[[1]]]], {"a": {"b": []}}, "../../etc/passwd", "\ud800"),
]


@dataclass(frozen=True)
class Importer:
    """How a good file is written, how a file is read, and what is wrong with a result; the file that is mutated."""

    write: Callable[[Path], Path]
    read: Callable[[Path], Any]
    nonsense: Callable[[Any], str] = lambda _: ""
    mutated: str = ""  # below the path that `write` returns


@dataclass
class Tally:
    """What became of the mutations."""

    counts: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)


def in_bytes(data: bytes, dice: random.Random) -> bytes:
    """The bytes with one to four damages."""
    result = bytearray(data)
    for _ in range(dice.randint(1, 4)):
        place, size = dice.randrange(len(result) + 1), dice.randint(1, 16)
        kind = dice.randrange(6)
        if kind == 0 and place < len(result):
            result[place] ^= 1 << dice.randrange(8)
        elif kind == 1:
            result[place : place + size] = dice.randbytes(size)
        elif kind == 2:
            del result[place : place + size]
        elif kind == 3:
            result[place:place] = result[place : place + size]
        elif kind == 4:
            result[place : place + size] = bytes(size)
        elif dice.random() < 0.3:
            del result[place:]
    return bytes(result)


def in_json(data: bytes, dice: random.Random, *, by_line: bool) -> bytes:
    """The document, or a line of it, with one value of any depth replaced or removed."""
    lines = data.decode().split("\n") if by_line else [data.decode()]
    lines = [line for line in lines if line]
    number = dice.randrange(len(lines))
    content = json.loads(lines[number])
    places = list(_places(content))
    if not places:
        return data
    inside, key = dice.choice(places)
    if isinstance(inside, dict) and dice.random() < 0.2:
        del inside[key]
    else:
        inside[key] = dice.choice(ODD)
    sys.set_int_max_str_digits(0)
    lines[number] = json.dumps(content)
    sys.set_int_max_str_digits(4300)
    return "\n".join(lines).encode()


def in_cells(data: bytes, dice: random.Random) -> bytes:
    """CSV with one cell replaced."""
    lines = data.decode().splitlines()
    number = dice.randrange(len(lines))
    cells = lines[number].split(",")
    cells[dice.randrange(len(cells))] = str(dice.choice(ODD[3:-2])).replace("\n", "")
    lines[number] = ",".join(cells)
    return ("\r\n".join(lines) + "\r\n").encode()


def mutate(name: str, data: bytes, dice: random.Random) -> bytes:
    """One mutation of a file with this name."""
    suffix = Path(name).suffix
    if suffix in (".json", ".jsonl") and dice.random() < 0.6:
        return in_json(data, dice, by_line=suffix == ".jsonl")
    if suffix in (".csv", ".tsv") and dice.random() < 0.5:
        return in_cells(data, dice)
    return in_bytes(data, dice)


def run(name: str, times: int, folder: Path, seed: int = 22) -> Tally:
    """Mutate the importer's file so many times."""
    importer, dice, tally = IMPORTERS[name], random.Random(f"{seed} {name}"), Tally()
    whole = importer.write(folder)
    file = whole / importer.mutated if importer.mutated else whole
    good = file.read_bytes()
    if fault := importer.nonsense(importer.read(whole)):
        tally.faults.append(f"the good file: {fault}")
    for number in range(times):
        file.write_bytes(mutate(file.name, good, dice))
        try:
            result = importer.read(whole)
        except EdsError as error:
            tally.counts["told"] += 1
            if len(str(error).splitlines()[0]) > 600:
                tally.faults.append(f"mutation {number}: a long message {str(error)[:100]}")
            continue
        except Exception:  # noqa: BLE001 - this is what is looked for
            tally.counts["traceback"] += 1
            tally.faults.append(f"mutation {number}: {traceback.format_exc(limit=-2)}")
            continue
        fault = importer.nonsense(result)
        tally.counts["nonsense" if fault else "read"] += 1
        if fault:
            tally.faults.append(f"mutation {number}: {fault}")
    return tally


def _places(content: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(content, (dict, list)):
        for key in list(content) if isinstance(content, dict) else range(len(content)):
            yield content, key
            yield from _places(content[key])


def _vectors() -> np.ndarray[Any, Any]:
    return np.random.default_rng(1).normal(size=(12, 8)).astype(np.float32)


def _npy(folder: Path) -> Path:
    np.save(folder / "v.npy", _vectors())
    return folder / "v.npy"


def _npz(folder: Path) -> Path:
    np.savez_compressed(folder / "v.npz", v=_vectors())
    return folder / "v.npz"


def _vector_parquet(folder: Path) -> Path:
    rows = {"image_id": [f"i{n}" for n in range(12)], "v": list(_vectors())}
    pq.write_table(pa.table(rows), folder / "v.parquet", write_page_checksum=True)
    return folder / "v.parquet"


def _safetensors(folder: Path) -> Path:
    header = json.dumps({"v": {"dtype": "F32", "shape": [12, 8], "data_offsets": [0, 384]}, "__metadata__": {"a": "b"}})
    content = len(header).to_bytes(8, "little") + header.encode() + _vectors().tobytes()
    (folder / "v.safetensors").write_bytes(content)
    return folder / "v.safetensors"


def _read_vectors(path: Path) -> Any:
    given = read_vectors(path)
    return given, list(given.blocks())


def _bad_vectors(result: Any) -> str:
    given, blocks = result
    rows = sum(map(len, blocks))
    wide = {block.shape[1] for block in blocks} <= {given.columns}
    return "" if rows == given.rows and wide else f"{rows} rows, {given.rows} announced"


def _ids(folder: Path) -> Path:
    (folder / "ids.csv").write_text("image_id,note\r\n" + "".join(f"i{n},x\r\n" for n in range(12)))
    return folder / "ids.csv"


def _votes(kind: str) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        path = folder / f"votes.{kind}"
        with closing(open_store(folder / "labels.db")) as store:
            judge_all(store, begin(store), "ann")
            export_votes(store, path)
        return path

    return write


def _read_votes(path: Path) -> Any:
    with reading(path):  # as where they are imported
        frame, _ = vote_columns.rename(vote_files.read(path, path.suffix[1:]), {}, {}, str(path))
        clean, faults = vote_files.parse(frame, 0)
    return None if faults else clean


def _bad_votes(clean: pd.DataFrame | None) -> str:
    if clean is None:
        return ""
    texts = clean[["query_id", "candidate_id", "expert_id"]]
    if not texts.map(lambda value: isinstance(value, str) and value and "\0" not in value).all(axis=None):
        return "names that are no text"
    if not clean["value"].dropna().isin([0, 1]).all() or not clean["seconds"].dropna().between(0, MOST_SECONDS).all():
        return "values out of range"
    return ""


def _backup(folder: Path) -> Path:
    with closing(open_store(folder / "labels.db")) as store:
        judge_all(store, begin(store), "ann")
        backup.back_up(store, folder / "b.zip")
    return folder / "b.zip"


def _restore(path: Path) -> Any:
    _, manifest = backup._read(path)
    target = path.with_name("restored.db")
    for suffix in ("", "-wal", "-shm"):
        target.with_name(target.name + suffix).unlink(missing_ok=True)
    backup.restore(path, target)
    with closing(open_store(target)) as store:
        return labels_frame(store), sum(part.rows for part in manifest.tables.values())


def _bad_restored(result: Any) -> str:
    return "" if len(result[0]) == 12 else f"{len(result[0])} acts"


def _manifest(folder: Path) -> Path:
    """A backup unpacked, so that its manifest can be mutated; packed again when it is read."""
    with zipfile.ZipFile(_backup(folder)) as archive:
        archive.extractall(folder / "unpacked")
    return folder / "unpacked"


def _restore_packed(path: Path) -> Any:
    with zipfile.ZipFile(path.with_name("again.zip"), "w") as archive:
        for file in sorted(path.iterdir()):
            archive.write(file, file.name)
    return _restore(path.with_name("again.zip"))


def _exported(name: str, part: str = "") -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        target = folder / "exported"
        target.mkdir()
        content = benchmark(folder / "root")
        load_format(name, "write")(content, target)
        project = Project.create(folder / "project")
        if content.images is not None and name not in ("croissant", "hf"):  # which bring a catalogue
            tables.write(content.images, tables.IMAGES, project.path("images"), tables.Provenance("images.import"))
        return target / part if part else target

    return write


def _imported(name: str) -> Callable[[Path], Any]:
    def read(path: Path) -> Any:
        root = next(one for one in (path, *path.parents) if (one / "project").is_dir())
        content = exchange._read(load_format(name, "read"), [path], {})
        return exchange._checked(Project.open(root / "project"), content, separate=False, replace=False)[0]

    return read


def _bad_benchmark(result: Any) -> str:
    for frame, table in (
        (result.images, tables.IMAGES),
        (result.truth, tables.TRUTH),
        (result.suspects, tables.SUSPECTS),
    ):
        if frame is not None:
            try:
                tables.check(frame, table)
            except EdsError as error:
                return str(error)
    ids = [] if result.images is None else [*result.images["image_id"], *result.images["product_id"]]
    odd = [one for one in ids if CONTROL.search(one)]
    return f"ids with control characters: {odd[:3]}" if odd else ""


ROWS = [
    {"image_id": f"i{n}", "path": f"a/{n}.png", "product_id": f"p{n // 2}", "role": "both", "width": 8, "price": n / 3}
    for n in range(8)
]


def _catalogue(suffix: str) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        file, frame = folder / f"list.{suffix}", pd.DataFrame(ROWS)
        if suffix == "parquet":
            pq.write_table(pa.Table.from_pandas(frame), file, write_page_checksum=True)
        elif suffix == "csv":
            frame.to_csv(file, index=False, lineterminator="\r\n")
        elif suffix == "jsonl":
            frame.to_json(file, orient="records", lines=True)
        else:
            file.write_text(json.dumps(ROWS))
        return file

    return write


def _vsd(folder: Path) -> Path:
    images = [{"id": f"p{n // 2}", "path": f"a/{n}.png", "phase": "train", "bbox": [1, 1, 5, 5]} for n in range(8)]
    (folder / "metadata.json").write_text(json.dumps({"images": images}))
    return folder / "metadata.json"


def _read_catalogue(path: Path) -> Any:
    return read_source(detect((path,)), Source((path,), path.parent)).images


def _bad_catalogue(images: pd.DataFrame) -> str:
    try:
        tables.check(images, tables.IMAGES)
    except EdsError as error:
        return str(error)
    if any(CONTROL.search(one) for one in [*images["image_id"], *images["product_id"]]):
        return "names with control characters"
    edges = images[["box_left", "box_top", "box_right", "box_bottom"]].notna().sum(axis=1)
    return "" if edges.isin([0, 4]).all() else "half a crop box"


def _fiftyone(folder: Path) -> Path:
    rows = zip(ROWS, _vectors(), strict=False)
    box = {"_cls": "Detection", "bounding_box": [0.1, 0.1, 0.5, 0.5]}
    samples = [
        {
            "filepath": row["path"],
            "tags": ["query"],
            "metadata": {"width": 8, "height": 8},
            "product_id": row["product_id"],
            "ground_truth": {"_cls": "Classification", "label": "dress"},
            "found": {"_cls": "Detections", "detections": [box]},
            "clip": packed(numbers),
        }
        for row, numbers in rows
    ]
    (folder / "samples.json").write_text(json.dumps({"samples": samples}))
    return folder / "samples.json"


def _cvat(folder: Path) -> Path:
    text = "".join(
        f'<image id="{number}" name="{row["path"]}" width="8" height="8">'
        '<box label="a" xtl="1" ytl="1" xbr="5" ybr="5">'
        f'<attribute name="product_id">{row["product_id"]}</attribute></box></image>'
        for number, row in enumerate(ROWS)
    )
    (folder / "annotations.xml").write_text(f"<annotations>{text}</annotations>")
    return folder / "annotations.xml"


def _argilla(folder: Path) -> Path:
    records = [
        {
            "id": str(number),
            "fields": {"query_id": "q", "candidate_id": f"c{number}"},
            "metadata": {},
            "responses": {"similar": [{"value": "yes", "user_id": "u1"}, {"value": "no", "user_id": "u2"}]},
        }
        for number in range(6)
    ]
    (folder / "records.json").write_text(json.dumps(records))
    return folder / "records.json"


def _read_argilla(path: Path) -> Any:
    return exchange._read(load_format("argilla", "read"), [path], {}).votes


def _bad_argilla(votes: pd.DataFrame) -> str:
    texts = votes[["query_id", "candidate_id", "expert_id"]]
    good = texts.map(lambda value: isinstance(value, str) and bool(value)).all(axis=None)
    return "" if good and votes["value"].dropna().isin([0, 1]).all() else "votes that are none"


IMPORTERS: dict[str, Importer] = {
    "embeddings npy": Importer(_npy, _read_vectors, _bad_vectors),
    "embeddings npz": Importer(_npz, _read_vectors, _bad_vectors),
    "embeddings parquet": Importer(_vector_parquet, _read_vectors, _bad_vectors),
    "embeddings safetensors": Importer(_safetensors, _read_vectors, _bad_vectors),
    "embeddings fiftyone": Importer(_fiftyone, _read_vectors, _bad_vectors),
    "embeddings ids": Importer(_ids, lambda path: read_ids(path, 12, set())),
    "labels csv": Importer(_votes("csv"), _read_votes, _bad_votes),
    "labels jsonl": Importer(_votes("jsonl"), _read_votes, _bad_votes),
    "labels parquet": Importer(_votes("parquet"), _read_votes, _bad_votes),
    "labels restore": Importer(_backup, _restore, _bad_restored),
    "labels restore, manifest": Importer(_manifest, _restore_packed, _bad_restored, "manifest.json"),
    "benchmarks croissant": Importer(_exported("croissant"), _imported("croissant"), _bad_benchmark, "croissant.json"),
    "benchmarks croissant, images": Importer(
        _exported("croissant"), _imported("croissant"), _bad_benchmark, "images.csv"
    ),
    "benchmarks hf": Importer(_exported("hf"), _imported("hf"), _bad_benchmark, "qrels/test-00000-of-00001.parquet"),
    "benchmarks label-studio": Importer(_exported("label-studio"), _imported("label-studio"), mutated="tasks.json"),
    "benchmarks trec": Importer(_exported("trec"), _imported("trec"), _bad_benchmark, "qrels.txt"),
    "benchmarks votes": Importer(_exported("votes"), _imported("votes"), _bad_benchmark, "votes.csv"),
    "benchmarks vsd": Importer(_exported("vsd"), _imported("vsd"), _bad_benchmark, "metadata.json"),
    "images csv": Importer(_catalogue("csv"), _read_catalogue, _bad_catalogue),
    "images json": Importer(_catalogue("json"), _read_catalogue, _bad_catalogue),
    "images jsonl": Importer(_catalogue("jsonl"), _read_catalogue, _bad_catalogue),
    "images parquet": Importer(_catalogue("parquet"), _read_catalogue, _bad_catalogue),
    "benchmarks argilla": Importer(_argilla, _read_argilla, _bad_argilla),
    "images fiftyone": Importer(_fiftyone, _read_catalogue, _bad_catalogue),
    "images cvat": Importer(_cvat, _read_catalogue, _bad_catalogue),
    "images vsd": Importer(_vsd, _read_catalogue, _bad_catalogue),
}


def main() -> None:
    """Print a table; exit 1 if anything was not as it should be."""
    times, names = int(sys.argv[1]), sys.argv[2:] or list(IMPORTERS)
    bad = False
    for name in names:
        folder = Path(tempfile.mkdtemp())
        tally = run(name, times, folder)
        shutil.rmtree(folder)
        lines = [f"{name:30} {dict(tally.counts)}", *tally.faults[:3]]
        sys.stdout.write("\n    ".join(lines) + "\n")
        bad |= bool(tally.faults)
    sys.exit(bad)


if __name__ == "__main__":
    main()
