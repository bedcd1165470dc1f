"""What a catalogue of any size costs in machines, storage and expert time, from rates that are measured or assumed.

The arithmetic is explained in capacity.md. What judging costs, by the way pairs are selected: eds.suspects.budget.
"""

import math
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from eds.config import ExecutorSettings
from eds.errors import InputError
from eds.neighbors import Rules, mine
from eds.suspects.cost import Rate
from eds.tables import Provenance
from eds.vectors import Model, stored_dtype, write

TERA = 1e12
USUAL = ExecutorSettings()


@dataclass(frozen=True)
class ModelRate:
    """A model: how fast one machine embeds with it, and how large a vector is."""

    name: str
    images_per_second: Rate
    dimension: int  # numbers that are multiplied; of codes, words of 32 bits
    vector_bytes: float  # with its row in ids.parquet


@dataclass(frozen=True)
class Rates:
    """How fast work is done."""

    models: tuple[ModelRate, ...]
    mining: Rate  # multiplications (with their additions) a second
    reading: Rate  # bytes a second
    picture_bytes: Rate
    seconds_per_label: Rate


@dataclass(frozen=True)
class Workload:
    """What is to be done, on how many machines, by how many experts."""

    images: int
    queries: int
    judged_pairs: int
    experts: int
    machines: int = 1


@dataclass(frozen=True)
class Prices:
    """0: unknown."""

    machine_hour: float = 0.0
    terabyte_month: float = 0.0


@dataclass(frozen=True)
class ModelCost:
    """What one model costs: seconds of the wall clock on all machines together, machine hours, bytes, money."""

    name: str
    embed_seconds: float
    mine_seconds: float
    machine_hours: float
    vector_bytes: float
    machine_money: float | None
    storage_money_monthly: float | None


@dataclass(frozen=True)
class CapacityPlan:
    """The whole: each model, the pictures, the totals. Money is None where no price is known."""

    models: tuple[ModelCost, ...]
    embed_tasks: int  # of one model, as the two below
    mine_tasks: int
    seconds: float  # of the wall clock, one model after the other
    machine_hours: float
    picture_bytes: float
    vector_bytes: float
    machine_money: float | None
    storage_money_monthly: float | None
    judgements: float
    expert_hours: float


UNPRICED = Prices()
ASSUMED_IMAGES = Rate(100.0, False, "assumed: 100 images/s, a small network on two cores")
ASSUMED_MINING = Rate(2e10, False, "assumed: 20 billion multiplications a second, two cores; --calibrate measures it")
ASSUMED_READING = Rate(2e8, False, "assumed: 200 MB/s from storage to a machine")
ASSUMED_PICTURE = Rate(100_000.0, False, "assumed: 100 kB a picture")
ASSUMED_DIMENSION = 512
ID_BYTES = 90.0  # of an image's row in ids.parquet, where none was written yet: ids of 20 letters, a digest
GALLERY, QUERIES = 60_000, 500  # vectors that are mined to measure


def plan_capacity(
    work: Workload, rates: Rates, prices: Prices = UNPRICED, engine: ExecutorSettings = USUAL
) -> CapacityPlan:
    """Time, money and storage of embedding and mining, and the experts' hours.

    Formula: of an image, embedding takes 1 / r_m seconds of a machine and mining max(|Q| d_m / c, b_m / v), with r_m
    images, c multiplications and additions, and v bytes read a second; machine hours are N times that / 3600; the wall
    clock shows n times that, n = min(N, ceil(ceil(N / t) / M) t) the images of the busiest of M machines, where a task
    has t images: `engine.images` of them to embed, `engine.rows` to mine;
    bytes N b_m of vectors and N s of pictures; expert hours = pairs x experts x seconds per label / 3600.
    Source: specification 1.3 for the pairs; the rest is counting.
    Conventions: every image is embedded once by every model, and is a candidate of every query; mining reads and
    multiplies at once; tasks are equal, a machine works at one at a time, and some idle in the last round; putting
    vectors together, merging the lists, listing the storage, and what fails and is done again are left out; a machine
    hour is one of work.
    Example, run by doctest:
    >>> models = (ModelRate("m", Rate(100.0, True), 512, 2048.0),)
    >>> rates = Rates(models, Rate(1e10, True), Rate(2e8, False), Rate(1e5, False), Rate(12.0, True))
    >>> plan = plan_capacity(Workload(1_000_000, 1000, judged_pairs=6000, experts=3, machines=2), rates)
    >>> plan.models[0].embed_seconds, round(plan.models[0].mine_seconds, 3), plan.vector_bytes, plan.expert_hours
    (5038.08, 26.844, 2048000000.0, 60.0)
    """
    _check(work, rates, prices)
    images, machines = work.images, work.machines
    tasks = {size: math.ceil(images / size) for size in (engine.images, engine.rows)}
    # images of the machine that works longest
    busiest = {size: min(images, math.ceil(count / machines) * size) for size, count in tasks.items()}
    costs = []
    for model in rates.models:
        mining = max(work.queries * model.dimension / rates.mining.value, model.vector_bytes / rates.reading.value)
        each = 1 / model.images_per_second.value, mining  # seconds of a machine for an image
        hours, stored = images * sum(each) / 3600, images * model.vector_bytes
        costs.append(
            ModelCost(
                model.name,
                busiest[engine.images] * each[0],
                busiest[engine.rows] * each[1],
                hours,
                stored,
                _price(hours, prices.machine_hour),
                _price(stored / TERA, prices.terabyte_month),
            )
        )
    hours = sum(cost.machine_hours for cost in costs)
    vectors, pictures = sum(cost.vector_bytes for cost in costs), images * rates.picture_bytes.value
    return CapacityPlan(
        models=tuple(costs),
        embed_tasks=tasks[engine.images],
        mine_tasks=tasks[engine.rows],
        seconds=sum(cost.embed_seconds + cost.mine_seconds for cost in costs),
        machine_hours=hours,
        picture_bytes=pictures,
        vector_bytes=vectors,
        machine_money=_price(hours, prices.machine_hour),
        storage_money_monthly=_price((vectors + pictures) / TERA, prices.terabyte_month),
        judgements=float(work.judged_pairs * work.experts),
        expert_hours=work.judged_pairs * work.experts * rates.seconds_per_label.value / 3600,
    )


