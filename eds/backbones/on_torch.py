"""Networks run by torch: on GPUs, and on the CPU if OpenVINO is not used."""

import threading
from contextlib import ExitStack

import numpy as np
import numpy.typing as npt
import torch

REDUCED = {"bfloat16": torch.bfloat16, "float16": torch.float16}


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


class TorchRunner:
    """One network on one device; `threads` apply on the CPU (default: as torch is set)."""

    def __init__(self, network: Normalised, device: str, precision: str, threads: int | None) -> None:
        self.name = "torch" if device == "cpu" else f"torch-{device.partition(':')[0]}"
        self._device = torch.device(device)
        self._reduced = REDUCED.get(precision)
        self._network = network.eval().to(self._device).to(memory_format=torch.channels_last)
        self._lock = threading.Lock()
        self._threads = threads if device == "cpu" else None

    def run(self, batch: npt.NDArray[np.uint8]) -> npt.NDArray[np.float32]:
        """The network's output, float32 (n, dimension), for uint8 (n, side, side, 3)."""
        with self._lock, torch.inference_mode(), ExitStack() as stack:
            if self._threads is not None:  # the setting is global: it is restored afterwards
                stack.callback(torch.set_num_threads, torch.get_num_threads())
                torch.set_num_threads(self._threads)
            pixels = torch.from_numpy(batch)
            if self._device.type == "cuda":
                pixels = pixels.pin_memory()
                # TF32, the default of convolutions, would round float32 to 10 bits
                stack.enter_context(torch.backends.cudnn.flags(enabled=True, deterministic=True, allow_tf32=False))
            if self._reduced is not None:
                stack.enter_context(torch.autocast(self._device.type, dtype=self._reduced))
            output = self._network(pixels.to(self._device, non_blocking=True))
            result: npt.NDArray[np.float32] = output.float().cpu().numpy()
            return result
