"""`eds synthetic`: a drawn catalogue and simulated experts, whose truth is known."""

from pathlib import Path
from typing import Any

import click

from eds.cli.console import Console, command
from eds.cli.render import format_frame, format_share, format_table

panel_size = click.option("--count", type=click.IntRange(1), help="Experts (default: eds.toml, budget.experts).")
panel_seed = click.option("--seed", type=click.IntRange(0), help="Seed of the panel (default: the project's).")


@click.group()
def synthetic() -> None:
    """Drawn catalogue and simulated experts: known truth."""


@command(synthetic, "catalogue", example="eds synthetic catalogue --products 300 --views 3 --wild 50 --seed 7 -p demo")
@click.option("--products", type=click.IntRange(1), default=200, help="Number of garments.")
@click.option("--views", type=click.IntRange(1), default=3, help="Images of each garment.")
@click.option("--wild", type=click.IntRange(0), default=0, help="Query images of the wild domain.")
@click.option("--queries", type=click.IntRange(0), help="Studio images that are queries (default: one a garment).")
@click.option("--collection-size", type=click.IntRange(1), default=12, help="Garments of one design, on average.")
@click.option("--seed", type=int, default=0, help="Seed; it gives the same catalogue on every machine.")
@click.option("--size", type=click.IntRange(1), default=256, help="Side of an image in pixels.")
@click.option("--workers", type=click.IntRange(1), help="Processes (default: one per core).")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), help="Draw into a folder, not the project.")
def catalogue(console: Console, out: Path | None, **options: Any) -> None:
    """Draw a fashion catalogue whose attributes are known."""
    from eds.project.simulate import draw_catalogue

    if out is not None:
        console.would_begin("make", str(out), f"pictures of {options['products']:,} garments, and images.parquet")
    console.show(
        draw_catalogue(out or console.project, reporter=console, **options),
        lambda drawn: f"{format_frame(drawn.by_category)}\n{drawn.images:,} images in {drawn.folder}",
    )


@synthetic.group()
def experts() -> None:
    """Simulated experts, each with a threshold and noise."""


@command(experts, "show", example="eds synthetic experts show --count 3 -p demo", reads=True)
@panel_size
@panel_seed
def show(console: Console, count: int | None, seed: int | None) -> None:
    """Show the simulated experts and what they find."""
    from eds.project.simulate import describe_panel

    console.show(describe_panel(console.project, count, seed), _render_panel)


@command(experts, "judge", example="eds synthetic experts judge --campaign simulated -p demo")
@panel_size
@panel_seed
@click.option("--campaign", default="simulated", help="Their campaign; a new one asks all suspects.")
@click.option("--experts-per-pair", type=click.IntRange(1), help="Experts who judge each pair (default: all).")
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), help="Write a file as table labels instead.")
def judge(console: Console, campaign: str, out: Path | None, **panel: Any) -> None:
    """Let simulated experts judge every suspect."""
    console.show(
        console.project.simulate_experts(campaign=campaign, out=out, **panel),
        lambda done: f"{done.experts} experts gave {done.labels:,} labels: {done.file or f'campaign {done.campaign}'}.",
    )


def _render_panel(panel: Any) -> str:
    headings = ("expert", "threshold", "noise", "fatigue", "unsure", "seconds")
    names = ("expert_id", "threshold", "noise", "fatigue", "unsure_rate", "seconds_per_pair")
    rows = [[expert[name] for name in names] for expert in panel.experts]
    return (
        f"{format_table(headings, rows)}\n"
        f"Their majority calls {panel.positives:,} similar ({format_share(panel.rate, 2)}) of {panel.universe.text}."
    )
