"""The pool: the union of the models' lists at depth k, each pair once, with its provenance, in batches.

In: table neighbors (all models). Out: table suspects, rows of origin `pool`. With `previous`, the
pool only grows: what was there keeps its batch and position (a label is never lost), and the pairs
that are new, the delta pool, get batches behind it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
import pyarrow as pa

from eds import choices
from eds.pairs import Flags, Integers, LabelledPairs, RankedLists, Reals, decode, find_sorted, in_sorted, pair_keys
from eds.suspects.append import append_rows, canonical
from eds.suspects.codes import generator, whole
from eds.suspects.lists import COLUMNS, check_comparable, read_lists, shared_ranks
from eds.suspects.partial_estimates import drawn_in_batches
from eds.suspects.relevance import pair_features, relevance
from eds.suspects.sampling_order import ABSENT, Work, arrange
from eds.suspects.sources import join_sources, sources_frame
from eds.tables import SUSPECTS, check


@dataclass(frozen=True, eq=False)
class Batching:
    """How pairs are dealt into batches: see eds/suspects/orders/."""

    order: str = "random"
    size: int = 1000
    seed: int = 0
    floor: float = 0.2  # share of each batch that every order but random draws evenly
    truth: pd.DataFrame | None = None  # decided labels, which bandit, learned and contrast learn from


RANDOM = Batching()


def pool(
    neighbors: pd.DataFrame,
    k: int,
    batching: Batching = RANDOM,
    *,
    models: Sequence[str] | None = None,
    previous: pd.DataFrame | None = None,
    symmetric: str = "keep",
    whole_ties: Sequence[str] = (),
) -> pd.DataFrame:
    """Every pair within the first k of some model's list: previous suspects first, then the new pairs.

    Formula: S_k = union over models m of {(q, c): R_m(q, c) < k}, R_m counted from 0.
    Source: specification 1.2. Rows, seeds and models may come in any order: the result is the same.
    Conventions: (q, c) and (c, q) are two pairs. `symmetric="merge"` has one of them judged where both
    are new: the one with the better best rank, at equal ranks the one with the smaller query id; and
    none where the other was there before. Of the models `whole_ties` every candidate that scores as the k-th does is
    taken, at the rank of the first of them (`shared_ranks`).
    Example, run by doctest:
    >>> lists = pd.DataFrame({"model": ["a", "b"], "query_id": "q", "candidate_id": "c", "rank": [0, 3]})
    >>> pool(lists, k=6)[["query_id", "candidate_id", "sources"]].to_numpy().tolist()
    [['q', 'c', 'a:0;b:3']]
    """
    whole(k, "k", 1)
    whole(batching.size, "batch size", 1)
    choices.check(choices.PairDirections, symmetric, "symmetric")
    lists = read_lists(shared_ranks(neighbors, whole_ties), k, models, shared=whole_ties)
    check_comparable(lists, k)
    before = SUSPECTS.empty() if previous is None else previous.reset_index(drop=True)
    check(before, SUSPECTS, "previous suspects")
    old = before[before["origin"] == "pool"]
    known = read_lists(_with_history(lists, old), rankings=False) if len(old) else lists
    rows, starts = _by_pair(known)
    keys = known.keys[rows][starts]
    sources = join_sources(known.models, known.model[rows], known.rank[rows], starts)
    there = pair_keys(old, known.queries, known.candidates)
    new = ~in_sorted(np.sort(there), keys)
    if symmetric == "merge":
        new &= ~_redundant(known, rows, starts, new)
    first = int(before["batch"].max()) + 1 if len(before) else 0
    query = keys[new] // max(len(known.candidates), 1)
    ranks = rank_matrix(known, rows, starts)
    learn = partial(_relevance, known, keys, ranks, batching, np.flatnonzero(new))
    work = Work(query, ranks[new], *_arms(known, batching.truth), batching.floor, learn)
    dealt = arrange(work, batching.order, batching.size, generator(batching.seed, "pool", first))
    turn = np.argsort(dealt.position, kind="stable")  # codes are put in order, then made texts: once, not twice
    chosen = np.flatnonzero(new)[turn]
    fresh = pd.DataFrame(
        {
            "query_id": decode(keys[chosen] // len(known.candidates), known.queries),
            "candidate_id": decode(keys[chosen] % len(known.candidates), known.candidates),
            "origin": "pool",
            "batch": dealt.batch[turn] + first,
            "position": dealt.position[turn] + (int(before["position"].max()) + 1 if len(before) else 0),
            "sources": pa.chunked_array([sources.take(pa.array(chosen))]).to_pandas(),
            "stratum": f"pool@{first}",
            "probability": dealt.probability[turn],
        }
    )
    if not len(before):
        return canonical(fresh)
    result = before.copy()
    proposed = in_sorted(keys, there)  # pairs of somebody's own choice may be in no list
    result.loc[old.index[proposed], "sources"] = (
        sources.take(np.searchsorted(keys, there[proposed])).to_pandas().to_numpy()
    )
    return append_rows(result, fresh) if len(fresh) else canonical(result)


def reorder(suspects: pd.DataFrame, judged_pairs: pd.DataFrame, batching: Batching) -> pd.DataFrame:
    """Deal the pool's unjudged pairs into new batches behind all others; the rest stays.

    This is how bandit, learned and contrast learn: judge a batch, decide its labels, reorder with them as
    `batching.truth`. The probability of a judged row in a batch that was judged only in part is scaled to that part.
    """
    whole(batching.size, "batch size", 1)
    check(suspects, SUSPECTS)
    result = suspects.reset_index(drop=True)
    lists = read_lists(sources_frame(result), rankings=False)
    rows, starts = _by_pair(lists)
    keys = lists.keys[rows][starts]
    done = np.sort(pair_keys(judged_pairs, lists.queries, lists.candidates))
    mine = np.flatnonzero(drawn_in_batches(result))
    pairs = pair_keys(result.iloc[mine], lists.queries, lists.candidates)
    open_pairs = ~in_sorted(done, pairs)
    if not open_pairs.any():
        return canonical(result)
    batch = result["batch"].to_numpy()[mine]
    part = 1 - pd.Series(open_pairs).groupby(batch).transform("mean").to_numpy()
    chance = result["probability"].to_numpy().copy()
    chance[mine[~open_pairs]] *= part[~open_pairs]
    at = np.searchsorted(keys, np.sort(pairs[open_pairs]))
    ranks = rank_matrix(lists, rows, starts)
    work = Work(
        keys[at] // len(lists.candidates),
        ranks[at],
        *_arms(lists, batching.truth),
        batching.floor,
        partial(_relevance, lists, keys, ranks, batching, at),
    )
    dealt = arrange(
        work, batching.order, batching.size, generator(batching.seed, "reorder", int(result["batch"].max()) + 1)
    )
    place = np.searchsorted(np.sort(pairs[open_pairs]), pairs[open_pairs])
    rest = mine[open_pairs]
    chance[rest] = dealt.probability[place]
    batches, positions = result["batch"].to_numpy().copy(), result["position"].to_numpy().copy()
    batches[rest] = dealt.batch[place] + batches.max() + 1
    positions[rest] = dealt.position[place] + positions.max() + 1
    return canonical(result.assign(batch=batches, position=positions, probability=chance))


def reversed_pairs(pairs: pd.DataFrame) -> int:
    """How many of the pairs (q, c) have their mirror (c, q) among them, each two counted once."""
    distinct = pairs[["query_id", "candidate_id"]].drop_duplicates()
    mirrored = distinct.rename(columns={"query_id": "candidate_id", "candidate_id": "query_id"})
    return len(distinct.merge(mirrored)) // 2


def rank_matrix(lists: RankedLists, rows: Integers, starts: Integers) -> Integers:
    """Ranks as pairs x models, -1 where a model does not propose the pair."""
    pair = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(rows))))
    result = np.full((len(starts), len(lists.models)), ABSENT, np.int64)
    result[pair, lists.model[rows]] = lists.rank[rows]
    return result


def _by_pair(lists: RankedLists) -> tuple[Integers, Integers]:
    """Rows sorted by pair and model, and the place in that order at which each pair begins."""
    keys = lists.keys
    rows = np.argsort(keys * len(lists.models) + lists.model)  # no two are equal: the order is unique
    return rows, np.flatnonzero(np.diff(keys[rows], prepend=-1))


def _with_history(lists: RankedLists, old: pd.DataFrame) -> pd.DataFrame:
    """The lists, and from the suspects' sources those of other models, and pairs no longer within k."""
    now = pd.DataFrame(
        {
            "model": np.array(lists.models)[lists.model],
            "query_id": decode(lists.query, lists.queries),
            "candidate_id": decode(lists.candidate, lists.candidates),
            "rank": lists.rank,
        }
    )
    return pd.concat([now, sources_frame(old)], ignore_index=True).drop_duplicates(COLUMNS[:3], ignore_index=True)


