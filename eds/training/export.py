"""One file of a trained model that stands alone: its head, and the network under it with its preprocessing."""

import shutil
from dataclasses import dataclass
from pathlib import Path

from eds.backbones.families.hash import BASE, HEAD, HEAD_TENSORS, base_request
from eds.backbones.tensor_file import read_tensors, write_tensors
from eds.backbones.trainable import trainable
from eds.errors import InputError
from eds.io.files import digest, replacing
from eds.training.networks import WEIGHTS

KEPT = ("normalise", "precision")  # options of a base's text, beside those of its weights and preprocessing


@dataclass(frozen=True)
class Exported:
    """The file, the text that loads it as a backbone, and what it does without."""

    text: str
    sha256: str
    base: str  # text of the network under a head
    missing: str  # the base model, where the file names it and does not hold it


def export_run(folder: Path, file: Path) -> Exported:
    """Write the hash function or the network of a finished run to one safetensors file.

    A head's network is put into the file if it is one of timm, a wheel, `cnn:` or a checkpoint of these; the text of
    any other base model (open_clip, descriptor, onnx, ...) is named in the file.
    """
    head, weights = folder / HEAD, folder / WEIGHTS
    if not head.is_file() and not weights.is_file():
        raise InputError("the run has no weights yet", where=str(folder), hint="Finish it: the same command resumes.")
    if not head.is_file():
        return _copied(weights, file, f"checkpoint:{file}", "")
    tensors, metadata = read_tensors(head)
    base = base_request(metadata, head)
    try:
        network = trainable(base.text)
    except InputError:  # no network of ours to store
        return _copied(head, file, f"hash:{file}", base.text)
    if network.weights_sha256 != metadata["base_sha256"]:
        raise InputError(
            f"the backbone {base.text} has other weights than the head was fitted to",
            where=str(folder),
            hint="Restore them, or train again: eds training hash NAME --replace.",
        )
    options = {**network.checkpoint_options(), "prefix": BASE}
    options |= {name: base.option(name) for name in KEPT if base.options_named(name)}
    state = {f"{BASE}{name}": tensor for name, tensor in network.network.state_dict().items()}
    state |= {f"{HEAD_TENSORS}{name}": tensor for name, tensor in tensors.items()}
    write_tensors(file, state, {**metadata, "options": options, "base_text": "", "base": base.text})
    return Exported(f"hash:{file}", digest(file), base.text, "")


def _copied(source: Path, file: Path, text: str, missing: str) -> Exported:
    with replacing(file) as temporary:
        shutil.copyfile(source, temporary)
    return Exported(text, digest(file), missing, missing)
