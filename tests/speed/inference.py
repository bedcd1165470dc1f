"""Images a second on the CPU: our path against a plain loop over timm's eager float32, in one run.

    python tests/speed/inference.py [--seconds 8] [--images 32] [--threads N]

Rounds of both alternate, and the best round of each counts, since noise only ever adds. Goals: 5 times
for efficientnet-lite0, 2 times for ViT-S/16, at a cosine distance of 1e-5 or less.
"""

import argparse
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import timm
import torch
from safetensors.torch import save_file

sys.path.insert(0, str(Path(__file__).parents[2]))

from eds.backbones import load
from tests.reference.backbones import distance, normalised

MODELS = {"tf_efficientnet_lite0": 5.0, "vit_small_patch16_224": 2.0}


def main() -> None:
    """Print one line for each model."""
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("--seconds", type=float, default=8.0, help="time for each model")
    reader.add_argument("--images", type=int, default=32, help="images in a batch")
    reader.add_argument(
        "--threads",
        type=int,
        help="of both ways (default: all cores); 1 on a busy machine, where "
        "torch's threads wait for one another and the ratio flatters us",
    )
    options = reader.parse_args()
    if options.threads:
        torch.set_num_threads(options.threads)
    print(f"cores {os.cpu_count()}, load {os.getloadavg()[0]:.1f}, torch threads {torch.get_num_threads()}")
    for name, goal in MODELS.items():
        compare(name, goal, options.images, options.seconds, options.threads)


def compare(name: str, goal: float, images: int, seconds: float, threads: int | None) -> None:
    """Time one model, both ways."""
    torch.manual_seed(0)
    model = timm.create_model(name, pretrained=False, num_classes=0).eval()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "w.safetensors"
        save_file({key: tensor.contiguous() for key, tensor in model.state_dict().items()}, path)
        start = time.perf_counter()
        ours = load(f"timm:{name}@{path}", threads=threads)
        loading = time.perf_counter() - start
    steps = ours.spec.preprocessing
    batch = np.random.default_rng(0).integers(0, 256, (images, steps.side, steps.side, 3), dtype=np.uint8)
    mean, std = (torch.tensor(value).view(3, 1, 1) for value in (steps.mean, steps.std))

    def plain() -> torch.Tensor:
        with torch.no_grad():
            values = [(torch.from_numpy(image).permute(2, 0, 1) / 255 - mean) / std for image in batch]
            return torch.cat([model(value[None]) for value in values])

    theirs, mine, rounds = _alternating(plain, lambda: ours.encode(batch), seconds)
    far = distance(ours.encode(batch), normalised(plain().numpy()))
    ratio = theirs / mine
    verdict = "reached" if ratio >= goal and far <= 1e-5 else "MISSED"
    print(
        f"{name}: plain {images / theirs:.0f} images/s, eds ({ours.spec.runtime}) {images / mine:.0f} images/s, "
        f"ratio {ratio:.1f} (goal {goal:.0f}, {verdict}), cosine distance {far:.1e}, "
        f"load {loading:.1f} s, {rounds} rounds"
    )


def _alternating(first: Callable[[], object], second: Callable[[], object], seconds: float) -> tuple[float, float, int]:
    """The best time of each, in seconds, of rounds that take turns."""
    best, rounds, end = [float("inf"), float("inf")], 0, time.perf_counter() + seconds
    first(), second()
    while rounds < 2 or time.perf_counter() < end:
        for place, action in enumerate((first, second)):
            start = time.perf_counter()
            action()
            best[place] = min(best[place], time.perf_counter() - start)
        rounds += 1
    return best[0], best[1], rounds


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
