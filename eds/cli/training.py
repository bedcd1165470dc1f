"""`eds training`: hash heads fitted to embeddings, whole networks trained; the results are models like others.

Here the group and hash heads; networks stand in training_networks.py.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from eds import choices
from eds.cli.console import Console, command
from eds.cli.options import one_of
from eds.cli.render import format_table
from eds.cli.training_networks import finetune
from eds.cli.training_plan import plan_options, planned, run_folder
from eds.errors import InputError, ProjectError

if TYPE_CHECKING:
    import pandas as pd

    from eds.project import Project
    from eds.vectors import Vectors

MADE_BY, OPERATION = "eds training hash", "training.hash"


@click.group()
def training() -> None:
    """Fit hash heads to vectors, and networks to pictures."""


training.add_command(finetune)


@command(training, "hash", example="eds training hash codes32 --base lite0 --bits 32 --objective talr-ap")
@click.argument("name")
@click.option("--base", metavar="MODEL", help="The model whose vectors are hashed (default: the only one).")
@click.option("--bits", type=int, default=32, help="Of a code, 1 to 64.")
@click.option("--objective", type=one_of(choices.HashObjective), default="talr-ap", help="What is raised or lowered.")
@click.option(
    "--labels", type=one_of(choices.HashLabels), default="product",
    help="Which images belong together.",
)  # fmt: skip
@click.option("--torn-negative", is_flag=True, help="Pairs similar one way only count as not similar.")
@click.option("--head", type=one_of(choices.HashHead), default="linear", help="The head's kind.")
@click.option("--hidden", type=int, default=256, help="Units of the hidden layer of an mlp.")
@click.option("--scale", default="1", metavar="S|FROM:TO", help="Of tanh; FROM:TO grows from epoch to epoch.")
@click.option("--margin", type=float, help="Of the DSH family, in code lengths (default: dsh 2, the others 1).")
@click.option("--alpha", type=float, help="The DSH family's pull to -1 and 1 (default: dsh 0.01, the others 0.1).")
@click.option("--replace", is_flag=True, help="Begin anew, and replace other vectors of this name.")
@plan_options(1e-3)
def hash_(console: Console, name: str, base: str | None, labels: str, replace: bool, **options: Any) -> None:
    """Fit a head to a model's vectors and write the codes as model NAME; a run that was killed goes on."""
    project = console.project
    with project.writing(MADE_BY):
        base = _base(project, base, name)
        words = {"base": base, "labels": labels, **options}
        document = _make(console.project, name, words, replace=replace)
    console.answer(document, lambda: _told(document))


def run(project: "Project") -> None:
    """Make stale codes anew, each with the options that it was made with; its base model must be fresh."""
    for name in project.models("embeddings"):
        state = project.state("embeddings", name)
        if state.condition == "stale" and state.operation == OPERATION:
            words = {key: value for key, value in state.params.items() if key != "arguments"}
            project.say(_told(_make(project, name, words, replace=True)))


