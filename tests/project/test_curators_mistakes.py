"""What curators met on real catalogues: mistakes that came through, and refusals that left something behind."""

from pathlib import Path

import numpy as np
import pytest

import eds
from eds.errors import EdsError, InputError
from eds.project import Project
from eds.project.train import FinetuneOptions, HashOptions
from eds.tables import Provenance
from tests.project.shops import PAIR, Design, Shop, draw_shop, judge, make_project
from tests.training.conftest import draw


@pytest.fixture(scope="module")
def shop() -> Shop:
    """Images that are queries and candidates alike: no role gives a swapped column away."""
    drawn = draw_shop(Design(products=24, queries=8, models=2, views=(1, 1), prevalence=0.06), 1)
    return Shop(drawn.images.assign(role="both"), drawn.product, drawn.similar, drawn.vectors)


@pytest.fixture
def project(shop: Shop, tmp_path: Path) -> Project:
    made = make_project(shop, tmp_path)
    made.mine(k=12)
    made.pool(k=2)
    return made


def test_votes_whose_columns_changed_places_stay_out_though_new_pairs_are_taken(
    shop: Shop, project: Project, tmp_path: Path
) -> None:
    pairs = project.read("suspects")[PAIR].drop_duplicates()
    votes, right, wrong = pairs.assign(value=shop.value(pairs), expert_id="ann"), tmp_path / "r.csv", tmp_path / "w.csv"
    votes.to_csv(right, index=False)
    votes.rename(columns={"query_id": "candidate_id", "candidate_id": "query_id"}).to_csv(wrong, index=False)
    for new_pairs in (True, False):
        with pytest.raises(InputError) as error:
            project.labels.import_votes(wrong, "c", new_experts=True, new_pairs=new_pairs)
        told = [error.value.what, *error.value.faults]
        assert sum("look swapped" in text for text in told) == 1
    assert not project.path("labels").exists()
    as_it_is = {name: name for name in PAIR}
    assert project.labels.import_votes(wrong, "c", columns=as_it_is, new_experts=True, new_pairs=True).added
    both = {*pairs.itertuples(index=False, name=None)} & {*pairs[PAIR[::-1]].itertuples(index=False, name=None)}
    assert both, "some pairs are suspects both ways, so that the right file contradicts the wrong one"
    flipped = votes.assign(value=1 - votes["value"])
    flipped.to_csv(right, index=False)
    with pytest.raises(InputError, match="contradictions") as error:
        project.labels.import_votes(right, "c")
    assert "imports void" in error.value.hint


def test_a_new_model_that_is_refused_leaves_no_record(shop: Shop, project: Project, tmp_path: Path) -> None:
    judge(shop, project, project.read("suspects"), tmp_path / "v.csv")
    text = (project.root / "eds.toml").read_text()
    with pytest.raises(EdsError, match="codes=hash:unknown needs them"):
        project.score("VSD-HR@3", new={"codes": "hash:unknown"}, resamples=0)
    assert "codes" not in {model.name for model in project.list_models().models}
    recorded = [line for line in (project.root / "eds.toml").read_text().splitlines() if line.startswith("name = ")]
    assert [line for line in recorded if line not in text] == []


def test_codes_trained_here_are_scored_under_their_own_name_and_marked(tmp_path: Path) -> None:
    shop = draw_shop(Design(products=20, queries=6, models=1, views=(3, 3), prevalence=0.1), 1)
    project = make_project(shop, tmp_path)
    project.mine(k=8)
    project.pool(k=2)
    judge(shop, project, project.read("suspects"), tmp_path / "v.csv")
    project.train_hash("codes", HashOptions(base="m0", bits=8, epochs=1, labels="truth", one_way_as_negative=True))
    before = project.score("VSD-HR@3", models=["codes"], resamples=0).table
    again = project.score("VSD-HR@3", new={"codes": "hash:codes"}, resamples=0)
    assert again.comparison.trained == {"codes": ("labels",)}
    of_codes = [table.loc[table["model"] == "codes", "value"].tolist() for table in (before, again.table)]
    assert of_codes[0] == of_codes[1]


