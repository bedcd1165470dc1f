"""TREC's qrels and runs, for trec_eval and similar tools.

    qrels.txt     qid 0 docno rel          judged negatives are 0, unjudged pairs are absent
    runs/M.run.gz qid Q0 docno rank score tag
    ids.tsv       id, image_id, product_id, role, path: the image behind each id

Readers split at blanks, so ids are percent-encoded (blanks, %, # and everything beyond ASCII). Only ids.tsv decodes
them, since in foreign files a % is a %. ranx' JSON {qid: {docno: score}} and its Parquet are read as well, .gz too.
IR's words (run, qrels) are used in this file only.
"""

import gzip
import io
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, TextIO
from urllib.parse import quote

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from eds.benchmarks.benchmark import (
    PAIR,
    Benchmark,
    Location,
    images_from_ids,
    suspects_from_pairs,
    truth_from_pairs,
)
from eds.benchmarks.files import AGAIN, convert_columns, read_bytes, read_csv, read_lines, write_csv
from eds.benchmarks.validate import (
    MOST,
    NO_CATALOGUE,
    Faults,
    check_columns,
    check_ids,
    check_known,
    check_paths,
    check_unique,
    to_labels,
)
from eds.errors import InputError
from eds.schema import to_arrow, to_frame
from eds.tables import IMAGES, NEIGHBORS

MARKS_RANDOM = False
SAFE = "!$&'()*+,-./:;<=>?@[]^_`{|}~\"\\"
IDS = ["id", "image_id", "product_id", "category", "role", "phase", "path"]
DO = "Nothing was imported. Correct the lines:"
ENDINGS = (".run", ".run.gz", ".json", ".json.gz", ".parquet", ".txt", ".txt.gz")
RANX = (".parquet", ".json", ".json.gz")
QRELS_LINE, RUN_LINE = "qid 0 docno rel", "qid Q0 docno rank score tag"


def write(benchmark: Benchmark, folder: Path) -> list[str]:
    """Write qrels, runs and ids; return what the files cannot hold."""
    truth, images = benchmark.truth, benchmark.images
    if truth is None or images is None:
        raise InputError("there are no labels", where="truth.parquet", hint="Decide first: eds truth decide.")
    not_held = []
    names = pd.unique(pd.concat([images["image_id"], truth["query_id"], truth["candidate_id"]]))
    encoded = {name: quote(str(name), safe=SAFE) for name in names}
    ordered = truth.sort_values(PAIR)
    columns = (ordered["query_id"].map(encoded), ordered["candidate_id"].map(encoded), ordered["value"])
    with (folder / "qrels.txt").open("w", encoding="ascii", newline="\n") as stream:
        stream.writelines(f"{q} 0 {c} {value}\n" for q, c, value in zip(*columns, strict=True))
    table = images.assign(id=images["image_id"].map(encoded))
    write_csv(table[IDS], folder / "ids.tsv", delimiter="\t")
    for model in benchmark.runs:
        not_held += _write_run(benchmark.run_parts(model), model, encoded, folder / "runs" / f"{model}.run.gz")
    if truth["votes_for"].sum() or truth["tie"].any():
        not_held.append("the votes behind each label, and the rule that decided")
    if benchmark.suspects is not None and len(benchmark.suspects):
        not_held.append(f"{len(benchmark.suspects):,} suspects: origin, probability, sources, unlabelled pairs")
    if benchmark.votes is not None and len(benchmark.votes):
        not_held.append(f"{len(benchmark.votes):,} votes")
    return [*not_held, "images' sizes, digests, boxes and further columns; the pictures"]


def _write_run(parts: Iterable[pd.DataFrame], model: str, encoded: dict[str, str], file: Path) -> list[str]:
    file.parent.mkdir(exist_ok=True)
    total = changed = 0
    most = 0.0
    with _packed(file) as stream:
        for run in parts:
            scores, lowered = lower_scores(run)
            columns = (run["query_id"].map(encoded), run["candidate_id"].map(encoded), run["rank"] + 1, scores.tolist())
            rows = zip(*columns, strict=True)
            stream.writelines(f"{q} Q0 {c} {rank} {score!r} {model}\n" for q, c, rank, score in rows)
            total, changed = total + len(run), changed + lowered
            most = max(most, float(np.max(np.abs(scores - run["score"].to_numpy(np.float64)), initial=0)))
    if not changed:
        return []
    why = f"lowered by at most {most:.2g} to keep the ranks, since readers hold 32 bits and break ties by name"
    return [f"{changed:,} of {total:,} scores of {model}: {why}"]


