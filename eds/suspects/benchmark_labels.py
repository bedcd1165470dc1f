"""The labels that models are measured on."""

import pandas as pd

PAIR = ["query_id", "candidate_id"]
DRAWN = ("random", "negative")  # origins whose labels are not the benchmark's


def benchmark_labels(labels: pd.DataFrame, suspects: pd.DataFrame | None) -> pd.DataFrame:
    """The rows of `labels` (query_id, candidate_id, ...) without those of random draws and sampled negatives alone.

    Uniform random pairs serve p and the pool's recall, sampled negatives the measures that name them. As annotated
    negatives both are far easier than the pool's, and their number is anybody's choice: with them every AUC would rise
    with the number of draws.
    """
    if suspects is None:
        return labels
    drawn = suspects["origin"].isin(DRAWN)
    others = suspects.loc[~drawn, PAIR]
    alone = pd.concat([suspects.loc[drawn, PAIR].drop_duplicates(), others, others]).drop_duplicates(keep=False)
    if not len(alone):
        return labels
    result = labels.merge(alone.assign(alone=True), on=PAIR, how="left")["alone"].isna().to_numpy()
    return labels[result].reset_index(drop=True)


def usable_labels(images: pd.DataFrame, labels: pd.DataFrame) -> "pd.Series[bool]":
    """Which labels are of a query and a candidate of the catalogue; others are of pictures that are gone."""
    queries, candidates = (images.loc[images["role"] != role, "image_id"] for role in ("candidate", "query"))
    return labels["query_id"].isin(queries) & labels["candidate_id"].isin(candidates)
