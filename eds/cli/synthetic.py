"""`eds synthetic`: a drawn catalogue and simulated experts, whose truth is known."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from eds.cli.console import Console, command
from eds.cli.render import format_table
from eds.project.simulate import BEGINNING, fill_campaign

if TYPE_CHECKING:
    from eds.project import Project
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
    params = {"products": products, "views": views, "wild": wild, "seed": seed, "size": size}
    made_by = tables.Provenance("synthetic.catalogue", params=params)
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
            + format_table(list(by_category.columns), by_category.to_numpy().tolist())
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

    panel = _panel(console.project, count, seed)
    truth = full_truth(console.project.read("images"), panel)
    rows = [
        (expert.expert_id, expert.threshold, expert.noise, expert.fatigue, expert.unsure_rate, expert.seconds_per_pair)
        for expert in panel
    ]
    known = {"pairs": truth.pairs, "positives": truth.positives, "rate": truth.rate}
    console.answer(
        {"experts": [{**vars(expert), "weights": expert.named_weights} for expert in panel], "truth": known},
        lambda: (
            format_table(("expert", "threshold", "noise", "fatigue", "unsure", "seconds"), rows)
            + f"\nTheir majority calls {truth.positives:,} of all {truth.pairs:,} pairs similar ({truth.rate:.2%})."
        ),
    )


@command(experts, "judge", example="eds synthetic experts judge --campaign simulated -p demo")
@panel_size
@panel_seed
@click.option("--campaign", default="simulated", help="The campaign they judge; made on all suspects if it is new.")
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), help="Write a file instead, as table labels.")
def judge(console: Console, count: int | None, seed: int | None, campaign: str, out: Path | None) -> None:
    """Let simulated experts judge every suspect, through the same queue and store as people; or into a file."""
    panel = _panel(console.project, count, seed)
    if out is None:
        acts = fill_campaign(console.project, panel, campaign)
        document: dict[str, Any] = {"experts": len(panel), "labels": acts, "campaign": campaign}
        console.answer(document, f"{len(panel)} experts gave {acts:,} labels in campaign {campaign}.")
        return
    from eds import tables
    from eds.synthetic import experts as simulated

    suspects = console.project.read("suspects").sort_values(["batch", "position"], kind="stable")
    labels = simulated.judge(suspects, console.project.read("images"), panel, started_at=BEGINNING)
    parents = [console.project.path("images"), console.project.path("suspects")]
    chosen = {"count": len(panel), "seed": seed}
    made_by = console.project.provenance("synthetic.experts.judge", {}, parents, params=chosen)
    tables.write(labels, tables.LABELS, out, made_by)
    document = {"experts": len(panel), "labels": len(labels), "file": str(out)}
    console.answer(document, f"{len(panel)} experts gave {len(labels):,} labels: {out}")


def _panel(project: "Project", count: int | None, seed: int | None) -> "tuple[Expert, ...]":
    from eds.synthetic.experts import draw_experts

    settings = project.config
    return draw_experts(count or settings.budget.experts, settings.project.seed if seed is None else seed)
