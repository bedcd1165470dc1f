"""One task of a release as a project: its tables, the vectors or runs of the models, their lists, drawn negatives.

What was made before and is still as it should be is left alone, so that a second call goes on where the first stopped.
"""

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eds.errors import EdsError, InputError, ProjectError
from eds.project.results import to_jsonable
from eds.tables import Operation

if TYPE_CHECKING:
    import pandas as pd

    from eds.benchmarks.formats.vsd import Files
    from eds.project import Project, Reporter
    from eds.project.exchange import ImportResult

COMMAND, OPERATION = "eds benchmarks reproduce vsd", "benchmarks.reproduce.vsd"
DEEP = 500  # of the lists: negatives are drawn from ranks 100 to 500
GIVEN = ".eds/given.json"


@dataclass
class Task:
    """A task at work: its project, where each model comes from, and what could not be had, with the reason."""

    name: str
    project: "Project"
    imported: "ImportResult"
    sources: dict[str, str] = field(default_factory=dict)  # model -> embeddings or run
    runs: "dict[str, pd.DataFrame]" = field(default_factory=dict)  # as given, not yet by the benchmark's rules
    lacking: dict[str, str] = field(default_factory=dict)  # model -> why it could not be used
    notes: list[str] = field(default_factory=list)
    negatives: str = ""  # why none were drawn
    beside: str = ""  # what is to be known of those that were


def begun(
    reporter: "Reporter", out: Path, task: str, files: "Files", images: Path, phases: str, *, apart: bool, k: int
) -> Task:
    """The project of the task in `out`, made or opened, with the release's tables in it."""
    from eds.benchmarks.folder import verify_checksums
    from eds.benchmarks.formats import vsd
    from eds.benchmarks.reproduce.paper import WILD, ZERO_SHOT, paper
    from eds.project import Project
    from eds.project.exchange import store_benchmark

    place, root = out / task, images.resolve()
    try:
        project = Project.open(place, reporter=reporter)
    except ProjectError:
        values = {
            "project.name": f"VSD-Fashion, {task}",
            "images.root": str(root),
            "neighbors.k": DEEP,
            "suspects.k": k,
        }
        project = Project.create(place, values, reporter=reporter)
    if project.image_root.resolve() != root or project.config.suspects.k != k:
        raise InputError(f"was made from pictures in {project.image_root} and with -k {project.config.suspects.k}",
                         where=str(place), do="Name another folder: --out DIR.")  # fmt: skip
    options: dict[str, Any] = {**asdict(files), "gallery_phases": phases}
    given = {**options, "separate": apart}
    params = {name: str(value) if isinstance(value, Path) else value for name, value in given.items() if value}
    with project.writing(COMMAND):
        notes = verify_checksums(file for file in asdict(files).values())
        benchmark = vsd.read(**options)
        imported = store_benchmark(project, benchmark, "benchmarks.import.vsd", params, separate=apart, replace=True)
    notes += imported.notes
    table = project.read("images")
    offered = int((table["role"] != "query").sum())
    if task in (ZERO_SHOT, WILD) and offered != paper().text["D_catalog"]:
        notes.append(f"the paper's catalogue has {paper().text['D_catalog']:,} candidates, this one {offered:,}")
    both = table[table["role"] == "both"]
    if task == WILD and len(both):
        counts = ", ".join(f"{name} {count:,}" for name, count in table["phase"].value_counts().items())
        raise InputError(
            f"{len(both):,} queries of the wild task stand among the candidates, as {both['image_id'].iloc[0]!r}",
            where=str(files.metadata), do=f"Say which phases are offered: --gallery-phases PHASE,... ({counts}).",
        )  # fmt: skip
    return Task(task, project, imported, notes=notes)


def take_vectors(task: Task, given: "Mapping[str, tuple[Path, Path | None]]", known: "set[str]") -> None:
    """Copy files of vectors in; `known` are images that other tasks name, whose vectors are passed over."""
    from eds.io.files import digest, write_text
    from eds.project.embed import import_model
    from eds.project.excluded_images import write_left_out

    project = task.project
    with project.writing(COMMAND):
        write_left_out(project, known - set(project.read("images", columns=["image_id"])["image_id"]))
        told = _kept(project.root / GIVEN)
        for name, (file, ids) in given.items():
            try:
                digests = [digest(one) for one in (file, ids) if one is not None]
                fresh = project.state("embeddings", name).condition == "fresh"
                if not (fresh and told.get(name) == digests):
                    shutil.rmtree(project.path("embeddings", name), ignore_errors=True)
                    import_model(project, name, file, ids)
                    told[name] = digests
                    write_text(project.root / GIVEN, json.dumps(told, indent=1))
                task.sources[name] = "embeddings"
            except EdsError as error:
                task.lacking[name] = _reason(error)


