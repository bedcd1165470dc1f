"""What is decided about near duplicates, applied to the table images: products merged, images left out."""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from eds.choices import DuplicateDecision as Decision
from eds.images.duplicates import join_products

PLACE = "place"  # of a row in the table before the decisions


@dataclass(frozen=True)
class DecidedPair:
    """One pair and what is done with it: nothing, one product for both, or the second image left out."""

    left_id: str
    right_id: str
    decision: Decision


def apply_decisions(images: pd.DataFrame, decisions: Sequence[DecidedPair]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The images after the decisions, and the rows that they changed or left out, as they were, with their places.

    Merged products have the smallest id of them. Where an image that is left out was a query, the first of its pair
    becomes one. A pair of which an image is not in the table changes nothing.
    """
    there = set(images["image_id"])
    held = [one for one in decisions if {one.left_id, one.right_id} <= there]
    after = images.copy()
    pairs = [one for one in held if one.decision == "merge"]
    if pairs:
        product = images.set_index("image_id")["product_id"]
        both = pd.Series([product[name] for one in pairs for name in (one.left_id, one.right_id)], dtype=object)
        joined = join_products(both, pd.Series([number for number in range(len(pairs)) for _ in range(2)]))
        after["product_id"] = after["product_id"].map(joined).fillna(after["product_id"])
    gone = {one.right_id: one.left_id for one in held if one.decision == "drop"}
    role = images.set_index("image_id")["role"]
    raised = {_kept(left, gone) for right, left in gone.items() if role[right] != "candidate"} - gone.keys()
    lifted = after["image_id"].isin(raised) & (after["role"] == "candidate")
    after["role"] = after["role"].mask(lifted, "both")
    left_out = after["image_id"].isin(gone)
    touched = left_out | lifted | (after["product_id"] != images["product_id"])
    before = images[touched].assign(**{PLACE: touched.to_numpy().nonzero()[0]})
    return after[~left_out].reset_index(drop=True), before


def without_decisions(images: pd.DataFrame, before: pd.DataFrame) -> pd.DataFrame:
    """The table as it was before decisions, from what it is after them and the rows that they changed."""
    names = list(images.columns)
    untouched = images[~images["image_id"].isin(before["image_id"])]
    places = sorted(set(range(len(untouched) + len(before))) - set(before[PLACE]))
    whole = pd.concat([untouched.assign(**{PLACE: places}), before[[*names, PLACE]]], ignore_index=True)
    return whole.sort_values(PLACE)[names].reset_index(drop=True)


def _kept(image: str, gone: dict[str, str]) -> str:
    """The image that stays, where the first of a pair is left out itself for another one."""
    seen = {image}
    while image in gone and gone[image] not in seen:
        image = gone[image]
        seen.add(image)
    return image
