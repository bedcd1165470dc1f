"""What a catalogue of any size costs in machines, storage and experts, from rates that were measured or are assumed.

The arithmetic of scale.md, in one place. Not here: where the rates come from (eds.analysis.rates), and what judging
costs in all ways of choosing pairs (eds.analysis.budget).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from eds.config import EngineSettings
from eds.errors import InputError

TERA = 1e12
USUAL = EngineSettings()


@dataclass(frozen=True)
class Rate:
    """A number, and where it is from."""

    value: float
    measured: bool
    told: str = ""


@dataclass(frozen=True)
class ModelRate:
    """A model: how fast one machine embeds with it, and how large a vector is."""

    name: str
    images_per_second: Rate
    dimension: int  # numbers that are multiplied; of codes, words of 32 bits
    vector_bytes: float  # with its row in ids.parquet


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
class ScalePlan:
    """The whole: each model, the pictures, what it comes to. Money is None where no price is known."""

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


def scale_plan(
    images: int,
    queries: int,
    models: Sequence[ModelRate],
    *,
    mining: Rate,
    reading: Rate,
    picture_bytes: Rate,
    judged_pairs: int,
    experts: int,
    seconds_per_label: Rate,
    machines: int = 1,
    machine_hourly: float = 0.0,
    terabyte_monthly: float = 0.0,
    engine: EngineSettings = USUAL,
) -> ScalePlan:
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
    >>> rate = Rate(100.0, True)
    >>> model = ModelRate("m", rate, 512, 2048.0)
    >>> plan = scale_plan(1_000_000, 1000, [model], mining=Rate(1e10, True), reading=Rate(2e8, False),
    ...                   picture_bytes=Rate(1e5, False), judged_pairs=6000, experts=3,
    ...                   seconds_per_label=Rate(12.0, True), machines=2)
    >>> plan.models[0].embed_seconds, round(plan.models[0].mine_seconds, 3), plan.vector_bytes, plan.expert_hours
    (5038.08, 26.844, 2048000000.0, 60.0)
    """
    _refuse_odd(images, queries, models, experts, machines, machine_hourly, terabyte_monthly,
                [mining, reading, picture_bytes, seconds_per_label])  # fmt: skip
    tasks = {size: math.ceil(images / size) for size in (engine.images, engine.rows)}
    # images of the machine that works longest
    busiest = {size: min(images, math.ceil(count / machines) * size) for size, count in tasks.items()}
    costs = []
    for model in models:
        mine = max(queries * model.dimension / mining.value, model.vector_bytes / reading.value)
        each = 1 / model.images_per_second.value, mine  # seconds of a machine for an image
        hours, stored = images * sum(each) / 3600, images * model.vector_bytes
        costs.append(
            ModelCost(model.name, busiest[engine.images] * each[0], busiest[engine.rows] * each[1], hours, stored,
                      _price(hours, machine_hourly), _price(stored / TERA, terabyte_monthly))
        )  # fmt: skip
    hours = sum(cost.machine_hours for cost in costs)
    vectors, pictures = sum(cost.vector_bytes for cost in costs), images * picture_bytes.value
    return ScalePlan(
        models=tuple(costs),
        embed_tasks=tasks[engine.images],
        mine_tasks=tasks[engine.rows],
        seconds=sum(cost.embed_seconds + cost.mine_seconds for cost in costs),
        machine_hours=hours,
        picture_bytes=pictures,
        vector_bytes=vectors,
        machine_money=_price(hours, machine_hourly),
        storage_money_monthly=_price((vectors + pictures) / TERA, terabyte_monthly),
        judgements=float(judged_pairs * experts),
        expert_hours=judged_pairs * experts * seconds_per_label.value / 3600,
    )


def _price(amount: float, each: float) -> float | None:
    return amount * each if each else None


def _refuse_odd(
    images: int, queries: int, models: Sequence[ModelRate], experts: int, machines: int,
    machine_hourly: float, terabyte_monthly: float, rates: Sequence[Rate],
) -> None:  # fmt: skip
    whole = {"images": images, "queries": queries, "models": len(models), "experts": experts, "machines": machines}
    faults = [f"{name} is {value}; give 1 or more" for name, value in whole.items() if value < 1]
    prices = {"machine_hourly": machine_hourly, "terabyte_monthly": terabyte_monthly}
    faults += [f"{name} is {value}; give 0 or more" for name, value in prices.items() if not value >= 0]
    every = [*rates, *(model.images_per_second for model in models)]
    faults += [f"a rate is {rate.value} ({rate.told})" for rate in every if not 0 < rate.value < math.inf]
    if faults:
        raise InputError("no plan can be made of this", where="scale", do="Mend:", faults=faults)
