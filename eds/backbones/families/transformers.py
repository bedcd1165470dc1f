"""Any image model of transformers: `transformers:ORG/NAME`, or `transformers:local-dir:PATH`.

The model is what AutoModel makes of the repository, the preprocessing that of its image processor. Code that a
repository brings is never run. Vectors are, unless `pooling` says otherwise, the projected image features of a
model of images and texts, else the model's own pooled output.
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
import transformers
from transformers.utils import logging

from eds.backbones import network, weights
from eds.backbones.image_processors import preprocessing_of, processor_in
from eds.backbones.repository import Repository
from eds.backbones.request import Request
from eds.backbones.text import no_text
from eds.errors import InputError

EXTRA = "transformers"

POOLINGS = ("projected", "pooler", "cls", "mean")
CONFIG, PROCESSOR = "config.json", ("preprocessor_config.json", "processor_config.json")
INDEX = "model.safetensors.index.json"
WEIGHTS = ("model.safetensors", INDEX, "pytorch_model.bin")


class ImageSide(torch.nn.Module):
    """The image side of a model, pooled to one vector per image."""

    def __init__(self, model: Any, pooling: str) -> None:
        super().__init__()
        self.model = model if pooling == "projected" else getattr(model, "vision_model", model)
        self.pooling = pooling

    def forward(self, batch: torch.Tensor) -> torch.Tensor:
        """float32 (n, 3, side, side) to float32 (n, dimension)."""
        if self.pooling == "projected":
            output = self.model.get_image_features(pixel_values=batch)
            return output if isinstance(output, torch.Tensor) else output.pooler_output
        output = self.model(pixel_values=batch)
        if self.pooling == "pooler":
            return output.pooler_output.flatten(1)  # type: ignore[no-any-return]
        hidden: torch.Tensor = output.last_hidden_state
        if hidden.ndim == 4:  # a map (n, dimension, height, width)
            return hidden.mean(dim=(2, 3))
        return hidden[:, 0] if self.pooling == "cls" else hidden.mean(dim=1)


def load(request: Request) -> network.NetworkBackbone:
    """Load the image side of a model of transformers."""
    request.allow_only("pooling")
    repository = Repository.of(request) or Repository.on_hub(request)
    folder, file = _files(repository)
    with quiet():
        steps = preprocessing_of(processor_in(folder, request), request)
        model, missing = _model(folder, request)
        pooling = _pooling(request, model, steps.side, missing)
        stated = repository.request.spec(
            steps,
            weights_sha256=weights.file_digest(file) if file else weights.tensors_digest(model.state_dict()),
            pooling=pooling,
        )
        return network.backbone(ImageSide(model, pooling), stated, request)


def load_text(request: Request) -> "TextSide":
    """Load the text side of a model of images and texts."""
    request.allow_only("pooling")
    folder, file = _files(Repository.of(request) or Repository.on_hub(request))
    with quiet():
        model, _ = _model(folder, request)
        if not hasattr(model, "get_text_features") or request.option("pooling", "") not in ("", "projected"):
            raise no_text(request)
        try:
            tokenizer = transformers.AutoTokenizer.from_pretrained(str(folder), local_files_only=True)
        except (OSError, ValueError, ImportError, KeyError, TypeError) as error:
            reason = (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
            hint = "Supply the tokenizer's files beside the weights."
            raise InputError(f"its tokenizer cannot be read ({reason})", where=request.text, hint=hint) from error
    return TextSide(model, tokenizer, weights.file_digest(file) if file else weights.tensors_digest(model.state_dict()))


class TextSide:
    """The text features of a model of images and texts."""

    def __init__(self, model: Any, tokenizer: Any, weights_sha256: str) -> None:
        self.weights_sha256 = weights_sha256
        self._model, self._tokenizer = model, tokenizer

    def encode_text(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Texts to float32 (n, dimension), not scaled."""
        length = self._model.config.text_config.max_position_embeddings
        tokens = self._tokenizer(
            list(texts), padding="max_length", max_length=length, truncation=True, return_tensors="pt"
        )
        with torch.inference_mode():
            output = self._model.get_text_features(**tokens)
        vectors = output if isinstance(output, torch.Tensor) else output.pooler_output
        result: npt.NDArray[np.float32] = vectors.float().numpy()
        return result


@contextmanager
def quiet() -> Iterator[None]:
    """Silence transformers' warnings and progress bars: what they say is an error here, or of no concern."""
    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()


def _files(repository: Repository) -> tuple[Path, Path | None]:
    """The folder with the repository's files, and the weights file; None if there are several, or none is wanted."""
    config, _ = repository.config(CONFIG)
    repository.file(PROCESSOR)
    if repository.request.random_init:
        return config.parent, None
    file = repository.file(WEIGHTS)
    if file.name != INDEX:
        return config.parent, file
    for part in sorted(set(json.loads(file.read_text(encoding="utf-8"))["weight_map"].values())):
        repository.file([part])
    return config.parent, None


def _model(folder: Path, request: Request) -> tuple[Any, list[str]]:
    """The model, and the tensors that the repository lacks."""
    try:
        config = transformers.AutoConfig.from_pretrained(str(folder), trust_remote_code=False, local_files_only=True)
        if request.random_init:
            build = transformers.AutoModel.from_config
            return weights.build_seeded(lambda: build(config, trust_remote_code=False)).eval(), []
        model, info = transformers.AutoModel.from_pretrained(
            str(folder),
            config=config,
            dtype=torch.float32,
            trust_remote_code=False,
            local_files_only=True,
            output_loading_info=True,
        )
    except (OSError, ValueError, RuntimeError, KeyError, ImportError, TypeError) as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0][:240]
        hint = "Only models that transformers itself has are loaded; a repository's own code is never run."
        raise InputError(f"transformers cannot load it ({reason})", where=request.text, hint=hint) from error
    if wrong := [*map(str, info["mismatched_keys"]), *info.get("error_msgs", ())]:
        raise InputError("the weights do not fit this model", where=request.text, faults=wrong[: weights.SHOWN])
    return model.eval(), sorted(info["missing_keys"])


def _pooling(request: Request, model: Any, side: int, missing: list[str]) -> str:
    """The pooling that is asked for, or the model's own. Tensors that it needs must be in the file."""
    asked = request.option("pooling", "", ("", *POOLINGS))
    dual = hasattr(model, "get_image_features")
    pooler = not dual and not any("pooler" in name for name in missing) and _has_pooler(model, side)
    pooling = asked or ("projected" if dual else "pooler" if pooler else "")
    if not pooling or (pooling == "projected") > dual or (pooling == "pooler" and not dual and not pooler):
        what = f"{type(model).__name__} has no {pooling or 'pooled'} output of its own"
        raise InputError(what, where=request.text, hint="Add ?pooling=cls (the first token) or ?pooling=mean.")
    needed = [name for name in missing if pooling == "pooler" or "pooler" not in name]
    if needed:
        hint = "Take a repository of the whole model; tensors are never left random."
        raise InputError("tensors are missing", where=request.text, hint=hint, faults=needed[: weights.SHOWN])
    return pooling


def _has_pooler(model: Any, side: int) -> bool:
    with torch.inference_mode():
        output = model(pixel_values=torch.zeros(1, 3, side, side))
    return getattr(output, "pooler_output", None) is not None
