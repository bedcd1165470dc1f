"""Full lengths of lists against counting them one by one."""

import itertools

import numpy as np
import pandas as pd
import pytest

from eds.choices import CategoryRule
from eds.neighbors.rules import Rules, list_lengths


@pytest.mark.parametrize("category", ["any", "same", "other"])
@pytest.mark.parametrize(("exclude", "one"), list(itertools.product([True, False], repeat=2)))
def test_lengths_are_what_counting_gives(category: CategoryRule, exclude: bool, one: bool) -> None:
    rng = np.random.default_rng(3)
    names = [f"i{number}" for number in range(60)]
    images = pd.DataFrame(
        {
            "image_id": names,
            "product_id": rng.choice([f"p{number}" for number in range(25)], 60),
            "category": rng.choice(["shoe", "hat", "bag"], 60),
            "role": rng.choice(["query", "candidate", "both"], 60),
        }
    )
    images.loc[0, ["role", "category"]] = ["query", "scarf"]  # a query of a category that no candidate has
    rules = Rules(1, exclude_product=exclude, one_per_product=one, category=category)
    expected = []
    rows = images[["image_id", "product_id", "category", "role"]].astype(object).to_numpy().tolist()
    for name, product, kind, role in rows:
        allowed = [
            their_product if one else other
            for other, their_product, their_kind, their_role in rows
            if their_role != "query"
            and other != name
            and not (exclude and their_product == product)
            and (category == "any" or (their_kind == kind) == (category == "same"))
        ]
        expected.append(0 if role == "candidate" else len(set(allowed)))
    shuffled = images.sample(frac=1, random_state=1)
    assert list_lengths(shuffled, images["image_id"], rules).tolist() == expected
