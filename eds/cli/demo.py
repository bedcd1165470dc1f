"""`eds demo`: the whole flow on a drawn catalogue whose truth is known."""

from pathlib import Path
from typing import TYPE_CHECKING, get_args

import click

from eds.choices import DemoCatalogue
from eds.cli.console import Console, command
from eds.cli.render import format_estimate, format_share, format_table

if TYPE_CHECKING:
    from eds.project.demo import DemoResult
    from eds.project.demo_catalogues import CatalogueDemoResult


@command(None, "demo", example="eds demo my-demo --products 60")
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False), default=Path("demo"))
@click.option("--products", type=click.IntRange(2), default=1200, help="Number of garments.")
@click.option("--views", type=click.IntRange(1), default=2, help="Images of each garment.")
@click.option("--queries", type=click.IntRange(1), default=200, help="Queries among the catalogue's images, at most.")
@click.option("--wild", type=click.IntRange(0), default=40, help="Query images of the wild domain.")
@click.option("--size", type=click.IntRange(32, 2048), default=768, help="Side of an image in pixels.")
@click.option("--model", "models", multiple=True, metavar="SPEC", help="Models (default: 3 descriptors, 1 network).")
@click.option("--catalogue", type=click.Choice(get_args(DemoCatalogue)), help="Use a real catalogue.")
@click.option("--source", type=click.Path(path_type=Path), help="Where the real catalogue is.")
def demo(
    console: Console,
    folder: Path,
    models: tuple[str, ...],
    catalogue: DemoCatalogue | None,
    source: Path | None,
    **plan: int,
) -> None:
    """Run the whole flow on a drawn catalogue; resumes.

    Models embed the catalogue, their lists are mined and pooled, simulated experts judge the pool and random pairs;
    then truth, scores and the report are made. As the catalogue is drawn, the known truth is shown beside.

    A real catalogue (--catalogue furniture: Debian's package sweethome3d-furniture) goes as far as the pool; its
    truth is what experts say.
    """
    if catalogue:
        from eds.project.demo_catalogues import make_catalogue_demo

        console.would_begin("make", str(folder), f"a project of the catalogue {catalogue}, up to the pool")
        made = make_catalogue_demo(folder, catalogue, source=source, models=models, reporter=console)
        console.show(made, render_catalogue_demo)
        return
    from eds.project.demo import make_demo

    console.would_begin("make", str(folder), f"a drawn catalogue of {plan['products']:,} garments, judged and scored")
    console.show(make_demo(folder, plan=plan, models=models or None, workers=None, reporter=console), render_demo)


def render_demo(result: "DemoResult") -> str:
    """What was found, beside what there was to find."""
    truth, unique = result.truth, result.overlap["unique_by_model"]
    alpha = result.agreement.set_index("coefficient").loc["krippendorff_alpha"]
    rows = [
        (
            f"{check.name}: {check.about}",
            format_estimate(check.estimate, 2 if check.name == "p" else 1) if check.estimate else "n/a",
            "n/a" if check.truth is None else format_share(check.truth, 2 if check.name == "p" else 1),
        )
        for check in result.checks
    ]
    return "\n".join(
        [
            "",
            format_table(("share", "estimate [95 %]", "in truth"), rows),
            result.verdict,
            "",
            f"The pool (top {result.k} of {len(result.overlap['models'])} models) holds {truth.pool_positives:,} of "
            f"the {truth.positives:,} similar pairs there are, among {truth.universe.text}.",
            f"{result.experts} simulated experts agree with Krippendorff's alpha {alpha['value']:.2f} "
            f"[{alpha['low']:.2f}, {alpha['high']:.2f}].",
            "",
            format_table(("model", "pairs of images no other model found"), [(name, unique[name]) for name in unique]),
            "",
            f"Look at {result.sheet} and {result.report}; then: eds status -p {result.project}",
        ]
    )


def render_catalogue_demo(result: "CatalogueDemoResult") -> str:
    """What was imported and pooled, and whose pictures these are."""
    unique = result.overlap["unique_by_model"]
    return "\n".join(
        [
            "",
            f"{result.images:,} images of {result.products:,} products; the pool (top {result.k} of "
            f"{len(result.overlap['models'])} models) has {result.pairs:,} pairs.",
            "",
            format_table(("model", "pairs of images no other model found"), [(name, unique[name]) for name in unique]),
            "",
            "Pictures:",
            *(f"  {line}" for line in result.attribution),
            f"Every maker: {result.attribution_file}",
            "",
            f"Look at {result.sheet}; to judge: eds labels serve --project {result.project} --invite lead-1",
        ]
    )
