"""TREC's qrels and runs, the files that trec_eval and its kin read. IR's words are used here only.

    qrels.txt     qid 0 docno rel          judged negatives are 0, unjudged pairs are absent
    runs/M.run    qid Q0 docno rank score tag
    ids.tsv       id, image_id, product_id, role, path: what stands for which image

Readers split at blanks, so ids are percent-encoded (blanks, %, # and all beyond ASCII); they are decoded by ids.tsv
only, for in foreign files a % is a %. ranx' JSON {qid: {docno: score}} and its Parquet are read as well, .gz too.
"""

from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pandas as pd

from eds.benchmarks import rows
from eds.benchmarks.benchmark import PAIR, Benchmark, Place, decided, images_of, pooled
from eds.benchmarks.formats.trec_files import read_qrels, read_run
from eds.benchmarks.formats.trec_scores import lowered
from eds.benchmarks.json_files import Faults
from eds.benchmarks.text_files import as_kinds, read_csv, write_csv
from eds.errors import InputError
from eds.schema import to_arrow, to_frame
from eds.tables import IMAGES, NEIGHBORS

SAFE = "!$&'()*+,-./:;<=>?@[]^_`{|}~\"\\"
IDS = ["id", "image_id", "product_id", "category", "role", "phase", "path"]
DO = "Nothing was imported. Mend the lines:"
ENDINGS = (".run", ".run.gz", ".json", ".json.gz", ".parquet", ".txt", ".txt.gz")


def write(benchmark: Benchmark, folder: Path) -> list[str]:
    """Write qrels, runs and ids; what the files cannot hold."""
    truth, images = benchmark.truth, benchmark.images
    if truth is None or images is None:
        raise InputError("there is nothing judged", where="truth.parquet", do="Decide first: eds truth decide.")
    lost = []
    names = pd.unique(pd.concat([images["image_id"], truth["query_id"], truth["candidate_id"]]))
    encoded = {name: quote(str(name), safe=SAFE) for name in names}
    ordered = truth.sort_values(PAIR)
    with (folder / "qrels.txt").open("w", encoding="ascii", newline="\n") as stream:
        texts = zip(
            ordered["query_id"].map(encoded), ordered["candidate_id"].map(encoded), ordered["value"], strict=True
        )
        stream.writelines(f"{query} 0 {candidate} {value}\n" for query, candidate, value in texts)
    table = images.assign(id=images["image_id"].map(encoded))
    write_csv(table[IDS], folder / "ids.tsv", delimiter="\t")
    for model, run in benchmark.runs.items():
        lost += _write_run(run, model, encoded, folder / "runs" / f"{model}.run")
    if truth["votes_for"].sum() or truth["tie"].any():
        lost.append("the votes behind each label, and the rule that decided")
    if benchmark.suspects is not None and len(benchmark.suspects):
        lost.append(f"{len(benchmark.suspects):,} suspects: origin, probability, sources, pairs without a label")
    if benchmark.votes is not None and len(benchmark.votes):
        lost.append(f"{len(benchmark.votes):,} votes")
    lost.append("images' sizes, digests, boxes and further columns; the pictures")
    return lost


def _write_run(run: pd.DataFrame, model: str, encoded: dict[str, str], file: Path) -> list[str]:
    file.parent.mkdir(exist_ok=True)
    run = run.sort_values(["query_id", "rank"], ignore_index=True)
    scores, changed = lowered(run)
    parts = (run["query_id"].map(encoded), run["candidate_id"].map(encoded), run["rank"] + 1, scores.tolist())
    with file.open("w", encoding="ascii", newline="\n") as stream:
        texts = zip(*parts, strict=True)
        stream.writelines(f"{q} Q0 {c} {rank} {score!r} {model}\n" for q, c, rank, score in texts)
    if not changed:
        return []
    most = float(np.max(np.abs(scores - run["score"].to_numpy(np.float64))))
    return [f"{changed:,} of {len(run):,} scores of {model}: readers hold 32 bits and break ties by name, so they "
            f"were lowered by {most:.2g} at most to keep the ranks"]  # fmt: skip


