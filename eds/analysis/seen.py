"""A measure of a trained model over the queries it was trained on, and over the others."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from eds.intervals import resampled_means
from eds.metrics import Result

COLUMNS = ("seen", "unseen")


def seen_and_unseen(
    results: Sequence[Result], images: pd.DataFrame, trained: Mapping[str, frozenset[str]]
) -> dict[tuple[str, str, str], float]:
    """By (model, measure, "seen" or "unseen") the value over such queries; NaN where there are none.

    `trained` are the images that a model was trained on; a query is seen if one of them is of its product. Of models
    that were not trained, and of measures without a value for each query, there is nothing.
    """
    product = images.set_index("image_id")["product_id"]
    products = {name: set(product.reindex(list(seen)).dropna()) for name, seen in trained.items()}
    values = {}
    for result in results:
        part = result.values
        if part is None or result.model not in trained or not len(part.queries):
            continue
        mask = product.reindex(part.queries.to_pylist()).isin(products[result.model]).to_numpy()
        for name, kept in zip(COLUMNS, (mask, ~mask), strict=True):
            times = kept[None].astype(np.int16)
            found = part.resample(times) if part.resample else resampled_means(part.by_query, times, part.weight)
            values[result.model, str(result.measure), name] = float(found[0]) if kept.any() else float("nan")
    return values
