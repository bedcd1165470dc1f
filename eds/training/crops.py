"""Views of an image for self-supervised training: large and small crops, flipped, brightness and contrast varied.

All random numbers are torch's own, so that they follow the epoch's seed. The hue of colours stays: in a catalogue hue
is content. Blur and solarisation, which the authors of DINO add, are left out.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from eds.errors import InputError

LARGE, SMALL = (0.4, 1.0), (0.05, 0.4)  # shares of the image's area, as in DINO
STRETCH = 4 / 3  # largest ratio of a crop's sides
JITTER = 0.4  # largest change of brightness and contrast


@dataclass(frozen=True)
class Crops:
    """The number of views of an image and their sides in pixels."""

    side: int
    local: int = 4
    local_side: int = 96

    def __post_init__(self) -> None:
        least = {"side": 16, "local": 0, "local_side": 16}
        if faults := [
            f"{name} is {getattr(self, name)}; at least {low}"
            for name, low in least.items()
            if getattr(self, name) < low
        ]:
            raise InputError("invalid crops", where="dino", hint="Change:", faults=faults)

    def cut(self, pictures: Tensor) -> list[Tensor]:
        """Cut two views (n, 3, side, side) and `local` small ones (n, 3, local_side, local_side) of images."""
        large = [crop(pictures, LARGE, self.side) for _ in range(2)]
        return large + [crop(pictures, SMALL, self.local_side) for _ in range(self.local)]


def crop(pictures: Tensor, area: tuple[float, float], side: int) -> Tensor:
    """Cut a random crop of each image, with a share of its area drawn from `area`: (n, 3, side, side), bilinear.

    >>> torch.manual_seed(0) and crop(torch.ones(2, 3, 32, 32), (1.0, 1.0), 16).shape
    torch.Size([2, 3, 16, 16])
    """
    n = len(pictures)
    share = torch.empty(n).uniform_(*area)
    ratio = STRETCH ** torch.empty(n).uniform_(-1, 1)
    wide, high = (share * ratio).sqrt().clamp(max=1), (share / ratio).sqrt().clamp(max=1)
    right, down = ((1 - length) * torch.empty(n).uniform_(-1, 1) for length in (wide, high))
    turned = 1 - 2 * (torch.rand(n) < 0.5).float()
    zero = torch.zeros(n)
    rows = torch.stack([wide * turned, zero, right]), torch.stack([zero, high, down])
    grid = torch.nn.functional.affine_grid(torch.stack(rows).permute(2, 0, 1), [n, 3, side, side], align_corners=False)
    seen = torch.nn.functional.grid_sample(pictures, grid.to(pictures.device), align_corners=False)
    return _vary_light(seen)


def _vary_light(pictures: Tensor) -> Tensor:
    """Vary brightness and contrast of each image; they are normalised already, so 0 is a middle grey."""
    gain, light = (torch.empty(len(pictures), 1, 1, 1).uniform_(-JITTER, JITTER).to(pictures.device) for _ in range(2))
    return pictures * (1 + gain) + light
