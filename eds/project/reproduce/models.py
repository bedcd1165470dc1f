"""The models of a reproduction: backbones with their weights, files of vectors, or TREC runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from eds.benchmarks.reproduce import model_files
from eds.benchmarks.reproduce.paper import known_model, paper
from eds.errors import InputError

File = TypeVar("File")
OWN = "fine-tuned by its authors and not released: give its vectors, or NAME=SPEC"


@dataclass(frozen=True)
class ModelChoice:
    """Which models to use: `paper` for all of the paper's, `[NAME=]SPEC`, or names of the files in a folder."""

    models: Sequence[str] = ("paper",)
    weights: Path | None = None  # a folder of weights that no hub has
    embeddings: Path | None = None  # a folder of vectors, one file per model
    runs: Path | None = None  # a folder of TREC runs, one file per model


@dataclass(frozen=True)
class ModelPlan:
    """What to compute or read for the chosen models, and why some cannot be had."""

    names: tuple[str, ...]
    all_of_paper: bool  # missing models are reported, not refused
    embeddings: Path | None = None
    runs: Path | None = None
    specs: Mapping[str, str] = field(default_factory=dict)
    missing: Mapping[str, str] = field(default_factory=dict)  # model -> reason


def plan_models(choice: ModelChoice) -> ModelPlan:
    """Return the plan for the chosen models, without reading their files."""
    folders = {"--weights": choice.weights, "--embeddings": choice.embeddings, "--runs": choice.runs}
    used = [name for name, folder in folders.items() if folder is not None]
    if len(used) > 1:
        raise InputError(f"{' and '.join(used)} exclude each other", hint="Use one of them.")
    known = tuple(dict.fromkeys(paper().models.values()))
    all_of_paper = "paper" in choice.models
    own = [text for text in choice.models if text != "paper"]
    names = (*(known if all_of_paper else ()), *(known_model(text) for text in own if ":" not in text))
    names = tuple(dict.fromkeys(names))
    if choice.embeddings or choice.runs:
        if computed := [text for text in own if ":" in text]:
            what = f"{computed[0]!r} needs to be computed, but {used[0]} has finished models"
            raise InputError(what, where="option --models", hint="Name models of the folder, or leave out the folder.")
        return ModelPlan(names, all_of_paper, choice.embeddings, choice.runs)
    specs, missing = _plan_specs(names, known, choice.weights)
    for text in own:
        head, equals, rest = text.partition("=")
        if ":" in text:
            name = known_model(head) if equals and ":" not in head else ""
            specs[name or text] = f"{name}={rest}" if name else text
            missing.pop(name, None)
    return ModelPlan(names, all_of_paper, specs=specs, missing=missing)


def _plan_specs(
    names: Sequence[str], known: Sequence[str], weights: Path | None
) -> tuple[dict[str, str], dict[str, str]]:
    """Return the backbones of named models, and why others have none."""
    from eds.backbones import PRESETS

    specs, missing = {}, {}
    for name in names:
        preset = PRESETS.get(name)
        if preset is None and name not in known:
            hint = f"Write [NAME=]loader:name, paper, or one of {', '.join(PRESETS)}."
            raise InputError(f"unknown model {name!r}", where="option --models", hint=hint)
        if preset is None:
            missing[name] = OWN
        elif preset.file and (weights is None or not (weights / preset.file).is_file()):
            where = "no --weights DIR is given" if weights is None else f"{preset.file} is not in {weights}"
            missing[name] = f"{where} ({preset.note.partition(':')[0]})"
        else:
            specs[name] = f"{name}={preset.text_in(weights or Path())}"
    return specs, missing


def tasks_without_files(plan: ModelPlan, tasks: Sequence[str]) -> dict[str, str]:
    """Return the tasks that the folder of models has no files for, and why; refused if that is all of them."""
    missing, last = {}, None
    for task in tasks:
        try:
            if plan.embeddings is not None:
                model_files.find_vectors(plan.embeddings, task)
            elif plan.runs is not None:
                model_files.find_runs(plan.runs, task)
        except InputError as error:
            missing[task], last = f"{error.where} {error.what}", error
    if last is not None and len(missing) == len(tasks):
        raise last
    return missing


def select(files: Mapping[str, File], plan: ModelPlan, folder: Path) -> tuple[dict[str, File], dict[str, str], str]:
    """Return the folder's files of planned models, why others are missing, and a message on unused files."""
    missing = [name for name in plan.names if name not in files]
    if missing and not plan.all_of_paper:
        what = f"has nothing of {', '.join(missing)}"
        raise InputError(what, where=str(folder), hint=f"It has: {', '.join(files)}.")
    unused = [name for name in files if name not in plan.names]
    message = ""
    if unused:
        message = f"Not in the paper, left out: {', '.join(unused)}. To include one: --models {unused[0]}"
    reasons = dict.fromkeys(missing, f"no file of the model in {folder}")
    return {name: file for name, file in files.items() if name in plan.names}, reasons, message
