"""A benchmark of hash functions: methods by code length and seed, queries against a database, on one dataset.

Each cell (method, bits, seed) is kept as a file, and a second call computes what is missing. Networks are trained from
their start in each cell; baselines are fitted to the pixels of the same training images.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eds.errors import EdsError, InputError
from eds.hashing.codes import pack
from eds.io.files import replacing, write_text
from eds.registry import BASELINES
from eds.training.cells import Cell, measure_cell
from eds.training.hash_data import HashData
from eds.training.hash_losses import TWO_LEVEL, Pairing, Scale, check_objective
from eds.training.hash_objective import Design
from eds.training.heads import check_bits
from eds.training.plan import Plan
from eds.training.splits import Split
from eds.training.supervision import Supervision

Progress = Callable[[int, int], None]
OPTIONS = ("scale", "margin", "alpha", "bins")
BLOCK = 4096  # images that a baseline encodes at once


@dataclass(frozen=True)
class Method:
    """A baseline or an objective, with options: `dsh?alpha=0.1&margin=1`."""

    text: str
    objective: str
    scale: Scale = field(default_factory=Scale)
    pairing: Pairing = field(default_factory=Pairing)
    bins: int | None = None

    @classmethod
    def parse(cls, text: str) -> "Method":
        """Parse a method; raises InputError for an unknown one, or for options that it does not have.

        >>> Method.parse("talr-ap?scale=1:20").scale
        Scale(first=1.0, last=20.0)
        """
        name, _, options = text.partition("?")
        pairs = dict(part.partition("=")[::2] for part in options.split("&") if part)
        if strange := [key for key in pairs if key not in OPTIONS]:
            raise InputError(f"unknown option {strange[0]}", where=text, hint=f"Known: {', '.join(OPTIONS)}.")
        try:
            numbers = {key: float(pairs[key]) for key in ("margin", "alpha") if key in pairs}
            bins = int(pairs["bins"]) if "bins" in pairs else None
        except ValueError as error:
            raise InputError(
                "margin, alpha and bins are numbers", where=text, hint="Write dsh?alpha=0.01 or talr-ap?bins=16."
            ) from error
        found = cls(text, name, Scale.parse(pairs.get("scale", "1")), Pairing(**numbers), bins)
        check_objective(name, "both" if name == TWO_LEVEL else "category", found.pairing)
        if found.trained is False and "scale" in pairs:
            raise InputError(f"{name} has no scale", where=text, hint="Leave it out.")
        if bins is not None:
            Design(max(bins, 1), name, bins=bins)  # refused where the objective has none
        return found

    @property
    def trained(self) -> bool:
        """Whether a network is trained, rather than a baseline computed."""
        return self.objective not in BASELINES

    def design(self, bits: int) -> Design:
        """The codes to learn."""
        return Design(bits, self.objective, scale=self.scale, pairing=self.pairing, bins=self.bins)


@dataclass(frozen=True)
class Setting:
    """What every cell shares: the split's name, the network, and how it is trained."""

    split: str
    network: str
    plan: Plan
    crop: int = 0
    device: str = "cpu"
    k: int | None = None  # cut of the lists; None: whole

    def identity(self, digest: str, method: Method, bits: int, seed: int) -> dict[str, Any]:
        """What decides a cell's numbers; the digest is of the data."""
        trained = {"network": self.network, "crop": self.crop, "plan": replace(self.plan, seed=seed).identity()}
        found = {"data": digest, "split": self.split, "k": self.k, "method": method.text, "bits": bits}
        return {**found, "seed": seed, **(trained if method.trained else {})}


def run_cells(
    data: HashData,
    methods: list[Method],
    lengths: list[int],
    seeds: list[int],
    setting: Setting,
    folder: Path,
    progress: Progress | None = None,
    say: Callable[[str], None] | None = None,
) -> list[Cell]:
    """Every cell, seed by seed, read where its file exists. A method that cannot be fitted is reported as such."""
    for bits in lengths:
        check_bits(bits)
    cells, done = [], 0
    costs = {method.text: setting.plan.epochs + 1 if method.trained else 1 for method in methods}
    total = sum(costs.values()) * len(lengths) * len(seeds)
    identify = _identities(data, setting)
    for seed in seeds:
        parts = data.split(setting.split, seed)
        if not len(parts.test) or not len(parts.database):
            raise InputError("the split has no test queries, or nothing to compare them with", where=setting.split)
        for bits in lengths:
            for method in methods:
                before = done
                identity = identify(method, bits, seed)
                key = _key(identity)
                cell = _read_cell(folder, key)
                if cell is None:

                    def epochs(epoch: int, _: int, before: int = before) -> None:
                        if progress:
                            progress(before + epoch, total)

                    cell = _compute(data, method, bits, seed, parts, setting, folder, key, epochs)
                    if say:
                        say(_told(cell))
                cells.append(cell)
                done += costs[method.text]
                if progress:
                    progress(done, total)
    return cells


