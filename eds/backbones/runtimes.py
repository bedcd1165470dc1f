"""Device and library of inference: chosen by name, recorded in the spec, never substituted."""

import importlib.util
from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt

from eds import choices
from eds.distribution import install
from eds.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from eds.backbones.on_torch import Normalised


INSTALL = f"Run: {install('vision')}."


class Runner(Protocol):
    """A network ready to run: uint8 (n, side, side, 3) to float32 (n, dimension)."""

    name: str

    def run(self, batch: npt.NDArray[np.uint8]) -> npt.NDArray[np.float32]:
        """The network's output for the batch."""
        ...


def choose(device: str, runtime: str) -> tuple[str, str]:
    """Resolve the requested device (cpu, cuda, cuda:1, mps) and runtime (openvino, torch)."""
    choices.check(choices.Runtime, runtime, "runtime")
    device = _device(device)
    if runtime == "torch" and not _installed("torch"):
        raise MissingExtraError("runtime torch needs the package torch, which is not installed", hint=INSTALL)
    if runtime == "auto":
        runtime = "openvino" if device == "cpu" else "torch"
    if runtime == "openvino":
        if device != "cpu":
            raise InputError(f"runtime openvino runs on the cpu, not on {device}", hint="Choose --runtime torch.")
        if not _installed("openvino"):
            hint = f"Run: {install('onnx')}; or choose --runtime torch, which is 2 to 6 times slower."
            raise MissingExtraError("the package openvino is not installed", hint=hint)
    return device, runtime


def start(network: "Normalised", side: int, device: str, runtime: str, precision: str, threads: int | None) -> Runner:
    """Load the network on the device with the library of that runtime."""
    if runtime == "openvino":
        from eds.backbones.on_openvino import OpenVinoRunner, of_network

        return OpenVinoRunner(of_network(network, side), precision, threads)
    from eds.backbones.on_torch import TorchRunner

    return TorchRunner(network, device, precision, threads)


def _device(device: str) -> str:
    kind, _, number = device.partition(":")
    if kind not in ("auto", "cpu", "cuda", "mps") or (number and not number.isdigit()):
        raise InputError(f"device is {device!r}", hint="Use auto, cpu, cuda, cuda:NUMBER or mps.")
    if kind in ("auto", "cpu") and not _installed("torch"):
        return "cpu"
    if not _installed("torch"):
        raise MissingExtraError(f"device {device} needs the package torch, which is not installed", hint=INSTALL)
    import torch

    mps = torch.backends.mps.is_available()
    if device == "auto":
        return "cuda" if torch.cuda.is_available() else "mps" if mps else "cpu"
    there = {"cpu": 1, "cuda": torch.cuda.device_count(), "mps": int(mps)}.get(kind, 0)
    if int(number or 0) >= there:
        raise InputError(f"device {device} does not exist", hint=f"Choose another; available {kind} devices: {there}.")
    return kind if kind == "cpu" else device


def _installed(package: str) -> bool:
    return importlib.util.find_spec(package) is not None
