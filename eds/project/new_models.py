"""Models that come to be scored on a benchmark that is there: computed, copied or read on the way, and kept.

A backbone's text goes the way of `eds embeddings compute`, a file of vectors that of `eds embeddings import`, a TREC
run that of `eds benchmarks import trec --run`: the same functions, so the same checks and the same tables.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from eds.errors import EdsError, InputError

if TYPE_CHECKING:
    from eds.project import Project

COMMAND = "eds metrics score"


def bring(
    project: "Project",
    models: Sequence[str],
    vectors: Sequence[str] = (),
    runs: Sequence[str] = (),
    ids: Sequence[str] = (),
    *,
    partial: bool = False,
) -> list[str]:
    """Take in what the options name; the names of the models among `models`, and of those that came.

    Everything that can be checked without computing is checked first. The caller holds the project.
    """
    from eds.project.ranks_and_scores import chosen_models

    files = {"--vectors": _files(vectors, "--vectors"), "--run": _files(runs, "--run"), "--ids": _files(ids, "--ids")}
    known = {*project.models("embeddings"), *project.models("neighbors")}
    specs = [text for text in models if text not in known and _is_spec(text)]
    new = {**files["--vectors"], **files["--run"]}
    faults = [f"--ids {name}: no --vectors or --run brings it" for name in files["--ids"] if name not in new]
    faults += [f"{name}: both --vectors and --run bring it" for name in files["--vectors"] if name in files["--run"]]
    faults += [
        f"--run {name}: a model of that name has vectors here, and they would be scored instead: choose another name"
        for name in files["--run"]
        if name in project.models("embeddings")
    ]
    if faults:
        raise InputError("the new models cannot be taken in", where=COMMAND, do="Mend:", faults=faults)
    if there := [text for text in models if text not in specs and text not in new]:
        chosen_models(project, there)  # refuses those that nobody knows
    came: list[str] = []
    if (specs or new) and not project.path("images").exists():
        project.read("images")  # tells what to do
    if specs:
        from eds.project.embed import compute_models

        _refuse_without_pictures(project, specs, partial=partial)
        came += [done.model.name for done in compute_models(project, specs, {}, replace=False).models]
    for name, file in files["--vectors"].items():
        from eds.project.embed import import_model

        beside = files["--ids"].get(name)
        came.append(import_model(project, name, file, beside, partial=partial).model.name)
    for name, file in files["--run"].items():
        _read_run(project, name, file, files["--ids"].get(name))
        came.append(name)
    return [*(text for text in models if text not in specs), *came]


@contextmanager
def kept_if_used(project: "Project") -> Iterator[None]:
    """Take lists that came in meanwhile away again if they are refused: all later commands would stumble over them."""
    before = set(project.models("neighbors"))
    try:
        yield
    except EdsError:
        for name in set(project.models("neighbors")) - before:
            project.path("neighbors", name).unlink()
        raise


def _refuse_without_pictures(project: "Project", specs: Sequence[str], *, partial: bool) -> None:
    """Imported benchmarks mostly come without pictures: told before anything is computed."""
    root = project.pictures
    if isinstance(root, str):
        return  # they lie elsewhere, and are asked for one by one
    paths = project.read("images", columns=["path"])["path"]
    absent = [path for path in paths if not (root / path).is_file()]
    if absent and not (partial and len(absent) < len(paths)):
        raise InputError(
            f"{len(absent):,} of {len(paths):,} pictures are absent, as {absent[0]!r}, and {specs[0]} needs them",
            where=str(root), do="Put them there, leave them out (--allow-missing), or bring --vectors or a --run.",
        )  # fmt: skip


def _read_run(project: "Project", name: str, file: Path, ids: Path | None) -> None:
    from eds.benchmarks.formats import trec
    from eds.project.exchange import store_benchmark

    benchmark = replace(trec.read_files(None, {name: file}, ids), images=None)
    params = {"run": f"{name}={file}", "ids": f"{name}={ids}" if ids else None}
    for note in store_benchmark(project, benchmark, "metrics.score", params).notes:
        if note.startswith(str(file)):  # the others are of the catalogue, which was there
            project.say(f"Note: {note}.")


def _is_spec(text: str) -> bool:
    """Whether the text asks for a backbone: loader:name, or one of the paper's models, perhaps with its file."""
    if ":" in text.partition("@")[0]:
        return True
    from eds.backbones import PRESETS, name_and_spec

    return name_and_spec(text)[1].partition("@")[0] in PRESETS


def _files(texts: Sequence[str], option: str) -> dict[str, Path]:
    """NAME=FILE, all faults at once."""
    from eds.tables import check_model_name

    found: dict[str, Path] = {}
    faults: list[str] = []
    for text in texts:
        name, equals, path = text.partition("=")
        try:
            check_model_name(name)
        except InputError as error:
            faults.append(f"{option} {text}: {error}")
            continue
        if not equals:
            faults.append(f"{option} {text}: write NAME=FILE")
        elif name in found:
            faults.append(f"{option} {text}: {name} is given a second time")
        elif not Path(path).is_file():
            faults.append(f"{option} {text}: there is no file {path!r}")
        found[name] = Path(path)
    if faults:
        raise InputError("files cannot be taken in", where=COMMAND, do="Write NAME=FILE:", faults=faults)
    return found
