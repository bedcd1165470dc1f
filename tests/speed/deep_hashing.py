"""Deep hashing beside plain PyTorch: joint training of the DSH network, and encoding 60,000 images of 28 pixels.

Both sides on one thread, in turn, the best of three; ratios within one run: python -m tests.speed.deep_hashing.
`--long`: epochs of 5,000 images and 60,000 images to encode; else a tenth of it.
"""

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from eds.backbones.families.cnn import DshNetwork
from eds.backbones.trainable import trainable
from eds.training.deep_hash import _DeepHashTask
from eds.training.hash_data import HashData
from eds.training.hash_objective import Design
from eds.training.loop import fit
from eds.training.objectives.dsh import dsh_loss
from eds.training.plan import Plan
from eds.training.splits import Split
from eds.training.supervision import Supervision

NETWORK, BITS, BATCH, CLASSES = "cnn:dsh?size=28&random_init=true", 12, 100, 10
Pixels = NDArray[np.uint8]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--long", action="store_true")
    large = options.parse_args().long
    torch.set_num_threads(1)
    images, encoded = (5000, 60_000) if large else (1000, 6000)
    pixels = np.random.default_rng(0).integers(0, 256, (encoded, 28, 28, 3), dtype=np.uint8)
    kinds = np.arange(encoded) % CLASSES
    rows = np.arange(images)
    data = HashData("drawn", pixels[..., 0], pd.Series(kinds.astype(str)))
    labels = data.labels(Split(rows, rows[:0], rows[:0], rows[:0]))
    with TemporaryDirectory() as place:
        ours, plain = in_turn(
            lambda turn: train_ours(pixels, labels, Path(place) / f"run{turn}"),
            lambda _: train_plain(pixels, kinds, images),
        )
    print(
        f"joint training, an epoch of {images:,} images: {ours:.2f} s, plain loop {plain:.2f} s, {ours / plain:.2f} x"
    )
    task = made(pixels, labels)
    ours, plain = in_turn(lambda _: task.codes(np.arange(encoded)), lambda _: forward(task, pixels))
    print(f"encoding {encoded:,} images: {ours:.2f} s, raw forward pass {plain:.2f} s, {ours / plain:.2f} x")


def in_turn(one: Callable[[int], Any], two: Callable[[int], Any]) -> tuple[float, float]:
    """The best time of each, three turns."""
    times: tuple[list[float], list[float]] = ([], [])
    for turn in range(3):
        for ways, way in zip(times, (one, two), strict=True):
            started = time.perf_counter()
            way(turn)
            ways.append(time.perf_counter() - started)
    return min(times[0]), min(times[1])


def made(pixels: Pixels, labels: Supervision) -> _DeepHashTask:
    plan = Plan(epochs=1, batch=BATCH, keep="last")
    return _DeepHashTask(trainable(NETWORK), pixels, labels, Design(BITS, "dsh"), plan, 0, "cpu", 0)


def train_ours(pixels: Pixels, labels: Supervision, folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    task = made(pixels, labels)
    fit(task, task.plan, folder, {"speed": 1})


def train_plain(pixels: Pixels, kinds: NDArray[np.int64], images: int) -> None:
    """What somebody writes who wants this network with this loss and nothing else."""
    network = torch.nn.Sequential(DshNetwork(28), torch.nn.Linear(500, BITS))
    optimizer = torch.optim.Adam(network.parameters(), 1e-3, weight_decay=5e-5)
    left, right = torch.triu_indices(BATCH, BATCH, 1)
    for rows in np.random.default_rng(0).permutation(images).reshape(-1, BATCH):
        batch = torch.from_numpy(pixels[rows]).permute(0, 3, 1, 2).float() / 127.5 - 1
        flipped = torch.rand(len(batch)) < 0.5
        batch[flipped] = batch[flipped].flip(-1)
        codes, kind = network(batch), torch.from_numpy(kinds[rows])
        different = (kind[left] != kind[right]).long()
        loss = dsh_loss(codes[left], codes[right], different, 2.0 * BITS, 0.01) / len(left)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()


def forward(task: _DeepHashTask, pixels: Pixels) -> None:
    """The network and the head's layer on batches of prepared images."""
    network = torch.nn.Sequential(task.module["backbone"], task.head).eval()
    with torch.inference_mode():
        for start in range(0, len(pixels), BATCH):
            batch = torch.from_numpy(pixels[start : start + BATCH]).permute(0, 3, 1, 2).float() / 127.5 - 1
            network(batch)


if __name__ == "__main__":
    main()
