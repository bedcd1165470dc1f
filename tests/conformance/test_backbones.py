"""What holds for every backbone, whoever wrote it: a new loader appears here by one line in `TEXTS`."""

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
import torch
from PIL import Image

from eds.backbones import Backbone, BackboneSpec, Preprocessing, Request, load
from eds.registry import BACKBONES
from eds.tables import MODEL_NAME
from eds.training.hash_head import fit_hash_head
from eds.training.hash_objective import Design
from eds.training.plan import Plan
from eds.training.splits import Split
from eds.training.supervision import supervise
from tests.backbones.pictures import TINY_CLIP, clip_file, pictures, timm_file
from tests.backbones.repositories import (
    STEPS,
    endpoint,
    mteb_model,
    onnx_file,
    sentence_transformers_repository,
    torchscript_file,
)

CLOSE = 1e-5
TEXTS = {
    "timm": "timm:test_resnet@{folder}/test_resnet.safetensors",
    "timm transformer": "timm:test_vit@{folder}/test_vit.safetensors",
    "timm random": "timm:test_resnet?random_init=true&size=64",
    "timm by torch": "timm:test_resnet@{folder}/test_resnet.safetensors",
    "open_clip": f"open_clip:{TINY_CLIP}@{{folder}}/tiny_clip.safetensors",
    "checkpoint": "checkpoint:{folder}/test_resnet.safetensors?arch=timm:test_resnet&resize=squash&channels=BGR",
    "wheel": "wheel:efficientnet_lite0",
    "cnn random": "cnn:dsh?random_init=true",
    "hash": "hash:{folder}/lsh",
    "descriptor hsv": "descriptor:hsv",
    "descriptor hog": "descriptor:hog",
    "descriptor lbp": "descriptor:lbp",
    "descriptor gabor": "descriptor:gabor",
    "transformers": "transformers:local-dir:{folder}/clip",
    "sentence-transformers": "st:local-dir:{folder}/st",
    "mteb": "mteb:tiny/dinov2",
    "onnx": f"onnx:{{folder}}/tiny.onnx?{STEPS}",
    "torchscript": f"torchscript:{{folder}}/tiny.ts?size=64&{STEPS}",
    "http": "http:{url}?model=tiny&size=64",
    "module:object": "toy_backbones:MeanColour?size=8",
}


class MeanColour:
    """A user's own backbone, as README.md shows it: the mean colour of each quarter."""

    def __init__(self, request: Request) -> None:
        steps = Preprocessing("squash", 16, "bilinear", None, "RGB", (0.0,) * 3, (1.0,) * 3)
        self.spec = request.spec(steps, dimension=12, runtime="numpy")

    def encode(self, batch: npt.NDArray[np.uint8]) -> npt.NDArray[np.float32]:
        half = self.spec.preprocessing.side // 2
        quarters = batch.reshape(-1, 2, half, 2, half, 3).mean(axis=(2, 4)).reshape(len(batch), 12)
        return np.asarray(quarters / np.linalg.norm(quarters, axis=1, keepdims=True), dtype=np.float32)


def hash_folder(folder: Path) -> None:
    """A hash function: random projections of a descriptor."""
    base = load("descriptor:hsv")
    pixels = np.stack([base.spec.preprocessing.pixels(image) for image in pictures()])
    labels = supervise("product", pd.DataFrame({"image_id": list("abcdefgh"), "product_id": list("11223344")}))
    labels = replace(labels, parts=Split(*(np.arange(8)[rows] for rows in (slice(8), slice(0), slice(0), slice(0)))))
    vectors = base.encode(pixels)[[0, 1, 2, 3, 4, 0, 1, 2]]
    described = {"weights_digest": base.spec.weights_sha256}
    design = Design(24, "lsh")
    fit_hash_head(vectors, labels, design, Plan(), folder, described, base_text="descriptor:hsv")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    made = tmp_path_factory.mktemp("weights")
    timm_file(made, "test_resnet")
    timm_file(made, "test_vit")
    clip_file(made)
    sentence_transformers_repository(made)
    mteb_model(made, "tiny/dinov2")
    onnx_file(made)
    torchscript_file(made)
    hash_folder(made / "lsh")
    module = ModuleType("toy_backbones")
    module.__dict__["MeanColour"] = MeanColour
    module.__spec__ = __spec__  # find_spec asks a loaded module for its own
    sys.modules["toy_backbones"] = module
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # small networks: waiting for other threads would cost more than they give
    yield made
    torch.set_num_threads(threads)
    del sys.modules["toy_backbones"]


@pytest.fixture(scope="module", params=TEXTS)
def member(request: pytest.FixtureRequest, folder: Path) -> Iterator[Backbone]:
    runtime = "torch" if "by torch" in request.param else "auto"
    with endpoint() as server:
        yield load(TEXTS[request.param].format(folder=folder, url=server.url), runtime=runtime)


