"""Preprocessing: from an image to the input of a network, with every parameter that changes a vector, and a digest.

The geometry equals torchvision's on Pillow images, to the pixel (timm and open_clip use it, too): the
longer side is truncated, the corner of the centre crop is rounded half to even. Mean and std are applied
in the first layer of the network, not here: workers pass on bytes.
"""

import hashlib
import json
from collections.abc import Hashable
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt
from PIL import Image

from eds.errors import ImageError, InputError

Resize = Literal["squash", "shortest", "longest", "none"]
Interpolation = Literal["nearest", "bilinear", "bicubic", "lanczos", "box", "hamming"]
Channels = Literal["RGB", "BGR"]
Corner = Literal["round", "floor"]

LARGEST = 8192  # pixels of a side that a network may ask for
THINNEST = 200  # long side over short side beyond which a resize by the short side would fill the memory


@dataclass(frozen=True)
class Preprocessing:
    """Resize, crop, channel order and normalisation, and the decoding before them.

    `resize` says what becomes `size` pixels: both sides (squash), the shortest side, the longest side
    (then padded with the mean colour to a square), or nothing (none: images must come in that size).
    `crop` is the side of the centre crop after it; None keeps the whole square. `mean` and `std`
    are of values in 0..1, in the order of `channels`. `background` is the colour behind transparent
    pixels; `draft` lets the JPEG decoder shrink, which is quicker and shifts vectors. `corner` rounds the
    corner of the centre crop as torchvision does (half to even), or down as transformers does.
    """

    resize: Resize
    size: int
    interpolation: Interpolation
    crop: int | None
    channels: Channels
    mean: tuple[float, ...]
    std: tuple[float, ...]
    background: tuple[int, int, int] = (255, 255, 255)
    draft: bool = False
    corner: Corner = "round"

    def __post_init__(self) -> None:
        if self.crop == self.size:  # the same pixels must have the same digest
            object.__setattr__(self, "crop", None)
        for name, kind in (("mean", float), ("std", float), ("background", int)):
            object.__setattr__(self, name, tuple(kind(value) for value in getattr(self, name)))
        if faults := self._faults():
            raise InputError("invalid preprocessing", faults=faults)

    @property
    def side(self) -> int:
        """The side of the resulting square, in pixels."""
        return self.crop or self.size

    @property
    def digest(self) -> str:
        """The sha256 of every parameter, in hex."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()

    @property
    def pixels_key(self) -> Hashable:
        """A key that is equal for two models exactly if they need the same pixels: then they share the decoding."""
        fill = self.mean if self.resize == "longest" else ()
        geometry = (self.resize, self.size, self.interpolation, self.crop, self.corner, self.channels, fill)
        return (*geometry, self.background, self.draft)

    def to_json(self) -> str:
        """The parameters as canonical JSON; the usual `corner` is left out, as in files written before it existed."""
        values = asdict(self)
        if self.corner == "round":
            del values["corner"]
        return json.dumps(values, sort_keys=True, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> "Preprocessing":
        """Parse the output of `to_json`."""
        return cls.from_dict(json.loads(text))

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "Preprocessing":
        """Create it from a mapping of every parameter, with lists for tuples."""
        known = {field.name for field in fields(cls)}
        if faults := [f"unknown parameter {name}" for name in values if name not in known]:
            raise InputError("invalid preprocessing", faults=faults)
        given: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in values.items()
        }
        return cls(**given)

    def changed(self, **changes: Any) -> "Preprocessing":
        """Change parameters. A new resize or size without a crop uses the whole square."""
        given = {name: value for name, value in changes.items() if value is not None}
        if ("size" in given or "resize" in given) and "crop" not in given:
            given = {"size": self.side, **given, "crop": None}
        return replace(self, **given)

    def pixels(self, image: Image.Image | npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
        """Convert an RGB image, or its uint8 (height, width, 3), to uint8 (side, side, 3), in the order of `channels`.

        If an array only needs a crop the result is a view, unless that would keep a large array in memory.
        """
        if isinstance(image, np.ndarray):
            array = self._cut(image)
            if self.channels == "RGB" and 2 * array.size >= image.size:
                return array
        elif image.mode == "RGB":
            array = np.asarray(self._centre(self._resized(image)))
        else:
            raise ImageError(f"the image is {image.mode}, not RGB", hint="Open it with eds.imaging.open_rgb.")
        return np.ascontiguousarray(array[..., ::-1] if self.channels == "BGR" else array)

    def _cut(self, array: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
        """Cut the square out of an array; Pillow is used only if pixels must be computed."""
        height, width = array.shape[:2]
        if self._size_after(width, height) != (width, height) or min(width, height) < self.side:
            return np.asarray(self._centre(self._resized(Image.fromarray(array))))
        left, top = self._left_top(width, height)
        return array[top : top + self.side, left : left + self.side]

    def _centre(self, image: Image.Image) -> Image.Image:
        """The middle `side` x `side` pixels; missing ones are filled (only after resize `longest`)."""
        (width, height), side = image.size, self.side
        if (width, height) == (side, side):
            return image
        if width < side or height < side:
            padded = Image.new("RGB", (max(width, side), max(height, side)), self._fill)
            padded.paste(image, ((max(side - width, 0)) // 2, (max(side - height, 0)) // 2))
            image, (width, height) = padded, padded.size
        left, top = self._left_top(width, height)
        return image.crop((left, top, left + side, top + side))

    def _left_top(self, width: int, height: int) -> tuple[int, int]:
        """Left and top of the centre crop."""
        if self.corner == "floor":
            return (width - self.side) // 2, (height - self.side) // 2
        return round((width - self.side) / 2.0), round((height - self.side) / 2.0)

    @property
    def _fill(self) -> tuple[int, int, int]:
        red, green, blue = (round(255 * value) for value in self.mean)
        return (red, green, blue) if self.channels == "RGB" else (blue, green, red)

    def _resized(self, image: Image.Image) -> Image.Image:
        size = self._size_after(*image.size)
        return image if size == image.size else image.resize(size, Image.Resampling[self.interpolation.upper()])

    def _size_after(self, width: int, height: int) -> tuple[int, int]:
        """Width and height after the resize; raises ImageError if that is impossible."""
        if self.resize == "none":
            if (width, height) != (self.size, self.size):
                hint = "Resize the images, or choose resize=squash or shortest."
                raise ImageError(
                    f"the image has {width} x {height} pixels, the model takes {self.size} x {self.size}", hint=hint
                )
            return width, height
        if max(width, height) > THINNEST * min(width, height) and self.resize != "squash":
            raise ImageError(f"the image is too thin: {width} x {height} pixels", hint="Leave it out, or crop it.")
        return _target(width, height, self.size, self.resize)

    def _faults(self) -> list[str]:
        faults = []
        for name, kind in (
            ("resize", Resize),
            ("interpolation", Interpolation),
            ("channels", Channels),
            ("corner", Corner),
        ):
            if getattr(self, name) not in get_args(kind):
                faults.append(f"{name} is {getattr(self, name)!r}; it may be {', '.join(get_args(kind))}")
        if type(self.size) is not int or not 1 <= self.size <= LARGEST:
            faults.append(f"size is {self.size!r}; it must be a whole number from 1 to {LARGEST}")
        elif self.crop is not None and (type(self.crop) is not int or not 1 <= self.crop <= self.size):
            faults.append(f"crop is {self.crop!r}; it must be a whole number from 1 to size, {self.size}")
        for name in ("mean", "std"):
            values = getattr(self, name)
            if len(values) != 3 or not np.all(np.isfinite(values)) or (name == "std" and min(values) <= 0):
                faults.append(f"{name} is {values}; it needs three numbers" + (" above 0" if name == "std" else ""))
        if len(self.background) != 3 or not all(0 <= value <= 255 for value in self.background):
            faults.append(f"background is {self.background}; it needs three whole numbers from 0 to 255")
        return faults


def _target(width: int, height: int, size: int, resize: Resize) -> tuple[int, int]:
    """Width and height after the resize."""
    if resize == "squash":
        return size, size
    if resize == "shortest":
        short, long = sorted((width, height))
        other = int(size * long / short)
        return (size, other) if width <= height else (other, size)
    ratio = max(width, height) / size
    return max(1, round(width / ratio)), max(1, round(height / ratio))
