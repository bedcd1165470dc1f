"""A campaign takes whole queries, and a grid its polarity from what was decided."""

import pytest

from eds.errors import InputError
from eds.project import Project
from eds.project.campaigns import CampaignPlan


@pytest.fixture
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Eight queries with ten suspects each, in the order of a random draw."""
    project = Project.create(tmp_path_factory.mktemp("shop") / "shop")
    project.draw_catalogue(products=12, views=2, wild=8, size=32)
    project.embed(["descriptor:hsv", "descriptor:hog"])
    project.mine(k=10)
    project.pool(k=5)
    project.experts.add("ann")
    return project


def test_a_limit_takes_whole_queries_and_polarity_is_measured(project: Project) -> None:
    suspects = project.read("suspects")
    sizes = suspects.groupby("query_id").size()
    limit = int(sizes.max()) * 2
    chosen = project.campaigns.suspects(limit=limit)
    assert 0 < len(chosen) <= limit
    assert chosen.groupby("query_id").size().eq(sizes[chosen["query_id"].unique()]).all()
    assert len(project.campaigns.suspects(limit=1)["query_id"].unique()) == 1, "one query at least"
    with pytest.raises(InputError, match="a grid says what an untouched candidate means"):
        project.campaigns.create("blind", ["ann"], plan=CampaignPlan("grid"))
    project.simulate_experts()
    project.decide()
    rate = project.campaigns.measured_rate(["pool"])
    assert rate is not None
    truth = project.read("truth", columns=["query_id", "candidate_id", "value"])
    pool = suspects.loc[suspects["origin"] == "pool", ["query_id", "candidate_id"]].merge(truth)
    assert (rate.similar, rate.decided) == (int(pool["value"].sum()), len(pool))
    project.campaigns.create("grid", ["ann"], origins=["pool"], plan=CampaignPlan("grid", gold_share=0))
    made = project.campaigns.list().set_index("name").loc["grid"]
    assert made["polarity"] == rate.polarity == ("similar" if rate.rate >= 0.5 else "different")