@pytest.fixture(scope="module")
def batch(member: Backbone) -> npt.NDArray[np.uint8]:
    return np.stack([member.spec.preprocessing.pixels(image) for image in pictures()])


@pytest.fixture(scope="module")
def vectors(member: Backbone, batch: npt.NDArray[np.uint8]) -> npt.NDArray[np.float32]:
    return member.encode(batch)


def test_every_loader_is_in_this_suite() -> None:
    assert set(BACKBONES) <= {text.partition(":")[0] for text in TEXTS.values()}


def test_what_comes_out_is_what_the_spec_says(member: Backbone, vectors: npt.NDArray[np.float32]) -> None:
    assert vectors.dtype == np.float32
    assert vectors.shape == (5, member.spec.dimension)
    assert member.spec.dimension > 0
    length = np.sqrt(member.spec.dimension) if member.spec.similarity == "hamming" else 1.0
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.full(5, length), abs=1e-6)
    side = member.spec.preprocessing.side
    assert member.encode(np.empty((0, side, side, 3), np.uint8)).shape == (0, vectors.shape[1])


def test_pictures_are_told_apart(vectors: npt.NDArray[np.float32]) -> None:
    vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    assert (vectors @ vectors.T)[~np.eye(5, dtype=bool)].max() < 1 - 1e-6


def test_pixels_are_bytes_of_one_size(member: Backbone, batch: npt.NDArray[np.uint8]) -> None:
    side = member.spec.preprocessing.side
    assert batch.dtype == np.uint8
    assert batch.shape[1:] == (side, side, 3)


def test_alone_in_a_batch_and_twice(
    member: Backbone, batch: npt.NDArray[np.uint8], vectors: npt.NDArray[np.float32]
) -> None:
    alone = np.concatenate([member.encode(batch[n : n + 1]) for n in range(len(batch))])
    assert np.abs(alone - vectors).max() <= CLOSE
    assert np.abs(member.encode(batch) - vectors).max() <= CLOSE
    large = member.encode(np.concatenate([batch] * 7)[:32])
    assert np.abs(large - np.concatenate([vectors] * 7)[:32]).max() <= CLOSE


def test_the_order_of_a_batch_does_not_matter(
    member: Backbone, batch: npt.NDArray[np.uint8], vectors: npt.NDArray[np.float32]
) -> None:
    order = np.array([3, 0, 4, 1, 2])
    assert np.abs(member.encode(batch[order]) - vectors[order]).max() <= CLOSE
    assert np.abs(member.encode(batch[::-1]) - vectors[::-1]).max() <= CLOSE  # a view, not contiguous


def test_a_flat_picture_has_a_finite_vector(member: Backbone) -> None:
    rules = member.spec.preprocessing
    blank = [Image.new("RGB", (rules.side, rules.side), colour) for colour in ("white", "grey")]
    flat = np.stack([rules.pixels(image) for image in blank])
    found = member.encode(flat)
    assert np.isfinite(found).all()
    lengths = np.linalg.norm(found, axis=1)
    lengths = lengths / np.sqrt(member.spec.dimension) if member.spec.similarity == "hamming" else lengths
    assert np.all((np.abs(lengths - 1) < 1e-6) | (lengths == 0))


def test_the_spec_travels_and_its_text_loads_the_same_model(
    member: Backbone, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = member.spec
    assert BackboneSpec.from_json(spec.to_json()) == spec
    assert MODEL_NAME.fullmatch(spec.default_name)
    monkeypatch.chdir(folder)  # the text names a file, not its folder
    runtime = "torch" if spec.runtime == "torch" else "auto"
    assert load(spec.text, runtime=runtime).spec == spec


def test_every_parameter_of_the_preprocessing_is_in_the_digest(member: Backbone) -> None:
    spec = member.spec
    steps = spec.preprocessing
    changes: dict[str, Any] = {
        "resize": "none" if steps.resize == "squash" else "squash",
        "size": steps.size + 8,
        "crop": 5,
        "interpolation": "lanczos",
        "channels": "RGB" if steps.channels == "BGR" else "BGR",
        "mean": (0.1, 0.2, 0.3),
        "std": (0.1, 0.2, 0.3),
        "background": (1, 2, 3),
        "draft": True,
        "corner": "round" if steps.corner == "floor" else "floor",
    }
    assert set(changes) == set(Preprocessing.__dataclass_fields__)
    digests = {replace(steps, **{name: value}).digest for name, value in changes.items()}
    assert len(digests | {steps.digest}) == len(changes) + 1
    whole = {replace(spec, preprocessing=replace(steps, **{name: value})).digest for name, value in changes.items()}
    assert len(whole | {spec.digest}) == len(changes) + 1


def test_random_weights_say_so(member: Backbone) -> None:
    assert member.spec.random_init == ("random_init=true" in member.spec.text)
    assert ("random" in member.spec.default_name) == member.spec.random_init
