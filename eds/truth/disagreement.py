"""Where and between whom experts disagree: by group of pairs, by expert against expert, by version of the guideline."""

import numpy as np
import pandas as pd

from eds.intervals import rate_interval
from eds.truth.current_votes import UNSURE, current_acts
from eds.truth.votes import agreement_with_others, votes_of

KEY = ["query_id", "candidate_id"]


def disputed_by_group(labels: pd.DataFrame, groups: "pd.Series[str] | None" = None) -> pd.DataFrame:
    """Return the share of disputed pairs in each group of queries, the most disputed first.

    `groups` has the group of each query by its id (None: each query is its own). Columns: group, pairs (with two votes
    or more), disputed (votes for and against), rate, low, high, no_interval.
    Formula:     rate = disputed pairs / pairs with two votes or more
    Source:      counts; the interval is that of a rate over queries (`eds.intervals.rate_interval`)
    Conventions: normal votes in force, unsure ones are none; queries without a group are left out; a group of a single
                 query has no interval over queries
    """
    acts = current_acts(labels)
    positive, negative, _ = votes_of(acts).counts()
    frame = pd.DataFrame(
        {
            "query": acts.query_names[acts.query],
            "pairs": (positive + negative > 1).astype(np.int64),
            "disputed": ((positive > 0) & (negative > 0)).astype(np.int64),
        }
    )
    frame["group"] = frame["query"] if groups is None else frame["query"].map(groups)
    frame = frame[frame["pairs"] > 0].dropna(subset="group")
    rows = []
    for name, part in frame.groupby("group", sort=True):
        counts = part.groupby("query")[["disputed", "pairs"]].sum()
        interval = rate_interval(counts["disputed"].to_numpy(), counts["pairs"].to_numpy())
        total, split = int(counts["pairs"].sum()), int(counts["disputed"].sum())
        rows.append([str(name), total, split, split / total, interval.low, interval.high, interval.no_interval])
    result = pd.DataFrame(rows, columns=["group", "pairs", "disputed", "rate", "low", "high", "no_interval"])
    return result.sort_values(["rate", "disputed", "group"], ascending=[False, False, True], ignore_index=True)


def who_differs(labels: pd.DataFrame) -> pd.DataFrame:
    """Return how often each expert said similar where another said not: expert_a, expert_b, both, only_a.

    `both` counts the pairs that both judged, `only_a` those of them that only expert_a called similar; every two
    experts have two rows, one for each direction.
    """
    acts = current_acts(labels)
    votes = votes_of(acts)
    size = len(acts.experts)
    both, only = np.zeros((size, size), dtype=np.int64), np.zeros((size, size), dtype=np.int64)
    for start in range(0, votes.n_pairs, 65_536):
        ratings = votes.ratings(start, min(start + 65_536, votes.n_pairs))
        judged, similar, different = ((ratings != UNSURE), ratings == 1, ratings == 0)
        both += judged.T.astype(np.int64) @ judged.astype(np.int64)
        only += similar.T.astype(np.int64) @ different.astype(np.int64)
    rows = [
        (acts.experts[a], acts.experts[b], int(both[a, b]), int(only[a, b]))
        for a in range(size)
        for b in range(size)
        if a != b and both[a, b]
    ]
    return pd.DataFrame(rows, columns=["expert_a", "expert_b", "both", "only_a"])


def pairs_that_differ(labels: pd.DataFrame, expert_a: str, expert_b: str) -> pd.DataFrame:
    """Return the pairs that expert_a called similar and expert_b not: query_id, candidate_id, by id."""
    acts = current_acts(labels)
    votes = votes_of(acts)
    sides = [
        set(votes.pair[(acts.experts[votes.expert] == expert) & (votes.value == value)].tolist())
        for expert, value in ((expert_a, 1), (expert_b, 0))
    ]
    return acts.frame(np.array(sorted(sides[0] & sides[1]), dtype=np.int64))


def by_guideline(labels: pd.DataFrame) -> pd.DataFrame:
    """Return how experts judge under each version of the guideline, in the order in which they came into force.

    Columns: guideline, answers, unsure_rate, positive_rate, low, high, no_interval, with_others (agreement of a vote
    under it with the majority of the others, whatever version these judged by). Votes without a version are left out.
    """
    acts = current_acts(labels)
    votes = votes_of(acts)
    version = labels["guideline"].astype(object).to_numpy()[acts.row[votes.row]]
    named = np.array([isinstance(name, str) and name != "" for name in version], dtype=np.bool_)
    order = pd.Series(acts.created[votes.row][named]).groupby(version[named]).min().sort_values()
    query, size = acts.query[votes.pair], len(acts.query_names)
    rows = []
    for name in order.index:
        under = named & (version == name)
        given = under & (votes.value != UNSURE)
        counts = [np.bincount(query[chosen], minlength=size) for chosen in (given & (votes.value == 1), given)]
        interval = rate_interval(counts[0], counts[1]) if given.any() else None
        agreed, compared, _ = agreement_with_others(votes, under)
        rows.append(
            {
                "guideline": str(name),
                "answers": int(under.sum()),
                "unsure_rate": 1 - given.sum() / under.sum(),
                "positive_rate": counts[0].sum() / given.sum() if given.any() else np.nan,
                "low": interval.low if interval else np.nan,
                "high": interval.high if interval else np.nan,
                "no_interval": interval.no_interval if interval else None,
                "with_others": agreed.sum() / compared.sum() if compared.sum() else np.nan,
            }
        )
    names = ["guideline", "answers", "unsure_rate", "positive_rate", "low", "high", "no_interval", "with_others"]
    return pd.DataFrame(rows, columns=names)
