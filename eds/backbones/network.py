"""A network as a backbone: run by the chosen runtime, after a comparison with plain torch."""

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import torch

from eds.backbones import runtimes
from eds.backbones.on_torch import Normalised
from eds.backbones.request import Request
from eds.backbones.spec import BackboneSpec
from eds.backbones.vectors import check_batch, finish
from eds.errors import InputError

CLOSE = 1e-5  # largest cosine distance of a float32 runtime to plain torch


class NetworkBackbone:
    """An image encoder made of a torch network."""

    def __init__(self, spec: BackboneSpec, runner: runtimes.Runner) -> None:
        self.spec, self._runner = spec, runner

    def encode(self, batch: npt.NDArray[np.uint8]) -> npt.NDArray[np.float32]:
        """uint8 (n, side, side, 3) to float32 (n, dimension)."""
        check_batch(batch, self.spec.preprocessing.side)
        if not len(batch):
            return np.empty((0, self.spec.dimension), dtype=np.float32)
        return finish(self._runner.run(np.ascontiguousarray(batch)), self.spec)


def backbone(network: torch.nn.Module, spec: BackboneSpec, request: Request) -> NetworkBackbone:
    """The network, set to inference, as the backbone of the spec; dimension and runtime are filled in here.

    `network` takes float32 (n, 3, side, side), normalised, and returns float32 (n, dimension).
    """
    device, runtime = runtimes.choose(request.device, request.runtime)
    if spec.precision == "float16" and device == "cpu" and runtime == "torch":
        raise InputError("torch has no float16 on the cpu", where=request.text, hint="Choose precision=bfloat16.")
    for parameter in network.parameters():
        parameter.requires_grad_(False)
    steps = spec.preprocessing
    module = Normalised(network.eval().float(), steps.mean, steps.std).eval()
    probe = np.random.default_rng(0).integers(0, 256, (2, steps.side, steps.side, 3), dtype=np.uint8)
    expected = _run_plain_torch(module, probe, request)
    runner = runtimes.start(module, steps.side, device, runtime, spec.precision, request.threads)
    backbone = NetworkBackbone(replace(spec, dimension=expected.shape[1], runtime=runner.name), runner)
    if spec.precision == "float32":
        _compare(runner.run(probe), expected, runner.name, request)
    return backbone


def _run_plain_torch(module: Normalised, probe: npt.NDArray[np.uint8], request: Request) -> npt.NDArray[np.float32]:
    """The output of plain torch float32 on the CPU for the probe, uint8 (2, side, side, 3)."""
    side = probe.shape[1]
    try:
        with torch.inference_mode():
            output = module(torch.from_numpy(probe))
    except (RuntimeError, AssertionError, ValueError) as error:
        reason = str(error).strip().splitlines()[0][:200]
        hint = "Use the size that it was made for: ?size=N&crop=N."
        raise InputError(
            f"the network does not accept {side} x {side} pixels ({reason})", where=request.text, hint=hint
        ) from error
    if isinstance(output, torch.Tensor) and not torch.isfinite(output).all():
        hint = "Check the weights: they probably contain NaN or infinity."
        raise InputError("the network returns vectors that are not finite", where=request.text, hint=hint)
    if not isinstance(output, torch.Tensor) or output.ndim != 2:
        shape = tuple(output.shape) if isinstance(output, torch.Tensor) else type(output).__name__
        hint = "Choose a pooling, for example ?pooling=avg."
        raise InputError(f"the network returns {shape}, not one vector per image", where=request.text, hint=hint)
    return output.float().numpy()


def _compare(
    output: npt.NDArray[np.float32], expected: npt.NDArray[np.float32], runtime: str, request: Request
) -> None:
    """Refuse a runtime whose float32 output, (2, dimension), differs from that of torch."""
    left, right = output.astype(np.float64), expected.astype(np.float64)
    lengths = np.linalg.norm(left, axis=1) * np.linalg.norm(right, axis=1)
    distance = 1 - (left * right).sum(axis=1) / np.where(lengths > 0, lengths, 1)
    if not np.all(np.isfinite(output)) or np.any((distance > CLOSE) & (lengths > 0)):
        raise InputError(
            f"runtime {runtime} differs from torch by a cosine distance of {distance.max():.1e} (allowed {CLOSE:.0e})",
            where=request.text,
            hint="Choose --runtime torch --device cpu.",
        )
