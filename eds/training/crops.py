"""Views of a picture for self-supervised training: two large crops, some small ones; flipped, light and contrast moved.

All random numbers are torch's own, so that they belong to the epoch's seed. Colours keep their hue: in a catalogue hue
is content. Blur and solarisation, which the authors of DINO add, are left out.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from eds.errors import InputError

LARGE, SMALL = (0.4, 1.0), (0.05, 0.4)  # shares of the picture's area; those of DINO
STRETCH = 4 / 3  # most that a crop's sides may differ
JITTER = 0.4  # most that light and contrast change


@dataclass(frozen=True)
class Crops:
    """How many views of a picture there are, and how large, in pixels."""

    side: int
    local: int = 4
    local_side: int = 96

    def __post_init__(self) -> None:
        least = {"side": 16, "local": 0, "local_side": 16}
        if faults := [f"{name} is {getattr(self, name)}; at least {low}" for name, low in least.items()
                      if getattr(self, name) < low]:  # fmt: skip
            raise InputError("no such crops", where="dino", do="Change:", faults=faults)

    def of(self, pictures: Tensor) -> list[Tensor]:
        """Two views (n, 3, side, side), then `local` views (n, 3, local_side, local_side), of pictures (n, 3, h, w)."""
        large = [crop(pictures, LARGE, self.side) for _ in range(2)]
        return large + [crop(pictures, SMALL, self.local_side) for _ in range(self.local)]


def crop(pictures: Tensor, area: tuple[float, float], side: int) -> Tensor:
    """A crop of each picture, whose area is a share drawn from `area`, as (n, 3, side, side), bilinear.

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
    return _relit(seen)


def _relit(pictures: Tensor) -> Tensor:
    """Light and contrast of each picture moved; they are normalised already, so 0 is a middle grey."""
    gain, light = (torch.empty(len(pictures), 1, 1, 1).uniform_(-JITTER, JITTER).to(pictures.device) for _ in range(2))
    return pictures * (1 + gain) + light