@contextmanager
def _packed(file: Path) -> Iterator[TextIO]:
    """A packed text file without a time in it, so that equal runs are equal bytes."""
    with (
        file.open("wb") as raw,
        gzip.GzipFile("", "wb", compresslevel=4, fileobj=raw, mtime=0) as packed,
        io.TextIOWrapper(packed, encoding="ascii", newline="\n") as stream,
    ):
        yield stream


def lower_scores(run: pd.DataFrame) -> tuple[NDArray[np.float64], int]:
    """Return scores that keep the ranks in every reader, and how many of them had to change.

    trec_eval holds scores in 32 bits, ignores the rank and breaks ties by docno descending: so in each query the
    scores, rounded to 32 bits, must fall strictly. Where they do, they keep every digit; a score that is not below the
    previous one becomes the next smaller 32-bit number. `run` is ordered by query and rank; rows of one rank are
    handled at once over all queries. Returns (rows,) float64.
    """
    scores = run["score"].to_numpy(np.float64).copy()
    with np.errstate(over="ignore"):
        short = scores.astype(np.float32)
    if not np.isfinite(short).all():
        what = "scores do not fit into the 32 bits that readers of TREC runs use"
        raise InputError(what, where="neighbors", hint="Scale the model's scores.")
    starts = np.flatnonzero(np.diff(pd.factorize(run["query_id"])[0], prepend=-1))
    lengths = np.diff(np.append(starts, len(scores)))
    changed = 0
    for depth in range(1, int(lengths.max(initial=0))):
        here = starts[lengths > depth] + depth
        limit = np.nextafter(short[here - 1], np.float32(-np.inf))
        low = short[here] > limit
        short[here[low]] = limit[low]
        scores[here[low]] = limit[low]
        changed += int(low.sum())
    if not np.isfinite(short).all():
        raise InputError("scores are too close to the smallest 32-bit number", where="neighbors", hint="Scale them.")
    return scores, changed


def read(
    source: Path | None = None,
    *,
    qrels: Annotated[Path | None, "Lines qid 0 docno rel; or ranx' JSON or Parquet; or .gz."] = None,
    run: Annotated[tuple[Path, ...], "Lines qid Q0 docno rank score tag; named after its model."] = (),
    ids: Annotated[Path | None, "ids.tsv: id, image_id and more (default: ids as they are)."] = None,
) -> Benchmark:
    """Read an exported folder, or the files themselves."""
    if source is not None:
        qrels, ids = qrels or _first(source, "qrels.txt", "qrels.txt.gz", "qrels"), ids or _first(source, "ids.tsv")
        files = sorted((source / "runs").iterdir()) if (source / "runs").is_dir() else []
        run = run or tuple(file for file in files if file.name.endswith(ENDINGS))
    if qrels is None and not run:
        what = "holds neither qrels.txt nor runs" if source else "neither a folder nor files are given"
        raise InputError(what, where=str(source or "format trec"), hint="Give a folder, --qrels FILE or --run FILE.")
    return read_files(qrels, {model_name(file): file for file in run}, ids)


