"""Several devices for one run: each computes the network on its part of a batch, and the loss sees the whole batch."""

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.func import functional_call

from eds.backbones.runtimes import choose
from eds.errors import InputError


def devices_of(text: str) -> list[torch.device]:
    """The devices that a text names, as `cuda` or `cuda:0,cuda:1`; raises InputError if one does not exist.

    >>> devices_of("cpu")
    [device(type='cpu')]
    """
    found = [torch.device(choose(part.strip(), "torch")[0]) for part in text.split(",")]
    if len({device.type for device in found}) > 1:
        raise InputError(f"devices {text} are of several kinds", hint="Name devices of one kind: cuda:0,cuda:1.")
    return found


def spread(network: torch.nn.Module, pictures: Tensor, devices: Sequence[torch.device]) -> Tensor:
    """The network's output for a batch, computed in equal parts on the devices and gathered on the first.

    The other devices have copies of the weights, made for this batch, and gradients flow back through them: one
    process, one order of random numbers, and a loss on pairs still compares all images of a batch. Layers that
    normalise by batch see their part; running means are those of the first device.
    """
    if len(devices) < 2 or len(pictures) < 2 * len(devices):
        found: Tensor = network(pictures)
        return found
    weights = {**dict(network.named_parameters()), **dict(network.named_buffers())}
    outputs = []
    for device, part in zip(devices, pictures.tensor_split(len(devices)), strict=True):
        copies = {name: tensor.to(device) for name, tensor in weights.items()}
        outputs.append(functional_call(network, copies, (part.to(device),)).to(devices[0]))
    return torch.cat(outputs)
