"""The models of a project: what each is called, where it comes from, and whether it makes the pool or is only compared.

A verb that embeds a model records it in eds.toml as a table [[models]]. Models of older projects are not recorded:
their roles follow from the pool, until a verb records one and the others with it.
"""

import json
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eds import config
from eds.choices import GivenRole, TrainedOn
from eds.config import ModelSettings
from eds.errors import InputError
from eds.io.files import write_text
from eds.project.results import Result
from eds.registry import BASELINES
from eds.tables import check_model_name

if TYPE_CHECKING:
    from eds.project import Project
    from eds.project.inputs import Inputs

TRAINING = "training"  # folder of the networks that were fine-tuned here
LABELS_MEAN: dict[str, tuple[TrainedOn, ...]] = {  # what a model has seen, by the option `labels` of its training
    "truth": ("labels",),
    "product": ("products",),
    "category": ("categories",),
    "both": ("products", "categories"),
}


@dataclass(frozen=True)
class ProjectModel(Result):
    """A model of the project."""

    name: str
    role: str  # generator, evaluated or removed
    spec: str  # empty: vectors or lists were imported
    trained_on: tuple[str, ...]  # what of this project it was trained on
    vectors: int | None  # None: none
    lists: bool
    proposed: int  # pairs of the pool that its lists name
    judged: float | None  # share of these that have a label


@dataclass(frozen=True)
class ModelsResult(Result):
    """The models of the project, generators first."""

    models: list[ProjectModel]


def list_models(project: "Project") -> ModelsResult:
    """Return every model with its role; see `Project.list_models`."""
    from eds.project.inputs import PAIR, Inputs

    inputs = Inputs(project)
    labelled = inputs.read("truth")[PAIR] if inputs.exists("truth") else None
    proposals = inputs.proposals
    rows = []
    for model in known_models(project, inputs):
        mine = proposals.loc[proposals["model"] == model.name, PAIR]
        judged = None if labelled is None or not len(mine) else len(mine.merge(labelled, on=PAIR)) / len(mine)
        rows.append(
            ProjectModel(
                model.name,
                model.role,
                model.spec,
                trained_on(project, model.name),
                project.state("embeddings", model.name).rows,
                project.path("neighbors", model.name).exists(),
                len(mine),
                judged,
            )
        )
    order = {"generator": 0, "evaluated": 1, "removed": 2}
    return ModelsResult(sorted(rows, key=lambda item: (order[item.role], item.name)))


def known_models(project: "Project", inputs: "Inputs | None" = None) -> list[ModelSettings]:
    """Return the models recorded in eds.toml, then those that only have vectors or lists, with the role they have."""
    recorded = list(read_recorded(project))
    names = {model.name for model in recorded if model.role != "removed"}
    others = sorted({*project.models("embeddings"), *project.models("neighbors")} - names)
    if not others:
        return recorded
    roles = _derived_roles(project, others, inputs)
    found = [ModelSettings(name=name, spec=_computed_spec(project, name), role=roles[name]) for name in others]
    return [model for model in recorded if model.name not in others] + found


def read_recorded(project: "Project") -> tuple[ModelSettings, ...]:
    """Return the tables [[models]] of eds.toml, as the file is now."""
    return config.load_models(project.root / config.FILE)


def roles(project: "Project", inputs: "Inputs | None" = None) -> dict[str, str]:
    """Return the role of every model."""
    return {model.name: model.role for model in known_models(project, inputs)}


def generators(project: "Project", table: str = "neighbors", inputs: "Inputs | None" = None) -> list[str]:
    """Return the generators that have a file of this table, by name."""
    there = project.models(table)
    known = roles(project, inputs) if there else {}
    return [name for name in there if known[name] == "generator"]


def find_model(project: "Project", text: str, *, whole: bool = False) -> str:
    """Return the name of the model that a text names: by its name, its spec, or (unless `whole`) the end of either.

    A text that names none, or several, is returned as it is.
    """
    from eds.backbones import name_and_spec

    there = {*project.models("embeddings"), *project.models("neighbors")}
    if text in there:
        return text
    specs = {model.name: model.spec for model in read_recorded(project) if model.role != "removed"}
    specs |= {name: _computed_spec(project, name) for name in there if name not in specs}
    name, spec = name_and_spec(text)
    for found in (
        [model for model in specs if model in (text, name)],
        [model for model in specs if specs[model] and specs[model] in (spec, full_spec(spec)) and not name],
        [] if whole else [one for one in specs if _ends_with(one, text) or _ends_with(specs[one], text)],
    ):
        if len(found) == 1:
            return found[0]
    return text


