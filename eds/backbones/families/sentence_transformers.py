"""The image side of a model of sentence-transformers: `st:ORG/NAME`, or `st:local-dir:PATH`.

Vectors are those of `SentenceTransformer.encode` on images. Code that a repository brings is never run.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import sentence_transformers
import torch

from eds.backbones import hub, network, weights
from eds.backbones.families.transformers import quiet
from eds.backbones.image_processors import preprocessing_of, processor_in
from eds.backbones.repository import Repository
from eds.backbones.request import Request
from eds.backbones.text import no_text
from eds.errors import InputError

NAME = "st"
EXTRA = "transformers"

MODULES = "modules.json"


class ImageSide(torch.nn.Module):
    """The modules of a model, one after another, on pixels."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.steps = torch.nn.ModuleList(model)

    def forward(self, batch: torch.Tensor) -> torch.Tensor:
        """float32 (n, 3, side, side) to float32 (n, dimension)."""
        features: Any = {"pixel_values": batch, "modality": "image"}
        for step in self.steps:
            features = step(features)
        vectors: torch.Tensor = features["sentence_embedding"]
        return vectors


def load(request: Request) -> network.NetworkBackbone:
    """Load the image side of a model of sentence-transformers."""
    request.allow_only()
    if request.random_init:
        raise InputError("it has its own weights", where=request.text, hint="Remove random_init.")
    repository = Repository.of(request) or Repository.on_hub(request)
    modules = repository.file([MODULES])
    if not repository.folder:
        hub.snapshot(repository.identifier, request.text)
    with quiet():
        model = _model(str(modules.parent), request)
        steps = preprocessing_of(processor_in(modules.parent, request), request)
        digest = weights.tensors_digest(model.state_dict())
        spec = repository.request.spec(steps, weights_sha256=digest, pooling="modules")
        return network.backbone(ImageSide(model), spec, request)


def load_text(request: Request) -> "TextSide":
    """Load the text side of a model of images and texts."""
    request.allow_only()
    repository = Repository.of(request) or Repository.on_hub(request)
    modules = repository.file([MODULES])
    with quiet():
        model = _model(str(modules.parent), request)
    if "text" not in model.modalities:
        raise no_text(request)
    return TextSide(model)


class TextSide:
    """`SentenceTransformer.encode` on texts."""

    def __init__(self, model: Any) -> None:
        self.weights_sha256 = weights.tensors_digest(model.state_dict())
        self._model = model

    def encode_text(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Texts to float32 (n, dimension), not scaled."""
        vectors: npt.NDArray[np.float32] = self._model.encode(list(texts), convert_to_numpy=True)
        return vectors.astype(np.float32, copy=False)


def _model(folder: str, request: Request) -> Any:
    try:
        model = sentence_transformers.SentenceTransformer(
            folder, device="cpu", local_files_only=True, trust_remote_code=False
        )
    except (OSError, ValueError, RuntimeError, KeyError, ImportError, TypeError, AttributeError) as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0][:240]
        raise InputError(f"sentence-transformers cannot load it ({reason})", where=request.text) from error
    if "image" not in model.modalities:
        hint = f"It takes {', '.join(map(str, model.modalities))}. Choose another, such as st:clip-ViT-B-32."
        raise InputError("the model takes no images", where=request.text, hint=hint)
    return model.float().eval()
