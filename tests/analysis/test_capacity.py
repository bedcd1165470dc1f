"""The plan on paper against counted work, a simulated cluster, and its own page."""

import heapq
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from eds.analysis import capacity
from eds.analysis.capacity import CapacityPlan, ModelRate, Prices, Rates, Workload, plan_capacity
from eds.cli import cli
from eds.cli.render_budget import format_size, format_time
from eds.config import ExecutorSettings
from eds.embeddings.compute import compute
from eds.errors import InputError
from eds.labels.judgements import Judgement, submit
from eds.labels.queue import next_batch
from eds.labels.store import open_store
from eds.neighbors import Rules, mine
from eds.neighbors.similarity import Products
from eds.project import Project
from eds.suspects import pool
from eds.suspects.cost import Rate, label_rate
from eds.tables import Provenance
from eds.vectors import Model, Vectors, write
from tests.embeddings.toy import Toy, catalogue
from tests.labels.stores import begin
from tests.privileges import needed

PAGE = Path(capacity.__file__).with_name("capacity.md").read_text(encoding="utf-8")
EXAMPLE = ModelRate("m", capacity.ASSUMED_IMAGES, 512, 4 * 512 + capacity.ID_BYTES)


def plan(images: int, models: int = 1, **other: Any) -> CapacityPlan:
    work = Workload(images, 2000, 2000 * models * 6, 3, other.pop("machines", 100))
    mining = other.pop("mining", capacity.ASSUMED_MINING)
    rates = Rates((EXAMPLE,) * models, mining, capacity.ASSUMED_READING, capacity.ASSUMED_PICTURE, Rate(15.0, False))
    prices = Prices(other.pop("machine_hour", 0.0), other.pop("terabyte_month", 0.0))
    return plan_capacity(work, rates, prices, **other)


# The page


def test_the_pages_table_is_what_the_formulas_give() -> None:
    rows = re.findall(r"^\| ([\d,]+) \| (.*) \|$", PAGE, re.MULTILINE)
    assert [int(images.replace(",", "")) for images, _ in rows] == [10**7, 3 * 10**7, 10**8, 3 * 10**8, 10**9]
    for images, told in rows:
        found = plan(int(images.replace(",", "")))
        (model,) = found.models
        assert told.split(" | ") == [
            format_time(model.embed_seconds),
            format_time(model.mine_seconds),
            f"{found.machine_hours:,.1f}",
            format_size(found.vector_bytes),
            format_size(found.picture_bytes),
        ]


def test_the_pages_sentences_are_what_the_formulas_give() -> None:
    words = " ".join(PAGE.split())
    six = plan(10**9, models=6, machine_hour=2.0, terabyte_month=3.0)
    assert (
        f"at most {six.judgements / 3:,.0f} pairs; three experts at 15 s a pair need {six.expert_hours:,.0f} hours"
        in words
    )
    stored = (six.vector_bytes + six.picture_bytes) / 1e12
    assert f"{six.machine_hours:,.0f} machine hours and {stored:.1f} TB" in words
    assert six.machine_money == pytest.approx(2 * six.machine_hours)
    assert six.storage_money_monthly == pytest.approx(3 * stored)
    assert (plan(10**7).embed_tasks, plan(10**7).mine_tasks) == (2442, 39)
    assert f"{format_time(six.vector_bytes / 6 / capacity.ASSUMED_READING.value)} a model at a billion" in words
    assert plan(10**7, models=6).expert_hours == six.expert_hours  # experts do not grow with images


# A simulated cluster


def simulated(shards: list[float], machines: int) -> float:
    """When the last of these pieces of work is done, each taken by whoever is free first."""
    free = [0.0] * min(machines, len(shards))
    for seconds in shards:
        heapq.heappush(free, heapq.heappop(free) + seconds)
    return max(free)


@given(st.integers(1, 3_000_000), st.integers(1, 60), st.sampled_from([(10_000, 250_000), (4096, 262_144)]))
def test_the_wall_clock_is_that_of_machines_that_take_one_task_at_a_time(
    images: int, machines: int, sizes: tuple[int, int]
) -> None:
    found = plan(images, machines=machines, engine=ExecutorSettings(images=sizes[0], rows=sizes[1]))
    for predicted, each, size, tasks in (
        (found.models[0].embed_seconds, 1 / 100.0, sizes[0], found.embed_tasks),
        (found.models[0].mine_seconds, max(2000 * 512 / 2e10, EXAMPLE.vector_bytes / 2e8), sizes[1], found.mine_tasks),
    ):
        work = [min(size, images - first) * each for first in range(0, images, size)]
        truth = simulated(work, machines)
        assert tasks == len(work)
        assert truth <= predicted * (1 + 1e-9)
        assert predicted <= truth + size * each * (1 + 1e-9)
    assert found.machine_hours == pytest.approx(images * (0.01 + 2000 * 512 / 2e10) / 3600)


