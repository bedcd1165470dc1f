"""Small networks to be trained from scratch: `cnn:dsh`, of deep supervised hashing, for images of 28 to 96 pixels."""

from dataclasses import replace
from pathlib import Path

import torch

from eds.backbones import network, weights
from eds.backbones.preprocessing import Preprocessing
from eds.backbones.request import Request
from eds.errors import InputError, UnknownNameError

EXTRA = "vision"

SIDE, LEAST = 32, 16  # pixels
FEATURES = 500
CHANNELS = (32, 32, 64)
STEPS = Preprocessing("squash", SIDE, "bilinear", None, "RGB", (0.5,) * 3, (0.5,) * 3)


class DshNetwork(torch.nn.Module):
    """Three convolutions with pooling and a fully connected layer; a hash layer is the second one.

    Source: Liu et al. 2016, Deep Supervised Hashing, section 3: 32, 32 and 64 filters of 5 x 5, 500 units.
    """

    def __init__(self, side: int) -> None:
        super().__init__()
        layers: list[torch.nn.Module] = []
        last, width = 3, side
        for number, channels in enumerate(CHANNELS):
            pool = torch.nn.AvgPool2d(3, 2) if number else torch.nn.MaxPool2d(3, 2)
            convolution = torch.nn.Conv2d(last, channels, 5, padding=2)
            layers += [convolution, torch.nn.ReLU(), pool] if number else [convolution, pool, torch.nn.ReLU()]
            last, width = channels, (width - 3) // 2 + 1
        layers += [torch.nn.Flatten(), torch.nn.Linear(last * width * width, FEATURES), torch.nn.ReLU()]
        self.layers = torch.nn.Sequential(*layers)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Features (n, 500) of images (n, 3, side, side)."""
        features: torch.Tensor = self.layers(images)
        return features


NETWORKS = {"dsh": DshNetwork}


def load(request: Request) -> network.NetworkBackbone:
    """Load a network with weights of a file, or random ones."""
    request.allow_only()
    path = Path(request.weights).expanduser() if request.weights else None
    if (path is None) != request.random_init:
        raise InputError(
            "this network has no weights of its own" if path is None else "weights and random_init contradict",
            where=request.text,
            hint="Train it (eds training hash NAME --network cnn:dsh), or name a file: cnn:dsh@FILE.",
        )
    return build(request, request.name, path)


def build(request: Request, name: str, path: Path | None) -> network.NetworkBackbone:
    """The network `name` with the weights of a file, or random ones without a path."""
    if name not in NETWORKS:
        raise UnknownNameError(f"no network cnn:{name}", hint=f"Known: {', '.join(NETWORKS)}.")
    steps = request.preprocessing(STEPS)
    if steps.side < LEAST:
        raise InputError(f"images of {steps.side} pixels", where=request.text, hint=f"Give at least {LEAST}: ?size=32.")
    model = weights.build_seeded(lambda: NETWORKS[name](steps.side)).eval()
    if path is not None:
        state = weights.rename_keys(weights.read(path, request.option("entry")), request.key_map)
        weights.fit(model, state, str(path))
    digest = weights.file_digest(path) if path else weights.tensors_digest(model.state_dict())
    spec = replace(request.spec(STEPS, weights_sha256=digest, pooling="none"), licence="not stated")
    return network.backbone(model, spec, request)
