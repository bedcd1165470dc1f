"""How an image processor of transformers prepares images, as a `Preprocessing`; held against the processor itself."""

from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from eds.backbones.preprocessing import Preprocessing
from eds.backbones.request import Request
from eds.errors import EdsError, InputError

PROBES = ((61, 96), (97, 60), (80, 80), (300, 211))  # width and height: wide, tall, square, odd rests of a crop
CLOSE = 1e-4  # largest difference of a normalised pixel
WHOLE = 384  # sides from which ConvNeXt's processor squashes instead of cropping


def processor_in(folder: Path, request: Request) -> Any:
    """The image processor that the folder configures, on Pillow; its other backends differ by a grey level."""
    from transformers import AutoImageProcessor

    try:
        return AutoImageProcessor.from_pretrained(str(folder), backend="pil", local_files_only=True)
    except (OSError, ValueError, ImportError, KeyError, TypeError) as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
        hint = "The repository needs a preprocessor_config.json that transformers knows."
        raise InputError(f"its image processor cannot be read ({reason})", where=request.text, hint=hint) from error


def preprocessing_of(processor: Any, request: Request) -> Preprocessing:
    """The processor's resize, crop and normalisation.

    Processors differ in more than their settings. So a few images go both ways, and one that cannot be followed
    exactly is refused: a wrong crop changes every vector and raises no error.
    """
    try:
        steps = _steps(processor)
        apart = max(_difference(processor, steps, size) for size in PROBES)
    except (AttributeError, KeyError, TypeError, ValueError, EdsError) as error:
        raise _unsupported(processor, request, str(error).splitlines()[0][:120]) from error
    if not apart <= CLOSE:
        raise _unsupported(processor, request, f"pixels differ by {apart:.2g}")
    return steps


def _steps(processor: Any) -> Preprocessing:
    size, crop = _sides(processor.size), _sides(getattr(processor, "crop_size", None))
    resize = "none" if not processor.do_resize else "shortest" if "shortest_edge" in size else "squash"
    side = size.get("shortest_edge") or size["height"]
    cut = crop["height"] if getattr(processor, "do_center_crop", False) else None
    if share := getattr(processor, "crop_pct", None):  # ConvNeXt's: resize by the share, then crop; or squash
        resize, cut = ("shortest", side) if side < WHOLE else ("squash", None)
        side = int(side / share) if cut else side
    mean, std = (processor.image_mean, processor.image_std) if processor.do_normalize else ((0.0,) * 3, (1.0,) * 3)
    interpolation = Image.Resampling(int(processor.resample)).name.lower()
    if resize == "none":
        side = cut or side
    return Preprocessing(resize, side, interpolation, cut, "RGB", tuple(mean), tuple(std), corner="floor")  # type: ignore[arg-type]


def _sides(size: Any) -> dict[str, int]:
    values = dict(size) if size is not None else {}
    return {name: int(value) for name, value in values.items() if value is not None}


def _difference(processor: Any, steps: Preprocessing, size: tuple[int, int]) -> float:
    coarse = np.random.default_rng(size).integers(0, 256, (9, 7, 3), dtype=np.uint8)
    image = Image.fromarray(coarse).resize(size if steps.resize != "none" else (steps.size,) * 2)
    expected = np.asarray(processor(images=image, return_tensors="np")["pixel_values"])[0]
    values = (steps.pixels(image) / 255 - np.array(steps.mean)) / np.array(steps.std)
    return float(np.abs(values.transpose(2, 0, 1) - expected).max())


def _unsupported(processor: Any, request: Request, why: str) -> InputError:
    return InputError(
        f"images prepared by {type(processor).__name__} are not supported ({why})",
        where=request.text,
        hint="Write a backbone of your own, module:object, that calls the library.",
    )
