"""A model file in ONNX's format: `onnx:FILE`, run by OpenVINO on the CPU; needs no torch.

The file does not state how images are prepared: resize, size, interpolation, mean and std are options.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from eds.backbones.on_openvino import OpenVinoBackbone, OpenVinoRunner, library, on_bytes
from eds.backbones.preprocessing import Preprocessing
from eds.backbones.request import Request
from eds.backbones.stated_steps import stated_steps
from eds.errors import InputError
from eds.io.files import digest

EXTRA = "onnx"

POOLINGS = ("cls", "mean")
COLOURS = 3
SUFFIXES = (".onnx", ".xml")


def load(request: Request) -> OpenVinoBackbone:
    """Load a file of ONNX, or of OpenVINO (.xml)."""
    request.allow_only("output", "pooling")
    if request.random_init:
        raise InputError("a model file cannot be random", where=request.text, hint="Remove random_init.")
    if request.device not in ("auto", "cpu") or request.runtime not in ("auto", "openvino"):
        raise InputError("OpenVINO runs onnx models, on the cpu", where=request.text, hint="Use --device cpu.")
    path = Path(request.name).expanduser()
    model, named = _read(path, request), replace(request, name=path.name)
    height, width, last = _sides(model, request)
    if height != width:
        raise InputError(
            f"the model takes {width} x {height} pixels", where=request.text, hint="Only squares are read."
        )
    steps = stated_steps(request, height)
    model = _on_bytes(model, steps, last, request)
    weights = path.with_suffix(".bin") if path.suffix == ".xml" else path
    spec = named.spec(
        steps,
        weights=path.name,
        weights_sha256=digest(weights),
        pooling=request.option("pooling") or "output",
        dimension=int(model.output(0).partial_shape[1].get_length()),
        runtime=OpenVinoRunner.name,
    )
    return OpenVinoBackbone(spec, OpenVinoRunner(model, request.precision, request.threads))


def _read(path: Path, request: Request) -> Any:
    if not path.is_file():
        raise InputError("model file not found", where=str(path), hint="Check the path after onnx:")
    if path.suffix not in SUFFIXES:  # OpenVINO would try every format that it knows
        raise InputError(f"not {' or '.join(SUFFIXES)}", where=str(path), hint="Export the model to ONNX.")
    try:
        model = library().Core().read_model(str(path))
    except Exception as error:
        reason = next((line for line in reversed(str(error).splitlines()) if line.strip()), "unreadable")
        hint = "It must be a whole ONNX file; weights in a file beside it must stay beside it."
        raise InputError(f"OpenVINO cannot read it ({reason.strip()[:200]})", where=str(path), hint=hint) from error
    wanted = request.option("output")
    names = [output.any_name if output.names else "" for output in model.outputs]
    if wanted and wanted not in names:
        raise InputError(f"the model has no output {wanted!r}", where=str(path), hint=f"It has {', '.join(names)}.")
    if not wanted and len(names) > 1:
        raise InputError("the model has several outputs", where=str(path), hint=f"Add ?output=: {', '.join(names)}.")
    if len(model.inputs) != 1:
        inputs = ", ".join(entry.any_name for entry in model.inputs)
        raise InputError(
            f"the model has several inputs ({inputs})", where=str(path), hint="Export the image side alone."
        )
    if not wanted:
        return model
    return library().Model([_source(model, names.index(wanted))], model.get_parameters(), path.stem)


def _source(model: Any, number: int) -> Any:
    """The value that becomes the output of this number."""
    return model.get_results()[number].input_value(0)


def _sides(model: Any, request: Request) -> tuple[int | None, int | None, bool]:
    """Height and width of the input, None where any will do, and whether its colours come last."""
    shape = model.input(0).partial_shape
    if shape.rank.is_dynamic or shape.rank.get_length() != 4:
        raise InputError(
            f"the model takes {shape}, not images", where=request.text, hint="It takes (n, 3, side, side)."
        )
    sides = [None if length.is_dynamic else int(length.get_length()) for length in shape]
    last = sides[1] != COLOURS and sides[3] == COLOURS
    return (sides[1], sides[2], True) if last else (sides[2], sides[3], False)


def _on_bytes(model: Any, steps: Preprocessing, last: bool, request: Request) -> Any:
    """The model from uint8 (1, side, side, 3) to float32 (1, dimension); its first layer normalises."""
    openvino = library()
    shape = [1, steps.side, steps.side, COLOURS] if last else [1, COLOURS, steps.side, steps.side]
    try:
        model.reshape(openvino.PartialShape(shape))
        rank, pooling = len(model.output(0).partial_shape), request.option("pooling", "", ("", *POOLINGS))
        if rank != 2:
            model = _pooled(model, rank, pooling, request)
        elif pooling:
            raise InputError("the model pools already", where=request.text, hint="Remove pooling=.")
        return on_bytes(model, steps, channels_last=last)
    except RuntimeError as error:
        reason = next((line for line in reversed(str(error).splitlines()) if line.strip()), "")
        what = f"the model does not accept {steps.side} x {steps.side} pixels ({reason.strip()[:200]})"
        raise InputError(what, where=request.text, hint="Use the size that it was made for: ?size=N.") from error


def _pooled(model: Any, rank: int, pooling: str, request: Request) -> Any:
    openvino = library()
    from openvino import opset13 as ops

    output = _source(model, 0)
    if not pooling or rank not in (3, 4) or (rank == 4 and pooling == "cls"):
        what = f"the model returns {output.get_partial_shape()}, not one vector per image"
        raise InputError(what, where=request.text, hint="Add ?pooling=mean, or pooling=cls for the first token.")
    axes = np.array([1] if rank == 3 else [2, 3])
    result = ops.gather(output, np.int64(0), np.int64(1)) if pooling == "cls" else ops.reduce_mean(output, axes)
    return openvino.Model([result], model.get_parameters(), "pooled")
