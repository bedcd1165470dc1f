"""Images a second on the CPU: our path against a plain loop over timm's eager float32, in one run.

    python -m tests.speed.inference [--seconds 8] [--images 32] [--threads N]

Each way has a process of its own, as its user has: how quick the plain loop is depends on whether the allocator keeps
the memory of its layers, and loading anything big in the same process changes that (with ours beside it, it has been
seen up to twice as quick: `--together`). Rounds of both alternate, threads come to rest in between, and the best
round of each counts, since noise only ever adds. Goals: 5 times for efficientnet-lite0, 2 times for ViT-S/16, at a
cosine distance of 1e-5 or less.
"""

import argparse
import os
import statistics
import tempfile
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import timm
import torch
from safetensors.torch import save_file

MODELS = {"tf_efficientnet_lite0": 5.0, "vit_small_patch16_224": 2.0}
REST = 0.2  # seconds
Way = Callable[[str, Path, int, int | None], tuple[float, npt.NDArray[np.float32]]]


def main() -> None:
    """Print one line for each model."""
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("--seconds", type=float, default=8.0, help="time for each model")
    reader.add_argument("--images", type=int, default=32, help="images in a batch")
    reader.add_argument("--together", action="store_true", help="both ways in one process")
    reader.add_argument(
        "--threads",
        type=int,
        help="of both ways (default: all cores); 1 on a busy machine, where "
        "torch's threads wait for one another and the ratio flatters us",
    )
    options = reader.parse_args()
    print(f"cores {os.cpu_count()}, load {os.getloadavg()[0]:.1f}, torch threads {torch.get_num_threads()}")
    for name, goal in MODELS.items():
        with tempfile.TemporaryDirectory() as folder:
            weights = Path(folder) / "w.safetensors"
            torch.manual_seed(0)
            state = timm.create_model(name, pretrained=False, num_classes=0).state_dict()
            save_file({key: tensor.contiguous() for key, tensor in state.items()}, weights)
            compare(name, goal, weights, options)


def compare(name: str, goal: float, weights: Path, options: argparse.Namespace) -> None:
    """Time one model, both ways."""
    from tests.reference.backbones import distance, normalised

    given: Any = (name, weights, options.images, options.threads)
    with _process() as one, _process() as other:
        ways: list[tuple[ProcessPoolExecutor, Way]] = [(one, plain), (one if options.together else other, ours)]
        found = [process.submit(way, *given).result()[1] for process, way in ways]
        times: list[list[float]] = [[], []]
        end = time.perf_counter() + options.seconds
        while len(times[0]) < 3 or time.perf_counter() < end:
            for (process, way), taken in zip(ways, times, strict=True):
                time.sleep(REST)
                taken.append(process.submit(way, *given).result()[0])
    theirs, mine = min(times[0]), min(times[1])
    far = distance(found[1], normalised(found[0]))
    verdict = "reached" if theirs / mine >= goal and far <= 1e-5 else "MISSED"
    median = statistics.median(times[0]) / statistics.median(times[1])
    print(
        f"{name}: plain {options.images / theirs:.0f} images/s, eds {options.images / mine:.0f} images/s, "
        f"ratio {theirs / mine:.1f} (goal {goal:.0f}, {verdict}; of the medians {median:.1f}), "
        f"cosine distance {far:.1e}, {len(times[0])} rounds"
    )


def plain(name: str, weights: Path, images: int, threads: int | None) -> tuple[float, npt.NDArray[np.float32]]:
    """Seconds and vectors of the plain loop."""
    model, mean, std = _plain_model(name, weights, threads)
    batch = _pictures(images)
    start = time.perf_counter()
    with torch.no_grad():
        values = [(torch.from_numpy(image).permute(2, 0, 1) / 255 - mean) / std for image in batch]
        found = torch.cat([model(value[None]) for value in values])
    return time.perf_counter() - start, found.numpy()


def ours(name: str, weights: Path, images: int, threads: int | None) -> tuple[float, npt.NDArray[np.float32]]:
    """The same of `eds`."""
    encode, batch = _our_model(name, weights, threads).encode, _pictures(images)
    start = time.perf_counter()
    found = encode(batch)
    return time.perf_counter() - start, found


@cache
def _plain_model(name: str, weights: Path, threads: int | None) -> tuple[torch.nn.Module, torch.Tensor, torch.Tensor]:
    """The network as timm loads it, with the mean and the deviation that its settings tell."""
    if threads:
        torch.set_num_threads(threads)
    model = timm.create_model(name, checkpoint_path=str(weights), num_classes=0).eval()
    settings: Any = model.pretrained_cfg
    mean, std = (torch.tensor(settings[value]).view(3, 1, 1) for value in ("mean", "std"))
    return model, mean, std


@cache
def _our_model(name: str, weights: Path, threads: int | None) -> Any:
    from eds.backbones import load

    return load(f"timm:{name}@{weights}", threads=threads)


def _pictures(images: int) -> npt.NDArray[np.uint8]:
    return np.random.default_rng(0).integers(0, 256, (images, 224, 224, 3), dtype=np.uint8)


def _process() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(1, get_context("spawn"), initializer=warnings.simplefilter, initargs=("ignore",))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
