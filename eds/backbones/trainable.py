"""The torch network of a backbone for training, with its preprocessing and the options that load its weights again."""

from dataclasses import dataclass

import torch

from eds.backbones.families.checkpoint import complete
from eds.backbones.loading import load
from eds.backbones.network import NetworkBackbone
from eds.backbones.on_torch import TorchRunner
from eds.backbones.preprocessing import Preprocessing
from eds.backbones.repository import Repository
from eds.backbones.request import Request
from eds.errors import InputError

ARCHITECTURES = "timm:NAME, wheel:NAME, cnn:NAME, or checkpoint:PATH[?arch=timm:NAME]"


@dataclass(frozen=True)
class Trainable:
    """A network from float32 (n, 3, side, side) to features (n, dimension), not normalised."""

    network: torch.nn.Module
    preprocessing: Preprocessing
    dimension: int
    architecture: str  # value of option `arch` of family checkpoint
    text: str  # the backbone's own
    weights_sha256: str

    def checkpoint_options(self) -> dict[str, str]:
        """The options with which family checkpoint loads weights of this network and prepares images as here."""
        steps = self.preprocessing
        mean, std = (",".join(map(repr, values)) for values in (steps.mean, steps.std))
        parts = {
            "arch": self.architecture,
            "channels": steps.channels,
            "crop": steps.crop or 0,
            "interpolation": steps.interpolation,
            "mean": mean,
            "resize": steps.resize,
            "size": steps.size,
            "std": std,
        }
        if steps.background != Preprocessing.background:
            parts["background"] = ",".join(map(str, steps.background))
        if steps.draft:
            parts["draft"] = "true"
        return {name: str(value) for name, value in parts.items()}


def trainable(text: str) -> Trainable:
    """The network of a backbone's text, on the CPU, with all weights trainable."""
    request = complete(Request.parse(text))
    names = {
        "timm": f"timm:{_timm_architecture(request)}",
        "wheel": f"timm:tf_{request.name}",
        "cnn": f"cnn:{request.name}",
    }
    architecture = names[request.loader] if request.loader in names else request.option("arch")
    if not architecture.startswith(("timm:", "cnn:")) or request.option("output", "pooled") != "pooled":
        raise InputError("this backbone cannot be trained here", where=text, hint=f"Name one of {ARCHITECTURES}.")
    backbone = load(text, device="cpu", runtime="torch")
    runner = backbone._runner if isinstance(backbone, NetworkBackbone) else None
    if not isinstance(runner, TorchRunner):
        raise InputError("this backbone has no torch network", where=text, hint=f"Name one of {ARCHITECTURES}.")
    network = runner._network.network
    for parameter in network.parameters():
        parameter.requires_grad_(True)
    spec = backbone.spec
    return Trainable(network, spec.preprocessing, spec.dimension, architecture, spec.text, spec.weights_sha256)


def _timm_architecture(request: Request) -> str:
    """The name of the network in timm, without the tag of its weights."""
    repository = Repository.of(request) if request.loader == "timm" else None
    if repository is None:
        return request.name.partition(".")[0]
    from eds.backbones.families.timm import read_repository

    _, architecture, arguments = read_repository(repository)
    if arguments:
        hint = "Train the architecture by its name in timm."
        raise InputError(f"this network has arguments of its own {arguments}", where=request.text, hint=hint)
    return architecture
