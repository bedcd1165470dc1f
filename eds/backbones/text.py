"""The text side of a model of images and texts: a family with a function `load_text(request)` has one."""

import sys
from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from eds.backbones.loading import factory_of
from eds.backbones.request import Request
from eds.errors import InputError

REMEDY = "Use a model of images and texts, such as open_clip:ViT-B-32-quickgelu@openai or the preset siglip2."


class TextEncoder(Protocol):
    """What turns texts into vectors of the space that the model's images are in."""

    weights_sha256: str  # as the image side's spec has it

    def encode_text(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Texts to float32 (n, dimension); lengths are the model's own."""
        ...


def load_text(text: str, *, random_init: bool = False, precision: str = "float32") -> TextEncoder:
    """Load the text side of the model of this text; InputError where it has none."""
    request = Request.parse(text).with_options(
        random_init=random_init or None, precision=None if precision == "float32" else precision
    )
    loader = getattr(sys.modules[factory_of(request).__module__], "load_text", None)
    if loader is None:
        raise no_text(request)
    encoder: TextEncoder = loader(request)
    return encoder


def no_text(request: Request) -> InputError:
    """The error of a model that takes images only."""
    return InputError("the model takes no text", where=request.text, hint=REMEDY)
