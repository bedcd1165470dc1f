"""A drawn catalogue and simulated experts: a project whose truth is known."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eds.errors import InputError
from eds.project.label_store import opened
from eds.project.results import Result

if TYPE_CHECKING:
    import pandas as pd

    from eds.project import Project, Reporter
    from eds.synthetic.experts import Expert
    from eds.universe import UniverseSize

BEGINNING = datetime(2000, 1, 1, tzinfo=UTC)  # of simulated sittings: every call gives the same labels
SITTING = 500  # pairs that a simulated expert judges in a day, after which fatigue starts over


@dataclass(frozen=True)
class DrawnCatalogue(Result):
    """A catalogue that was drawn."""

    folder: str
    images: int
    by_category: "pd.DataFrame"  # category, phase, images


@dataclass(frozen=True)
class SimulatedJudging(Result):
    """What simulated experts did: labels in a campaign of the store, or in a file."""

    experts: int
    labels: int
    campaign: str | None = None
    file: str | None = None


@dataclass(frozen=True)
class SimulatedPanel(Result):
    """Simulated experts, and what their majority says of all pairs that the project is about."""

    experts: list[dict[str, Any]]
    universe: "UniverseSize"
    positives: int
    rate: float


def draw_catalogue(
    target: "Project | Path",
    *,
    workers: int | None = 1,
    reporter: "Reporter | None" = None,
    **params: Any,
) -> DrawnCatalogue:
    """Draw a catalogue into the images of a project, or into a folder with images.parquet beside them.

    `params`: products, views, wild, queries, collection_size, seed, size; see `eds.synthetic.catalogue.Plan`. More
    `workers` (None: one per core) start processes: a script needs an `if __name__ == "__main__"` guard for them.
    """
    from eds import tables
    from eds.project.project import Project
    from eds.project.reporter import SILENT
    from eds.synthetic.catalogue import draw_catalogue as draw

    project = target if isinstance(target, Project) else None
    folder = target.image_root if isinstance(target, Project) else target
    shown = reporter or (project.reporter if project else SILENT)
    if project:
        project.would("make", folder, f"pictures of {params.get('products', 200):,} garments")
        project.would_begin("replace" if project.path("images").exists() else "make", project.path("images"))
    with shown.progress("drawing", "images") as progress:
        images = draw(folder, workers=workers, progress=progress, **params)
    made_by = tables.Provenance("synthetic.catalogue", params=params)
    if project:
        with project.writing("synthetic.catalogue"):
            project.write(images, "images", made_by)
    else:
        tables.write(images, tables.IMAGES, folder / "images.parquet", made_by)
    by_category = images.groupby(["category", "phase"]).size().reset_index(name="images")
    return DrawnCatalogue(str(folder), len(images), by_category)


def draw_panel(project: "Project", count: int | None = None, seed: int | None = None) -> "tuple[Expert, ...]":
    """Simulated experts: as many as eds.toml says, with the project's seed, unless given."""
    from eds.synthetic.experts import draw_experts

    settings = project.config
    return draw_experts(count or settings.budget.experts, settings.project.seed if seed is None else seed)


def describe_panel(project: "Project", count: int | None = None, seed: int | None = None) -> SimulatedPanel:
    """Who the simulated experts are, and what they would find."""
    from eds.project.inputs import Inputs
    from eds.synthetic.panel import positive_units

    panel, universe = draw_panel(project, count, seed), Inputs(project).universe
    positives = len(positive_units(universe, project.read("images"), panel))
    experts = [{**vars(expert), "weights": expert.named_weights} for expert in panel]
    return SimulatedPanel(experts, universe.described, positives, positives / universe.size if universe.size else 0.0)


def simulate(
    project: "Project",
    *,
    count: int | None = None,
    seed: int | None = None,
    panel: "Sequence[Expert]" = (),
    campaign: str = "simulated",
    experts_per_pair: int | None = None,
    out: Path | None = None,
) -> SimulatedJudging:
    """Let simulated experts judge every suspect, in a campaign of the label store or into the file `out`."""
    panel = panel or draw_panel(project, count, seed)
    pairs = len(project.read("suspects", columns=["query_id"]))
    project.would_begin(
        "make" if out else "change", out or "labels.db", f"{len(panel)} experts judge {pairs:,} suspects"
    )
    if out is None:
        return simulate_judging(project, panel, campaign, experts_per_pair)
    if experts_per_pair is not None:
        raise InputError(
            "experts per pair need a campaign, which deals the pairs", where="--out", hint="Leave out one of the two."
        )
    return simulate_labels(project, panel, out, {"count": len(panel), "seed": seed})


def simulate_judging(
    project: "Project",
    panel: "Sequence[Expert]",
    campaign: str = "simulated",
    experts_per_pair: int | None = None,
    began: datetime = BEGINNING,
    guideline: str = "",
) -> SimulatedJudging:
    """Let simulated experts judge what is open, through the queue and store of people; add what is missing."""
    import pandas as pd

    from eds.labels.campaigns import Plan, create_campaign
    from eds.labels.experts import add_expert, list_experts
    from eds.labels.queue import list_campaigns
    from eds.labels.simulate import fill
    from eds.project.campaigns import with_gold
    from eds.synthetic import experts as simulated

    images, people = project.read("images"), {expert.expert_id: expert for expert in panel}

    def answer(expert: str, pairs: "pd.DataFrame") -> "pd.DataFrame":
        sittings = [pairs.iloc[start : start + SITTING] for start in range(0, len(pairs), SITTING)]
        judged = (
            simulated.judge(part, images, [people[expert]], started_at=began + timedelta(days=day))
            for day, part in enumerate(sittings)
        )
        return pd.concat(judged, ignore_index=True)

    with opened(project, create=True) as store:
        known = set(list_experts(store)["name"])
        for expert in people:
            if expert not in known:
                add_expert(store, expert, "expert", by="simulation")
        if campaign not in set(list_campaigns(store)["name"]):
            plan = Plan(
                campaign,
                guideline=guideline or simulated.GUIDELINE,
                seed=project.config.project.seed,
                experts_per_pair=experts_per_pair,
            )
            suspects = with_gold(project, store, project.read("suspects"), None)
            create_campaign(store, plan, suspects, list(people), by="simulation")
        with project.progress("judging", "labels") as progress:
            return SimulatedJudging(len(panel), fill(store, campaign, answer, progress_of=progress), campaign)


def simulate_labels(
    project: "Project", panel: "Sequence[Expert]", out: Path, params: "dict[str, Any] | None" = None
) -> SimulatedJudging:
    """Write the labels that simulated experts would give to every suspect to a file, as table labels."""
    from eds import tables
    from eds.synthetic import experts as simulated

    suspects = project.read("suspects").sort_values(["batch", "position"], kind="stable")
    labels = simulated.judge(suspects, project.read("images"), panel, started_at=BEGINNING)
    parents = [project.path("images"), project.path("suspects")]
    made_by = project.provenance("synthetic.experts.judge", {}, parents, params=params)
    tables.write(labels, tables.LABELS, out, made_by)
    return SimulatedJudging(len(panel), len(labels), file=str(out))
