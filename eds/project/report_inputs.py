"""What `eds reports write` reads of a project: each part, or the reason why it is not there."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from eds.reports.document import Gap, Missing

if TYPE_CHECKING:
    import pandas as pd

    from eds.metrics import Result
    from eds.project import Project
    from eds.project.ranks_and_scores import Evidence
    from eds.reports import Judging, ModelCard, Search

MAKERS = {
    "images": "eds images scan, or eds images import",
    "suspects": "eds suspects pool",
    "truth": "eds truth decide, after experts have judged (eds labels serve)",
}
PAIR = ["query_id", "candidate_id"]


def table(project: "Project", name: str) -> "pd.DataFrame":
    """A table of the project; Missing where there is none, or where it is empty."""
    if not project.path(name).exists():
        raise Missing(Gap(f"There is no table {name} yet.", MAKERS[name]))
    found = project.read(name)
    if not len(found):
        raise Missing(Gap(f"Table {name} is empty.", MAKERS[name]))
    return found


def results(
    project: "Project",
    images: "pd.DataFrame | None",
    truth: "pd.DataFrame | None",
    suspects: "pd.DataFrame | None",
    *,
    allow_missing: bool,
    with_random: bool = False,
) -> "tuple[list[Result], Evidence, pd.DataFrame | None]":
    """Every model's measures, the ranks and scores behind them, and the drawn negatives."""
    from eds.project.evaluation import evaluated
    from eds.project.labelled_pairs import negatives_among
    from eds.reports.sections.scores import measures

    for name, frame in (("images", images), ("truth", truth)):
        if frame is None:
            table(project, name)
    drawn = None if suspects is None else negatives_among(project, suspects)
    settings = project.config.neighbors
    asked = measures(drawn is not None)
    if not (settings.exclude_product and settings.one_per_product):
        asked = [one for one in asked if one.definition.needs != "official lists"]
    found, evidence = evaluated(project, asked, allow_missing=allow_missing, with_random=with_random, reasons=False)
    return found, evidence, drawn


def codes(
    project: "Project", truth: "pd.DataFrame | None", *, allow_missing: bool, with_random: bool = False
) -> "list[Result]":
    """What measures on binary codes give, of the models that have codes; none where there is no such model."""
    from eds.project.code_histograms import hash_models
    from eds.project.evaluation import evaluated
    from eds.reports.sections.codes import measures

    names = hash_models(project, project.models("embeddings"))
    if not names:
        return []
    asked = measures(truth is not None)
    return evaluated(project, asked, names, allow_missing=allow_missing, with_random=with_random)[0]


def searches(project: "Project") -> "list[Search]":
    """How each model's lists were searched, as they themselves tell."""
    from eds import tables
    from eds.reports import Search

    found = []
    for name in project.models("neighbors"):
        made_by, _ = tables.read_provenance(project.path("neighbors", name), tables.NEIGHBORS)
        given, settings, notes = made_by.params, made_by.settings, made_by.notes
        engine = given.get("engine", settings.get("neighbors.engine"))
        words = [str(engine), *([str(given["index"])] if given.get("index") else [])] if engine else [made_by.command]
        found.append(Search(name, " ".join(words), given.get("k", settings.get("neighbors.k")), notes.get("recall"),
                            notes.get("compared"), bool(given.get("allow_low_recall"))))  # fmt: skip
    return found


def generators(
    project: "Project", suspects: "pd.DataFrame | None", makers: Sequence[str], *, allow_missing: bool
) -> "pd.DataFrame":
    """The lists that the pool was made of."""
    from eds.project.pool_models import generator_lists

    if suspects is None:
        table(project, "suspects")
    return generator_lists(project, makers, None, allow_missing=allow_missing)


