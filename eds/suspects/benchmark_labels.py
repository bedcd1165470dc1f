"""The labels that models are measured on."""

import pandas as pd

PAIR = ["query_id", "candidate_id"]


def benchmark_labels(labels: pd.DataFrame, suspects: pd.DataFrame | None) -> pd.DataFrame:
    """The rows of `labels` (query_id, candidate_id, ...) without pairs that are suspects only as random draws.

    Uniform random pairs serve p and the pool's recall. As negatives they are far easier than the pool's, and their
    number is anybody's choice: with them every AUC would rise with the number of draws.
    """
    if suspects is None:
        return labels
    drawn = suspects["origin"] == "random"
    others = suspects.loc[~drawn & (suspects["origin"] != "negative"), PAIR]
    alone = pd.concat([suspects.loc[drawn, PAIR].drop_duplicates(), others, others]).drop_duplicates(keep=False)
    if not len(alone):
        return labels
    result = labels.merge(alone.assign(alone=True), on=PAIR, how="left")["alone"].isna().to_numpy()
    return labels[result].reset_index(drop=True)


def usable_labels(images: pd.DataFrame, labels: pd.DataFrame) -> "pd.Series[bool]":
    """Which labels are of a query and a candidate of the catalogue; others are of pictures that are gone."""
    queries, candidates = (images.loc[images["role"] != role, "image_id"] for role in ("candidate", "query"))
    return labels["query_id"].isin(queries) & labels["candidate_id"].isin(candidates)
