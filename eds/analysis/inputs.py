"""What analyses are computed from, as one value; and how an analysis declares its options."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from eds.errors import InputError
from eds.metrics.judged_lists import JudgedLists, judge, read_rankings
from eds.pairs import KnownRanks, LabelledPairs, encode
from eds.plugin_options import convert, read_fields
from eds.universe import Universe


@dataclass(frozen=True, eq=False)
class AnalysisInputs:
    """None for whatever an analysis does not need; `INPUTS` of an analysis names the fields that it needs."""

    images: pd.DataFrame | None = None  # table images
    universe: Universe | None = None  # of pairs, as the project's rules decide it
    suspects: pd.DataFrame | None = None  # table suspects
    truth: pd.DataFrame | None = None  # table truth: every label
    pool_lists: pd.DataFrame | None = None  # lists that the pool was made of: model, query_id, candidate_id
    labels: pd.DataFrame | None = None  # labels that models are measured on: query_id, candidate_id, value
    rankings: pd.DataFrame | None = None  # final lists of models, table neighbors
    ranks: KnownRanks | None = None  # of other models the ranks of the labelled pairs
    scores: pd.DataFrame | None = None  # of the labelled pairs: model, query_id, candidate_id, score
    label_scores: pd.DataFrame | None = None  # of all labelled pairs, random ones too, as `scores`
    negatives: pd.DataFrame | None = None  # drawn pairs that count as negative where a measure says so
    negatives_without: Mapping[str, pd.DataFrame] | None = None  # by pool model: those drawn without its lists
    pooled: pd.DataFrame | None = None  # every pair of the pool, judged or not: query_id, candidate_id
    list_heads: pd.DataFrame | None = None  # first places of the models' lists: model, query_id, candidate_id, rank
    own_ranks: KnownRanks | None = None  # ranks of the pairs of one product, in lists that keep the own product
    trained: Mapping[str, frozenset[str]] = field(default_factory=dict)  # by model the images it was trained on
    seed: int = 0  # of resamples

    def require(self, *names: str) -> Any:
        """The values of these fields; all that are missing are refused together."""
        missing = [name for name in names if getattr(self, name) is None]
        if missing:
            raise InputError(f"{', '.join(missing)} missing", where="analysis", hint="Give them in AnalysisInputs.")
        values = tuple(getattr(self, name) for name in names)
        return values if len(values) > 1 else values[0]

    def judged_lists(self) -> dict[str, JudgedLists]:
        """By model: its lists, or its known ranks, with the labels; the universe knows how long a list may be."""
        lists = None if self.rankings is None else read_rankings(self.rankings)
        labelled = LabelledPairs.from_frame(self.require("labels"))
        judged = judge(lists, self.ranks, labelled)
        if self.universe is None:
            return judged
        query = encode(labelled.queries, self.universe.queries)
        eligible = np.where(query >= 0, self.universe.list_lengths[query], 0)
        return {name: replace(mine, eligible=eligible) for name, mine in judged.items()}


def option(default: Any, help_text: str) -> Any:
    """A field of an analysis' options: its default, and what it means."""
    return field(default=default, metadata={"help": help_text})


def make_options(kind: type[Any], given: Mapping[str, Any], owner: str = "analysis") -> Any:
    """Return the options of an analysis from keyword arguments, measures also as text; refuse unknown ones."""
    return kind(**convert(read_fields(kind), given, owner))