def network_pixels(data: HashData, network: str, folder: Path, progress: Progress | None = None) -> NDArray[np.uint8]:
    """The images as the network takes them, uint8 (n, side, side, 3), memory-mapped from `folder`."""
    from eds.backbones.trainable import trainable

    steps = trainable(network).preprocessing
    pixels = data.pixels
    if pixels.ndim == 4 and pixels.shape[1:3] == (steps.side, steps.side) and steps.resize in ("squash", "none"):
        return pixels
    file, note = folder / "pixels.npy", folder / "pixels.npy.sha256"
    digest = hashlib.sha256(f"{data.digest} {steps.digest}".encode()).hexdigest()
    if not (file.exists() and note.exists() and note.read_text(encoding="utf-8") == digest):
        with replacing(file) as temporary:
            shape = (len(pixels), steps.side, steps.side, 3)
            made = np.lib.format.open_memmap(temporary, mode="w+", dtype=np.uint8, shape=shape)
            for row, picture in enumerate(pixels):
                colour = np.repeat(picture[..., None], 3, axis=2) if picture.ndim == 2 else picture
                made[row] = steps.pixels(np.ascontiguousarray(colour))
                if progress and row % 1000 == 999:
                    progress(row + 1, len(pixels))
            made.flush()
        write_text(note, digest)
    prepared: NDArray[np.uint8] = np.load(file, mmap_mode="r")
    return prepared


def _compute(
    data: HashData,
    method: Method,
    bits: int,
    seed: int,
    parts: Split,
    setting: Setting,
    folder: Path,
    key: str,
    epochs: Progress,
) -> Cell:
    started = perf_counter()
    labels = data.labels(parts)
    try:
        if method.objective == TWO_LEVEL and data.fine is None:
            raise InputError("the images have one level of classes", where=method.text, hint="Use cifar100.")
        if method.trained:
            codes = _trained_codes(data, method, bits, seed, parts, setting, folder, key, epochs)
        else:
            codes = _baseline_codes(data, method, bits, seed, parts, labels)
        packed, _ = pack(codes)
        found = measure_cell(packed, bits, labels, parts, setting.k)
    except EdsError as error:
        return Cell(method.text, bits, seed, method.trained, key, failed=f"{error.what} {error.hint}".strip())
    file = folder / "cells" / f"{key}.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    with replacing(file.with_suffix(".npy")) as temporary, temporary.open("wb") as stream:
        np.save(stream, packed, allow_pickle=False)
    cell = Cell(method.text, bits, seed, method.trained, key, **found, seconds=round(perf_counter() - started, 2))
    write_text(file, json.dumps(asdict(cell), indent=1))
    return cell


def _trained_codes(
    data: HashData,
    method: Method,
    bits: int,
    seed: int,
    parts: Split,
    setting: Setting,
    folder: Path,
    key: str,
    epochs: Progress,
) -> NDArray[np.int8]:
    from eds.backbones.trainable import trainable
    from eds.training.deep_hash import fit_deep_hash

    pixels = network_pixels(data, setting.network, folder)
    labels = data.labels(parts, "both" if method.objective == TWO_LEVEL else "category")
    run = folder / "runs" / key
    found = fit_deep_hash(
        trainable(setting.network),
        pixels,
        labels,
        method.design(bits),
        replace(setting.plan, seed=seed),
        run,
        crop=setting.crop,
        device=setting.device,
        progress=epochs,
    )
    return found.codes


def _baseline_codes(
    data: HashData, method: Method, bits: int, seed: int, parts: Split, labels: Supervision
) -> NDArray[np.int8]:
    flat = data.pixels.reshape(len(data.pixels), -1)
    kinds = np.unique(next(iter(labels.classes().values()))[parts.train], return_inverse=True)[1]
    head = BASELINES.load(method.objective)(_scaled(flat[parts.train]), bits, seed, kinds)
    codes = np.ones((len(flat), bits), np.int8)
    rows = np.unique(np.concatenate([parts.test, parts.database]))
    for start in range(0, len(rows), BLOCK):
        part = rows[start : start + BLOCK]
        codes[part] = head.codes(_scaled(flat[part]))
    return codes


def _scaled(pixels: NDArray[np.uint8]) -> NDArray[np.float32]:
    return np.asarray(pixels, np.float32) / np.float32(255)


def _identities(data: HashData, setting: Setting) -> Callable[[Method, int, int], dict[str, Any]]:
    """The identity of a cell, with the data's digest computed once."""
    digest = data.digest

    def identify(method: Method, bits: int, seed: int) -> dict[str, Any]:
        return setting.identity(digest, method, bits, seed)

    return identify


def _read_cell(folder: Path, key: str) -> Cell | None:
    """A finished cell of the same data and setting."""
    file = folder / "cells" / f"{key}.json"
    if not (file.exists() and file.with_suffix(".npy").exists()):
        return None
    try:
        return Cell(**json.loads(file.read_text(encoding="utf-8")))
    except (ValueError, TypeError):  # damaged: computed again
        return None


def _key(identity: Mapping[str, Any]) -> str:
    """The name of a cell's files: readable, and another for any other setting."""
    digest = hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()[:10]
    name = "".join(sign if sign.isalnum() or sign in "-." else "_" for sign in identity["method"])
    return f"{name}-{identity['bits']}-{identity['seed']}-{digest}"


def _told(cell: Cell) -> str:
    name = f"{cell.method}, {cell.bits} bits, seed {cell.seed}"
    if cell.failed:
        return f"{name}: {cell.failed}"
    return f"{name}: mAP {cell.map:.4f}, mLGAP {cell.mlgap:.4f}, {cell.distinct:,} codes ({cell.seconds:.0f} s)"
