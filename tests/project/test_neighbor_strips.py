"""The strips of pictures: the lists' own rows, what the labels say, and a page that needs no other file."""

from pathlib import Path

import pytest

import eds
from eds.errors import InputError


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> eds.Project:
    project = eds.Project.create(tmp_path_factory.mktemp("strips") / "p", {"suspects.k": 2, "neighbors.k": 6})
    project.draw_catalogue(products=8, views=2, wild=3, size=32, workers=1)
    project.embed(["hsv=descriptor:hsv", "lbp=descriptor:lbp"])
    project.mine()
    project.pool()
    project.simulate_experts()
    project.decide()
    return project


def test_the_strips_are_the_lists_with_their_labels(project: eds.Project, tmp_path: Path) -> None:
    query = str(project.read("neighbors", "hsv")["query_id"].iloc[0])
    page = tmp_path / "strips.html"
    result = project.show_neighbors(query, k=4, out=page)
    tables = {name: project.read("neighbors", name) for name in ("hsv", "lbp")}
    lists = {name: rows[(rows["query_id"] == query) & (rows["rank"] < 4)] for name, rows in tables.items()}
    truth = project.read("truth").set_index(["query_id", "candidate_id"])["value"]
    for name, rows in lists.items():
        shown = result.table[result.table["model"] == name]
        assert shown["candidate_id"].tolist() == rows.sort_values("rank")["candidate_id"].tolist()
        assert shown["rank"].tolist() == list(range(1, len(rows) + 1))
        for row in shown.itertuples():
            value = truth.get((query, row.candidate_id))
            assert row.label == {1: "similar", 0: "different"}.get(value, "not judged")
            both = sum(row.candidate_id in set(other["candidate_id"]) for other in lists.values())
            assert row.found_by == both
    html = page.read_text(encoding="utf-8")
    assert html.count("<img") == 1 + len(result.table)
    assert "http" not in html.replace("http-equiv", "")
    assert result._repr_html_() == html


def test_queries_are_drawn_by_the_seed_and_unknown_ones_are_refused(project: eds.Project) -> None:
    drawn = [query.query.image_id for query in project.show_neighbors(count=3).queries]
    assert drawn == [query.query.image_id for query in project.show_neighbors(count=3).queries]
    assert len(drawn) == 3
    with pytest.raises(InputError) as caught:
        project.show_neighbors(drawn[0] + "x")
    assert drawn[0] in caught.value.faults[0]
    with pytest.raises(InputError):
        project.show_neighbors(drawn, out="strips.pdf")


def test_a_picture_that_is_gone_is_said_so(project: eds.Project) -> None:
    query = project.show_neighbors(count=1).queries[0].query.image_id
    path = Path(str(project.pictures)) / project.read("images").set_index("image_id").loc[query, "path"]
    path.rename(path.with_suffix(".away"))
    try:
        result = project.show_neighbors(query)
        assert result.queries[0].query.thumbnail is None
        assert result.queries[0].query.reason in result.html()
    finally:
        path.with_suffix(".away").rename(path)


def test_a_model_is_named_by_the_end_of_its_spec(project: eds.Project) -> None:
    assert set(project.show_neighbors(models="descriptor:lbp", count=1).table["model"]) == {"lbp"}


def test_a_candidate_that_is_no_query_is_named_as_such(project: eds.Project) -> None:
    images = project.read("images")
    candidate = str(images.loc[images["role"] == "candidate", "image_id"].iloc[0])
    with pytest.raises(InputError) as error:
        project.show_neighbors([candidate, candidate[:-5]])
    assert "candidate only" in error.value.faults[0]
    assert "candidate only" not in error.value.faults[1]


def test_negatives_come_from_the_lower_half_where_there_are_few_candidates(project: eds.Project) -> None:
    """Lists asked to 100 are as long as the catalogue allows; so the usual window follows the lists that there are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EDS_NEIGHBORS_K", "100")
        deep = eds.Project.open(project.root)
        deep.mine()
        longest = int(deep.read("neighbors", "hsv")["rank"].max()) + 1
        drawn = deep.rehearsal().draw_negatives(1)
    assert longest < 50
    assert (drawn.min_rank, drawn.max_rank) == (longest // 2, longest)
    assert drawn.drawn > 0
