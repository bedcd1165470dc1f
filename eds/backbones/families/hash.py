"""A hash function that was trained here: `hash:FOLDER` of its run (in a project `hash:NAME`); images become codes.

The folder holds the head (head.safetensors), which names the backbone under it; a network that was trained together
with its head lies beside it. The folder alone may be copied elsewhere. `hash:FILE` is one file that holds both
(`eds training export`).
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from eds.backbones.hash_head import Head, restore_head
from eds.backbones.loading import load as load_backbone
from eds.backbones.protocol import Backbone
from eds.backbones.request import Request
from eds.backbones.spec import BackboneSpec
from eds.backbones.tensor_file import read_tensors
from eds.errors import InputError
from eds.io.files import digest

EXTRA = "vision"

HEAD = "head.safetensors"
BASE, HEAD_TENSORS = "backbone.", "head."  # before the names of the tensors in one file of both
AGAIN = "Train it again: eds training hash NAME --replace."


class HashFunction:
    """A backbone and a head: the code of an image is the signs of the head's outputs."""

    def __init__(self, spec: BackboneSpec, base: Backbone, head: Head) -> None:
        self.spec, self._base, self._head = spec, base, head

    def encode(self, batch: npt.NDArray[np.uint8]) -> npt.NDArray[np.float32]:
        """uint8 (n, side, side, 3) to codes of -1 and 1, float32 (n, bits)."""
        return self._head.codes(self._base.encode(batch)).astype(np.float32)


def load(request: Request) -> HashFunction:
    """Load the head of a run and the backbone under it; refuse a backbone with other weights than it was fitted to."""
    request.allow_only()
    if request.weights or request.random_init or [name for name, _ in request.options if name != "precision"]:
        raise InputError("a hash function takes no options", where=request.text, hint="Write hash:FOLDER.")
    path = Path(request.name).expanduser()
    file = path / HEAD if path.is_dir() else path
    if not file.is_file():
        raise InputError("there is no trained hash function", where=str(file), hint="Train it: eds training hash NAME.")
    tensors, metadata = read_tensors(file)
    within = base_request(metadata, file)
    alone = not metadata.get("options")  # without its backbone
    if not alone:
        tensors = {
            name.removeprefix(HEAD_TENSORS): found for name, found in tensors.items() if name.startswith(HEAD_TENSORS)
        }
    head = restore_head(metadata["dimension"], metadata["bits"], metadata["head"], metadata["hidden"], tensors)
    base = load_backbone(
        within.text,
        device=request.device,
        runtime=request.runtime,
        threads=request.threads,
        precision=request.precision,
    )
    wanted, found = metadata.get("base_sha256"), base.spec.weights_sha256
    if (alone and wanted != found) or base.spec.dimension != metadata["dimension"]:
        raise InputError(
            f"the backbone {within.text} has other weights than the head was fitted to",
            where=str(file),
            hint=f"Restore them, or fit the head again. {AGAIN}",
            faults=[f"fitted to {wanted}", f"found {found}"],
        )
    spec = request.spec(
        base.spec.preprocessing,
        name=file.parent.name if file.name == HEAD else file.name,
        weights_sha256=digest(file),
        pooling="",
        dimension=head.bits,
        normalise=False,
        similarity="hamming",
        runtime=base.spec.runtime,
        random_init=False,
    )
    return HashFunction(spec, base, head)


def base_request(metadata: Mapping[str, Any], file: Path) -> Request:
    """The backbone under the head of a file: in the file itself, beside it, or anywhere by its text."""
    if metadata.get("options"):
        return Request.parse(f"checkpoint:{file}")
    text = metadata.get("base_text")
    if not text:
        raise InputError(
            "its base model cannot encode images: its vectors were imported, or an older version trained the head",
            where=str(file),
            hint="Compute the base model's vectors (eds embeddings compute), and train the head again.",
        )
    within = Request.parse(text)
    if within.loader == "checkpoint" and not Path(within.name).is_absolute():
        return replace(within, name=str(file.parent / within.name))
    return within
