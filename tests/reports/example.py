"""Small but complete inputs of a report: two pool models, a new one, experts, sampled negatives, codes."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from eds.analysis.known_truth import KnownTruth
from eds.hashing.code_usage import code_usage
from eds.hashing.collisions import Balls
from eds.hashing.histograms import Histograms
from eds.metrics import Result, ScoringInputs, evaluate
from eds.metrics.code_histograms import CodeHistograms
from eds.reports import Judging, ModelCard, Report, ReportInputs, Search
from eds.reports.document import Sentence, Table
from eds.reports.sections import codes
from eds.reports.sections.scores import measures
from eds.suspects import pool
from eds.truth import decide, disputed_pairs, expert_profiles, panel_agreement
from eds.universe import PairRules, Universe

PAIR = ["query_id", "candidate_id"]
MODELS = ("alpha", "beta", "late")


def catalogue(queries: int = 14, candidates: int = 40, category: str = "shoe") -> pd.DataFrame:
    """Queries of two categories outside the gallery, and the gallery; each image a product of its own."""
    names = [f"q{number:02}" for number in range(queries)] + [f"c{number:02}" for number in range(candidates)]
    kinds = [category if number % 2 else "bag" for number in range(len(names))]
    roles = ["query"] * queries + ["candidate"] * candidates
    columns = {"image_id": names, "path": names, "product_id": names, "category": kinds, "role": roles}
    empty = pd.array([pd.NA] * len(names), "Int64")
    corners = dict.fromkeys(("box_left", "box_top", "box_right", "box_bottom"), empty)
    return pd.DataFrame(columns | corners)


def lists(images: pd.DataFrame, seed: int = 0, models: Sequence[str] = MODELS) -> pd.DataFrame:
    """Every model's whole list of every query, by a shared score and noise of the model's own."""
    rng = np.random.default_rng(seed)
    asked = images.loc[images["role"] == "query", "image_id"]
    offered = images.loc[images["role"] == "candidate", "image_id"]
    pairs = pd.MultiIndex.from_product([asked, offered], names=PAIR).to_frame(index=False)
    shared = rng.normal(size=len(pairs))
    every = []
    for model in models:
        rows = pairs.assign(model=model, score=shared + rng.normal(size=len(pairs)))
        rows = rows.sort_values(["query_id", "score"], ascending=[True, False])
        every.append(rows.assign(rank=rows.groupby("query_id").cumcount()))
    return pd.concat(every, ignore_index=True)


def acts(pairs: pd.DataFrame, experts: tuple[str, ...] = ("ann", "bob", "cid"), seed: int = 1) -> pd.DataFrame:
    """Each expert's judgement of each pair, table labels."""
    rng = np.random.default_rng(seed)
    likely = rng.random(len(pairs))
    parts = []
    for number, name in enumerate(experts):
        value = pd.array((likely + rng.normal(0, 0.15, len(pairs)) > 0.55).astype(int), "Int64")
        parts.append(pairs.assign(expert_id=name, value=value, seconds=2.0 + number))
    rows = pd.concat(parts, ignore_index=True)
    moments = pd.Timestamp("2026-01-01", tz="UTC") + pd.to_timedelta(np.arange(len(rows)), unit="s")
    return rows.assign(
        label_id=[f"a{row}" for row in rows.index],
        created_at=moments,
        session_id=None,
        kind="normal",
        supersedes=None,
        guideline="v1",
    )


def coded(bits: int = 8, seed: int = 3) -> list[Result]:
    """Two models of codes, one of which uses few of them; what is relevant is drawn, more often where it is near."""
    rng = np.random.default_rng(seed)
    models = {}
    for name, width in (("dense", bits), ("sparse", 2)):
        asked, offered = (rng.choice([-1, 1], (n, bits)).astype(np.int8) for n in (14, 40))
        for side in (asked, offered):
            side[:, width:] = 1
        apart = (asked[:, None] != offered[None]).sum(axis=-1)
        grade = (rng.random(apart.shape) < 0.5 - 0.4 * apart / bits).astype(np.int64)
        counts = np.zeros((14, bits + 1, 3), np.int64)
        np.add.at(counts, (np.arange(14)[:, None], apart, grade), 1)
        queries = pa.array([f"q{number:02}" for number in range(14)])
        graded = {
            source: Histograms(queries, counts, (0, 1, 2), Balls.of(asked, offered, grade, codes.RADIUS))
            for source in ("product", "truth", "types")
        }
        models[name] = CodeHistograms(bits, 40, graded, code_usage(offered))
    nothing = pd.DataFrame({"query_id": ["q00"], "candidate_id": ["c00"], "value": [1]})
    return evaluate(ScoringInputs(nothing, codes=models), codes.measures(labelled=True))


def example_inputs(
    category: str = "shoe",
    expert: str = "ann",
    models: Sequence[str] = MODELS,
    judged: float = 1.0,
    queries: int = 14,
    **changed: Any,
) -> ReportInputs:
    """Everything there; models named late built no pool; `changed` fields replace what is computed."""
    images = catalogue(queries, category=category)
    every = lists(images, models=models)
    made = every[~every["model"].str.startswith("late") & (every["rank"] < 4)]
    suspects = pool(made, 4)
    pairs = suspects[PAIR].head(round(judged * len(suspects)))
    labels = acts(pairs, (expert, "bob", "cid"))
    truth = decide(labels, panel=3).truth
    scores = every[["model", *PAIR, "score"]]
    known = set(map(tuple, pairs.to_numpy()))
    low = every[(every["model"] == models[0]) & (every["rank"] >= 30)]
    drawn = low[[tuple(row) not in known for row in low[PAIR].to_numpy()]].groupby("query_id").head(2)[PAIR]
    both = pd.concat([pairs, drawn])
    results = evaluate(
        ScoringInputs(
            truth[[*PAIR, "value"]], rankings=every, scores=scores.merge(both, on=PAIR), images=images, negatives=drawn
        ),
        measures(True),
    )
    found = panel_agreement(labels, resamples=50)
    judging = Judging(
        labels,
        found,
        expert_profiles(labels),
        disputed_pairs(labels),
        guidelines={"v1": "Likely?"},
        counts=decide(labels, panel=3).counts,
    )
    universe = Universe(images, PairRules())
    full: dict[str, Any] = {
        "resamples": 60,
        "images": images,
        "universe": universe,
        "known_truth": KnownTruth(universe.described, 60, 60 / universe.size, len(suspects), 30, 0.4, 0.5, 9.0, 0.05),
        "suspects": suspects,
        "truth": truth,
        "judging": judging,
        "models": [ModelCard(name, "embeddings", "test", f"test:{name}", 8, "cosine", "as is", "f") for name in models],
        "pool_lists": made[["model", *PAIR, "rank"]],
        "rankings": every,
        "results": results,
        "scores": scores.merge(both, on=PAIR),
        "label_scores": scores.merge(pairs, on=PAIR),
        "negatives": drawn.reset_index(drop=True),
        "gallery": 3,
        "codes": coded(),
        "searches": [Search("alpha", "exact", 4), Search("beta", "faiss ivf", 4, 0.93, 14, allowed=True)],
    }
    return ReportInputs("Shop", 4, **(full | changed))


def words_of(block: Any) -> str:
    """What a sentence of the report says, nothing of other blocks."""
    return block.template if isinstance(block, Sentence) else ""


def block(report: Report, section: str, key: str, kind: type = Table) -> Any:
    """The block of a section by its key."""
    blocks = next(part for part in report.sections if part.key == section).blocks
    return next(item for item in blocks if isinstance(item, kind) and getattr(item, "key", "") == key)
