"""Why experts differ: which aspects they name with their answers on disputed pairs, and on those they agree about."""

import pandas as pd

KEY = ["query_id", "candidate_id"]
COLUMNS = ["aspect", "named", "on_disputed", "on_agreed", "for_similar", "for_different"]


def aspects_named(votes: pd.DataFrame, disputed: pd.DataFrame) -> pd.DataFrame:
    """How often each aspect was named: all answers, the shares of answers to disputed and to other pairs, by answer.

    Formula: on_disputed = answers that name the aspect / answers that name any aspect, both on disputed pairs.
    Source: plain counts.
    Conventions: answers in force; one that names no aspect does not count; an aspect that stands out on disputed pairs
    is named first.

    Example:
    >>> votes = pd.DataFrame({"query_id": ["q"] * 4, "candidate_id": ["a", "a", "b", "b"],
    ...                       "value": [1, 0, 1, 1], "aspects": ["shape", "colour,shape", "shape", None]})
    >>> disputed = pd.DataFrame({"query_id": ["q"], "candidate_id": ["a"]})
    >>> aspects_named(votes, disputed).to_dict("records")[0]
    {'aspect': 'colour', 'named': 1, 'on_disputed': 0.5, 'on_agreed': 0.0, 'for_similar': 0, 'for_different': 1}

    """
    said = votes[votes["aspects"].notna() & (votes["aspects"] != "")].reset_index(drop=True)
    if said.empty:
        return pd.DataFrame(columns=COLUMNS)
    on = pd.MultiIndex.from_frame(said[KEY]).isin(pd.MultiIndex.from_frame(disputed[KEY]))
    answers = said.assign(disputed=on, aspect=said["aspects"].str.split(",")).explode("aspect")
    values = pd.to_numeric(answers["value"], errors="coerce")
    groups = answers.assign(similar=values == 1, different=values == 0).groupby("aspect")
    result = groups[["similar", "different"]].sum().astype("int64")
    result.columns = pd.Index(["for_similar", "for_different"])
    counts = groups["disputed"].agg(["size", "sum"])
    result["named"] = counts["size"]
    result["on_disputed"] = counts["sum"] / max(1, int(on.sum()))
    result["on_agreed"] = (counts["size"] - counts["sum"]) / max(1, int((~on).sum()))
    order = (result["on_agreed"] - result["on_disputed"]).sort_values(kind="stable").index
    return result.loc[order].reset_index()[COLUMNS]
