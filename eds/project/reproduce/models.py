"""Where the models of a reproduction come from: backbones with their weights, finished vectors, or TREC runs."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from eds.errors import InputError
from eds.project.reproduce.task import Task, take_runs, take_specs, take_vectors

One = TypeVar("One")
OWN = "fine-tuned by its authors and not released: bring its vectors, or NAME=SPEC"


@dataclass(frozen=True)
class Given:
    """What was asked for: our names of models, backbones by name, and the folder of finished files."""

    names: tuple[str, ...]
    whole: bool  # all the paper's models: those that are not there are told, not refused
    specs: dict[str, str]
    lacking: dict[str, str]
    embeddings: Path | None
    runs: Path | None


def sources(models: Sequence[str], weights: Path | None, embeddings: Path | None, runs: Path | None) -> Given:
    """The options read; every fault at once."""
    from eds.backbones import PRESETS
    from eds.benchmarks.reproduce.paper import known_model, paper

    folders = {"--weights": weights, "--embeddings": embeddings, "--runs": runs}
    told = [name for name, folder in folders.items() if folder is not None]
    if len(told) > 1:
        raise InputError(f"{' and '.join(told)} exclude each other", do="Models come from one of them.")
    known = tuple(dict.fromkeys(paper().models.values()))
    whole, finished = "paper" in models, embeddings or runs
    own = [text for text in models if text != "paper"]
    names = [*(known if whole else ()), *(known_model(text) for text in own if ":" not in text)]
    if finished:
        if specs := [text for text in own if ":" in text]:
            raise InputError(
                f"{specs[0]!r} would be computed, and {told[0]} brings finished models",
                where="option --models", do="Name models of the folder, or leave the folder out.",
            )  # fmt: skip
        return Given(tuple(dict.fromkeys(names)), whole, {}, {}, embeddings, runs)
    specs_of, lacking = {}, {}
    for name in dict.fromkeys(names):
        preset = PRESETS.get(name)
        if preset is None and name not in known:
            raise InputError(f"{name!r} is no model", where="option --models",
                             do=f"Write [NAME=]loader:name, paper, or one of {', '.join(PRESETS)}.")  # fmt: skip
        if preset is None:
            lacking[name] = OWN
        elif preset.file and (weights is None or not (weights / preset.file).is_file()):
            where = "no --weights DIR was given" if weights is None else f"{preset.file} is not in {weights}"
            lacking[name] = f"{where} ({preset.note.partition(':')[0]})"
        else:
            specs_of[name] = f"{name}={preset.text_in(weights or Path())}"
    for text in own:
        head, equals, rest = text.partition("=")
        if ":" in text:
            name = known_model(head) if equals and ":" not in head else ""
            specs_of[name or text] = f"{name}={rest}" if name else text
            lacking.pop(name, None)
    return Given(tuple(names), whole, specs_of, lacking, None, None)


def without_models(given: Given, tasks: Sequence[str]) -> dict[str, str]:
    """The tasks that the folder of finished files holds nothing for, and why; refused if that is all of them."""
    from eds.benchmarks.reproduce import model_files

    gone, last = {}, None
    for task in tasks:
        try:
            if given.embeddings is not None:
                model_files.find_vectors(given.embeddings, task)
            elif given.runs is not None:
                model_files.find_runs(given.runs, task)
        except InputError as error:
            gone[task], last = f"{error.where} {error.what}", error
    if last is not None and len(gone) == len(tasks):
        raise last
    return gone


def bring(task: Task, given: Given, known: set[str], earlier: Sequence[Path]) -> None:
    """Bring the models into the task's project; why one could not be brought is kept with it."""
    from eds.benchmarks.reproduce import model_files

    task.lacking |= given.lacking
    if given.embeddings is not None:
        files = _chosen(model_files.find_vectors(given.embeddings, task.name), given, given.embeddings, task)
        take_vectors(task, {name: (one.vectors, one.ids) for name, one in files.items()}, known)
    elif given.runs is not None:
        runs, ids = model_files.find_runs(given.runs, task.name)
        take_runs(task, model_files.read_runs(_chosen(runs, given, given.runs, task), ids))
    else:
        project = task.project
        if given.specs and not any((project.image_root / path).is_file() for path in project.read("images")["path"]):
            raise InputError(
                "not one picture of the metadata is there", where=str(project.image_root),
                do="Say where they are (--images DIR), or do without: --embeddings DIR or --runs DIR.",
            )  # fmt: skip
        take_specs(task, given.specs, earlier)


def refuse_none(tasks: Sequence[Task], out: Path) -> None:
    """Refuse that no model could be used for any task; models that lack for one reason are told together."""
    reasons: dict[str, list[str]] = {}
    for task in tasks:
        for name, why in task.lacking.items():
            reasons.setdefault(f"{task.name}: {why}", []).append(name)
    faults = [f"{why} ({', '.join(names)})" for why, names in sorted(reasons.items(), key=lambda one: len(one[1]))]
    raise InputError("no model could be used", where=str(out), do="Bring vectors, runs, weights or backbones:",
                     faults=faults)  # fmt: skip


def _chosen(there: dict[str, One], given: Given, folder: Path, task: Task) -> dict[str, One]:
    """Of the folder's models those that were asked for."""
    lost = [name for name in given.names if name not in there]
    if lost and not given.whole:
        raise InputError(f"holds nothing of {', '.join(lost)}", where=str(folder), do=f"There are: {', '.join(there)}.")
    task.lacking |= dict.fromkeys(lost, f"no file of the model in {folder}")
    if rest := [name for name in there if name not in given.names]:
        task.project.say(
            f"Left out, for the paper has no such model: {', '.join(rest)}. To have it too: --models {rest[0]}"
        )
    return {name: one for name, one in there.items() if name in given.names}
