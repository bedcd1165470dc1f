"""Check that the crop boxes of a catalogue lie in their images."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from eds.tables import BOX


def find_misplaced_boxes(images: pd.DataFrame, sizes: Sequence[tuple[int, int]]) -> list[str]:
    """The fault of each row's box in an image of that stored width and height; empty if it has none.

    Boxes refer to the upright image, whose width and height may be swapped: a box is faulty if it lies in neither.

    >>> images = pd.DataFrame({"box_left": [0, 0], "box_top": [0, 0], "box_right": [9, 9], "box_bottom": [4, 12]})
    >>> find_misplaced_boxes(images, [(5, 10), (5, 10)])
    ['', 'box (0, 0, 9, 12) does not lie in the image of 5 x 10 pixels']
    """
    faults = [""] * len(images)
    if any(edge not in images.columns or images[edge].isna().all() for edge in BOX):
        return faults
    edges = images[BOX].astype("Float64").to_numpy(dtype=np.float64, na_value=np.nan)
    left, top, right, bottom = edges.T
    width, height = np.asarray(sizes, dtype=np.int64).reshape(-1, 2).T
    order = (left >= 0) & (left < right) & (top >= 0) & (top < bottom)
    inside = ((right <= width) & (bottom <= height)) | ((right <= height) & (bottom <= width))
    wrong = ~np.isnan(edges).any(axis=1) & ~(order & inside)
    for row in np.flatnonzero(wrong).tolist():
        box = ", ".join(f"{edge:g}" for edge in edges[row].tolist())
        faults[row] = f"box ({box}) does not lie in the image of {width[row]:g} x {height[row]:g} pixels"
    return faults