@pytest.mark.parametrize("machines", [1, 7, 100])
@pytest.mark.parametrize("each", [20, 60])
def test_uneven_tasks_stay_within_the_stated_tenth(machines: int, each: int) -> None:
    """Tasks whose time varies by up to a fifth: a tenth, from 20 tasks a machine on."""
    draw = np.random.default_rng(machines * each)
    count = machines * each
    predicted = plan(count * 4096, machines=machines).models[0].embed_seconds
    for _ in range(20):
        seconds = 40.96 * draw.uniform(0.8, 1.2, count)
        assert simulated(seconds.tolist(), machines) == pytest.approx(predicted, rel=0.1)


# Counted work


def gallery(folder: Path, images: int, dimension: int) -> tuple[Vectors, pd.DataFrame]:
    ids = [f"product-{number:012d}" for number in range(images)]
    frame = pd.DataFrame({"image_id": ids, "product_id": ids, "category": None})
    frame["role"] = np.where(np.arange(images) < 40, "both", "candidate")
    drawn = np.random.default_rng(3).standard_normal((images, dimension), dtype=np.float32)
    model = Model("m", {}, dimension, "float32", "cosine", "", "", provenance=Provenance("drawn"))
    return write(folder / f"{images}-{dimension}", model, ids, drawn), frame


@pytest.mark.parametrize("dimension", [16, 64])
@pytest.mark.parametrize("images", [3_000, 12_000, 48_000])
def test_mining_multiplies_and_stores_what_is_predicted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, images: int, dimension: int
) -> None:
    """Multiplications: never fewer, and more by the sample over the gallery alone, which does not grow."""
    vectors, frame = gallery(tmp_path, images, dimension)
    counted = [0]
    true = Products.scores

    def scores(self: Products, first: int, last: int, columns: Any, out: Any) -> None:
        counted[0] += out.size * dimension
        true(self, first, last, columns, out)

    monkeypatch.setattr(Products, "scores", scores)
    mine(vectors, frame, Rules(k=10))
    predicted = 40 * images * dimension
    assert predicted <= counted[0] <= predicted + 40 * 2 * 4096 * dimension
    folder = vectors.folder
    listed = (folder / "ids.parquet").stat().st_size / images
    rate = capacity.model_rate(vectors.model, listed)
    stored = sum(file.stat().st_size for file in folder.iterdir())
    headers = 128 * len(vectors.model.shards) + sum(file.stat().st_size for file in folder.glob("*.json"))
    assert stored == round(rate.vector_bytes * images) + headers
    assert rate.dimension == dimension


@pytest.mark.parametrize("images", [6, 24])
def test_every_image_is_embedded_once_by_every_model(tmp_path: Path, images: int) -> None:
    table, toys = catalogue(tmp_path / "images", images), {"a": Toy(), "b": Toy()}
    made_by = {name: Provenance("test") for name in toys}
    for _ in range(2):  # a second run has nothing to do
        compute(table, tmp_path / "images", toys, {name: tmp_path / name for name in toys}, provenance=made_by)
        assert [sum(toy.batches) for toy in toys.values()] == [images, images]


def test_the_pool_is_no_larger_than_predicted_and_does_not_grow_with_the_gallery(tmp_path: Path) -> None:
    for images in (300, 3000):
        lists = [
            mine(*gallery(tmp_path / str(seed), images, 8), Rules(k=6)).assign(model=f"m{seed}") for seed in range(3)
        ]
        assert len(pool(pd.concat(lists, ignore_index=True), 6)) <= 40 * 3 * 6


# Rates


def test_rates_are_told_as_measured_or_assumed() -> None:
    timed = Model("a", {}, 64, "float16", "cosine", "", "", rows=10, images_per_second=250.0)
    known = [capacity.model_rate(timed, 50.0), capacity.model_rate(Model("b", {}, 96, "bits", "hamming", "", ""), None)]
    assert (known[0].images_per_second.value, known[0].images_per_second.measured) == (250.0, True)
    assert (known[0].vector_bytes, known[0].dimension) == (128 + 50.0, 64)
    assert known[1].images_per_second is capacity.ASSUMED_IMAGES  # imported: nobody timed it
    assert (known[1].vector_bytes, known[1].dimension) == (12 + capacity.ID_BYTES, 3)
    slow = capacity.model_rate(Model("c", {}, 8, "float32", "cosine", "", "", images_per_second=9.0), None)
    assert [one.images_per_second.value for one in capacity.model_rates([known[0], slow], 3)] == [250.0, 9.0, 9.0]
    three = capacity.model_rates(known[:1], 3)
    assert [one.images_per_second.value for one in three] == [250.0] * 3
    assert [one.images_per_second.measured for one in three] == [True, False, False]
    assert [one.name for one in capacity.model_rates([], 2)] == ["model 1", "model 2"]
    seconds = np.array([10.0, 20.0, np.nan, 90_000.0])
    assert label_rate(seconds, 15.0).value == pytest.approx((10 + 20 + 900) / 3)
    assert not label_rate(seconds[:0], 15.0).measured
    assert capacity.picture_rate(pd.Series([1000, 3000])).value == 2000
    assert capacity.picture_rate(pd.Series(dtype="int64")) is capacity.ASSUMED_PICTURE


