"""Simulated experts who judge a campaign."""

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from eds.project import Project
    from eds.synthetic.experts import Expert


BEGINNING = datetime(2000, 1, 1, tzinfo=UTC)  # of simulated sittings: every call gives the same labels
SITTING = 500  # pairs that a simulated expert judges in a day, after which fatigue starts over


def fill_campaign(project: "Project", panel: "Sequence[Expert]", name: str) -> int:
    """Enter the simulated experts and their campaign where they are missing, and let them judge what is open."""
    import pandas as pd

    from eds.labels.campaigns import Plan, create_campaign
    from eds.labels.experts import add_expert, list_experts
    from eds.labels.queue import list_campaigns
    from eds.labels.simulate import fill
    from eds.project.label_store import opened
    from eds.synthetic import experts as simulated

    images, people = project.read("images"), {expert.expert_id: expert for expert in panel}

    def answer(expert: str, pairs: "pd.DataFrame") -> "pd.DataFrame":
        sittings = [pairs.iloc[start : start + SITTING] for start in range(0, len(pairs), SITTING)]
        judged = (
            simulated.judge(part, images, [people[expert]], started_at=BEGINNING + timedelta(days=day))
            for day, part in enumerate(sittings)
        )
        return pd.concat(judged, ignore_index=True)

    with opened(project, create=True) as store:
        known = set(list_experts(store)["name"])
        for expert in people:
            if expert not in known:
                add_expert(store, expert, "expert", by="simulation")
        if name not in set(list_campaigns(store)["name"]):
            plan = Plan(name, guideline=simulated.GUIDELINE, seed=project.config.project.seed)
            create_campaign(store, plan, project.read("suspects"), list(people), by="simulation")
        with project.progress("judging", "labels") as progress:
            return fill(store, name, answer, progress_of=progress)
