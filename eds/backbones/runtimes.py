"""Device and library of inference: chosen by name, recorded in the spec, never substituted."""

import importlib.util
from typing import Protocol

import numpy as np
import numpy.typing as npt
import torch

from eds import choices
from eds.errors import InputError, MissingExtraError


class Runner(Protocol):
    """A network ready to run: uint8 (n, side, side, 3) to float32 (n, dimension)."""

    name: str

    def run(self, batch: npt.NDArray[np.uint8]) -> npt.NDArray[np.float32]:
        """The network's output for the batch."""
        ...


class Normalised(torch.nn.Module):
    """A network on bytes: uint8 (n, side, side, 3), normalised by mean and std in its first layer."""

    mean: torch.Tensor
    std: torch.Tensor

    def __init__(self, network: torch.nn.Module, mean: tuple[float, ...], std: tuple[float, ...]) -> None:
        super().__init__()
        self.network = network
        self.register_buffer("mean", torch.tensor(mean, dtype=torch.float32))
        self.register_buffer("std", torch.tensor(std, dtype=torch.float32))

    def forward(self, batch: torch.Tensor) -> torch.Tensor:
        """The network's output for a batch of bytes; permuting the channels last moves no data."""
        values = (batch.float() / 255 - self.mean) / self.std
        output: torch.Tensor = self.network(values.permute(0, 3, 1, 2))
        return output


def choose(device: str, runtime: str) -> tuple[str, str]:
    """Resolve the requested device (cpu, cuda, cuda:1, mps) and runtime (openvino, torch)."""
    choices.check(choices.Runtime, runtime, "runtime")
    device = _device(device)
    if runtime == "auto":
        runtime = "openvino" if device == "cpu" else "torch"
    if runtime == "openvino":
        if device != "cpu":
            raise InputError(f"runtime openvino runs on the cpu, not on {device}", hint="Choose --runtime torch.")
        if importlib.util.find_spec("openvino") is None:
            raise MissingExtraError(
                "the package openvino is not installed",
                hint='Run: pip install "eds[vision]"; or choose --runtime torch, which is 2 to 6 times slower.',
            )
    return device, runtime


def start(network: Normalised, side: int, device: str, runtime: str, precision: str, threads: int | None) -> Runner:
    """Load the network on the device with the library of that runtime."""
    if runtime == "openvino":
        from eds.backbones.on_openvino import OpenVinoRunner, of_network

        return OpenVinoRunner(of_network(network, side), precision, threads)
    from eds.backbones.on_torch import TorchRunner

    return TorchRunner(network, device, precision, threads)


def _device(device: str) -> str:
    mps = torch.backends.mps.is_available()
    if device == "auto":
        return "cuda" if torch.cuda.is_available() else "mps" if mps else "cpu"
    kind, _, number = device.partition(":")
    if kind not in ("cpu", "cuda", "mps") or (number and not number.isdigit()):
        raise InputError(f"device is {device!r}", hint="Use auto, cpu, cuda, cuda:NUMBER or mps.")
    there = {"cpu": 1, "cuda": torch.cuda.device_count(), "mps": int(mps)}[kind]
    if int(number or 0) >= there:
        raise InputError(f"device {device} does not exist", hint=f"Choose another; available {kind} devices: {there}.")
    return kind if kind == "cpu" else device
