"""What a benchmark costs: judgements, machines, time and money, from the counts of a project or from given ones."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from eds import config
from eds.errors import InputError
from eds.project.inputs import Inputs
from eds.project.results import Result

if TYPE_CHECKING:
    import pandas as pd

    from eds.analysis.capacity import ModelRate
    from eds.project import Project

JUDGING = ("wanted", "prevalence", "experts", "seconds", "hourly")  # options that eds.analysis.budget takes


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
class BudgetResult(Result):
    """Plans of judging, what so many queries and pairs can show, and the work of machines with its rates."""

    plans: list[dict[str, Any]]
    currency: str
    certainty: Mapping[str, float]
    machines: Mapping[str, Any]


def plan_budget(project: "Project | None", options: BudgetOptions) -> BudgetResult:
    """Plan judgements, machines, time and money; without a project the counts have to be given."""
    settings, judging = settings_of(project), options.judging()
    if project is None or options.queries is not None or options.images is not None:
        check_counts(project, queries=options.queries, images=options.images, models=options.models)
        queries, images, both = _given_counts(project, options)
        models = options.models or (count_models(project) if project else 1)
        k = options.k or settings.suspects.k
        plans = _plans(settings, (queries, images, both), models, k, options.pool_size, judging)
        embedded = images + queries - both
    else:
        if options.wanted is None and options.prevalence is None:
            judging |= _known_prevalence(Inputs(project))
        models = options.models or count_models(project)
        plans = project_budget(project, k=options.k, models=models, pool_size=options.pool_size, **judging)
        queries, images, both = count_images(project)
        embedded = images + queries - both
    certainty = _certainty(queries, plans)
    pay = settings.budget
    machines = scale_document(
        project,
        embedded,
        queries,
        models,
        round(certainty["pairs"]),
        options.experts or pay.experts,
        options.seconds or pay.seconds,
        machines=options.machines,
        machine_hourly=options.machine_hourly,
        terabyte_monthly=options.terabyte_monthly,
        calibrate=options.calibrate,
    )
    return BudgetResult(plans, pay.currency, certainty, machines)


def project_budget(
    project: "Project", k: int | None = None, models: int | None = None, pool_size: int | None = None, **judging: Any
) -> list[dict[str, Any]]:
    """Return the plans of judging for the project's own tables; given values replace the project's."""
    models = models or count_models(project)
    if pool_size is None and k is None and project.path("suspects").exists():
        pool_size = int((project.read("suspects", columns=["origin"])["origin"] == "pool").sum()) or None
    return _plans(project.config, count_images(project), models, k or project.config.suspects.k, pool_size, judging)


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
    """Return how many models the project has lists or vectors of, or names."""
    named = (project.models("neighbors"), project.models("embeddings"), project.config.embeddings.models)
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


def _plans(
    settings: config.Config,
    counts: tuple[int, int, int],
    models: int,
    k: int,
    pool_size: int | None,
    judging: Mapping[str, Any],
) -> list[dict[str, Any]]:
    from eds.analysis import Judging, RandomTarget
    from eds.analysis import budget as plan

    queries, images, both = counts
    chosen = {name: value for name, value in judging.items() if value is not None}
    target = RandomTarget(chosen.pop("wanted", None), chosen.pop("prevalence", None))
    pay = {name: getattr(settings.budget, name) for name in ("experts", "seconds", "hourly")}
    experts = Judging(**{**pay, **chosen})
    plans = plan(queries, images, models, k, experts, n_queries_in_gallery=both, pool_size=pool_size, random=target)
    return [asdict(item) for item in plans]


def _known_prevalence(inputs: Inputs) -> dict[str, Any]:
    """Return how many positives random pairs would have to yield, and how rare they are, if labels show it."""
    from eds.analysis import AnalysisInputs, analyse

    if not (inputs.exists("truth") and inputs.exists("suspects")):
        return {}
    report = analyse("prevalence", AnalysisInputs(inputs.images(), inputs.suspects, inputs.read("truth")))
    positives, random = report["pool"]["positive"], report["random"]
    if not positives or not random or not random.get("p_map"):
        return {}
    return {"wanted": positives, "prevalence": random["p_map"]}


def _certainty(queries: int, plans: list[dict[str, Any]]) -> dict[str, float]:
    """Return what the queries and the pool's pairs can show."""
    from eds.analysis.power import certainty

    pairs = next(plan["pairs"] for plan in reversed(plans) if plan["name"].startswith("pool"))
    return {"queries": queries, "pairs": pairs, **certainty(queries, round(pairs))}


def settings_of(project: "Project | None") -> config.Config:
    """Return the project's settings, or the defaults."""
    return project.config if project else config.Config()


def scale_document(
    project: "Project | None",
    images: int,
    queries: int,
    models: int,
    pairs: int,
    experts: int,
    seconds: float,
    **options: Any,
) -> dict[str, Any]:
    """The plan by machines, each rate with where it is from."""
    from eds.analysis import capacity

    chosen = tuple(capacity.model_rates(model_rates(project) if project else [], models))
    largest = max(model.dimension for model in chosen)
    rates = capacity.Rates(
        chosen,
        mining=capacity.mining_rate(largest) if options["calibrate"] else capacity.ASSUMED_MINING,
        reading=capacity.ASSUMED_READING,
        picture_bytes=capacity.picture_rate(_sizes(project)),
        seconds_per_label=capacity.label_rate(_seconds(project), seconds),
    )
    work = capacity.Workload(images, queries, pairs, experts, options["machines"])
    prices = capacity.Prices(options["machine_hourly"], options["terabyte_monthly"])
    plan = capacity.plan_capacity(work, rates, prices, _engine(project))
    sources = [
        *dict.fromkeys(model.images_per_second for model in chosen),
        rates.mining,
        rates.reading,
        rates.picture_bytes,
        rates.seconds_per_label,
    ]
    return {
        **asdict(plan),
        "images": images,
        "queries": queries,
        "machines": work.machines,
        "rates": [asdict(rate) for rate in sources],
    }


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


def _seconds(project: "Project | None") -> "pd.Series[float]":
    import pandas as pd

    if project is None or not (project.path("labels").exists() or project.config.labels.url):
        return pd.Series(dtype="float64")
    from eds.project.label_store import opened

    with opened(project) as store:
        from eds.labels.frames import labels_frame

        return labels_frame(store)["seconds"].astype(float)


def _sizes(project: "Project | None") -> "pd.Series[int]":
    """The bytes of each picture that the last scan saw."""
    import pandas as pd
    import pyarrow.parquet as pq

    memory = None if project is None else project.root / ".eds" / "scan.parquet"
    if memory is None or not memory.exists():
        return pd.Series(dtype="int64")
    return pd.Series(pq.read_table(memory, columns=["size"]).column("size").to_numpy(), dtype="int64")