def full_spec(spec: str) -> str:
    """Return the spec that the name of a preset stands for; any other text as it is."""
    from eds.backbones.presets import preset_text
    from eds.errors import EdsError

    try:
        return preset_text(spec)
    except EdsError:
        return spec


def find_models(project: "Project", texts: Iterable[str]) -> list[str]:
    """Return the names of the models that texts name, each once."""
    return list(dict.fromkeys(find_model(project, text) for text in texts))


def _ends_with(name: str, text: str) -> bool:
    return bool(text) and name.endswith(text) and name[: -len(text)].endswith((":", "-", "_", ".", "/"))


def default_role(project: "Project") -> GivenRole:
    """Return the role of a model that joins now: a generator until there are labels, then evaluated."""
    from eds.project.decide import has_votes

    return "evaluated" if project.path("truth").exists() or has_votes(project) else "generator"


def record(
    project: "Project",
    name: str,
    spec: str = "",
    *,
    role: GivenRole | None = None,
    trained: Sequence[TrainedOn] = (),
    inputs: "Inputs | None" = None,
) -> ModelSettings:
    """Record a model in eds.toml; what is known of it stays unless it is given. The caller holds the project."""
    models = {model.name: model for model in known_models(project, inputs)}
    before = next((model for model in read_recorded(project) if model.name == name), None)
    if before is None or before.role == "removed":
        named = {item.partition("=")[2] or item for item in project.config.embeddings.models}
        chosen = role or ("generator" if spec and spec in named else default_role(project))
        announce = role is None and chosen == "evaluated"
    else:
        chosen, announce = role or before.role, False
    kept = before.trained_on if before else ()
    made = ModelSettings(
        name=name,
        spec=spec or (before.spec if before else ""),
        role=chosen,
        trained_on=tuple(dict.fromkeys([*kept, *trained])),
    )
    if made != before:
        write_models(project, [*{**models, name: made}.values()])
    if announce:
        project.say(
            f"{name} is evaluated, as there are labels already: its lists add nothing to the pool. To let it propose"
            f" pairs: eds models add {name} --role generator."
        )
    return made


def add_model(project: "Project", text: str, *, role: GivenRole | None = None) -> ProjectModel:
    """Record a model, or change its role; see `Project.add_model`."""
    from eds.project.embed import parse_model

    with project.writing("models.add"):
        name, spec = find_model(project, text), ""
        if roles(project).get(name, "removed") == "removed":
            name, spec = parse_model(text)
            if not name:
                raise InputError("the model has no name", where=text, hint=f"Write NAME={text}.")
            check_model_name(name)
        record(project, name, spec, role=role)
        project.end_rehearsal()
    return next(item for item in list_models(project).models if item.name == name)


def remove_model(project: "Project", text: str) -> ModelsResult:
    """Delete a model's vectors, lists and scores; see `Project.remove_model`."""
    from eds import tables

    with project.writing("models.remove"):
        name = existing_model(project, text)
        models = {model.name: model for model in known_models(project)}
        models[name] = models[name].model_copy(update={"role": "removed"})
        write_models(project, [*models.values()])
        for path in (project.path("embeddings", name), project.path("neighbors", name)):
            if path.exists() and not project.would("delete", path):
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        if project.path("scores").exists():
            made_by, _ = tables.read_provenance(project.path("scores"), tables.SCORES)
            scores = project.read("scores")
            gone = {f"embeddings/{name}", f"neighbors/{name}.parquet"}
            parents = {path: digest for path, digest in made_by.parents.items() if path not in gone}
            params = dict(made_by.params)
            if name in params.get("model", ()):
                params["model"] = [other for other in params["model"] if other != name]
            kept = scores[scores["model"] != name].reset_index(drop=True)
            project.write(kept, "scores", replace(made_by, parents=parents, params=params))
    return list_models(project)


def trained_on(project: "Project", name: str) -> tuple[TrainedOn, ...]:
    """Return what of this project a model was trained on, as its provenance says and as eds.toml records.

    Codes of a hash head have seen what their base model has seen, too.
    """
    recorded = {model.name: model.trained_on for model in read_recorded(project)}
    seen: list[TrainedOn] = [*recorded.get(name, ())]
    state = project.state("embeddings", name)
    if state.operation == "embeddings.compute":
        seen += _seen_by_network(project, _computed_spec(project, name))
    if state.operation == "training.hash":
        seen += _seen_by_head(state.params)
        base = str(state.params.get("base", ""))
        seen += trained_on(project, base) if base and base != name else ()
    return tuple(dict.fromkeys(seen))


