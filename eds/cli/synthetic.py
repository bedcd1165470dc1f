"""`eds synthetic`: a drawn catalogue and simulated experts, whose truth is known."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from eds.cli.console import Console, command, lined

if TYPE_CHECKING:
    from eds.synthetic.experts import Expert


@click.group()
def synthetic() -> None:
    """Draw a catalogue and simulate experts, whose truth is known."""


@command(synthetic, "catalogue", example="eds synthetic catalogue --products 300 --views 3 --wild 50 --seed 7 -p demo")
@click.option("--products", type=int, default=200, help="Different garments.")
@click.option("--views", type=int, default=3, help="Pictures of each.")
@click.option("--wild", type=int, default=0, help="Query pictures of the wild domain.")
@click.option("--seed", type=int, default=0, help="The same seed draws the same catalogue on every machine.")
@click.option("--size", type=int, default=256, help="Side of a picture in pixels.")
@click.option("--workers", type=int, default=None, help="Processes (default: one per core).")
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default=None,
    help="Draw into this folder, with an images.parquet beside, instead of into a project.",
)
def catalogue(
    console: Console, products: int, views: int, wild: int, seed: int, size: int, workers: int | None, out: Path | None
) -> None:
    """Draw a fashion catalogue with known attributes, into the project's images (or a folder)."""
    from eds import tables
    from eds.synthetic.catalogue import draw_catalogue

    folder = out or console.project.image_root
    with console.progress("drawing", "images") as progress:
        images = draw_catalogue(
            folder,
            products=products,
            views=views,
            wild=wild,
            seed=seed,
            size=size,
            workers=workers,
            progress=progress,
        )
    made_by = tables.Provenance(
        f"eds synthetic catalogue --products {products} --views {views} --wild {wild} --seed {seed} --size {size}"
    )
    if out:
        tables.write(images, tables.IMAGES, out / "images.parquet", made_by)
    else:
        with console.project.writing("eds synthetic catalogue"):
            console.project.write(images, "images", made_by)
    by_category = images.groupby(["category", "phase"]).size().reset_index(name="images")
    console.answer(
        {"folder": str(folder), "images": len(images), "by_category": by_category},
        lambda: (
            f"Drew {len(images):,} images of {products:,} products in {folder}\n"
            + lined(list(by_category.columns), by_category.to_numpy().tolist())
        ),
    )


@synthetic.group()
def experts() -> None:
    """Simulate experts, who see the catalogue's known similarity each in their own way."""


panel_size = click.option("--count", type=click.IntRange(1), help="Experts (default: eds.toml, budget.experts).")
panel_seed = click.option("--seed", type=click.IntRange(0), help="Seed of the panel (default: the project's).")


@command(experts, "show", example="eds synthetic experts show --count 3 -p demo")
@panel_size
@panel_seed
def show(console: Console, count: int | None, seed: int | None) -> None:
    """Tell who the simulated experts are, and what their majority says of all pairs of the catalogue."""
    from eds.synthetic.panel import full_truth

    panel = _panel(console, count, seed)
    truth = full_truth(console.project.read("images"), panel)
    rows = [
        (expert.expert_id, expert.threshold, expert.noise, expert.fatigue, expert.unsure_rate, expert.seconds_per_pair)
        for expert in panel
    ]
    known = {"pairs": truth.pairs, "positives": truth.positives, "rate": truth.rate}
    console.answer(
        {"experts": [{**vars(expert), "weights": expert.named_weights} for expert in panel], "truth": known},
        lambda: (
            lined(("expert", "threshold", "noise", "fatigue", "unsure", "seconds"), rows)
            + f"\nTheir majority calls {truth.positives:,} of all {truth.pairs:,} pairs similar ({truth.rate:.2%})."
        ),
    )


@command(experts, "judge", example="eds synthetic experts judge --out labels.parquet -p demo")
@panel_size
@panel_seed
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    default=Path("labels.parquet"),
    help="The file that gets the labels, as the table labels.",
)
def judge(console: Console, count: int | None, seed: int | None, out: Path) -> None:
    """Let the simulated experts judge every suspect of the project; write their labels to a file."""
    from datetime import UTC, datetime

    from eds import tables
    from eds.synthetic import experts as simulated

    suspects = console.project.read("suspects").sort_values(["batch", "position"], kind="stable")
    panel = _panel(console, count, seed)
    started = datetime(2000, 1, 1, tzinfo=UTC)  # the same labels at every call
    labels = simulated.judge(suspects, console.project.read("images"), panel, started_at=started)
    words = f"eds synthetic experts judge --count {len(panel)}" + (f" --seed {seed}" if seed is not None else "")
    parents = [console.project.path("images"), console.project.path("suspects")]
    tables.write(labels, tables.LABELS, out, console.project.provenance(words, {}, parents))
    rate = float(labels["value"].mean())
    console.answer(
        {"labels": len(labels), "experts": len(panel), "similar": rate, "file": str(out)},
        f"{len(panel)} experts gave {len(labels):,} labels, {rate:.1%} of them similar: {out}",
    )


def _panel(console: Console, count: int | None, seed: int | None) -> "tuple[Expert, ...]":
    from eds.synthetic.experts import draw_experts

    settings = console.project.config
    return draw_experts(count or settings.budget.experts, settings.project.seed if seed is None else seed)
