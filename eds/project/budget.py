"""What a benchmark costs: judgements, machines, time and money, from the counts of a project or from given ones."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from eds import config
from eds.errors import InputError
from eds.project.inputs import Inputs
from eds.project.results import Result

if TYPE_CHECKING:
    import pandas as pd

    from eds.analysis.capacity import CapacityPlan, ModelRate
    from eds.pairs import Reals
    from eds.project import Project
    from eds.suspects.budget import Plan as Plan
    from eds.suspects.budget import Scope
    from eds.suspects.cost import Rate

JUDGING = ("wanted", "prevalence", "experts", "seconds", "hourly")  # options of eds.suspects.budget


@dataclass(frozen=True)
class BudgetOptions:
    """What is planned; None: as the project says."""

    queries: int | None = None
    images: int | None = None  # candidates
    outside: bool = False  # the queries are not among the candidates
    models: int | None = None
    k: int | None = None  # depth of the pool
    pool_size: int | None = None
    wanted: int | None = None  # positives that random pairs should yield
    prevalence: float | None = None  # share of positives among all pairs
    experts: int | None = None
    seconds: float | None = None  # an expert's for a pair
    hourly: float | None = None  # an expert's pay
    machines: int = 1
    machine_hourly: float = 0.0
    terabyte_monthly: float = 0.0
    calibrate: bool = False  # measure the speed of mining now

    def judging(self) -> dict[str, Any]:
        """Return the options of judging."""
        return {name: getattr(self, name) for name in JUDGING}


@dataclass(frozen=True)
class MachineWork(Result):
    """The work of machines, and the rates that it rests on."""

    plan: "CapacityPlan"
    images: int
    queries: int
    machines: int
    rates: "tuple[Rate, ...]"

    def to_dict(self) -> dict[str, Any]:
        """The plan's fields beside the others."""
        values = super().to_dict()
        plan: dict[str, Any] = values.pop("plan")
        return plan | values


@dataclass(frozen=True)
class BudgetResult(Result):
    """Plans of judging, what so many queries and pairs can show, and the work of machines with its rates."""

    scope: "Scope"  # all pairs, and what a pair is
    plans: "list[Plan]"
    seconds: "Rate"  # of a judgement
    currency: str
    certainty: Mapping[str, float]
    machines: MachineWork


def plan_budget(project: "Project | None", options: BudgetOptions) -> BudgetResult:
    """Plan judgements, machines, time and money; without a project the counts have to be given."""
    from eds.suspects.budget import Scope

    settings, judging = settings_of(project), options.judging()
    if project is None or options.queries is not None or options.images is not None:
        check_counts(project, queries=options.queries, images=options.images, models=options.models)
        queries, images, both = _given_counts(project, options)
        models = options.models or (count_models(project) if project else 1)
        scope = Scope.of_counts(queries, images, both, models, options.k or _depth(project))
        pool_size = options.pool_size
    else:
        inputs = Inputs(project)
        if options.wanted is None and options.prevalence is None:
            judging |= _known_prevalence(inputs)
        models = options.models or count_models(project)
        scope = Scope.of_universe(inputs.universe, models, options.k or _depth(project))
        made_so = options.models in (None, count_models(project)) and options.k in (None, _depth(project))
        pool_size = options.pool_size or (_pool_size(inputs) if made_so else None)
        queries, images, both = count_images(project)
    seconds = seconds_per_label(project, options.seconds)
    plans = _plans(settings, scope, pool_size, judging | {"seconds": seconds.value})
    certainty = _certainty(queries, plans)
    pairs, experts = round(certainty["pairs"]), options.experts or settings.budget.experts
    machines = _machine_work(project, options, (images + queries - both, queries, pairs, models, experts), seconds)
    return BudgetResult(scope, plans, seconds, settings.budget.currency, certainty, machines)


def seconds_per_label(project: "Project | None", given: float | None = None) -> "Rate":
    """Seconds of a judgement, and where they are from: as given, else measured, else as eds.toml says."""
    from eds.suspects.cost import Rate, label_rate

    if given is not None:
        return Rate(given, False, f"given: {given:g} s a judgement")
    return label_rate(_seconds(project), settings_of(project).budget.seconds)


def project_budget(project: "Project", scope: "Scope", pool_size: int) -> "list[Plan]":
    """Return the plans of judging a pool, by the project's budget."""
    return _plans(project.config, scope, pool_size, {"seconds": seconds_per_label(project).value})


def _depth(project: "Project | None") -> int:
    """The depth of the pool that there is, else of the one that eds.toml asks for."""
    from eds.project.pool import pool_depth

    return (pool_depth(project) if project else None) or settings_of(project).suspects.k


def _pool_size(inputs: Inputs) -> int | None:
    """Pairs of the pool that lie in the universe."""
    pooled = inputs.pooled_pairs
    return None if pooled is None else int((inputs.universe.numbers(pooled) >= 0).sum()) or None


def count_images(project: "Project") -> tuple[int, int, int]:
    """Return the number of queries, of candidates, and of images that are both."""
    roles = project.read("images", columns=["role"])["role"].value_counts()
    both, queries, candidates = (int(roles.get(name, 0)) for name in ("both", "query", "candidate"))
    return queries + both, candidates + both, both


def check_counts(project: "Project | None", **counts: int | None) -> None:
    """Refuse counts that are neither given nor known from a project."""
    missing = [name for name, value in counts.items() if value is None]
    if missing and project is None:
        raise InputError(
            f"the number of {' and '.join(missing)} is not known, and there is no project here",
            hint=f"Give {' '.join(f'--{name} N' for name in missing)}, or --project DIR.",
        )


