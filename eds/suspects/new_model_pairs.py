"""The delta pool of a new model: the few pairs whose judgement decides its rank.

Every other number depends on what was judged for the models before it. So: the unjudged pairs among its own first k,
those first that carry most.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa

from eds.errors import InputError
from eds.pairs import Integers, Reals, in_sorted, pair_keys, unique_ids
from eds.suspects.append import append_rows, behind
from eds.suspects.codes import PAIRS, generator, whole
from eds.suspects.lists import read_lists
from eds.suspects.sources import join_sources, sources_frame
from eds.tables import SUSPECTS, check

STRATUM = "delta:"  # and the model's name
PAIR = ["query_id", "candidate_id"]


@dataclass(frozen=True, eq=False)
class Delta:
    """The suspects with the delta pool behind them, and what it was chosen from: counts of pairs within the first k."""

    suspects: pd.DataFrame
    places: int  # of the queries that have a label
    judged: int
    waiting: int  # among the suspects already, and not judged
    chosen: int
    left: int  # open, and not chosen for want of n
    known: int = 0  # labelled already, as random draws: added at no cost

    @property
    def judged_after(self) -> float:
        """judged@k once everything chosen and waiting is judged."""
        after = self.judged + self.waiting + self.chosen + self.known
        return after / self.places if self.places else float("nan")


def draw_delta(
    lists: pd.DataFrame,
    suspects: pd.DataFrame | None,
    judged: pd.DataFrame,
    labelled_queries: "pd.Series[str]",
    k: int,
    n: int | None = None,
    seed: int = 0,
    known: pd.DataFrame | None = None,
) -> Delta:
    """The suspects with the pairs behind them whose judgement decides where one new model stands.

    Formula: of the pairs with rank < k in the model's list (ranks from 0) that are not judged, those of smaller rank
    come first: a pair carries (1 - p) p^rank of the query's RBP, whatever p, and 1/k of its precision at k. Pairs of
    one rank carry the same and come in random order; with n the rank that is cut is drawn uniformly.
    Source: specification 13.5.
    Conventions: `lists` are those of one model (model, query_id, candidate_id, rank); only queries that have a label
    count, as in every measure; `judged` are pairs that have a label or an answer; pairs that wait in the pool are not
    chosen again. `known` are pairs whose label is there, but as a random draw's, which models are not measured on
    (`benchmark_labels`): they are added whatever n, and need no judgement. Probability is 1, and drawn / open of
    the rank that is cut. Suspects that have sources gain the model, where it ranks them among its first k too.
    Example, run by doctest:
    >>> lists = pd.DataFrame({"model": "new", "query_id": "q", "candidate_id": ["a", "b", "c"], "rank": [0, 1, 2]})
    >>> seen = pd.DataFrame({"query_id": ["q"], "candidate_id": ["a"]})
    >>> draw_delta(lists, None, seen, pd.Series(["q"]), 3).suspects[["candidate_id", "stratum"]].to_numpy().tolist()
    [['b', 'delta:new'], ['c', 'delta:new']]
    """
    read_lists(lists, whole(k, "k", 1))
    models = lists["model"].unique()
    if len(models) != 1:
        raise InputError(f"{len(models)} models have lists", where="delta pool", hint="Give the lists of one model.")
    there = SUSPECTS.empty() if suspects is None else suspects.reset_index(drop=True)
    check(there, SUSPECTS, "suspects")
    near = lists.loc[(lists["rank"] < k) & lists["query_id"].isin(labelled_queries), [*PAIR, "rank"]]
    names = unique_ids(near["query_id"]), unique_ids(near["candidate_id"])
    keys = pair_keys(near, *names)
    done = in_sorted(_sorted_keys(judged, names), keys)
    waiting = ~done & in_sorted(_sorted_keys(there[there["origin"] == "pool"], names), keys)
    granted = ~done & ~waiting & in_sorted(_sorted_keys(near.iloc[:0] if known is None else known, names), keys)
    free = near[~done & ~waiting & ~granted].sort_values(PAIR)
    model = str(models[0])
    lottery = generator(seed, f"delta {model}", int((there["stratum"] == f"{STRATUM}{model}").sum()))
    free = free.assign(lot=lottery.random(len(free))).sort_values(["rank", "lot"], ignore_index=True)
    chosen = free.head(len(free) if n is None else whole(n, "n", 1))
    size = free["rank"].value_counts()
    drawn = (chosen["rank"].value_counts() / size).reindex(chosen["rank"])
    share: Reals = np.concatenate([np.ones(int(granted.sum())), np.asarray(drawn, dtype=np.float64)])
    taken = pd.concat([near[granted].sort_values([*PAIR]), chosen], ignore_index=True)
    rows = behind(taken, there, origin="pool", stratum=f"{STRATUM}{model}", probability=share)
    rows = rows.assign(sources=(f"{model}:" + taken["rank"].astype(str)).to_numpy())
    result = _with_source(there, near.assign(model=model))
    return Delta(
        append_rows(result, rows) if len(rows) else result,
        len(near),
        int(done.sum()),
        int(waiting.sum()),
        len(chosen),
        len(free) - len(chosen),
        int(granted.sum()),
    )


def _sorted_keys(pairs: pd.DataFrame, names: tuple[pa.Array, pa.Array]) -> Integers:
    missing = [name for name in PAIRS.names if name not in pairs.columns]
    if missing:
        raise InputError(f"column {', '.join(missing)} is missing", where="judged pairs", hint="Give pairs.")
    return np.sort(pair_keys(pairs, *names))


def _with_source(suspects: pd.DataFrame, near: pd.DataFrame) -> pd.DataFrame:
    """The suspects of the pool that have sources, with the model's own rank among these."""
    mine = suspects[(suspects["origin"] == "pool") & suspects["sources"].notna()]
    both = mine[PAIR].reset_index().merge(near, on=PAIR)
    if not len(both):
        return suspects
    before = sources_frame(mine.loc[both["index"]])
    before = before[before["model"] != both["model"].iloc[0]].merge(both[["index", *PAIR]], on=PAIR)
    columns = ["index", "model", "rank"]
    parts = [part[columns] for part in (before, both) if len(part)]
    rows = pd.concat(parts, ignore_index=True).sort_values(["index", "model"])
    models = sorted(rows["model"].unique())
    starts = np.flatnonzero(np.diff(rows["index"].to_numpy(), prepend=-1))
    codes = pd.Index(models).get_indexer(rows["model"]).astype(np.int64)
    texts = join_sources(models, codes, rows["rank"].to_numpy(np.int64), starts)
    result = suspects.copy()
    result.loc[rows["index"].to_numpy()[starts], "sources"] = texts.to_pandas().to_numpy()
    return result