def read_files(qrels: Path | None, runs: Mapping[str, Path], ids: Path | None) -> Benchmark:
    """Read qrels, runs by model, and ids; one error has all faults of all files."""
    faults = Faults()
    table = _read_ids(ids, faults) if ids else None
    lists = {model: (file, _read_run(file, faults)) for model, file in runs.items()}
    judged = _read_qrels(qrels, faults) if qrels else None
    faults.raise_any("the files cannot be imported", DO)
    notes: list[str] = []
    locations: dict[str, Location] = {}
    truth = suspects = None
    if judged is not None and qrels is not None:
        at = locations["truth"] = Location(qrels, "line", 1)
        judged, notes = to_labels(_decode(judged, table, at, faults), at, faults)
        if not len(judged):
            faults.add(qrels, ["holds no pairs"])
    tables = {}
    for model, (file, frame) in lists.items():
        at = locations[f"run of {model}"] = Location(file, "line", 1)
        if not len(frame):
            faults.add(file, ["holds no pairs"])
        tables[model], moved = _rank(_decode(frame, table, at, faults), model, at, faults)
        notes += moved
    faults.raise_any("the files cannot be imported", DO)
    if judged is not None:
        truth, suspects = truth_from_pairs(judged, "imported trec"), suspects_from_pairs(judged)
    if table is not None and ids is not None:
        images = to_frame(to_arrow(_images(table), IMAGES, str(ids)))
        locations["ids"] = Location(ids)
    else:
        every = pd.concat([frame[PAIR] for frame in ([judged] if judged is not None else []) + list(tables.values())])
        images = to_frame(to_arrow(images_from_ids(every["query_id"], every["candidate_id"]), IMAGES))
        notes.append(f"{NO_CATALOGUE}: without one of the project, each id is its own path and product")
        locations["catalogue"] = Location(qrels or next(iter(runs.values())))
    return Benchmark(images, truth, suspects, None, tables, locations=locations, notes=tuple(notes))


def _first(folder: Path, *names: str) -> Path | None:
    return next((folder / name for name in names if (folder / name).is_file()), None)


def model_name(file: Path) -> str:
    """Return the model that a run's file is named after."""
    ending = max((ending for ending in (".gz", *ENDINGS) if file.name.endswith(ending)), key=len, default="")
    return file.name.removesuffix(ending)


def _read_ids(file: Path, faults: Faults) -> pd.DataFrame | None:
    frame, at = read_csv(file, "\t"), Location(file)
    if not check_columns(frame, ["id", "image_id"], at, faults):
        return None
    check_ids(frame, ["id", "image_id"], at, faults)
    for name in ("id", "image_id"):
        check_unique(frame, name, at, faults)
    if "path" in frame:
        check_paths(frame[frame["path"].notna()], at, faults)
    return convert_columns(frame, dict.fromkeys(IDS, "text"), file, faults)


def _images(table: pd.DataFrame) -> pd.DataFrame:
    ids = table["image_id"]
    base = images_from_ids(ids, ids).set_index("image_id").loc[ids].reset_index()
    known = {name: table[name].fillna(base[name]) for name in ("product_id", "role", "path")}
    return base.assign(**known, category=table["category"], phase=table["phase"])


def _decode(frame: pd.DataFrame, table: pd.DataFrame | None, at: Location, faults: Faults) -> pd.DataFrame:
    if table is None:
        return frame
    names = dict(zip(table["id"], table["image_id"], strict=True))
    check_known(frame, PAIR, table["id"], at, faults)
    return frame.assign(**{name: frame[name].map(names).fillna(frame[name]) for name in PAIR})


def _rank(frame: pd.DataFrame, model: str, at: Location, faults: Faults) -> tuple[pd.DataFrame, list[str]]:
    """Return the list as table neighbors. Scores give the order, as in trec_eval; ties by id, as in eds."""
    repeats = frame.duplicated(PAIR)
    rows = frame.index[repeats][:MOST]
    faults.add(at.file, (f"{at.row(row)} repeats a document of its query: keep one" for row in rows))
    run = frame[~repeats].sort_values(["query_id", "score", "candidate_id"], ascending=[True, False, True])
    run = run.assign(model=model, rank=run.groupby("query_id").cumcount().astype("int64"))
    notes = []
    if "given" in run:
        order = run.sort_values(["query_id", "given"], kind="stable").groupby("query_id").cumcount()
        moved = int((order.reindex(run.index) != run["rank"]).sum())
        if moved:
            notes = [f"{at.file}: {moved:,} ranks differ from the order of the scores, which counts (as in trec_eval)"]
    return to_frame(to_arrow(run[NEIGHBORS.names], NEIGHBORS, str(at.file))).set_axis(run.index, axis=0), notes


