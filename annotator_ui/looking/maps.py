"""Maps as the browser draws them: numbers of 16 bits and a group for each point, kept for the last few maps."""

import struct
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np

from annotator_ui.app_state import site
from annotator_ui.theme import GROUPS, OTHERS
from eds.choices import MapMethod
from eds.project.image_map import MapResult

Colour = Literal["category", "cluster", "label"]
METHODS: tuple[MapMethod, ...] = ("pca", "umap")
COLOURS: tuple[Colour, ...] = ("category", "cluster", "label")
FULL = 65535


@dataclass(frozen=True)
class Drawn:
    """A map with a colour for each image."""

    result: MapResult
    names: list[str]  # of the groups, in the order of their colours; the last may stand for several small ones
    others: int  # groups that the last name stands for; 0: it is a group like others
    colours: list[str]
    left: float  # of the square that holds all points
    top: float
    side: float
    content: bytes  # what the browser gets

    def corners(self, lasso: list[list[float]]) -> list[tuple[float, float]]:
        """The corners of a lasso as places of the map."""
        return [(self.left + x * self.side, self.top + y * self.side) for x, y in lasso]


def drawn(model: str, method: MapMethod, colour: Colour, clusters: int) -> Drawn:
    """Return the map of a model, made again only when its vectors, the catalogue or the labels changed."""
    return _drawn(model, method, colour, clusters if colour == "cluster" else 0, version(model))


def version(model: str) -> str:
    """What changes when the map does."""
    project = site().project
    files = [project.path("embeddings", model) / "model.json", project.path("images"), project.path("truth")]
    return "-".join(f"{file.stat().st_mtime_ns:x}" if file.exists() else "0" for file in files)


@lru_cache(maxsize=6)
def _drawn(model: str, method: MapMethod, colour: Colour, clusters: int, stamp: str) -> Drawn:
    result = site().project.map_images(model, method=method, clusters=clusters)
    x, y = result.table["x"].to_numpy(), result.table["y"].to_numpy()
    left, top = float(x.min(initial=0)), float(y.min(initial=0))
    side = max(float(np.ptp(x)) if len(x) else 0.0, float(np.ptp(y)) if len(y) else 0.0) or 1.0
    values = result.table[colour].astype("str")
    counts = values.value_counts()
    names = sorted(counts.index, key=lambda name: int(name)) if colour == "cluster" else list(counts.index)
    shown, rest = (names, []) if len(names) <= len(GROUPS) else (names[: len(GROUPS) - 1], names[len(GROUPS) - 1 :])
    code = {name: place for place, name in enumerate(shown)} | dict.fromkeys(rest, len(shown))
    groups = values.map(code).to_numpy(dtype=np.uint8)
    places = np.stack([(x - left) / side, (y - top) / side], axis=1)
    numbers = np.round(places * FULL).astype("<u2")
    content = struct.pack("<I", len(result.table)) + numbers.tobytes() + groups.tobytes()
    colours = [*GROUPS[: len(shown)], *([OTHERS] if rest else [])]
    return Drawn(result, [*shown, *rest[:1]], len(rest), colours, left, top, side, content)
