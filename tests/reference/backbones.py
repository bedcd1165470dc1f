"""The libraries' own calls, and plain loops, that backbones are compared with: slow, one image at a time."""

import colorsys
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from PIL import Image

from eds.backbones import Preprocessing


def pixels(image: Image.Image, steps: Preprocessing) -> npt.NDArray[np.uint8]:
    """What torchvision's transforms make of the image, uint8 (side, side, 3)."""
    from torchvision import transforms

    mode = transforms.InterpolationMode(steps.interpolation)
    size = (steps.size, steps.size) if steps.resize == "squash" else steps.size
    chain = transforms.Compose([transforms.Resize(size, interpolation=mode), transforms.CenterCrop(steps.side)])
    array = np.asarray(chain(image))
    return array[..., ::-1] if steps.channels == "BGR" else array


def timm_vectors(name: str, weights: Path, images: list[Image.Image], **arguments: Any) -> npt.NDArray[np.float32]:
    """timm's own way: its transform, its loader, an eager pass for each image."""
    import timm
    from timm.data.config import resolve_model_data_config
    from timm.data.transforms_factory import create_transform

    model = timm.create_model(name, pretrained=False, checkpoint_path=str(weights), **arguments).eval()
    transform = create_transform(**resolve_model_data_config(model))  # type: ignore[no-untyped-call]
    with torch.no_grad():
        return normalised(torch.cat([model(transform(image)[None]) for image in images]).numpy())


def open_clip_vectors(name: str, weights: Path, images: list[Image.Image]) -> npt.NDArray[np.float32]:
    """open_clip's own way: its transform, its loader, `encode_image` for each image."""
    import open_clip

    model, _, transform = open_clip.create_model_and_transforms(name, pretrained=str(weights))
    model.eval()
    with torch.no_grad():
        return normalised(torch.cat([model.encode_image(transform(image)[None]) for image in images]).numpy())


def normalised(vectors: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    """Rows of length 1."""
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float32)


def distance(left: npt.NDArray[Any], right: npt.NDArray[Any]) -> float:
    """The largest cosine distance of two arrays' rows."""
    left, right = left.astype(np.float64), right.astype(np.float64)
    lengths = np.linalg.norm(left, axis=1) * np.linalg.norm(right, axis=1)
    return float((1 - (left * right).sum(axis=1) / lengths).max())


def hsv(image: npt.NDArray[np.uint8], bins: tuple[int, int, int]) -> npt.NDArray[np.float64]:
    """Square roots of the joint histogram's shares, pixel by pixel with the standard library's colours."""
    counts = np.zeros(bins)
    for red, green, blue in image.reshape(-1, 3) / 255.0:
        place = [
            min(int(value * n), n - 1) for value, n in zip(colorsys.rgb_to_hsv(red, green, blue), bins, strict=True)
        ]
        counts[tuple(place)] += 1
    return np.asarray(np.sqrt(counts.ravel() / counts.sum()))


def gabor(image: npt.NDArray[np.uint8], frequency: float, angle: float, grid: int) -> npt.NDArray[np.float64]:
    """Mean strength in each cell of one filter, wrapped around, by scipy's direct convolution."""
    from scipy.ndimage import convolve
    from skimage.filters import gabor_kernel

    grey = np.asarray(Image.fromarray(image).convert("L")) / 255.0
    kernel = gabor_kernel(frequency, theta=angle)  # type: ignore[no-untyped-call]
    centred = grey - grey.mean()
    parts = [convolve(centred, part, mode="wrap") for part in (kernel.real, kernel.imag)]
    strength, edge = np.hypot(*parts), len(grey) // grid
    cells = [
        strength[r : r + edge, c : c + edge].mean()
        for r in range(0, len(grey), edge)
        for c in range(0, len(grey), edge)
    ]
    return np.array(cells)