def judging(project: "Project", resamples: int, level: float) -> "Judging":
    """The acts, agreement, profiles, disputes and guidelines of the label store."""
    from eds.errors import InputError
    from eds.project.decide import read_votes
    from eds.project.label_store import opened
    from eds.reports import Judging
    from eds.truth import decide, disputed_pairs, expert_profiles, panel_agreement

    if not (project.path("labels").exists() or project.config.labels.url):
        raise Missing(Gap("Nobody has judged yet: there is no label store.", "eds labels campaigns add, then serve"))
    kept = read_votes(project)
    if not len(kept.labels):
        raise Missing(Gap("Nobody has judged yet.", "eds labels serve"))
    found = panel_agreement(
        kept.labels, early_stop=kept.early_stop, control=kept.control, resamples=resamples or 1, level=level,
        seed=project.config.project.seed,
    )  # fmt: skip
    if not resamples:  # limits of a single resample would be invented ones
        found = replace(found, coefficients=found.coefficients.assign(low=float("nan"), high=float("nan")))
    texts = {}
    with opened(project) as store:
        from eds.labels.guidelines import guideline_named

        for version in sorted(kept.labels["guideline"].dropna().unique()):
            try:
                texts[str(version)] = guideline_named(store, str(version)).content
            except InputError:
                continue  # a version that was named, and never kept: its name is told all the same
    profiles = expert_profiles(kept.labels, gold=kept.gold, level=level)
    counts = decide(kept.labels, kept.panel, project.config.truth.rule).counts
    return Judging(kept.labels, found, profiles, disputed_pairs(kept.labels), kept.early_stop, texts, counts)


def models(project: "Project") -> "list[ModelCard]":
    """Who the models are, from their folders; of those that have lists only, the name."""
    from eds.project.ranks_and_scores import chosen_models
    from eds.reports import ModelCard
    from eds.vectors import read_model

    cards = []
    for name, source in chosen_models(project, ()).items():
        if source == "neighbors":
            cards.append(ModelCard(name, source, spec="lists only"))
            continue
        made = read_model(project.path("embeddings", name))
        loader, of = str(made.spec.get("loader", "")), str(made.spec.get("name", ""))
        weights = f"@{made.spec['weights']}" if made.spec.get("weights") else ""
        spec = f"{loader}:{of}{weights}" if of else loader
        if isinstance(base := made.spec.get("base"), dict):  # codes of another model's vectors
            spec = " ".join(map(str, (loader, made.spec.get("objective", ""), "of", base.get("model", "?"))))
        if made.random:
            spec += ", random weights"
        told = preprocessing(made.spec.get("preprocessing"))
        digest = made.weights_digest or made.preprocessing_digest
        cards.append(ModelCard(name, source, loader, spec, made.dimension, made.similarity, told, digest))
    return cards


def preprocessing(told: Any) -> str:
    """What a model sees of a picture, in words.

    >>> preprocessing({"size": 256, "resize": "shortest", "interpolation": "bicubic", "crop": 224, "channels": "RGB"})
    'shortest side to 256 (bicubic), crop 224, RGB'
    """
    if not isinstance(told, dict) or not told.get("size"):
        return ""
    side = "shortest side" if told.get("resize") == "shortest" else str(told.get("resize") or "resized")
    parts = [f"{side} to {told['size']}" + (f" ({told['interpolation']})" if told.get("interpolation") else "")]
    parts += [f"crop {told['crop']}"] if told.get("crop") else []
    parts += [str(told["channels"])] if told.get("channels") else []
    return ", ".join(parts)


def pool_depth(project: "Project") -> int:
    """The depth of the pool that is there; the setting's where none is, or where it is not told."""
    from eds.project.pool import pool_depth as known_depth

    return known_depth(project) or project.config.suspects.k


def states(project: "Project") -> list[dict[str, Any]]:
    """Each table of the project: rows, made by what, fresh or stale, its digest."""
    from eds.io.files import digest

    found = []
    for state in project.states():
        path = project.path(state.table, state.model) if state.model or state.table not in (
            "embeddings", "neighbors") else None  # fmt: skip
        file = path / "model.json" if path is not None and path.is_dir() else path
        there = file is not None and file.is_file() and state.table != "labels"
        found.append({"path": state.path, "rows": state.rows, "condition": state.condition, "made_by": state.made_by,
                      "digest": digest(file)[:16] if there and file else None})  # fmt: skip
    return found