def _redundant(lists: RankedLists, rows: Integers, starts: Integers, new: Flags) -> Flags:
    """For each pair whether its mirror is judged in its stead."""
    keys = lists.keys[rows][starts]
    query, candidate = np.divmod(keys, len(lists.candidates))
    best = np.minimum.reduceat(lists.rank[rows], starts)
    as_query = lists.queries.to_pandas().to_numpy()
    as_candidate = lists.candidates.to_pandas().to_numpy()
    to_candidate = pd.Index(as_candidate).get_indexer(as_query)[query]  # the query's place among candidates
    to_query = pd.Index(as_query).get_indexer(as_candidate)[candidate]
    mirror = np.where((to_candidate < 0) | (to_query < 0), -1, to_query * len(lists.candidates) + to_candidate)
    has = in_sorted(keys, mirror)
    at = np.searchsorted(keys, mirror[has])
    rank, other = best[has], best[at]
    loses = (other < rank) | ((other == rank) & (to_query[has] < query[has]))
    result = np.zeros(len(keys), np.bool_)
    result[has] = ~new[at] | loses
    return result


def _relevance(lists: RankedLists, keys: Integers, ranks: Integers, batching: "Batching", wanted: Integers) -> Reals:
    """How likely each wanted pair is similar, learned from the labels of all pairs that the lists propose."""
    value = np.full(len(keys), -1, np.int64)
    if batching.truth is not None:
        known = pair_keys(batching.truth, lists.queries, lists.candidates)
        at = find_sorted(known, keys)
        value[at[at >= 0]] = batching.truth["value"].to_numpy(np.int64)[at >= 0]
    query = keys // max(len(lists.candidates), 1)
    return relevance(pair_features(ranks), query, value, seed=batching.seed).probability[wanted]


