"""Score threshold to show a model's pairs as similar."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd

from eds.analysis.inputs import AnalysisInputs, option
from eds.analysis.labelled_sample import LabelledSample, labelled_samples
from eds.analysis.score_threshold import LEAST, Curve, ScoredPairs, Threshold, find_threshold, fit_curve
from eds.analysis.unit_labels import PAIR
from eds.errors import InputError
from eds.pairs import Flags

INPUTS = ("images", "universe", "suspects", "truth", "label_scores")
ALL = ""  # the category of a row about all categories


@dataclass(frozen=True)
class Options:
    """What is wanted of a threshold."""

    precision: float = option(0.9, "Share of similar pairs among those that are shown.")
    by: str = option("category", "Column of images: a threshold for the queries of each of its values, too.")
    confidence: float = option(0.95, "Confidence level of intervals and bands.")
    resamples: int = option(400, "Resamples of the queries behind each band.")


@dataclass(frozen=True)
class ModelThreshold:
    """The threshold of a model for all pairs of a population, or for one category of the query."""

    model: str
    population: str  # pool or universe
    category: str  # empty: all
    queries: int
    labelled: int
    threshold: Threshold

    def to_dict(self) -> dict[str, Any]:
        """One flat row; None where a number is unknown."""
        own = {name: value for name, value in vars(self).items() if name != "threshold"}
        return {**own, **{name: _known(value) for name, value in asdict(self.threshold).items()}}


@dataclass(frozen=True)
class Thresholds:
    """Thresholds by model, population and category, and each model's curve."""

    precision: float
    by: str
    populations: Mapping[str, str]  # name -> in words
    rows: list[ModelThreshold]
    curves: Mapping[tuple[str, str], Curve]  # by model and population
    unscored: Mapping[str, int]  # by model: labelled pairs without a score

    def to_dict(self) -> dict[str, Any]:
        """The document that is stored and shown as JSON."""
        return {
            "precision": self.precision,
            "by": self.by,
            "populations": dict(self.populations),
            "thresholds": [row.to_dict() for row in self.rows],
            "curves": [
                {"model": model, "population": population} | {name: _known(float(value)) for name, value in point}
                for (model, population), curve in self.curves.items()
                for point in _points(curve)
            ],
            "unscored": dict(self.unscored),
        }


def analyse(inputs: AnalysisInputs, options: Options) -> Thresholds:
    """`thresholds` of the tables."""
    images, universe, suspects, truth, scores = inputs.require(*INPUTS)
    if not 0 < options.precision < 1:
        raise InputError(
            f"the precision is {options.precision:g}", where="precision", hint="Give a share, as 0.9 for 90 %."
        )
    samples = labelled_samples(universe, suspects, truth)
    if not samples:
        raise InputError(
            "no pair of the pool is labelled",
            where="table truth",
            hint="Have the pool judged (eds suspects pool, eds labels serve), then decide: eds truth decide.",
        )
    return thresholds(samples, scores, images, options, inputs.seed)


def thresholds(
    samples: list[LabelledSample], scores: pd.DataFrame, images: pd.DataFrame, options: Options, seed: int
) -> Thresholds:
    """The threshold of every model for a wanted precision, over all pairs and by category of the query.

    `scores` are those of the labelled pairs: model, query_id, candidate_id, score. Formulas: `find_threshold`,
    `fit_curve`, `labelled_samples`.
    """
    if options.by not in images.columns:
        known = ", ".join(name for name in images.columns if name != "image_id")
        raise InputError(f"images have no column {options.by!r}", where="by", hint=f"They have: {known}.")
    group = images.drop_duplicates("image_id").set_index("image_id")[options.by]
    rows: list[ModelThreshold] = []
    curves: dict[tuple[str, str], Curve] = {}
    unscored: dict[str, int] = {}
    for model, mine in scores.groupby("model", sort=True):
        for sample in samples:
            pairs, kind = _scored(sample, mine, group)
            unscored[str(model)] = len(sample.pairs) - len(pairs.score)
            name: tuple[str, str] = (str(model), sample.population)
            curves[name] = fit_curve(pairs, options.confidence, options.resamples, seed)
            for category, chosen in _categories(kind):
                part = pairs if category == ALL else pairs.only(chosen)
                result = find_threshold(part, options.precision, options.confidence, seed)
                queries = len(np.unique(part.query))
                rows.append(ModelThreshold(*name, category, queries, len(part.score), result))
    populations: dict[str, str] = {sample.population: sample.text for sample in samples}
    return Thresholds(options.precision, options.by, populations, rows, curves, unscored)


def _scored(
    sample: LabelledSample, scores: pd.DataFrame, group: "pd.Series[Any]"
) -> tuple[ScoredPairs, "pd.Series[Any]"]:
    """The sample's pairs that have a score, and the category of each one's query."""
    found = sample.pairs.assign(weight=sample.weight, outside=sample.outside).merge(
        scores[[*PAIR, "score"]], on=PAIR, how="inner"
    )
    found = found[np.isfinite(found["score"].to_numpy(np.float64))].reset_index(drop=True)
    query = pd.factorize(found["query_id"], sort=True)[0].astype(np.int64)
    columns = (found["score"], found["value"], found["weight"], found["outside"])
    score, value, weight, outside = (column.to_numpy() for column in columns)
    pairs = ScoredPairs(query, score.astype(np.float64), value.astype(np.int64), weight, outside.astype(np.bool_))
    return pairs, found["query_id"].map(group)


def _categories(kind: "pd.Series[Any]") -> Iterator[tuple[str, Flags]]:
    """All pairs, then those of each category that has enough labelled pairs, where there are several."""
    yield ALL, np.ones(len(kind), np.bool_)
    counts = kind.value_counts()
    if len(counts) > 1:
        for name in sorted(counts.index[counts >= LEAST], key=str):
            yield str(name), (kind == name).to_numpy(np.bool_)


def _points(curve: Curve) -> Iterator[list[tuple[str, float]]]:
    names = ("score", "probability", "low", "high")
    for values in zip(*(getattr(curve, name) for name in names), strict=True):
        yield list(zip(names, values, strict=True))


def _known(value: Any) -> Any:
    return None if isinstance(value, float) and math.isnan(value) else value
