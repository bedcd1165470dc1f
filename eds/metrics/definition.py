"""What a measure is made of: its parameters, what it needs, what it says of its conventions, and its formula."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from eds.metrics.code_histograms import CodeHistograms
from eds.metrics.judged_lists import JudgedLists
from eds.pairs import Flags, Integers, LabelledPairs, Reals

Needs = Literal["lists", "official lists", "product lists", "scores", "codes", "graded"]
Cut = Literal["required", "optional", "never"]
# What items without a label are to a measure: not similar, an interval, skipped, what it describes, or unused.
Unlabelled = Literal["negative", "interval", "skipped", "described", "unused"]
OnLists = Callable[[JudgedLists, int | None, Mapping[str, Any]], Reals]


@dataclass(frozen=True)
class Parameter:
    """A convention that can be chosen: its default, and the words or the open range it may take."""

    default: str | float
    options: tuple[str, ...] = ()
    low: float = 0.0
    high: float = 1.0


@dataclass(frozen=True, eq=False)
class ModelInputs:
    """What one model's measures are computed on; arrays of scores are (pairs,) float64, NaN where there is none."""

    labelled: LabelledPairs
    lists: JudgedLists | None = None  # of the labelled queries
    score: Reals | None = None  # of the labelled pairs
    sampled: LabelledPairs | None = None  # labelled positives and sampled negatives, over the same queries
    sampled_score: Reals | None = None
    products: JudgedLists | None = None  # of all queries, labelled by product
    product_queries: pa.Array | None = None
    coded: CodeHistograms | None = None  # of a model of binary codes
    hidden: Integers | None = None  # (positives,) place of another image of the product, 0 where none is in the list
    barred: Flags | None = None  # (positives,) whether the official rules leave the pair out
    unlabelled: int | None = None  # pooled pairs of the labelled queries that have no label


@dataclass(frozen=True, eq=False)
class Values:
    """A measure for one model: by query, and over all."""

    queries: pa.Array  # (queries,) ids
    by_query: Reals  # (queries,) float64, NaN where undefined
    weight: Reals | None = None  # None: the value is the plain mean
    whole: float | None = None  # the value where it is not a mean of the queries' values
    resample: Callable[[NDArray[np.int16]], Reals] | None = None  # its value in resamples, where it is not a mean
    n: int = 0  # queries or pairs behind the value
    counts: Mapping[str, int] = field(default_factory=dict)  # what was used and left out

    @property
    def value(self) -> float:
        """The number over all queries; NaN where it is undefined."""
        if self.whole is not None:
            return self.whole
        defined = ~np.isnan(self.by_query)
        weight = defined.astype(np.float64) if self.weight is None else np.where(defined, self.weight, 0.0)
        total = weight.sum()
        return float((self.by_query[defined] * weight[defined]).sum() / total) if total else float("nan")


@dataclass(frozen=True)
class Definition:
    """A kind of measure."""

    name: str
    meaning: str
    formula: str
    conventions: str
    needs: Needs
    cut: Cut
    compute: Callable[[ModelInputs, int | None, Mapping[str, Any]], Values]
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    unlabelled: Unlabelled = "negative"
    on_lists: OnLists | None = None  # its value by query, where it is a mean of a formula on lists
    most: OnLists | None = None  # the same if every item without a label were similar
    counts_pooled: bool = False  # does it look at pooled pairs without a label?
    least: int = 1  # the smallest cut-off; a radius may be 0