def _make(project: "Project", name: str, words: Mapping[str, Any], *, replace: bool) -> dict[str, Any]:
    """Fit and encode; `words` are all options of the command."""
    from eds.training.hash_head import Design, fit_hash_head
    from eds.training.hash_losses import Pairing, Scale
    from eds.training.hash_model import base_of, inputs, write_codes
    from eds.training.supervision import supervise

    base, labels = words["base"], words["labels"]
    design = Design(words["bits"], words["objective"], words["head"], words["hidden"], Scale.parse(words["scale"]),
                    Pairing(words["margin"], words["alpha"]))  # fmt: skip
    plan, target = planned(project, words), project.path("embeddings", name)
    told = {"head": design.head, "bits": design.bits, "objective": design.objective, "labels": labels,
            "scale": str(design.scale), "margin": words["margin"], "alpha": words["alpha"],
            "seed": plan.seed}  # fmt: skip
    if not replace:
        _refuse_others(target, told)
    folder = run_folder(project, name)
    images = project.read("images")
    vectors, there = _opened(project, base, images)
    supervision = supervise(labels, there, _truth(project, labels), torn_negative=words["torn_negative"])
    parents = [project.path("images"), project.path("embeddings", base)]
    parents += [project.path("truth")] if labels == "truth" else []
    with project.progress("training", "epochs") as progress:
        found = fit_hash_head(inputs(vectors, list(supervision.ids)), supervision, design, plan, folder,
                              base_of(vectors), anew=replace, progress=progress)  # fmt: skip
    if found.resumed_at:
        project.say(f"Went on after epoch {found.resumed_at}.")
    made_by = project.provenance(OPERATION, {} if words["seed"] is not None else {"project.seed": plan.seed}, parents,
                                 params={"arguments": [name], **words}, notes={"held_out": found.held_out})  # fmt: skip
    with project.progress("encoding", "codes") as progress:
        codes = write_codes(target, name, vectors, list(supervision.ids), found, told, made_by, progress=progress)
    return {
        "model": name, "base": base, **told, "rows": len(codes), "held_out": found.held_out, "watched": found.watched,
        "measure": "nDCGt" if labels == "both" else "APt", "trained_on": found.trained_on,
        "watched_on": found.watched_on, "tested_on": found.tested_on, "epochs": len(found.rows),
        "best_epoch": found.best_epoch, "keep": plan.keep, "learning_rate": plan.learning_rate,
        "warm_up": plan.warm_up, "resumed_at": found.resumed_at, "checkpoint": str(found.file),
        "checkpoint_sha256": found.sha256, "log": found.rows, "images_without_a_vector": len(images) - len(there),
    }  # fmt: skip


def _told(document: dict[str, Any]) -> str:
    lines = [
        f"{document['rows']:,} codes of {document['bits']} bits as {document['model']}, of {document['base']} by"
        f" {document['objective']} on labels {document['labels']}.",
        f"Held out ({document['tested_on']:,} images; {document['trained_on']:,} trained on,"
        f" {document['watched_on']:,} watched): {document['measure']} {document['held_out']:.4f}"
        + (f", weights of epoch {document['best_epoch']} of {document['epochs']}" if document["epochs"] else ""),
    ]
    if document["images_without_a_vector"]:
        lines.append(f"{document['images_without_a_vector']:,} images have no vector and got no code.")
    rows = [[row["epoch"], row["loss"], row["watched"], row["learning_rate"]] for row in document["log"][-3:]]
    if rows:
        lines += ["", format_table(["epoch", "loss", "watched", "learning rate"], rows)]
    return "\n".join([*lines, f"Checkpoint: {document['checkpoint']}"])


def _base(project: "Project", asked: str | None, name: str) -> str:
    """The model that is hashed: the one asked for, or the only one of floats."""
    from eds.vectors import read_model

    models = project.models("embeddings")
    floats = [model for model in models if read_model(project.path("embeddings", model)).dtype != "bits"]
    if asked is None and len(floats) != 1:
        raise InputError("the base model is not told", do=f"Name it: --base; there are {', '.join(floats) or 'none'}.")
    base = asked or floats[0]
    if base not in models:
        raise ProjectError(
            f"no vectors of model {base}", where=str(project.root), do=f"There are: {', '.join(models)}."
        )
    if base == name:
        raise InputError("the codes would replace their base model", where=f"model {name}", do="Give another name.")
    return base


def _opened(project: "Project", base: str, images: "pd.DataFrame") -> "tuple[Vectors, pd.DataFrame]":
    from eds.project.ranks_and_scores import opened

    return opened(project, [base], images, allow_missing=True)[base]


def _truth(project: "Project", labels: str) -> "pd.DataFrame | None":
    from eds.project.inputs import Inputs

    return Inputs(project).decided_pairs() if labels == "truth" else None


def _refuse_others(folder: Path, told: dict[str, Any]) -> None:
    """Refuse to write over vectors that no hash head made, or one of another design."""
    from eds.vectors import read_model

    if not (folder / "model.json").exists():
        return
    model = read_model(folder)
    differ = [key for key in told if model.spec.get(key) != told[key]]
    if model.spec.get("loader") != "hash" or differ:
        raise ProjectError(
            f"{model.name} holds vectors that something else made", where=str(folder),
            do="Give another name, or --replace them.",
            faults=[f"{key}: there {model.spec.get(key)!r}, asked for {told[key]!r}" for key in differ],
        )  # fmt: skip
