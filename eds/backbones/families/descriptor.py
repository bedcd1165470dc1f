"""Descriptors without weights, as a baseline: `descriptor:hsv`, `hog`, `lbp`, `gabor`.

Each takes a batch, uint8 (n, SIDE, SIDE, 3) RGB, and returns float64 (n, dimension), image by image, so
that a vector does not depend on its batch.
"""

from collections.abc import Callable
from functools import cache
from typing import TypeVar

import numpy as np
import numpy.typing as npt
from PIL import Image

from eds.backbones.preprocessing import Preprocessing
from eds.backbones.request import Request
from eds.backbones.spec import BackboneSpec
from eds.backbones.vectors import check_batch, finish
from eds.errors import InputError, MissingExtraError, UnknownNameError

Pixels = npt.NDArray[np.uint8]
Number = TypeVar("Number", np.int64, np.float64)
Vectors = npt.NDArray[np.float64]

SIDE = 128
GRID = 4  # cells along a side, for the descriptors that keep positions
HUES, SATURATIONS, VALUES = 16, 4, 4
FREQUENCIES, ANGLES = (0.08, 0.14, 0.25, 0.4), 6  # of the Gabor filters: cycles a pixel, directions
NOTHING = 1e-9  # strength below which a response counts as zero
TEXTURES = ((8, 1), (16, 2))  # points and radius of the local binary patterns


def hsv(batch: Pixels) -> Vectors:
    """Square roots of a joint histogram of hue, saturation and value: float64 (n, 256).

    The product of two such vectors is the Bhattacharyya coefficient of the histograms.
    """
    from skimage.color import rgb2hsv

    bins = np.array([HUES, SATURATIONS, VALUES])
    cells = np.minimum((rgb2hsv(batch) * bins).astype(np.int64), bins - 1)
    codes = (cells[..., 0] * SATURATIONS + cells[..., 1]) * VALUES + cells[..., 2]
    return _histograms(codes.reshape(len(batch), -1), int(bins.prod()))


