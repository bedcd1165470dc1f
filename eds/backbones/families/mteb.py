"""A model of MTEB by its name there: `mteb:ORG/NAME[@REVISION]`, loaded and called by the package mteb.

Images are prepared as the model's own image processor does, where `image_processors` can follow it; else the options
state the square that the model gets (`size`, `resize`), and it prepares that in its own way. Vectors are those of the
model's `encode`. Code that a repository brings is never run.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import mteb
import numpy as np
import numpy.typing as npt
import torch
from PIL import Image
from transformers import dynamic_module_utils

from eds.backbones import hub, runtimes, weights
from eds.backbones.families.transformers import quiet
from eds.backbones.image_processors import preprocessing_of
from eds.backbones.preprocessing import Preprocessing
from eds.backbones.request import Request
from eds.backbones.spec import BackboneSpec
from eds.backbones.vectors import check_batch, finish
from eds.errors import EdsError, InputError, UnknownNameError

EXTRA = "mteb"

TASK = "CUB200I2IRetrieval"  # images search images: models that follow a task's instruction follow this one's
CONFIGS = ("config.json", "open_clip_config.json", "modules.json", "README.md")
PLAIN = Preprocessing("squash", 224, "bicubic", None, "RGB", (0.0,) * 3, (1.0,) * 3)
BATCH = 16
SHOWN = 240  # characters of a library's complaint


class Pictures(torch.utils.data.Dataset[dict[str, Any]]):
    """Images as MTEB hands them to a model."""

    features = {"image": None}  # noqa: RUF012 - as of a dataset of `datasets`; wrappers ask for its keys

    def __init__(self, batch: npt.NDArray[np.uint8], channels: str) -> None:
        self._batch = batch if channels == "RGB" else batch[..., ::-1]

    def __len__(self) -> int:
        return len(self._batch)

    def __getitem__(self, number: int) -> dict[str, Any]:
        return {"image": Image.fromarray(np.ascontiguousarray(self._batch[number]))}


class MtebBackbone:
    """A model that MTEB loads."""

    def __init__(self, model: Any, spec: BackboneSpec) -> None:
        self._model, self._task, self.spec = model, mteb.get_task(TASK).metadata, spec

    def encode(self, batch: npt.NDArray[np.uint8]) -> npt.NDArray[np.float32]:
        """uint8 (n, side, side, 3) to float32 (n, dimension)."""
        check_batch(batch, self.spec.preprocessing.side)
        if not len(batch):
            return np.empty((0, self.spec.dimension), dtype=np.float32)
        return finish(self.vectors(batch), self.spec)

    def vectors(self, batch: npt.NDArray[np.uint8]) -> npt.NDArray[np.float32]:
        """What the model's `encode` returns, float32 (n, dimension)."""
        loader = torch.utils.data.DataLoader(
            Pictures(batch, self.spec.preprocessing.channels),
            batch_size=BATCH,
            collate_fn=lambda rows: {"image": [row["image"] for row in rows]},
        )
        try:
            with quiet(), torch.inference_mode():
                found = self._model.encode(
                    loader, task_metadata=self._task, hf_split="test", hf_subset="default", show_progress_bar=False
                )
        except (RuntimeError, ValueError, TypeError, KeyError, AttributeError) as error:
            raise _failed("cannot encode images", error, self.spec.text) from error
        result = torch.as_tensor(found).float().cpu().numpy()
        if result.ndim != 2 or len(result) != len(batch):
            what = f"the model returns {result.shape} for {len(batch)} images, not one vector for each"
            raise InputError(what, where=self.spec.text, hint="Choose another model.")
        return np.asarray(result, dtype=np.float32)


def load(request: Request) -> MtebBackbone:
    """Load a model by its name in MTEB."""
    request.allow_only()
    if request.random_init or request.precision != "float32" or request.runtime not in ("auto", "torch"):
        raise InputError("a model of mteb has its own weights, in torch's float32", where=request.text)
    meta = _meta(request)
    device, _ = runtimes.choose(request.device, "torch")
    if meta.open_weights and "huggingface.co" in str(meta.reference or ""):  # else the hub's client waits for a minute
        revision = f"@{meta.revision}" if meta.revision and meta.revision != "no_revision_available" else ""
        supply = "the repository's files, as transformers:local-dir:/path/folder"
        hub.weights_file(f"{meta.name}{revision}", CONFIGS, "", supply)
    try:
        with quiet(), no_code_of_repositories():
            model: Any = meta.load_model(device=device)
    except EdsError:
        raise
    except Exception as error:  # each of its wrappers fails in its own way
        raise _failed("cannot be loaded", error, request.text) from error
    steps = _steps(model, request)
    network = getattr(model, "model", None)
    parts = {
        "weights_sha256": weights.tensors_digest(network.eval().state_dict())
        if isinstance(network, torch.nn.Module)
        else "",
        "licence": str(meta.license or "not stated"),
        "pooling": "encode",
        "runtime": "torch" if device == "cpu" else f"torch-{device.partition(':')[0]}",
    }
    probe = np.full((1, steps.side, steps.side, 3), 127, dtype=np.uint8)
    unknown = MtebBackbone(model, request.spec(steps, **parts))
    return MtebBackbone(model, request.spec(steps, **parts, dimension=unknown.vectors(probe).shape[1]))


def _meta(request: Request) -> Any:
    """What MTEB knows of the model."""
    try:
        meta = mteb.get_model_meta(request.name, revision=request.weights or None)
    except (KeyError, ValueError) as error:
        reason = str(error.args[0] if error.args else error).strip()
        raise UnknownNameError(f"mteb has no such model ({reason[:SHOWN]})", where=request.text) from error
    if "image" not in meta.modalities:
        hint = "Choose one whose modalities in mteb include image."
        raise InputError(f"the model takes {', '.join(meta.modalities)}, no images", where=request.text, hint=hint)
    return meta


def _steps(model: Any, request: Request) -> Preprocessing:
    """The geometry of the model's own processor, which then only normalises; or what the options state."""
    processor = getattr(model, "processor", None)
    processor = getattr(processor, "image_processor", processor)
    if processor is not None and not request.options_named("size"):
        with suppress(InputError):
            steps = preprocessing_of(processor, request)
            processor.do_resize = processor.do_center_crop = False
            return request.preprocessing(steps)
    if not request.options_named("size"):
        raise InputError(
            "the model prepares images in its own way, of what size is not stated",
            where=request.text,
            hint="State the square that it gets: ?size=224 (squashed), or ?resize=shortest&size=256&crop=224.",
        )
    return request.preprocessing(PLAIN)


@contextmanager
def no_code_of_repositories() -> Iterator[None]:
    """Refuse code of repositories, which some of MTEB's loaders ask transformers to run."""
    known = dynamic_module_utils.get_class_in_module

    def refuse(name: Any, module: Any, **_: Any) -> Any:
        raise InputError(
            f"the repository brings code of its own ({module}), which is never run",
            hint="Choose another model, or write a backbone of your own, module:object.",
        )

    dynamic_module_utils.get_class_in_module = refuse
    try:
        yield
    finally:
        dynamic_module_utils.get_class_in_module = known


def _failed(what: str, error: Exception, where: str) -> InputError:
    reason = (str(error).strip().splitlines() or [type(error).__name__])[0][:SHOWN]
    return InputError(f"the model {what} ({reason})", where=where, hint="Does mteb run it here by itself?")