def test_mining_is_measured_on_the_real_thing() -> None:
    found = capacity.mining_rate(16, gallery=3000, queries=20)
    assert found.measured
    seconds = 20 * 3000 * 16 / found.value
    assert f"20 queries among 3,000 vectors of 16 in {seconds:.1f} s" in found.source


def test_what_cannot_be_planned_is_refused_with_all_faults() -> None:
    with pytest.raises(InputError) as refusal:
        plan(0, machines=0, machine_hour=-1.0, mining=Rate(float("nan"), True, "x"))
    assert len(refusal.value.faults) == 4


# The command


def said(*words: str) -> Any:
    done = CliRunner().invoke(cli, ["analysis", "budget", *words], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_the_command_needs_no_project(tmp_path: Path) -> None:
    words = (
        "--images",
        "1e9",
        "--queries",
        "2_000",
        "--models",
        "6",
        "-k",
        "6",
        "--machines",
        "100",
        "-p",
        str(tmp_path),
    )
    told = json.loads(said(*words, "--json", "--terabyte-monthly", "20"))["machines"]
    wanted = plan(10**9, models=6)
    assert told["machine_hours"] == pytest.approx(wanted.machine_hours)
    assert told["seconds"] == pytest.approx(wanted.seconds)
    assert told["expert_hours"] == wanted.expert_hours
    assert told["storage_money_monthly"] == pytest.approx(112.828 * 20)
    assert told["machine_money"] is None
    assert not any(one["measured"] for one in told["rates"])
    *machines, judgement = (one["source"] for one in told["rates"])
    assert all(source.startswith("assumed") for source in machines)
    assert judgement.startswith("configured")
    text = said(*words, "--machine-hourly", "1.5")
    assert "100 machines like this one; tasks of a model: 244,141 to embed, 3,815 to mine" in text
    assert "In all 7.0 days; pictures 100.0 TB; experts 900 hours for 216,000 judgements." in text
    assert re.search(r"^all +6.9 days +52.3 min +16,752 +12.8 TB +25,128$", text, re.MULTILINE)


def test_what_no_project_tells_is_asked_for_at_once(tmp_path: Path) -> None:
    done = CliRunner().invoke(cli, ["analysis", "budget", "--images", "1e9", "-p", str(tmp_path)])
    assert isinstance(done.exception, InputError)
    assert done.exception.hint == "Give --queries N --models N, or --project DIR."


@pytest.mark.parametrize("wrong", ["0", "1.5", "many", "1e99", "-3", "nan"])
def test_numbers_that_count_nothing_are_refused(wrong: str, tmp_path: Path) -> None:
    done = CliRunner().invoke(cli, ["analysis", "budget", "--images", wrong, "--queries", "2", "-p", str(tmp_path)])
    assert done.exit_code == 2
    assert "whole number" in done.output


def test_the_projects_own_rates_are_used(tmp_path: Path) -> None:
    needed("skimage")  # embeds pictures
    project = Project.create(tmp_path / "p")
    said_ = CliRunner().invoke(
        cli, ["synthetic", "catalogue", "--products", "4", "--size", "64", "-p", str(project.root)]
    )
    assert said_.exit_code == 0, said_.output
    for words in (["images", "scan", "--replace"], ["embeddings", "compute", "-m", "colour=descriptor:hsv"]):
        done = CliRunner().invoke(cli, [*words, "-p", str(project.root)])
        assert done.exit_code == 0, done.output
    model = json.loads((project.root / "embeddings" / "colour" / "model.json").read_text())
    timing = json.loads((project.root / "embeddings" / "colour" / "timing.json").read_text())
    told = json.loads(said("--models", "2", "--json", "-p", str(project.root)))["machines"]
    assert [one["name"] for one in told["models"]] == ["colour", "model 2"]
    measured = {one["source"].split(":")[0]: one for one in told["rates"]}
    assert measured["colour"]["value"] == timing["images_per_second"]
    sizes = [file.stat().st_size for file in (project.root / "images").rglob("*.jpg")]
    assert measured["measured"]["value"] == pytest.approx(np.mean(sizes))
    assert told["images"] == model["rows"] == len(sizes)


@pytest.mark.parametrize("timed", [True, False])
def test_seconds_of_a_judgement_come_from_the_label_store(tmp_path: Path, timed: bool) -> None:
    project = Project.create(tmp_path / "p", {"budget.seconds": 11.0})
    store = open_store(project.path("labels"), create=True)
    campaign = begin(store, queries=1, each=4)
    acts = [
        Judgement(f"act {number}", task.assignment, 1, seconds=4.0 + number if timed and number else None)
        for number, task in enumerate(next_batch(store, campaign, "ann", 4))
    ]
    submit(store, "ann", acts)
    store.close()
    words = ("--images", "100", "--queries", "10", "--models", "2", "-k", "3", "--json", "-p", str(project.root))
    told = json.loads(said(*words))["machines"]
    seconds = (5 + 6 + 7) / 3 if timed else 11.0
    assert told["expert_hours"] == pytest.approx(10 * 2 * 3 * 3 * seconds / 3600)
    assert told["rates"][-1]["measured"] == timed