def test_codes_that_learn_no_labels_need_none_and_are_not_marked(project: Project) -> None:
    """Every product has one image: by products nothing is similar."""
    made = project.train_hash("codes", HashOptions(base="m0", bits=8, objective="itq"))
    assert made.rows == len(project.read("images"))
    assert made.seen.queries == 0
    assert np.isnan(made.seen.expected)
    assert {model.name: model.trained_on for model in project.list_models().models}["codes"] == ()
    values = project.score("APt@5(grades=product)", models=["codes"], resamples=0).table["value"]
    assert len(values) == 3
    assert values.isna().all(), "undefined, not 0: no query has another image of its product"
    with pytest.raises(InputError, match="no product has two"):
        project.train_hash("learned", HashOptions(base="m0", bits=8, epochs=1))
    assert not (project.root / "training" / "learned").exists()


def test_a_network_learns_categories_where_every_product_has_one_image(tmp_path: Path) -> None:
    project = Project.create(tmp_path / "p")
    drawn = draw(project.image_root)
    images = drawn.assign(product_id=drawn["image_id"], role="both", sha256=None, phase=None)
    images[["width", "height"]] = 64
    project.write(images[eds.TABLES["images"].names], "images", Provenance("images.scan"))
    options = FinetuneOptions(labels="category", epochs=1, batch=8, random_init=True, validation_share=0.3)
    base = "timm:test_resnet?size=48&crop=48&resize=squash"
    made = project.finetune("tuned", base, options)
    assert (made.recognised, made.tested_on > 0) == ("category", True)
    assert 0 < made.test_score <= 1
    with pytest.raises(InputError, match="no product of the split has two images"):
        project.finetune("by-product", base, FinetuneOptions(epochs=1, batch=8, random_init=True))
    assert not (project.root / "training" / "by-product").exists()


def test_paths_may_be_texts_and_a_project_shows_itself(project: Project, tmp_path: Path) -> None:
    drawn = eds.draw_catalogue(str(tmp_path / "d"), products=3, views=1, size=32, workers=1)
    scanned = eds.scan(drawn, str(tmp_path / "d"), workers=1)
    eds.check(scanned.images, eds.TABLES["images"])
    folder = str(tmp_path / "vectors")
    backbone = eds.load_backbone("descriptor:hsv")
    eds.compute(scanned.images, str(tmp_path / "d"), {"hsv": backbone}, {"hsv": folder}, workers=1)
    assert len(eds.Vectors.open(folder)) == 3
    assert str(project.root) in repr(eds.Project.open(str(project.root)))
    assert "images.parquet" in project._repr_html_()


def test_a_truth_is_not_made_of_no_votes(shop: Shop, project: Project, tmp_path: Path) -> None:
    with pytest.raises(EdsError):
        project.decide()
    project.experts.add("ann")
    project.campaigns.create("c", ["ann"])
    with pytest.raises(EdsError):
        project.decide()
    assert not project.path("truth").exists()
    judge(shop, project, project.read("suspects"), tmp_path / "v.csv")
    assert len(project.read("truth"))


def test_the_dry_run_of_a_run_names_what_it_would_make(shop: Shop, project: Project, tmp_path: Path) -> None:
    judge(shop, project, project.read("suspects"), tmp_path / "v.csv")
    plan = project.plan(lambda one: one.run())
    assert {(change.action, Path(change.what).name) for change in plan.changes} == {("make", "scores.parquet")}
    assert not project.path("scores").exists()
    made = project.run().made
    assert "scores" in made
    assert not project.plan(lambda one: one.run()).changes


def test_the_dry_run_of_a_run_says_what_judging_costs_at_most_without_lists(shop: Shop, tmp_path: Path) -> None:
    bare = make_project(shop, tmp_path / "bare")
    said = bare.run(dry_run=True)
    assert said.price
    assert said.at_most
    bare.mine(k=8)
    exact = bare.run(dry_run=True)
    assert exact.price
    assert not exact.at_most
    made = bare.run().price
    assert made
    assert 0 < made.pairs == exact.price.pairs <= said.price.pairs
    bare.write(bare.read("images").iloc[:-1], "images", Provenance("images.import"))
    later = bare.run(dry_run=True)  # the pool is there, and its lists change
    assert "suspects" in later.made
    assert later.price is None