def read(
    place: Path | None,
    qrels: Path | None = None,
    runs: tuple[Path, ...] | Mapping[str, Path] = (),
    ids: Path | None = None,
) -> Benchmark:
    """An exported folder, or the files themselves; every fault of all of them at once.

    A run is of the model that its file is called after, or under which it is given.
    """
    if place is not None:
        qrels, ids = qrels or _first(place, "qrels.txt", "qrels.txt.gz", "qrels"), ids or _first(place, "ids.tsv")
        found = sorted((place / "runs").iterdir()) if (place / "runs").is_dir() else []
        runs = runs or tuple(file for file in found if file.name.endswith(ENDINGS))
    if qrels is None and not runs:
        raise InputError("holds neither qrels.txt nor runs", where=str(place), do="Give --qrels FILE or --run FILE.")
    faults = Faults()
    named = _ids(ids, faults) if ids else None
    named_runs = runs if isinstance(runs, Mapping) else {_model(file): file for file in runs}
    lists = {model: (file, read_run(file, faults)) for model, file in named_runs.items()}
    judged = read_qrels(qrels, faults) if qrels else None
    faults.refuse("the files cannot be imported", DO)
    notes: list[str] = []
    places: dict[str, Place] = {}
    truth = suspects = None
    if judged is not None and qrels is not None:
        places["truth"] = Place(qrels, "line", 1)
        judged = _decoded(judged, named, places["truth"], faults)
        graded = int((judged["value"] > 1).sum())
        if graded:
            notes.append(f"{graded:,} grades above 1 count as similar: labels are 1 and 0")
        judged, told = rows.judged(judged, places["truth"])
        judged = judged.assign(value=(judged["value"] > 0).astype("int64"))
        judged, again = rows.judgements(judged, places["truth"], faults)
        notes += [*told, *again]
        if not len(judged):
            faults.add(qrels, ["holds no pairs"])
    tables = {}
    for model, (file, frame) in lists.items():
        places[f"run of {model}"] = Place(file, "line", 1)
        frame = _decoded(frame, named, places[f"run of {model}"], faults)
        if not len(frame):
            faults.add(file, ["holds no pairs"])
        run, note = _ranked(frame, model, places[f"run of {model}"], faults)
        tables[model] = run
        notes += note
    faults.refuse("the files cannot be imported", DO)
    if judged is not None:
        truth, suspects = decided(judged, "imported trec"), pooled(judged)
    images = None
    if named is not None:
        images = to_frame(to_arrow(_images(named), IMAGES, str(ids)))
    known = [frame[PAIR] for frame in ([judged] if judged is not None else []) + list(tables.values())]
    if images is None:
        every = pd.concat(known)
        images = to_frame(to_arrow(images_of(every["query_id"], every["candidate_id"]), IMAGES))
        notes.append("the files tell no catalogue: without one of the project's own, an id is its own path and product")
        places["catalogue"] = Place(qrels or next(iter(named_runs.values())))
    else:
        places["ids"] = Place(ids or Path("ids.tsv"))
    return Benchmark(images, truth, suspects, None, tables, places=places, notes=tuple(notes))


def _first(place: Path, *names: str) -> Path | None:
    return next((place / name for name in names if (place / name).is_file()), None)


def _model(file: Path) -> str:
    name = file.name
    for ending in (".gz", ".run", ".json", ".parquet", ".txt"):
        name = name.removesuffix(ending)
    return name


def _ids(file: Path, faults: Faults) -> pd.DataFrame | None:
    frame, place = read_csv(file, "\t"), Place(file)
    if not rows.columns(frame, ["id", "image_id"], place, faults):
        return None
    rows.ids(frame, ["id", "image_id"], place, faults)
    for name in ("id", "image_id"):
        twice = frame.index[frame[name].duplicated()]
        faults.add(file, (f"row {row} has {name} {frame[name].loc[row]!r} a second time: keep one" for row in twice))
    if "path" in frame:
        rows.paths(frame[frame["path"].notna()], place, faults)
    return as_kinds(frame, dict.fromkeys(IDS, "text"), file, faults)


def _images(named: pd.DataFrame) -> pd.DataFrame:
    ids = named["image_id"]
    base = images_of(ids, ids).set_index("image_id").loc[ids].reset_index()
    told = {name: named[name].fillna(base[name]) for name in ("product_id", "role", "path")}
    return base.assign(**told, category=named["category"], phase=named["phase"])


def _decoded(frame: pd.DataFrame, named: pd.DataFrame | None, place: Place, faults: Faults) -> pd.DataFrame:
    if named is None:
        return frame
    table = dict(zip(named["id"], named["image_id"], strict=True))
    rows.known(frame, PAIR, named["id"], place, faults)
    return frame.assign(**{name: frame[name].map(table).fillna(frame[name]) for name in PAIR})


def _ranked(frame: pd.DataFrame, model: str, place: Place, faults: Faults) -> tuple[pd.DataFrame, list[str]]:
    """The list as table neighbors. The order is the scores', as trec_eval has it; ties by id, as eds has it."""
    twice = frame.duplicated(PAIR)
    faults.add(place.file, (f"{place.of(row)} has this document a second time for its query: keep one"
                            for row in frame.index[twice][:200]))  # fmt: skip
    run = frame[~twice].sort_values(["query_id", "score", "candidate_id"], ascending=[True, False, True])
    run = run.assign(model=model, rank=run.groupby("query_id").cumcount().astype("int64"))
    notes = []
    if "given" in run:
        order = run.sort_values(["query_id", "given"], kind="stable").groupby("query_id").cumcount()
        moved = int((order.reindex(run.index) != run["rank"]).sum())
        if moved:
            notes.append(
                f"{place.file}: {moved:,} ranks differ from the order of the scores, which counts (as in trec_eval)"
            )
    return to_frame(to_arrow(run[NEIGHBORS.names], NEIGHBORS, str(place.file))).set_axis(run.index, axis=0), notes
