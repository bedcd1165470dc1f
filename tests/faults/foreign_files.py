"""Mutated files for every importer: each must end in a result that makes sense, or in one error of eds.

`python -m tests.faults.foreign_files 2000 [IMPORTER...]` is the long form, test_foreign_files.py the short one.
"""

import json
import math
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Callable
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from annotator_ui.auth.openid import read_openid
from eds import tables
from eds.benchmarks.formats import load_format
from eds.embeddings.formats import read_ids, read_vectors
from eds.errors import EdsError
from eds.io.reading import CONTROL, reading
from eds.labels import backup, vote_columns, vote_files
from eds.labels.frames import labels_frame
from eds.labels.gold import add_gold
from eds.labels.guidelines import save_guideline
from eds.labels.store import Store, open_store
from eds.labels.transfer import export_votes
from eds.labels.validation import MOST_SECONDS
from eds.project import Project, assistants, exchange, leaderboard
from eds.project.draw import read_known_pairs
from eds.project.guidelines import _read_examples
from eds.project.inputs import Inputs
from tests.benchmarks.cases import benchmark
from tests.benchmarks.vsd_files import release
from tests.faults.foreign_catalogues import CATALOGUES, write_fiftyone
from tests.faults.foreign_models import MODELS
from tests.faults.foreign_requests import REQUESTS
from tests.faults.mutations import Importer, run
from tests.labels.stores import begin, judge_all
from tests.metrics.projects import project_in


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


# Other files beside a format's main one, and tables that people write by hand.


def _pairs(suffix: str) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        rows = {
            "query_id": ["q1", "q1", "q2"],
            "candidate_id": ["c1", "c2", "c1"],
            "kind": ["positive", "negative", "positive"],
        }
        frame, file = pd.DataFrame({**rows, "value": [1, 0, 1], "note": ["", "a", ""]}), folder / f"pairs.{suffix}"
        if suffix == "parquet":
            pq.write_table(pa.Table.from_pandas(frame), file, write_page_checksum=True)
        else:
            frame.to_csv(file, index=False, lineterminator="\r\n")
        return file

    return write


def _gold(path: Path) -> Any:
    """As `eds labels gold add` does, into a store of its own."""
    pairs = read_known_pairs(_no_catalogue(), path)
    return add_gold(_store(path.with_name("gold.db")), pairs)


def _examples(path: Path) -> Any:
    """As `eds labels guideline save --examples` does."""
    examples = _read_examples(_no_catalogue(), path)
    version = f"{path.stat().st_mtime_ns}"
    save_guideline(_store(path.with_name("guidelines.db")), version, "Similar?", examples, by="")


@cache
def _store(file: Path) -> Store:
    return open_store(file)


@cache
def _no_catalogue() -> Project:
    return Project.create(Path(tempfile.mkdtemp()) / "empty")


def _answers(suffix: str) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        project_in(folder / "shop", seed=2)
        truth = Project.open(folder / "shop").read("truth")[["query_id", "candidate_id", "value"]].head(6)
        file = folder / f"answers.{suffix}"
        if suffix == "parquet":
            pq.write_table(pa.Table.from_pandas(truth), file, write_page_checksum=True)
        else:
            truth.to_csv(file, index=False, lineterminator="\r\n")
        return file

    return write


def _read_answers(path: Path) -> Any:
    return assistants._answers_of(path, Inputs(Project.open(path.parent / "shop")))


def _bad_answers(table: pd.DataFrame) -> str:
    return "" if table["value"].dropna().between(0, 1).all() else "answers out of range"


def _baseline(folder: Path) -> Path:
    cell = {"value": 0.5, "low": 0.4, "high": 0.6}
    rows = [{"name": "m", "kind": "model", "cells": {"HR@5": cell, "ROC-AUC": cell}}, {"name": "x", "kind": "bound"}]
    (folder / "leaderboard.json").write_text(json.dumps({"rows": rows, "made": "2026"}))
    return folder / "leaderboard.json"


def _bad_baseline(cells: Any) -> str:
    numbers = [number for cell in cells.values() for number in (cell.value, cell.low)]
    return "" if all(number is None or math.isfinite(number) for number in numbers) else "no numbers"


def _settings(folder: Path) -> Path:
    Project.create(folder / "shop", {"images.root": "images", "project.name": "Shop"})
    file = folder / "shop" / "eds.toml"
    models = '[[models]]\nname = "ours"\nspec = "timm:resnet50"\nrole = "evaluated"\ntrained_on = ["labels"]\n'
    lines = [line for line in file.read_text().splitlines() if line and not line.startswith("#")]
    file.write_text("\n".join(lines) + f"\n{models}")
    return folder / "shop"


