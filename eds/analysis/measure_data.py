"""What one measure is computed on for every model, and the same as if one of the pool's models were new."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd

from eds.analysis.inputs import AnalysisInputs
from eds.analysis.reduced_pools import proposals
from eds.errors import InputError
from eds.metrics import Measure
from eds.metrics.definition import ModelInputs, Values
from eds.metrics.inputs import with_negatives
from eds.metrics.judged_lists import judge, read_rankings
from eds.metrics.pair_scores import align_scores
from eds.metrics.unjudged import pooled_of
from eds.pairs import Flags, KnownRanks, LabelledPairs, RankedLists

PAIR = ["query_id", "candidate_id"]
ON_LISTS = ("lists", "official lists")


@dataclass(frozen=True, eq=False)
class MeasureData:
    """The labels, and lists or scores of every model."""

    measure: Measure
    labelled: LabelledPairs
    pool_lists: pd.DataFrame
    lists: RankedLists | None = None
    ranks: KnownRanks | None = None
    pooled: LabelledPairs | None = None  # the pool's pairs, where the measure counts them
    scores: pd.DataFrame | None = None
    negatives: pd.DataFrame | None = None  # sampled ones, where the measure counts them
    negatives_without: Mapping[str, pd.DataFrame] | None = None

    @classmethod
    def of(cls, inputs: AnalysisInputs, measure: Measure) -> "MeasureData":
        """The data that the measure needs."""
        definition = measure.definition
        pool_lists, labels = inputs.require("pool_lists", "labels")
        labelled = LabelledPairs.from_frame(labels)
        if definition.needs == "scores":
            sampled = measure.parameters.get("negatives") == "sampled"
            return cls(
                measure,
                labelled,
                pool_lists,
                scores=inputs.require("scores"),
                negatives=inputs.require("negatives") if sampled else None,
                negatives_without=inputs.negatives_without,
            )
        if definition.needs not in ON_LISTS:
            raise InputError(
                f"{measure} does not depend on labels", where="reusability", hint="Choose another measure."
            )
        lists = None if inputs.rankings is None else read_rankings(inputs.rankings)
        pooled = inputs.pooled if definition.counts_pooled else None
        pooled_pairs = None if pooled is None else pooled_of(labelled, pooled)
        return cls(measure, labelled, pool_lists, lists, inputs.ranks, pooled_pairs)

    @property
    def generators(self) -> list[str]:
        """The models that proposed pairs, ascending."""
        return self._proposals[0]

    def own_pairs(self, model: str) -> int:
        """How many pairs only this model proposed, labelled or not."""
        return len(self._own[model])

    def own_positives(self, model: str) -> int:
        """How many of these are labelled as similar."""
        return int(self.labelled.value[self._alone(model)].sum())

    def without(self, model: str) -> "MeasureData | None":
        """As if the model were new: its own pairs have no labels and were never in the pool; None: not known.

        Sampled negatives are those that were drawn without its lists; where there are none, the result is not known.
        """
        negatives = self.negatives
        if negatives is not None:
            if self.negatives_without is None or model not in self.negatives_without:
                return None
            negatives = self.negatives_without[model]
        pooled = self.pooled
        if pooled is not None:
            kept = np.ones(len(pooled.value), np.bool_)
            index = pooled.find_ids(self._own[model]["query_id"], self._own[model]["candidate_id"])
            kept[index[index >= 0]] = False
            pooled = pooled.select(kept)
        return replace(self, labelled=self.labelled.select(~self._alone(model)), pooled=pooled, negatives=negatives)

    def values(self) -> dict[str, Values]:
        """Every model's values, by model, ascending."""
        definition, given = self.measure.definition, {}
        if self.scores is not None:
            labelled = self.pairs
            given = {
                name: ModelInputs(labelled, score=score, sampled=labelled, sampled_score=score)
                for name, score in align_scores(labelled, self.scores).items()
            }
        else:
            judged = judge(self.lists, self.ranks, self.labelled, self.pooled)
            given = {name: ModelInputs(self.labelled, judged[name]) for name in sorted(judged)}
        return {name: definition.compute(own, self.measure.k, self.measure.parameters) for name, own in given.items()}

    @property
    def pairs(self) -> LabelledPairs:
        """The pairs that a measure on scores is computed on: the labels, or the positives and sampled negatives."""
        return self.labelled if self.negatives is None else with_negatives(self.labelled, self.negatives)[0]

    @cached_property
    def _proposals(self) -> tuple[list[str], Flags]:
        return proposals(self.pool_lists, self.labelled)

    def _alone(self, model: str) -> Flags:
        """(labels,) which pairs only this model proposed."""
        names, proposed = self._proposals
        return np.asarray(proposed[names.index(model)] & (proposed.sum(axis=0) == 1))

    @cached_property
    def _own(self) -> dict[str, pd.DataFrame]:
        """By model: the pairs that no other model proposed, labelled or not."""
        pairs = self.pool_lists[["model", *PAIR]].drop_duplicates()
        alone = ~pairs.duplicated(PAIR, keep=False)
        return {str(name): pairs[alone & (pairs["model"] == name)] for name in pairs["model"].unique()}
