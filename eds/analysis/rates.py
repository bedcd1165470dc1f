"""How fast this installation is: rates from what stands in a project, from a measurement, or assumed and told so."""

import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from eds.analysis.scale import ModelRate, Rate
from eds.neighbors import Rules, mine
from eds.tables import Provenance
from eds.vectors import Model, stored_dtype, write

ASSUMED_IMAGES = Rate(100.0, False, "assumed: 100 images/s, a small network on two cores")
ASSUMED_MINING = Rate(2e10, False, "assumed: 20 billion multiplications a second, two cores; --calibrate measures it")
ASSUMED_READING = Rate(2e8, False, "assumed: 200 MB/s from storage to a machine")
ASSUMED_PICTURE = Rate(100_000.0, False, "assumed: 100 kB a picture")
ASSUMED_DIMENSION = 512
ID_BYTES = 90.0  # of an image's row in ids.parquet, where none was written yet: ids of 20 letters, a digest
LONGEST = 900.0  # seconds of a judgement that are work; what is longer was a pause
GALLERY, QUERIES = 60_000, 500  # vectors that are mined to measure


def model_rate(model: Model, ids_bytes: float | None) -> ModelRate:
    """The rate of a model that has vectors: images/s of its newest run, and the bytes of a vector with its id."""
    bits = model.dtype == "bits"
    stored = model.width * stored_dtype(model.dtype).itemsize
    timed = model.images_per_second > 0
    told = f"{model.name}: measured, {model.images_per_second:,.1f} images/s on this machine"
    rate = Rate(model.images_per_second, True, told) if timed else ASSUMED_IMAGES
    return ModelRate(
        model.name, rate, -(-model.dimension // 32) if bits else model.dimension,
        stored + (ID_BYTES if ids_bytes is None else ids_bytes),
    )  # fmt: skip


def model_rates(known: Sequence[ModelRate], wanted: int) -> list[ModelRate]:
    """The rates of so many models: those that are known, then as many as the slowest and largest of them, assumed."""
    rates = list(known[:wanted])
    timed = [one.images_per_second for one in known if one.images_per_second.measured]
    slowest = min(timed, key=lambda rate: rate.value, default=None)
    rate = ASSUMED_IMAGES if slowest is None else Rate(slowest.value, False, "assumed: as the slowest measured model")
    dimension = max((one.dimension for one in known), default=ASSUMED_DIMENSION)
    size = max((one.vector_bytes for one in known), default=4 * ASSUMED_DIMENSION + ID_BYTES)
    return rates + [ModelRate(f"model {number + 1}", rate, dimension, size) for number in range(len(rates), wanted)]


def mining_rate(dimension: int, *, gallery: int = GALLERY, queries: int = QUERIES) -> Rate:
    """Multiplications (with their additions) a second of exact mining, measured on drawn vectors of that dimension."""
    ids = [f"i{number:07d}" for number in range(gallery)]
    roles = np.where(np.arange(gallery) < queries, "both", "candidate")
    images = pd.DataFrame({"image_id": ids, "product_id": ids, "category": None, "role": roles})
    drawn = np.random.default_rng(0).standard_normal((gallery, dimension), dtype=np.float32)
    made_by = Model("calibration", {}, dimension, "float32", "cosine", "", "", provenance=Provenance("calibration"))
    with tempfile.TemporaryDirectory(prefix="eds-calibrate-") as folder:
        vectors = write(Path(folder) / "calibration", made_by, ids, drawn)
        begun = time.perf_counter()
        mine(vectors, images, Rules(k=100))
        seconds = time.perf_counter() - begun
    rate = queries * gallery * dimension / seconds
    work = f"{queries:,} queries among {gallery:,} vectors of {dimension:,} in {seconds:.1f} s"
    return Rate(rate, True, f"measured now: {rate / 1e9:,.2f} billion multiplications a second, {work}")


def label_rate(seconds: "pd.Series[float]", assumed: float) -> Rate:
    """Seconds of a judgement: the mean of those that were timed, pauses cut; else what is assumed."""
    timed = seconds.dropna().clip(upper=LONGEST)
    if not len(timed) or not timed.mean() > 0:
        return Rate(assumed, False, f"assumed: {assumed:g} s a judgement (budget.seconds)")
    return Rate(float(timed.mean()), True, f"measured: {timed.mean():.1f} s a judgement, the mean of {len(timed):,}")


def picture_rate(sizes: "pd.Series[int]") -> Rate:
    """Bytes of a picture: the mean of those that a scan saw; else what is assumed."""
    if not len(sizes) or not sizes.mean() > 0:
        return ASSUMED_PICTURE
    return Rate(
        float(sizes.mean()), True, f"measured: {sizes.mean() / 1000:,.1f} kB a picture, the mean of {len(sizes):,}"
    )
