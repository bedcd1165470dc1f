"""What judging costs: the counts and rates of a project, or those given, as plans."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from eds import config
from eds.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from eds.analysis.capacity import ModelRate
    from eds.project import Project


def project_budget(
    project: "Project", k: int | None = None, models: int | None = None, pool_size: int | None = None, **options: Any
) -> list[dict[str, Any]]:
    """The plans for the project's own tables; what is given counts before what stands there."""
    asked, offered, both = count_images(project)
    models = models or count_models(project)
    if pool_size is None and k is None and project.path("suspects").exists():
        pool_size = int((project.read("suspects")["origin"] == "pool").sum()) or None
    settings = project.config
    return _computed(settings, asked, offered, models, k or settings.suspects.k, both, pool_size, options)


def count_images(project: "Project") -> tuple[int, int, int]:
    """Queries, candidates, and images that are both."""
    roles = project.read("images", columns=["role"])["role"].value_counts()
    both, asked, offered = (int(roles.get(name, 0)) for name in ("both", "query", "candidate"))
    return asked + both, offered + both, both


def check_counts(project: "Project | None", **counts: int | None) -> None:
    """What is not given is taken from the project; outside of one it must be said."""
    lacking = [name for name, value in counts.items() if value is None]
    if lacking and project is None:
        raise InputError(
            f"how many {' and '.join(lacking)} is not known, and here is no project that would tell",
            do=f"Give {' '.join(f'--{name} N' for name in lacking)}, or --project DIR.",
        )  # fmt: skip


def count_models(project: "Project") -> int:
    """How many models the project has lists or vectors of, or names."""
    named = (project.models("neighbors"), project.models("embeddings"), project.config.embeddings.models)
    found = next((len(names) for names in named if names), 0)
    if not found:
        raise InputError("how many models is not known", where=str(project.root), do="Give --models, or name them.")
    return found


def plans(
    project: "Project | None", queries: int, images: int, models: int, k: int | None, inside: int, **options: Any
) -> list[dict[str, Any]]:
    """The plans for given counts."""
    settings = settings_of(project)
    pool_size = options.pop("pool_size")
    return _computed(settings, queries, images, models, k or settings.suspects.k, inside, pool_size, options)


def _computed(
    settings: Any,
    queries: int,
    images: int,
    models: int,
    k: int,
    inside: int,
    pool_size: int | None,
    options: dict[str, Any],
) -> list[dict[str, Any]]:
    from eds.analysis import budget as plan

    given = {name: value for name, value in options.items() if value is not None}
    pay = {name: getattr(settings.budget, name) for name in ("experts", "seconds", "hourly")}
    found = plan(queries, images, models, k, n_queries_in_gallery=inside, pool_size=pool_size, **{**pay, **given})
    return [asdict(one) for one in found]


def settings_of(project: "Project | None") -> config.Config:
    """The project's settings, or the defaults: a budget needs no project."""
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

    found = []
    for name in project.models("embeddings"):
        folder = project.path("embeddings", name)
        try:
            model = read_model(folder)
        except EdsError:
            continue  # eds status tells of it; a plan needs no vectors
        listed = folder / "ids.parquet"
        found.append(model_rate(model, listed.stat().st_size / model.rows if model.rows and listed.exists() else None))
    return found


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
