"""Training obeys table splits, and every score of a trained model tells seen queries from unseen ones."""

import json
from pathlib import Path

import filelock
import numpy as np
import pandas as pd
import pytest
import torch

from eds import tables
from eds.errors import InputError, LockedError, ProjectError
from eds.project import Project
from eds.project.hash_benchmark import HashBenchmarkOptions
from eds.project.reporter import SilentReporter
from eds.project.splits import SplitOptions
from eds.project.status import read_status
from eds.project.train import FinetuneOptions, HashOptions
from eds.synthetic.catalogue import draw_catalogue
from eds.tables import SPLITS
from eds.training.loop import create_optimizer
from eds.vectors import Vectors

MEASURE = "APt@20(grades=category)"
OPTIONS = HashOptions(base="hsv", bits=16, labels="category", epochs=3, objective="cross-entropy")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project.create(tmp_path / "p", {"embeddings.models": ["hsv=descriptor:hsv"]})
    made.write(
        draw_catalogue(made.image_root, products=24, views=2, size=40, workers=1), "images", tables.Provenance("d")
    )
    made.embed()
    return made


def test_training_obeys_the_split_and_stores_it(project: Project) -> None:
    made = project.split(SplitOptions(by="stratified", searched="others", test_share=0.3))
    result = project.train_hash("h", OPTIONS)
    assert (result.trained_on, result.validated_on) == (made.train, made.validation)
    assert result.test is not None
    assert result.test.drawn == made.query
    assert result.test.items == made.searched == made.train + made.validation
    stored = tables.read(project.root / "training" / "h" / "splits.parquet", SPLITS)
    assert stored.equals(project.read("splits"))
    with pytest.raises(InputError, match="the project has its own split"):
        project.train_hash("g", HashOptions(base="hsv", bits=8, test_share=0.4))
    with pytest.raises(ProjectError, match="the project has a split"):
        project.split()
    assert project.split(SplitOptions(seed=9), replace=True).trained_alone == 1


def test_a_trained_model_is_scored_over_seen_and_unseen_queries(project: Project) -> None:
    project.split(SplitOptions(test_share=0.4, searched="all"))
    project.train_hash("h", OPTIONS)
    result = project.score([MEASURE], models=["h"], by_query=True, resamples=0)
    rows = result.table[(result.table["measure"] == str(result.measures[0])) & (result.table["model"] == "h")]
    whole = rows[rows["query_id"].isna()].iloc[0]
    split = project.read("splits").set_index("image_id")["part"]
    product = project.read("images").set_index("image_id")["product_id"]
    each = rows[rows["query_id"].notna()]
    seen = product.reindex(each["query_id"]).isin(product[split[split != "query"].index]).to_numpy()
    assert 0 < seen.sum() < len(seen)
    assert whole["seen"] == pytest.approx(each["value"][seen].mean())
    assert whole["unseen"] == pytest.approx(each["value"][~seen].mean())
    assert whole["seen"] > whole["unseen"]
    assert [name.rpartition(" ")[2] for name in result.summary.columns[-2:]] == ["seen", "unseen"]
    assert result.to_dict()["scores"][0]["unseen"] == whole["unseen"]
    assert project.read("scores")["seen"].notna().any()
    recognised = project.analyse("identification", models=["h"], cuts=(3,), resamples=0).result["scores"]
    row = recognised[recognised["measure"] == "Product-HR@3(average=standard)"].iloc[0]
    assert row["seen"] != row["unseen"]
    assert row["value"] == pytest.approx(np.average([row["seen"], row["unseen"]], weights=[seen.sum(), (~seen).sum()]))


def test_a_network_trained_to_codes_is_marked_and_scored_over_unseen_queries(project: Project) -> None:
    project.split(SplitOptions(test_share=0.4, searched="all"))
    options = HashOptions(network="cnn:dsh", bits=16, labels="category", epochs=1, objective="cross-entropy")
    made = project.train_hash("deep", options)
    assert Vectors.open(project.path("embeddings", "deep")).model.similarity == "hamming"
    assert made.rows == len(project.read("images"))
    (model,) = (model for model in project.list_models().models if model.name == "deep")
    assert model.trained_on == ("categories",)
    row = project.score([MEASURE], models=["deep"], resamples=0).table.set_index("model").loc["deep"]
    assert row["seen"] != row["unseen"]


def test_a_catalogue_of_single_images_is_scored_by_category_and_reported_by_seen_and_unseen(project: Project) -> None:
    images = project.read("images")
    project.write(images.assign(product_id=images["image_id"]), "images", tables.Provenance("d"))
    project.embed()
    project.split(SplitOptions(by="stratified", validation_share=0.2, test_share=0.4, searched="all"))
    project.train_hash("h", OPTIONS)
    by_product = project.score(["hash"], models=["h"], resamples=0)
    halved = [name for name in by_product.summary.columns if name.endswith("seen")]
    assert halved == ["nDCGt@100 (types) seen", "nDCGt@100 (types) unseen"]
    assert "-M hash-category" in by_product.notes[0]
    by_category = project.score(["hash-category"], models=["h"], resamples=0)
    assert "-M hash-category" not in " ".join(by_category.notes)
    usage = [name for name in by_category.summary.columns if name.startswith("CodeUsage")]
    assert usage
    assert not [name for name in usage if name.endswith("seen")]
    project.report(project.root / "page.html")
    sections = json.loads((project.root / "page.json").read_text(encoding="utf-8"))["sections"]
    blocks = {block.get("key"): block for section in sections for block in section["blocks"]}
    stored = project.read("scores").set_index(["model", "measure"])
    rows = [row for row in blocks["codes_seen"]["rows"] if row["model"] == "h"]
    assert {row["measure"].partition("@")[0] for row in rows} == {"APt", "nDCGt", "Pt", "mLGAP"}
    for row in rows:
        score = stored.loc[("h", row["measure"])]
        assert [row[name] for name in ("value", "seen", "unseen")] == [
            score[name] for name in ("value", "seen", "unseen")
        ]
    assert {row["grades"] for row in blocks["map"]["rows"]} == {"same category"}
    assert blocks["mlgap-16"]["data"]["labels"] == ["h"]


