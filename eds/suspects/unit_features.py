"""What the models' lists say of units of the universe: their ranks and scores in every model, as features."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from eds.pairs import Integers, Reals, find_sorted
from eds.suspects.relevance import pair_features
from eds.suspects.sampling_order import ABSENT
from eds.universe import Universe


@dataclass(frozen=True, eq=False)
class ListedUnits:
    """The units that some model lists, ascending, with ranks and scores: units x models."""

    unit: Integers
    ranks: Integers  # the best of the unit's images; ABSENT where the model lists none
    scores: Reals  # NaN where the model lists none

    @classmethod
    def of(cls, universe: Universe, neighbors: pd.DataFrame) -> "ListedUnits":
        """The units that the lists (model, query_id, candidate_id, rank, score) hold.

        >>> images = pd.DataFrame({"image_id": list("qab"), "product_id": list("qxx"), "role": "both", "category": "k"})
        >>> from eds.universe import PairRules
        >>> lists = pd.DataFrame({"model": "m", "query_id": "q", "candidate_id": ["a", "b"], "rank": [1, 0],
        ...                       "score": [0.5, 0.9]})
        >>> found = ListedUnits.of(Universe(images, PairRules()), lists)
        >>> found.ranks.tolist(), found.scores.tolist()
        ([[0]], [[0.9]])
        """
        number = universe.numbers(neighbors)
        rows = number >= 0
        model = pd.factorize(neighbors["model"][rows], sort=True)[0]
        models = int(model.max(initial=-1)) + 1
        unit, at = np.unique(number[rows], return_inverse=True)
        cell = at * models + model
        ranks = np.full(len(unit) * models, np.iinfo(np.int64).max)
        scores = np.full(len(unit) * models, -np.inf)
        np.minimum.at(ranks, cell, neighbors["rank"].to_numpy(np.int64)[rows])
        np.maximum.at(scores, cell, neighbors["score"].to_numpy(np.float64)[rows])
        ranks[ranks == np.iinfo(np.int64).max] = ABSENT
        scores[np.isinf(scores)] = np.nan
        return cls(unit, ranks.reshape(-1, models), scores.reshape(-1, models))

    def features(self, universe: Universe, units: Integers) -> Reals:
        """A row of features for each of `units`; one that no model lists has every rank absent."""
        at = find_sorted(units, self.unit)
        listed = at >= 0
        ranks = np.full((len(units), self.ranks.shape[1]), ABSENT, np.int64)
        scores = np.full(ranks.shape, np.nan)
        ranks[listed], scores[listed] = self.ranks[at[listed]], self.scores[at[listed]]
        return pair_features(ranks, scores, universe.same_category(units))