def _arms(lists: RankedLists, truth: pd.DataFrame | None) -> tuple[Integers, Integers]:
    """Labelled positives and negatives among the pairs that each model proposes."""
    if truth is None:
        zero = np.zeros(len(lists.models), np.int64)
        return zero, zero
    value, arms = LabelledPairs.from_frame(truth).labels_of(lists), len(lists.models)
    return np.bincount(lists.model[value == 1], minlength=arms), np.bincount(lists.model[value == 0], minlength=arms)


def within_depth(suspects: pd.DataFrame, k: int) -> pd.DataFrame:
    """The suspects without those pooled pairs that no model ranks before k, and without later ranks in sources.

    Pairs of somebody's own choice, of a new model and of an imported benchmark stay: they are in the pool for another
    reason than its depth.

    >>> lists = pd.DataFrame({"model": "m", "query_id": "q", "candidate_id": ["a", "b"], "rank": [0, 1]})
    >>> within_depth(pool(lists, k=2), 1)["candidate_id"].tolist()
    ['a']
    """
    pooled = (suspects["origin"] == "pool") & suspects["stratum"].str.startswith("pool@").fillna(False)
    mine = suspects[pooled & suspects["sources"].notna()]
    if not len(mine):
        return suspects
    ranks = sources_frame(mine)
    near = read_lists(ranks[ranks["rank"] < k], rankings=False)
    rows, starts = _by_pair(near)
    keys = near.keys[rows][starts]
    own = pair_keys(mine, near.queries, near.candidates)
    stays = in_sorted(keys, own)
    texts = join_sources(near.models, near.model[rows], near.rank[rows], starts).to_pandas().to_numpy()
    result = suspects.copy()
    result.loc[mine.index[stays], "sources"] = texts[np.searchsorted(keys, own[stays])]
    return canonical(result.drop(mine.index[~stays]).reset_index(drop=True))