class Listener(SilentReporter):
    """Keeps what is said."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def say(self, message: str) -> None:
        self.said.append(message)


def test_the_whole_gallery_may_be_trained_on_and_no_score_is_called_unseen(project: Project) -> None:
    project.split(SplitOptions(by="all"))
    listener = Listener()
    result = Project.open(project.root, reporter=listener).train_hash("h", OPTIONS)
    assert any("no image is left to test on" in message for message in listener.said)
    assert result.test is None
    assert result.keep == "last"
    assert result.trained_on == 48
    row = project.score([MEASURE], models=["h"], resamples=0).table.set_index("model").loc["h"]
    assert row["seen"] == row["value"]
    assert pd.isna(row["unseen"])
    with pytest.raises(InputError, match="no validation images"):
        project.train_hash("g", HashOptions(base="hsv", bits=16, labels="category", keep="best"))


def test_a_run_holds_its_own_folder_and_leaves_the_project_to_others(project: Project) -> None:
    project.train_hash("h", OPTIONS)
    held = filelock.FileLock(project.root / "training" / "h" / "lock")
    with held:
        with pytest.raises(LockedError, match="h is being trained"):
            project.train_hash("h", OPTIONS)
        assert [(run.name, run.state) for run in project.training_runs().runs] == [("h", "running")]
        assert read_status(project).training == {"running": ["h"]}
        project.train_hash("other", OPTIONS)  # another run, while the first is held
    runs = {run.name: run for run in project.training_runs().runs}
    assert {run.state for run in runs.values()} == {"finished"}
    assert runs["h"].epochs == runs["h"].planned == 3
    assert runs["h"].score is not None


def test_a_new_product_is_encoded_by_the_head_that_there_is(project: Project) -> None:
    project.train_hash("h", OPTIONS)
    folder = project.path("embeddings", "h")
    codes = Vectors.open(folder).gather(project.read("images")["image_id"].tolist())
    head = (project.root / "training" / "h" / "head.safetensors").read_bytes()
    images = project.read("images")
    path = images["path"].iloc[0]
    (project.image_root / "new.jpg").write_bytes((project.image_root / path).read_bytes())
    new = images.iloc[[0]].assign(image_id="zz", product_id="zz", path="new.jpg")
    project.write(pd.concat([images, new], ignore_index=True), "images", tables.Provenance("d"))
    project.run(until="embeddings")
    assert project.state("embeddings", "h").condition == "fresh"
    assert (project.root / "training" / "h" / "head.safetensors").read_bytes() == head
    vectors = Vectors.open(folder)
    np.testing.assert_array_equal(vectors.gather(images["image_id"].tolist()), codes)
    np.testing.assert_array_equal(vectors.gather(["zz"])[0], codes[0])  # the same picture as the first


def test_options_that_a_split_would_ignore_are_refused(tmp_path: Path) -> None:
    project = Project.create(tmp_path / "p", {})
    for options, text in (
        (SplitOptions(standard="cifar10", searched="all", test_share=0.5), "--test-share, --searched without effect"),
        (SplitOptions(column="phase", by="random", seed=3), "--by, --seed without effect: column phase"),
    ):
        with pytest.raises(InputError, match=text):
            project.split(options)


def test_a_preset_sets_what_is_not_given_and_nothing_else(tmp_path: Path) -> None:
    project = Project.create(tmp_path / "p", {})
    plan = HashOptions(preset="dsh").plan(project)
    assert (plan.epochs, plan.batch, plan.schedule, plan.keep) == (750, 200, "0.6@150", "last")
    assert HashOptions(preset="dsh", epochs=50).plan(project).epochs == 50, "the usual number, where it is asked for"
    assert (HashOptions().plan(project).epochs, HashBenchmarkOptions().plan(project).epochs) == (50, 20)
    rates = {name: kind(preset=name).plan(project) for name, kind in (("talr", HashOptions), ("vsd", FinetuneOptions))}
    assert (rates["talr"].optimizer, rates["talr"].learning_rate, rates["talr"].rate(10, 1)) == ("sgd", 0.1, 0.05)
    optimizer = create_optimizer([torch.nn.Parameter(torch.zeros(1))], rates["vsd"])
    assert isinstance(optimizer, torch.optim.Adam)
    assert (optimizer.defaults["betas"], optimizer.defaults["lr"]) == ((0.0, 0.999), 1e-4)
    with pytest.raises(InputError, match="unknown preset 'none'"):
        HashOptions(preset="none").plan(project)