def count_models(project: "Project") -> int:
    """Return how many models made the pool; without one, how many have lists or vectors, or are named."""
    from eds.project.pool import pooled_models

    named = (
        pooled_models(project),
        project.models("neighbors"),
        project.models("embeddings"),
        project.config.embeddings.models,
    )
    count = next((len(names) for names in named if names), 0)
    if not count:
        raise InputError("the number of models is not known", where=str(project.root), hint="Give --models N.")
    return count


def _given_counts(project: "Project | None", options: BudgetOptions) -> tuple[int, int, int]:
    """Return queries, candidates and images that are both: as given, the rest from the project."""
    queries, images, both = options.queries, options.images, None
    if project is not None and (queries is None or images is None):
        asked, offered, both = count_images(project)
        queries, images = queries or asked, images or offered
    queries, images = queries or 0, images or 0
    return queries, images, 0 if options.outside else min(queries, images, queries if both is None else both)


def _plans(settings: config.Config, scope: "Scope", pool_size: int | None, judging: Mapping[str, Any]) -> "list[Plan]":
    from eds.suspects.budget import Judging, RandomTarget
    from eds.suspects.budget import budget as plan

    chosen = {name: value for name, value in judging.items() if value is not None}
    target = RandomTarget(chosen.pop("wanted", None), chosen.pop("prevalence", None))
    pay = {name: getattr(settings.budget, name) for name in ("experts", "seconds", "hourly")}
    return list(plan(scope, Judging(**{**pay, **chosen}), pool_size=pool_size, random=target))


def _known_prevalence(inputs: Inputs) -> dict[str, Any]:
    """Return how many positives random pairs would have to yield, and how rare they are, if labels show it."""
    from eds.project.prevalence import project_prevalence

    found = project_prevalence(inputs)
    if found is None or found.p is None or not found.pool.rate.positive or not found.p.value > 0:
        return {}
    return {"wanted": found.pool.rate.positive, "prevalence": found.p.value}


def _certainty(queries: int, plans: "list[Plan]") -> dict[str, float]:
    """Return what the queries and the pool's pairs can show."""
    from eds.analysis.power import certainty

    pairs = next(plan.pairs for plan in reversed(plans) if plan.name.startswith("pool"))
    return {"queries": queries, "pairs": pairs, **certainty(queries, round(pairs))}


def settings_of(project: "Project | None") -> config.Config:
    """Return the project's settings, or the defaults."""
    return project.config if project else config.Config()


def _machine_work(
    project: "Project | None", options: BudgetOptions, counts: tuple[int, int, int, int, int], seconds: "Rate"
) -> MachineWork:
    """The plan by machines, each rate with where it is from; counts of images, queries, pairs, models, experts."""
    from eds.analysis import capacity

    images, queries, pairs, models, experts = counts
    chosen = tuple(capacity.model_rates(model_rates(project) if project else [], models))
    largest = max(model.dimension for model in chosen)
    rates = capacity.Rates(
        chosen,
        mining=capacity.mining_rate(largest) if options.calibrate else capacity.ASSUMED_MINING,
        reading=capacity.ASSUMED_READING,
        picture_bytes=capacity.picture_rate(_sizes(project)),
        seconds_per_label=seconds,
    )
    work = capacity.Workload(images, queries, pairs, experts, options.machines)
    prices = capacity.Prices(options.machine_hourly, options.terabyte_monthly)
    plan = capacity.plan_capacity(work, rates, prices, _engine(project))
    speeds = dict.fromkeys(model.images_per_second for model in chosen)
    sources = (*speeds, rates.mining, rates.reading, rates.picture_bytes, rates.seconds_per_label)
    return MachineWork(plan, images, queries, work.machines, sources)


def _engine(project: "Project | None") -> config.ExecutorSettings:
    """How work is cut into tasks: as the project says, or as usual."""
    return project.config.executor if project else config.ExecutorSettings()


def model_rates(project: "Project") -> "list[ModelRate]":
    """What the project's models were measured at, by name."""
    from eds.analysis.capacity import model_rate
    from eds.errors import EdsError
    from eds.vectors import read_model

    rates = []
    for name in project.models("embeddings"):
        folder = project.path("embeddings", name)
        try:
            model = read_model(folder)
        except EdsError:
            continue  # eds status tells of it; a plan needs no vectors
        listed = folder / "ids.parquet"
        rates.append(model_rate(model, listed.stat().st_size / model.rows if model.rows and listed.exists() else None))
    return rates


def _seconds(project: "Project | None") -> "Reals":
    """Seconds of every judgement in the label store."""
    import numpy as np

    if project is None or not (project.path("labels").exists() or project.config.labels.url):
        return np.zeros(0)
    from eds.project.label_store import opened

    with opened(project) as store:
        from eds.labels.frames import labels_frame

        return labels_frame(store)["seconds"].to_numpy(np.float64, na_value=np.nan)


def _sizes(project: "Project | None") -> "pd.Series[int]":
    """The bytes of each picture that the last scan saw."""
    import pandas as pd
    import pyarrow.parquet as pq

    memory = None if project is None else project.root / ".eds" / "scan.parquet"
    if memory is None or not memory.exists():
        return pd.Series(dtype="int64")
    return pd.Series(pq.read_table(memory, columns=["size"]).column("size").to_numpy(), dtype="int64")