def take_specs(task: Task, specs: "Mapping[str, str]", earlier: "Sequence[Path]") -> None:
    """Compute vectors by backbones; what `earlier`, projects of other tasks, have is not computed again."""
    from eds.project.embed import compute_models

    project = task.project
    with project.writing(COMMAND):
        for name, text in specs.items():
            there = _made_before(earlier, text)
            if there is not None and not (project.root / "embeddings" / there.name).exists():
                _copied(there, project.root / "embeddings" / there.name)
            try:
                done = compute_models(project, [text], {}, replace=False)
                made = done.models[0]
                if len(done.bad):
                    reason = f"{len(done.bad):,} pictures cannot be read, as {done.bad['image_id'].iloc[0]!r}"
                    raise InputError(f"{reason}: {done.bad['reason'].iloc[0]}", do="Bring the pictures.")
                task.sources[made.model.name] = "embeddings"
                project.say(f"{made.model.name}: {made.model.rows:,} vectors, {made.computed:,} of them computed now")
            except EdsError as error:
                task.lacking[name] = _reason(error)


def take_runs(task: Task, runs: "Mapping[str, pd.DataFrame]") -> None:
    """Keep the runs' lists, by the benchmark's rules, as table neighbors."""
    from eds.benchmarks.reproduce.model_files import official_lists

    project = task.project
    images = project.read("images")
    with project.writing(COMMAND):
        for name, run in runs.items():
            try:
                lists = official_lists(run, images)
                made_by = project.provenance(OPERATION, {}, [project.path("images")], params={"k": DEEP})
                project.write(lists, "neighbors", made_by, name)
                task.sources[name], task.runs[name] = "run", run
            except EdsError as error:
                task.lacking[name] = _reason(error)


def mine_lists(task: Task) -> None:
    """Lists 500 deep of every model that has vectors; fresh ones are left alone."""
    from eds.neighbors import Rules, mine
    from eds.project.ranks_and_scores import official_rules, opened

    project = task.project
    images = project.read("images")
    settings = official_rules(project)
    rules = Rules(DEEP, exclude_product=settings.exclude_product, one_per_product=settings.one_per_product)
    for name in [name for name, source in task.sources.items() if source == "embeddings"]:
        state = project.state("neighbors", name)
        if state.condition == "fresh" and state.params == {"k": DEEP}:
            continue
        vectors, there = opened(project, [name], images, allow_missing=False)[name]
        with project.progress(f"mining {name}", "vectors") as progress:
            lists = mine(vectors, there, rules, progress=progress)
        parents = [project.path("images"), project.path("embeddings", name)]
        with project.writing(COMMAND):
            project.write(lists, "neighbors", project.provenance(OPERATION, {}, parents, params={"k": DEEP}), name)


def draw_negatives(task: Task) -> None:
    """The negatives of the columns Neg, from ranks 100 to 500 of the models that made the pool."""
    import pandas as pd

    from eds.benchmarks.reproduce.paper import GENERATORS
    from eds.suspects import draw_negatives as draw

    project = task.project
    makers = [name for name in GENERATORS if name in task.sources]
    if not makers:
        task.negatives = (
            "negatives are drawn from the lists of the models that made the pool, and none of these is here"
        )
        return
    if len(makers) < len(GENERATORS):
        task.beside = (
            f"negatives drawn from the lists of {len(makers)} of the {len(GENERATORS)} models: {', '.join(makers)}"
        )
    lists = pd.concat([project.read("neighbors", name) for name in makers], ignore_index=True)
    before = project.read("suspects")
    try:
        after = draw(project.read("images"), lists, before, project.read("truth"), seed=project.config.project.seed)
    except EdsError as error:
        task.negatives = f"no negatives could be drawn: {error.what}"
        return
    if not (after["origin"] == "negative").any():
        task.negatives = "no negatives could be drawn: nothing that has no label lies at ranks 100 to 500"
        return
    parents = [project.path("neighbors", name) for name in makers]
    with project.writing(COMMAND):
        project.write(
            after,
            "suspects",
            replace(project.provenance("benchmarks.import.vsd", {}, parents), later=(Operation(OPERATION),)),
        )


def _made_before(roots: "Sequence[Path]", text: str) -> Path | None:
    """The folder of vectors that the same backbone made in another task's project."""
    from eds.vectors import read_model

    for root in roots:
        for file in sorted((root / "embeddings").glob("*/model.json")):
            if read_model(file.parent).provenance.params.get("model") == text:
                return file.parent
    return None


def _copied(there: Path, place: Path) -> None:
    """Copy a folder, whole or not at all."""
    part = place.with_name(f".{place.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    shutil.copytree(there, part)
    part.rename(place)


def _kept(file: Path) -> dict[str, list[str]]:
    try:
        found: dict[str, list[str]] = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found


def _reason(error: EdsError) -> str:
    """An error as the reason of an empty cell: on one line, without what to do."""
    return " ".join(str(to_jsonable("; ".join([error.what.rstrip("."), *error.faults[:3]]))).split())
