"""A TorchScript file: `torchscript:FILE`. Its program runs; such programs compute with tensors and nothing else.

The file does not state how images are prepared: resize, size, interpolation, mean and std are options.
"""

import warnings
from dataclasses import replace
from pathlib import Path

import torch

from eds.backbones import network, weights
from eds.backbones.request import Request
from eds.backbones.stated_steps import stated_steps
from eds.errors import InputError

EXTRA = "vision"


def load(request: Request) -> network.NetworkBackbone:
    """Load a model that torch.jit.save or torch.jit.trace(...).save wrote."""
    request.allow_only()
    if request.random_init:
        raise InputError("a model file cannot be random", where=request.text, hint="Remove random_init.")
    path = Path(request.name).expanduser()
    weights.refuse_missing(path)
    steps = stated_steps(request, None)
    try:
        with warnings.catch_warnings():  # the format is deprecated; files of it are still handed on
            warnings.simplefilter("ignore", FutureWarning)
            module = torch.jit.load(str(path), map_location="cpu").eval()  # type: ignore[no-untyped-call]
    except (RuntimeError, ValueError) as error:
        reason = str(error).strip().splitlines()[0][:200]
        hint = "It must be a file of torch.jit.save; weights alone are read by checkpoint:FILE?arch=..."
        raise InputError(f"not a TorchScript model ({reason})", where=str(path), hint=hint) from error
    named = replace(request, name=path.name)
    spec = named.spec(steps, weights=path.name, weights_sha256=weights.file_digest(path), pooling="output")
    return network.backbone(module, spec, request)