def hog(batch: Pixels) -> Vectors:
    """Histograms of oriented gradients, nine directions in cells of 16 pixels: float64 (n, 1764)."""
    from skimage import feature

    cell, block = (SIDE // 8, SIDE // 8), (2, 2)
    vectors = [
        feature.hog(image, orientations=9, pixels_per_cell=cell, cells_per_block=block, channel_axis=-1)
        for image in batch
    ]
    return np.stack(vectors).astype(np.float64)


def lbp(batch: Pixels) -> Vectors:
    """Square roots of histograms of uniform local binary patterns, two radii, in 4 x 4 cells: float64 (n, 448)."""
    from skimage.feature import local_binary_pattern

    grey = _grey(batch)
    parts = []
    for points, radius in TEXTURES:
        codes = np.stack([local_binary_pattern(image, points, radius, "uniform") for image in grey]).astype(np.int64)  # type: ignore[no-untyped-call]
        cells = _cells(codes).reshape(len(batch) * GRID * GRID, -1)
        parts.append(_histograms(cells, points + 2).reshape(len(batch), -1))
    return np.concatenate(parts, axis=1)


def gabor(batch: Pixels) -> Vectors:
    """Mean strength of 24 Gabor filters in 4 x 4 cells: float64 (n, 384). Edges wrap around."""
    filters = _gabor_filters()
    vectors = np.empty((len(batch), len(filters), GRID * GRID))
    for place, image in enumerate(_grey(batch) / 255.0):
        strength: Vectors = np.abs(np.fft.ifft2(np.fft.fft2(image - image.mean()) * filters))
        strength[strength < NOTHING] = 0.0  # rounding of a flat picture must not become a direction
        vectors[place] = _cells(strength).mean(axis=-1)
    return vectors.reshape(len(batch), -1)


DESCRIPTORS: dict[str, Callable[[Pixels], Vectors]] = {"hsv": hsv, "hog": hog, "lbp": lbp, "gabor": gabor}


class Descriptor:
    """A descriptor as a backbone."""

    def __init__(self, spec: BackboneSpec, describe: Callable[[Pixels], Vectors]) -> None:
        self.spec, self._describe = spec, describe

    def encode(self, batch: Pixels) -> npt.NDArray[np.float32]:
        """uint8 (n, side, side, 3) to float32 (n, dimension)."""
        check_batch(batch, SIDE)
        if not len(batch):
            return np.empty((0, self.spec.dimension), dtype=np.float32)
        vectors = self._describe(batch)
        # A flat picture has no edges: no direction more than another. It gets them all alike, not a vector of zeros,
        # which could be compared with nothing.
        vectors[~vectors.any(axis=1)] = 1.0
        return finish(vectors, self.spec)


def load(request: Request) -> Descriptor:
    """Load a descriptor by name."""
    request.allow_only()
    if request.name not in DESCRIPTORS:
        raise UnknownNameError(f"no descriptor {request.name!r}", hint=f"Known: {', '.join(DESCRIPTORS)}.")
    faults = []
    if request.weights or request.random_init:
        faults.append("a descriptor has no weights")
    if request.device not in ("auto", "cpu") or request.runtime != "auto" or request.precision != "float32":
        faults.append(
            "a descriptor runs on the cpu, in float, by numpy: leave device, runtime and precision as they are"
        )
    default = Preprocessing("squash", SIDE, "bilinear", None, "RGB", (0.0,) * 3, (1.0,) * 3)
    steps = request.preprocessing(default)
    if steps.side != SIDE or steps.channels != "RGB" or steps.mean != default.mean or steps.std != default.std:
        faults.append(f"a descriptor takes {SIDE} x {SIDE} pixels, RGB, as they are")
    if faults:
        raise InputError("the descriptor cannot be made so", where=request.text, faults=faults)
    describe = DESCRIPTORS[request.name]
    try:
        dimension = describe(np.zeros((1, SIDE, SIDE, 3), dtype=np.uint8)).shape[1]
    except ModuleNotFoundError as error:
        what = f"descriptors need the package {error.name}, which is not installed"
        raise MissingExtraError(what, where=request.text, hint="Run: pip install scikit-image.") from error
    spec = request.spec(default, dimension=dimension, pooling="", runtime="numpy", licence="apache-2.0")
    return Descriptor(spec, describe)


def _histograms(codes: npt.NDArray[np.int64], bins: int) -> Vectors:
    """Square roots of the histogram of each row: int64 (rows, pixels) to float64 (rows, bins)."""
    rows = np.arange(len(codes))[:, None] * bins
    counts = np.bincount((codes + rows).ravel(), minlength=len(codes) * bins).reshape(len(codes), bins)
    shares: Vectors = counts / codes.shape[1]
    return np.sqrt(shares, out=shares)


def _cells(values: npt.NDArray[Number]) -> npt.NDArray[Number]:
    """(m, SIDE, SIDE) to (m, GRID * GRID, pixels of a cell)."""
    edge = SIDE // GRID
    split = values.reshape(-1, GRID, edge, GRID, edge).swapaxes(2, 3)
    return split.reshape(-1, GRID * GRID, edge * edge)


def _grey(batch: Pixels) -> Pixels:
    """uint8 (n, SIDE, SIDE), by Pillow's weights."""
    return np.stack([np.asarray(Image.fromarray(image).convert("L")) for image in batch])


@cache
def _gabor_filters() -> npt.NDArray[np.complex128]:
    """The filters' spectra, complex128 (24, SIDE, SIDE)."""
    from skimage.filters import gabor_kernel

    spectra = []
    for frequency in FREQUENCIES:
        for angle in range(ANGLES):
            kernel = gabor_kernel(frequency, theta=np.pi * angle / ANGLES)  # type: ignore[no-untyped-call]
            padded = np.zeros((SIDE, SIDE), dtype=np.complex128)
            padded[: kernel.shape[0], : kernel.shape[1]] = kernel
            spectra.append(np.fft.fft2(padded))
    return np.stack(spectra)
