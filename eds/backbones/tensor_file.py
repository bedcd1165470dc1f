"""Our own safetensors files: tensors, and JSON that describes them in the metadata. Reading runs no code."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from torch import Tensor

from eds.backbones.weights import METADATA_KEY, refuse_forbidden
from eds.errors import InputError
from eds.io.files import replacing

State = dict[str, Tensor]


def write_tensors(path: Path, tensors: State, metadata: Mapping[str, Any]) -> None:
    """Write tensors and metadata to one file."""
    from safetensors.torch import save_file

    plain = {name: tensor.detach().cpu().contiguous().clone() for name, tensor in tensors.items()}
    with replacing(path) as temporary:
        temporary.touch()
        usual = temporary.stat().st_mode & 0o777
        save_file(plain, temporary, {METADATA_KEY: json.dumps(metadata, sort_keys=True)})
        temporary.chmod(usual)  # safetensors allows only the owner to read, unlike every other file of a project


def read_tensors(path: Path) -> tuple[State, dict[str, Any]]:
    """Read tensors and metadata that `write_tensors` wrote."""
    from safetensors import SafetensorError, safe_open

    refuse_forbidden(path)
    try:
        with safe_open(path, framework="pt") as file:
            metadata = json.loads((file.metadata() or {}).get(METADATA_KEY, "null"))
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  (not a mapping)
    except (SafetensorError, OSError, ValueError) as error:
        raise InputError(
            f"the checkpoint is damaged ({error})", where=str(path), hint="Start again: --replace."
        ) from error
    if not isinstance(metadata, dict):
        raise InputError("not a checkpoint of eds", where=str(path), hint="Start again: --replace.")
    return tensors, metadata