def _openid(folder: Path) -> Path:
    names = ("issuer", "client_id", "client_secret", "address")
    (folder / "openid.toml").write_text("".join(f'{name} = "https://id.example/{name}"\n' for name in names))
    (folder / "openid.toml").chmod(0o600)
    return folder / "openid.toml"


def _vsd_part(part: str) -> Importer:
    return Importer(_release, _imported("vsd"), _bad_benchmark, f"{part}.json")


def _release(folder: Path) -> Path:
    release(wild=False, seed=3, split=True).write(folder / "release")
    Project.create(folder / "project")
    return folder / "release"


IMPORTERS: dict[str, Importer] = {
    "embeddings .npy": Importer(_npy, _read_vectors, _bad_vectors),
    "embeddings .npz": Importer(_npz, _read_vectors, _bad_vectors),
    "embeddings .parquet": Importer(_vector_parquet, _read_vectors, _bad_vectors),
    "embeddings .safetensors": Importer(_safetensors, _read_vectors, _bad_vectors),
    "embeddings fiftyone": Importer(write_fiftyone, _read_vectors, _bad_vectors),
    "embeddings ids": Importer(_ids, lambda path: read_ids(path, 12, set())),
    "labels csv": Importer(_votes("csv"), _read_votes, _bad_votes),
    "labels crowdkit": Importer(_votes("crowdkit"), _read_votes, _bad_votes),
    "labels jsonl": Importer(_votes("jsonl"), _read_votes, _bad_votes),
    "labels parquet": Importer(_votes("parquet"), _read_votes, _bad_votes),
    "labels restore": Importer(_backup, _restore, _bad_restored),
    "labels restore, manifest": Importer(_manifest, _restore_packed, _bad_restored, "manifest.json"),
    "benchmarks argilla": Importer(_argilla, _read_argilla, _bad_argilla),
    "benchmarks croissant": Importer(_exported("croissant"), _imported("croissant"), _bad_benchmark, "croissant.json"),
    "benchmarks croissant, images": Importer(
        _exported("croissant"), _imported("croissant"), _bad_benchmark, "images.csv"
    ),
    "benchmarks croissant, pairs": Importer(
        _exported("croissant"), _imported("croissant"), _bad_benchmark, "pairs.csv"
    ),
    "benchmarks hf": Importer(_exported("hf"), _imported("hf"), _bad_benchmark, "qrels/test-00000-of-00001.parquet"),
    "benchmarks label-studio": Importer(_exported("label-studio"), _imported("label-studio"), mutated="tasks.json"),
    "benchmarks trec": Importer(_exported("trec"), _imported("trec"), _bad_benchmark, "qrels.txt"),
    "benchmarks trec, ids": Importer(_exported("trec"), _imported("trec"), _bad_benchmark, "ids.tsv"),
    "benchmarks votes": Importer(_exported("votes"), _imported("votes"), _bad_benchmark, "votes.csv"),
    "benchmarks vsd": Importer(_exported("vsd"), _imported("vsd"), _bad_benchmark, "metadata.json"),
    "benchmarks vsd, annotations": _vsd_part("annotations"),
    "benchmarks vsd, seeds": _vsd_part("seeds"),
    "benchmarks vsd, manifest": _vsd_part("manifest"),
    "gold csv": Importer(_pairs("csv"), _gold),
    "gold parquet": Importer(_pairs("parquet"), _gold),
    "guideline examples": Importer(_pairs("csv"), _examples),
    "assistant csv": Importer(_answers("csv"), _read_answers, _bad_answers),
    "assistant parquet": Importer(_answers("parquet"), _read_answers, _bad_answers),
    "leaderboard baseline": Importer(_baseline, leaderboard._read_baseline, _bad_baseline),
    "project settings": Importer(_settings, lambda root: Project.open(root).config, mutated="eds.toml"),
    "serve openid": Importer(_openid, read_openid),
    **CATALOGUES,
    **MODELS,
    **REQUESTS,
}


def main() -> None:
    """Print a table; exit 1 if anything was not as it should be."""
    times, names = int(sys.argv[1]), sys.argv[2:] or list(IMPORTERS)
    bad = False
    for name in names:
        folder = Path(tempfile.mkdtemp())
        tally = run(name, IMPORTERS[name], times, folder)
        shutil.rmtree(folder)
        lines = [f"{name:30} {dict(tally.counts)}", *tally.faults[:3]]
        sys.stdout.write("\n    ".join(lines) + "\n")
        sys.stdout.flush()
        bad |= bool(tally.faults)
    sys.exit(bad)


if __name__ == "__main__":
    main()
