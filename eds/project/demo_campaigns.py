"""What `eds labels serve --demo` prepares: a drawn catalogue, campaigns that wait, and one that is judged.

In a folder without a project everything is drawn, the models' lists too (noisy views of the drawn truth, so that
nothing needs to be embedded). In a project with suspects these are used; only campaigns and people are added, with a
guideline that has examples of every category (demo_guideline.py), a short practice and known pairs.
"""

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from eds.errors import ProjectError
from eds.project.demo_guideline import TEXT, VERSION, known_pairs, product_pages

if TYPE_CHECKING:
    import pandas as pd

    from eds.project import Project

EXPERT, LEAD = "guest", "lead"  # who is invited
JUDGED = "simulated"  # as eds demo calls it
QUESTION = "Would a customer take one for the other?"
GRID, PAIRS = "Similar garments, in a grid", "Similar garments, pair by pair"
CATALOGUE = {"products": 120, "views": 2, "wild": 12, "size": 768}
PRACTICE, NEEDED = 6, 0.6  # pairs of the practice round, and the share that must be right
DAYS_AGO = 3  # the simulated experts judged
DEPTH = 12  # of a drawn model's list
NOISE = 0.06  # of a drawn model, in units of similarity


def prepare_demo(project: "Project") -> None:
    """Make whatever is missing; a second call changes nothing."""
    _check_drawn(project)
    if not project.path("suspects").exists():
        _draw(project)
    _simulate(project)
    _campaigns(project)


def _check_drawn(project: "Project") -> None:
    """Simulated experts and guests have no business in a real project."""
    from eds.synthetic.attributes import TRUE_COLUMNS

    if project.path("images").exists() and not set(TRUE_COLUMNS) <= set(project.read("images").columns):
        raise ProjectError(
            "this project's catalogue is not a drawn one",
            where=str(project.root),
            hint="Name a new folder for the demo.",
        )


def _draw(project: "Project") -> None:
    from eds import tables
    from eds.suspects import Batching, pool
    from eds.synthetic.catalogue import draw_catalogue

    with project.writing("eds labels serve --demo"):
        if not project.path("images").exists():
            with project.progress("drawing", "images") as progress:
                images = draw_catalogue(project.image_root, progress=progress, **CATALOGUE)
            project.write(product_pages(images), "images", tables.Provenance("synthetic.catalogue"))
        lists = _drawn_lists(project.read("images"), project.config.project.seed)
        suspects = pool(lists, DEPTH, Batching(seed=project.config.project.seed))
        made_by = project.provenance("labels.serve", {}, [project.path("images")], params={"demo": True})
        project.write(suspects, "suspects", made_by)
    project.say(f"Drew {len(project.read('images')):,} pictures and {len(suspects):,} pairs in {project.root}")


def _drawn_lists(images: "pd.DataFrame", seed: int) -> "pd.DataFrame":
    """Two models' lists: the drawn similarity, each with noise of its own; of each product one picture."""
    import numpy as np
    import pandas as pd

    from eds.synthetic.experts import draw_experts, seen_similarity

    wild = images["image_id"].str.startswith("wild")
    queries = images.loc[wild, ["image_id", "product_id"]].rename(columns={"image_id": "query_id"})
    others = images.loc[~wild, ["image_id", "product_id"]].rename(columns={"image_id": "candidate_id"})
    pairs = queries.merge(others, how="cross", suffixes=("", "_other"))
    pairs = pairs.drop_duplicates(["query_id", "product_id_other"])[["query_id", "candidate_id"]]
    seen = np.mean(seen_similarity(pairs, images, draw_experts(3, seed)), axis=0)
    noise = np.random.default_rng(seed)
    lists = []
    for model in ("drawn-a", "drawn-b"):
        scored = pairs.assign(model=model, score=seen + noise.normal(0, NOISE, len(pairs)))
        scored = scored.sort_values(["query_id", "score"], ascending=[True, False], kind="stable")
        scored["rank"] = scored.groupby("query_id").cumcount()
        lists.append(scored[scored["rank"] < DEPTH])
    return pd.concat(lists, ignore_index=True)


def _simulate(project: "Project") -> None:
    """A campaign judged by simulated experts, unless there is one."""
    from eds.labels.queue import list_campaigns
    from eds.project.label_store import opened
    from eds.project.simulate import simulate_judging
    from eds.synthetic.experts import draw_experts

    with opened(project, create=True) as store:
        there = JUDGED in set(list_campaigns(store)["name"])
    if not there:
        settings = project.config
        panel = draw_experts(settings.budget.experts, settings.project.seed)
        began = datetime.now(UTC) - timedelta(days=DAYS_AGO)
        simulate_judging(project, panel, JUDGED, began=began, guideline=VERSION)


def _campaigns(project: "Project") -> None:
    """The guest and the lead, and two campaigns that wait for them: a grid and pairs, of some queries each."""
    from eds.labels.calibration import plan_calibration
    from eds.labels.campaigns import Plan, create_campaign
    from eds.labels.experts import add_expert, list_experts
    from eds.labels.form import ASPECTS, Form
    from eds.labels.gold import add_gold
    from eds.labels.guidelines import save_guideline
    from eds.labels.queue import list_campaigns
    from eds.project.label_store import opened

    suspects, images = project.read("suspects"), project.read("images")
    shown = known_pairs(images, suspects)
    suspects = suspects[suspects["origin"] == "pool"]  # judged negatives would be missing from the AUC
    form = Form(question=QUESTION, aspects=ASPECTS[:5], notes=True)
    with opened(project, create=True) as store:
        people, campaigns = set(list_experts(store)["name"]), set(list_campaigns(store)["name"])
        for name, role in ((EXPERT, "expert"), (LEAD, "lead")):
            if name not in people:
                add_expert(store, name, role, by="demo")
        save_guideline(store, VERSION, TEXT, shown.examples, language="en", by="demo")
        add_gold(store, shown.gold, by="demo")
        queries = suspects["query_id"].drop_duplicates().tolist()
        for name, mode, polarity, some in (
            (PAIRS, "pair", None, queries[0:4]),
            (GRID, "grid", "different", queries[4:12]),
        ):
            if name not in campaigns and some:
                asked = form if mode == "pair" else Form()
                seed = project.config.project.seed
                plan = Plan(name, mode, polarity, VERSION, seed=seed, repeat_share=0.05, form=asked)
                create_campaign(store, plan, suspects[suspects["query_id"].isin(some)], [EXPERT, LEAD], by="demo")
                if mode == "pair":
                    plan_calibration(store, name, PRACTICE, NEEDED, by="demo")