def _price(amount: float, each: float) -> float | None:
    return amount * each if each else None


def _check(work: Workload, rates: Rates, prices: Prices) -> None:
    counts = {
        "images": work.images,
        "queries": work.queries,
        "models": len(rates.models),
        "experts": work.experts,
        "machines": work.machines,
    }
    faults = [f"{name} is {count}; give 1 or more" for name, count in counts.items() if count < 1]
    faults += [f"{name} is {price}; give 0 or more" for name, price in vars(prices).items() if not price >= 0]
    speeds = [model.images_per_second for model in rates.models]
    every = [rates.mining, rates.reading, rates.picture_bytes, rates.seconds_per_label, *speeds]
    faults += [f"a rate is {rate.value} ({rate.source})" for rate in every if not 0 < rate.value < math.inf]
    if faults:
        raise InputError("invalid workload", where="capacity", hint="Correct:", faults=faults)


def model_rate(model: Model, ids_bytes: float | None) -> ModelRate:
    """The rate of a model that has vectors: images/s of its newest run, and bytes of a vector with its id."""
    bits = model.dtype == "bits"
    stored = model.width * stored_dtype(model.dtype).itemsize
    timed = model.images_per_second > 0
    source = f"{model.name}: measured, {model.images_per_second:,.1f} images/s on this machine"
    rate = Rate(model.images_per_second, True, source) if timed else ASSUMED_IMAGES
    dimension = -(-model.dimension // 32) if bits else model.dimension
    return ModelRate(model.name, rate, dimension, stored + (ID_BYTES if ids_bytes is None else ids_bytes))


def model_rates(known: Sequence[ModelRate], n: int) -> list[ModelRate]:
    """The rates of n models: the known ones, then others assumed as slow and large as the worst of them."""
    rates = list(known[:n])
    timed = [model.images_per_second for model in known if model.images_per_second.measured]
    slowest = min(timed, key=lambda rate: rate.value, default=None)
    rate = ASSUMED_IMAGES if slowest is None else Rate(slowest.value, False, "assumed: as the slowest measured model")
    dimension = max((model.dimension for model in known), default=ASSUMED_DIMENSION)
    size = max((model.vector_bytes for model in known), default=4 * ASSUMED_DIMENSION + ID_BYTES)
    return rates + [ModelRate(f"model {number + 1}", rate, dimension, size) for number in range(len(rates), n)]


def mining_rate(dimension: int, *, gallery: int = GALLERY, queries: int = QUERIES) -> Rate:
    """Multiplications (with their additions) a second of exact mining, measured on random vectors of that dimension."""
    ids = [f"i{number:07d}" for number in range(gallery)]
    roles = np.where(np.arange(gallery) < queries, "both", "candidate")
    images = pd.DataFrame({"image_id": ids, "product_id": ids, "category": None, "role": roles})
    drawn = np.random.default_rng(0).standard_normal((gallery, dimension), dtype=np.float32)
    made_by = Model("calibration", {}, dimension, "float32", "cosine", "", "", provenance=Provenance("calibration"))
    with tempfile.TemporaryDirectory(prefix="eds-calibrate-") as folder:
        vectors = write(Path(folder) / "calibration", made_by, ids, drawn)
        begun = time.perf_counter()
        mine(vectors, images, Rules(k=100))
        seconds = time.perf_counter() - begun
    rate = queries * gallery * dimension / seconds
    work = f"{queries:,} queries among {gallery:,} vectors of {dimension:,} in {seconds:.1f} s"
    return Rate(rate, True, f"measured now: {rate / 1e9:,.2f} billion multiplications a second, {work}")


def picture_rate(sizes: "pd.Series[int]") -> Rate:
    """Bytes of a picture: the mean of those that a scan saw; without any an assumed number."""
    if not len(sizes) or not sizes.mean() > 0:
        return ASSUMED_PICTURE
    return Rate(
        float(sizes.mean()), True, f"measured: {sizes.mean() / 1000:,.1f} kB a picture, the mean of {len(sizes):,}"
    )