def marked(project: "Project", names: Iterable[str]) -> dict[str, tuple[TrainedOn, ...]]:
    """Return the models that were trained on something of this project, and on what."""
    return {name: seen for name in names if (seen := trained_on(project, name))}


def _derived_roles(project: "Project", names: Sequence[str], inputs: "Inputs | None") -> dict[str, GivenRole]:
    """The roles of models that are not recorded: those that made the pool are generators; without a pool, all."""
    from eds.analysis.newcomers import chosen_for
    from eds.project.inputs import Inputs
    from eds.project.pool import pooled_models

    inputs = inputs or Inputs(project)
    suspects = inputs.suspects
    if not (suspects["origin"] == "pool").any():
        return dict.fromkeys(names, "generator")
    pooled, later = set(pooled_models(project)), chosen_for(suspects["stratum"].unique())
    makers = pooled | (set(inputs.proposals["model"]) - set(later))
    return {name: "generator" if name in makers else "evaluated" for name in names}


def _seen_by_head(options: Mapping[str, Any]) -> tuple[TrainedOn, ...]:
    """What a hash head or a trained network was fitted to, by its options; some baselines to nothing."""
    objective = str(options.get("objective", ""))
    if objective in BASELINES and not BASELINES.learns(objective):
        return ()
    return LABELS_MEAN.get(str(options.get("labels", "product")), ("products",))


def _seen_by_network(project: "Project", spec: str) -> tuple[TrainedOn, ...]:
    """What a network or a hash function was trained on, if it was in this project: its run or its weights say so."""
    if spec.startswith("hash:"):
        from eds.project.runs import trained_runs

        run_of = spec.removeprefix("hash:")  # the name of a run here, or its folder
        folders = {project.root / TRAINING / run_of, Path(run_of).expanduser().resolve()}
        records = (run.record for run in trained_runs(project) if run.folder in folders)
        return tuple(seen for record in records for seen in _seen_by_head(record))
    file = Path(spec.partition("?")[0].removeprefix("checkpoint:")).expanduser()
    home = (project.root / TRAINING).resolve()
    if not spec.startswith("checkpoint:") or not file.resolve().is_relative_to(home):
        return ()
    try:
        with file.open("rb") as opened:  # safetensors: the length of a JSON header, then the header
            header = json.loads(opened.read(int.from_bytes(opened.read(8), "little")))
        identity = json.loads(header["__metadata__"]["eds.training"])["identity"]
    except (OSError, ValueError, KeyError, TypeError):
        return ("products",)  # it lies among the networks trained here, and does not say on what
    return () if "dino" in identity else LABELS_MEAN.get(str(identity.get("labels")), ("products",))


def _computed_spec(project: "Project", name: str) -> str:
    """The spec that a model's vectors were computed with; empty where they were imported."""
    from eds.project.embed import parse_model

    state = project.state("embeddings", name)
    if state.operation != "embeddings.compute" or not state.params.get("models"):
        return ""
    return parse_model(str(state.params["models"][0]))[1]


def existing_model(project: "Project", text: str) -> str:
    """Return the name of a model that the project has; refuse others."""
    name = find_model(project, text)
    known = [model.name for model in known_models(project) if model.role != "removed"]
    if name not in known:
        raise InputError(
            f"there is no model {text!r}",
            where=str(project.root),
            hint=f"There are: {', '.join(known)}." if known else "The project has none: eds models add.",
        )
    return name


def write_models(
    project: "Project", models: Sequence[ModelSettings], renamed: "Mapping[str, str] | None" = None
) -> None:
    """Write the tables [[models]] of eds.toml, and the new names of models that were renamed."""
    file = project.root / config.FILE
    if not project.would("change", file, _described(project, models)):
        write_text(file, config.with_models(file, models, renamed))
        project.config = project.config.model_copy(update={"embeddings": config.load(file).embeddings})


def _described(project: "Project", models: Sequence[ModelSettings]) -> str:
    """What the tables [[models]] would say that they do not say now."""
    if not project.dry_run:
        return ""
    before = {model.name: model for model in read_recorded(project)}
    new = [f"{model.name} {model.role}" for model in models if before.get(model.name) != model]
    gone = [f"{name} no more" for name in before if name not in {model.name for model in models}]
    return f"[[models]] {', '.join([*new, *gone])}"
