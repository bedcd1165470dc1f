"""How likely pairs are similar, learned from the labels and the models' lists: it orders work, and never labels."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from eds.errors import ProjectError
from eds.project.inputs import PAIR, Inputs

if TYPE_CHECKING:
    import pandas as pd

    from eds.suspects import Relevance


@dataclass(frozen=True)
class PairRelevance:
    """A probability for each pair, and the model that it comes from."""

    pairs: "pd.DataFrame"  # query_id, candidate_id, probability: those that were asked for, in their order
    model: "Relevance"  # of these and the labelled pairs


def pair_relevance(inputs: Inputs, pairs: "pd.DataFrame") -> PairRelevance:
    """Return the probability that each pair (query_id, candidate_id) is similar.

    It comes from a model that has seen no label of the pair's query; `eds.suspects.relevance` says how. Ranks and
    scores are those of all models with lists.
    """
    import numpy as np
    import pandas as pd

    from eds.suspects import pair_features, relevance
    from eds.suspects.sampling_order import ABSENT

    project = inputs.project
    models = project.models("neighbors")
    if not models:
        raise ProjectError(
            "there are no lists to learn from", where=str(project.root), hint="Make them: eds neighbors mine."
        )
    asked = pairs[PAIR].drop_duplicates(ignore_index=True)
    known = inputs.read("truth")[[*PAIR, "value"]] if inputs.exists("truth") else asked.head(0).assign(value=-1)
    every = pd.concat([asked, known[PAIR]], ignore_index=True).drop_duplicates(PAIR, ignore_index=True)
    every = every.merge(known, on=PAIR, how="left")
    ranks = np.full((len(every), len(models)), ABSENT, np.int64)
    scores = np.full((len(every), len(models)), np.nan)
    for column, name in enumerate(models):
        listed = project.read("neighbors", name, columns=[*PAIR, "rank", "score"])
        found = every[PAIR].merge(listed, on=PAIR, how="left")
        ranks[:, column] = found["rank"].fillna(ABSENT).to_numpy(np.int64)
        scores[:, column] = found["score"].to_numpy(np.float64)
    category = inputs.images().drop_duplicates("image_id").set_index("image_id")["category"]
    same = (every["query_id"].map(category) == every["candidate_id"].map(category)).to_numpy(np.bool_)
    query = pd.factorize(every["query_id"], sort=True)[0].astype(np.int64)
    value = every["value"].fillna(-1).to_numpy(np.int64)
    model = relevance(pair_features(ranks, scores, same), query, value, seed=project.config.project.seed)
    result = pairs[PAIR].merge(every[PAIR].assign(probability=model.probability), on=PAIR, how="left")
    return PairRelevance(result, model)
