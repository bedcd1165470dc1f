"""Random lists, valid by construction: every model ranks the same queries to the same depth."""

from typing import Any

import numpy as np
import pandas as pd
from hypothesis import strategies as st

from tests.reference.suspects import Row
from tests.strategies import ids

NAMES = ["beit", "clip", "dino", "A.b+c_d-1"]


def frame_of(rows: list[Row], seed: int = 0) -> pd.DataFrame:
    """The rows as a table neighbors, shuffled."""
    order = np.random.default_rng(seed).permutation(len(rows))
    frame = pd.DataFrame([rows[place] for place in order], columns=["model", "query_id", "candidate_id", "rank"])
    return frame.assign(score=-frame["rank"].astype(float))


@st.composite
def rankings(draw: st.DrawFn) -> list[Row]:
    """Lists of 1..4 models over some images that are queries and candidates at once."""
    images = draw(st.lists(ids, min_size=3, max_size=8, unique=True))
    queries = draw(st.lists(st.sampled_from(images), min_size=1, max_size=4, unique=True))
    models = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=4, unique=True))
    depth = draw(st.integers(1, len(images) - 1))
    return [
        (model, query, candidate, rank)
        for model in models
        for query in queries
        for rank, candidate in enumerate(draw(st.permutations([image for image in images if image != query]))[:depth])
    ]


def drawn_lists(queries: int, models: int, k: int, candidates: int, seed: int = 0) -> list[Row]:
    """Lists that agree in part: every model ranks by a common liking and its own noise."""
    rng = np.random.default_rng(seed)
    rows: list[Row] = []
    for query in range(queries):
        liking = rng.random(candidates)
        for model in range(models):
            best = np.argsort(-(liking + 0.3 * rng.random(candidates)))[:k]
            rows += [(f"m{model}", f"q{query:04}", f"c{c:04}", rank) for rank, c in enumerate(best.tolist())]
    return rows


def catalogue(queries: list[str], candidates: list[str], products: dict[str, str] | None = None) -> pd.DataFrame:
    """A table images with these roles."""
    names = sorted({*queries, *candidates})
    roles = {name: "both" if name in queries and name in candidates else "query" for name in queries}
    columns: dict[str, Any] = {
        "image_id": pd.Series(names, dtype="str"),
        "path": pd.Series([f"{place}.jpg" for place in range(len(names))], dtype="str"),
        "product_id": pd.Series([(products or {}).get(name, name) for name in names], dtype="str"),
        "category": None,
        "role": pd.Series([roles.get(name, "candidate") for name in names], dtype="str"),
        "phase": None,
        "width": None,
        "height": None,
        "sha256": None,
        "box_left": None,
        "box_top": None,
        "box_right": None,
        "box_bottom": None,
    }
    return pd.DataFrame(columns)
