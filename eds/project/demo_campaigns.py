"""What `eds labels serve --demo` prepares: a drawn catalogue, a campaign that waits, and one that is judged.

In a folder without a project everything is drawn, the models' lists too (noisy views of the drawn truth, so that
nothing needs to be embedded). In a project with suspects these are used; only campaigns and people are added.
"""

from typing import TYPE_CHECKING, Any

from eds.errors import ProjectError

if TYPE_CHECKING:
    import pandas as pd

    from eds.labels.guidelines import Example
    from eds.project import Project

EXPERT, LEAD = "guest", "lead"  # who is invited
JUDGED = "simulated"  # as eds demo calls it
GRID, PAIRS = "Similar garments, in a grid", "Similar garments, pair by pair"
VERSION = "garments 1"
TEXT = """# When are two garments similar?

Would a customer who likes the one look at the other as a likely replacement?

- What counts: the kind of garment, its cut, its pattern and its colours, in about this order.
- What does not: the background, the light, the person who wears it, how much of it is to be seen.
- If you cannot tell, press **U** for unsure. The pair comes back once, at the end.
"""
EXAMPLES = 3  # of each kind
CLOSE_HUES = 40  # degrees
CATALOGUE = {"products": 120, "views": 2, "wild": 12, "size": 768}
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
            project.write(images, "images", tables.Provenance("synthetic.catalogue"))
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
        simulate_judging(project, draw_experts(settings.budget.experts, settings.project.seed), JUDGED)


def _campaigns(project: "Project") -> None:
    """The guest and the lead, and two campaigns that wait for them: a grid and pairs, of some queries each."""
    from eds.labels.campaigns import Plan, create_campaign
    from eds.labels.experts import add_expert, list_experts
    from eds.labels.guidelines import save_guideline
    from eds.labels.queue import list_campaigns
    from eds.project.label_store import opened

    suspects = project.read("suspects")
    suspects = suspects[suspects["origin"] == "pool"]  # judged negatives would be missing from the AUC
    with opened(project, create=True) as store:
        people, campaigns = set(list_experts(store)["name"]), set(list_campaigns(store)["name"])
        for name, role in ((EXPERT, "expert"), (LEAD, "lead")):
            if name not in people:
                add_expert(store, name, role, by="demo")
        save_guideline(store, VERSION, TEXT, _examples(suspects, project.read("images")), by="demo")
        queries = suspects["query_id"].drop_duplicates().tolist()
        for name, mode, polarity, some in (
            (PAIRS, "pair", None, queries[0:4]),
            (GRID, "grid", "different", queries[4:12]),
        ):
            if name not in campaigns and some:
                plan = Plan(name, mode, polarity, VERSION, seed=project.config.project.seed, repeat_share=0.05)
                create_campaign(store, plan, suspects[suspects["query_id"].isin(some)], [EXPERT, LEAD], by="demo")


def _examples(suspects: "pd.DataFrame", images: "pd.DataFrame") -> "list[Example]":
    """The clearest pairs that the drawn truth calls similar, and not similar; each of a kind with another query."""
    import numpy as np

    from eds.labels.guidelines import Example
    from eds.synthetic.experts import draw_experts, seen_similarity
    from eds.synthetic.panel import true_value

    panel = draw_experts(3, 0)
    pairs = suspects.sort_values(["query_id", "candidate_id"], kind="stable")[["query_id", "candidate_id"]]
    values = true_value(pairs, images, panel)
    seen = pairs.assign(similarity=np.mean(seen_similarity(pairs, images, panel), axis=0))
    examples, known = [], {str(row["image_id"]): row for _, row in images.iterrows()}
    for value, kind in ((1, "positive"), (0, "negative")):
        clearest = seen[values == value].sort_values("similarity", ascending=value == 0, kind="stable")
        for row in clearest.drop_duplicates("query_id").head(EXAMPLES).itertuples():
            query, candidate = str(row.query_id), str(row.candidate_id)
            examples.append(Example(query, candidate, kind, _reason(known[query], known[candidate])))
    return examples


def _reason(one: "pd.Series[Any]", other: "pd.Series[Any]") -> str:
    """What two drawn garments have in common, and what not."""
    turn = abs(one["true_hue"] - other["true_hue"]) % 360
    same = {
        "kind": one["category"] == other["category"],
        "cut": one["true_silhouette"] == other["true_silhouette"],
        "pattern": one["true_pattern"] == other["true_pattern"],
        "colour": min(turn, 360 - turn) < CLOSE_HUES,
    }
    parts = [
        f"{word} {' and '.join(names)}"
        for word, names in (("the same", [name for name, equal in same.items() if equal]),
                            ("another", [name for name, equal in same.items() if not equal]))
        if names
    ]  # fmt: skip
    return f"{', '.join(parts)}.".capitalize()