def _read_qrels(file: Path, faults: Faults) -> pd.DataFrame:
    """Return query_id, candidate_id and value (the whole grade); the index is the line, from 0."""
    if file.name.endswith(RANX):
        frame = _read_ranx(file, faults).rename(columns={"score": "value"})
        whole = frame["value"] % 1 == 0
        for row, value in frame["value"][~whole].items():
            faults.add(file, [f"row {row} has grade {value!r}: give a whole number"])
        return frame.assign(value=frame["value"].where(whole, 0).astype("int64"))
    rows = []
    for number, parts in _split(file, 4, QRELS_LINE, faults):
        try:
            rows.append((number, parts[0], parts[2], int(parts[3])))
        except ValueError:
            faults.add(file, [f"line {number + 1} has grade {parts[3]!r}: give a whole number"])
    return _frame(rows, [*PAIR, "value"])


def _read_run(file: Path, faults: Faults) -> pd.DataFrame:
    """Return query_id, candidate_id, score and given (the file's rank); the index is the line, from 0."""
    if file.name.endswith(RANX):
        return _read_ranx(file, faults)
    rows = []
    for number, parts in _split(file, 6, RUN_LINE, faults):
        try:
            rank, score = int(parts[3]), float(parts[4])
        except ValueError:
            faults.add(file, [f"line {number + 1} has rank {parts[3]!r} and score {parts[4]!r}: give numbers"])
            continue
        if not math.isfinite(score):
            faults.add(file, [f"line {number + 1} has score {parts[4]}: give a finite number"])
        rows.append((number, parts[0], parts[2], score, rank))
    return _frame(rows, [*PAIR, "score", "given"])


def _split(file: Path, count: int, form: str, faults: Faults) -> Iterator[tuple[int, list[str]]]:
    text = read_lines(file)
    if text and text[-1].strip():
        faults.add(file, [f"line {len(text)} has no line end: get the complete file, or end the line"])
    for number, line in enumerate(text):
        parts = line.split()
        if len(parts) == count:
            yield number, parts
        elif parts:
            more = "; ids may not contain blanks: percent-encode them" if len(parts) > count else ""
            faults.add(file, [f"line {number + 1} has {len(parts)} values, not {count} ({form}){more}"])


def _frame(rows: Sequence[tuple[Any, ...]], names: list[str]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["line", *names]).set_index("line")


def _read_ranx(file: Path, faults: Faults) -> pd.DataFrame:
    """Read JSON {qid: {docno: score}}, or Parquet with q_id, doc_id, score."""
    if file.name.endswith(".parquet"):
        try:
            frame = pq.read_table(file).to_pandas()
        except (pa.ArrowException, OSError) as error:
            reason = str(error).splitlines()[0]
            raise InputError(f"is damaged or not Parquet ({reason})", where=str(file), hint=AGAIN) from error
        if missing := {"q_id", "doc_id", "score"} - set(frame.columns):
            hint = "Give ranx' columns: q_id, doc_id, score."
            raise InputError(f"has no column {', '.join(sorted(missing))}", where=str(file), hint=hint)
        frame = frame.rename(columns={"q_id": "query_id", "doc_id": "candidate_id"})
    else:
        frame = pd.DataFrame(_read_ranx_json(file), columns=[*PAIR, "score"])
    frame = frame[[*PAIR, "score"]]
    frame = frame.assign(query_id=frame["query_id"].astype(str), candidate_id=frame["candidate_id"].astype(str))
    score = pd.to_numeric(frame["score"], errors="coerce").astype("float64")
    bad = ~score.abs().lt(math.inf)
    for row, value in frame["score"][bad].items():
        faults.add(file, [f"row {row} has score {value!r}: give a finite number"])
    checked: pd.DataFrame = frame.assign(score=score.where(~bad, 0.0))
    return checked


class _Members(list[tuple[str, Any]]):
    """The members of a JSON object, repeated keys included."""


def _read_ranx_json(file: Path) -> list[tuple[str, str, Any]]:
    data = read_bytes(file)
    try:
        content = json.loads(data, object_pairs_hook=_Members)
    except (ValueError, RecursionError) as error:
        raise InputError(f"is not complete JSON ({error})", where=str(file), hint=AGAIN) from error
    if not isinstance(content, _Members) or not all(isinstance(value, _Members) for _, value in content):
        raise InputError("is not of the form {qid: {docno: score}}", where=str(file), hint="Write it with ranx.")
    return [(query, document, score) for query, scores in content for document, score in scores]
