"""Weights: read from a file without running code in it, renamed, and loaded into a network completely.

A checkpoint with a missing or unexpected tensor, or one of another shape, is refused, and the message
lists them. No tensor of the network keeps its random initialisation.
"""

import hashlib
import json
import re
import warnings
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import torch

from eds.backbones.torchscript import is_torchscript, read_torchscript
from eds.errors import EdsError, InputError
from eds.io.files import digest, forbidden
from eds.io.reading import complaint

State = dict[str, torch.Tensor]
SHOWN = 8  # keys shown for each kind of fault
METADATA_KEY = "eds.training"  # in the metadata of our own safetensors files: JSON that describes them
PARALLEL = "module."  # before every name where a network was trained on several GPUs
CODE = re.compile(r"GLOBAL:? (?:GLOBAL )?([\w.]+)")  # in torch's refusal: what a file would call
COUNTER = "num_batches_tracked"  # of batch norms in training; old checkpoints lack it, inference never reads it


def read(path: Path, entry: str = "") -> State:
    """The tensors of a safetensors or torch file; `entry` names the dictionary inside that holds them."""
    refuse_missing(path)
    if path.suffix == ".safetensors":
        return _safetensors(path)
    try:
        if is_torchscript(path):
            return _tensors(read_torchscript(path), path, "")
        with warnings.catch_warnings():  # about old protocols and storages: the file is read anyway, or fails below
            warnings.simplefilter("ignore")
            loaded = torch.load(path, map_location="cpu", weights_only=True)
    except EdsError:
        raise
    except Exception as error:  # of torch, pickle and zipfile, in damaged files, any
        code = CODE.search(str(error))
        reason = f"it calls {code[1]}" if code else complaint(error)
        raise InputError(
            f"the file contains no plain tensors, or is damaged ({reason})",
            where=str(path),
            hint="Files that run code on loading are refused; save the state dict alone, preferably as safetensors.",
        ) from error
    return _tensors(loaded, path, entry)


def read_own_options(path: Path) -> dict[str, str]:
    """The options of family checkpoint that a weights file of `eds training` states; none for any other file.

    A file that is missing, damaged or unreadable is refused.
    """
    from safetensors import SafetensorError, safe_open

    if path.suffix != ".safetensors":
        return {}
    refuse_missing(path)
    try:
        with safe_open(path, framework="pt") as file:
            loaded = json.loads((file.metadata() or {}).get(METADATA_KEY, "{}"))
    except (SafetensorError, OSError) as error:
        raise _damaged(path, error) from error
    except ValueError:  # the metadata is not ours
        return {}
    options = loaded.get("options") if isinstance(loaded, dict) else None
    return {name: str(value) for name, value in options.items()} if isinstance(options, dict) else {}


def file_digest(path: Path) -> str:
    """The sha256 of the weights file."""
    return digest(path)


def tensors_digest(state: Mapping[str, torch.Tensor]) -> str:
    """The sha256 of the tensors' names, kinds, shapes and bytes, in the order of their names."""
    hashed = hashlib.sha256()
    for name in sorted(state):
        tensor = state[name].detach().cpu().contiguous()
        hashed.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
        hashed.update(np.ascontiguousarray(tensor.view(-1).view(torch.uint8).numpy()).data)
    return hashed.hexdigest()


def rename_keys(state: State, key_map: Iterable[tuple[str, str]]) -> State:
    """Keep only the tensors under the prefixes, and replace each prefix; without prefixes, keep all.

    Names that all begin with `module.`, as a network on several GPUs saves them, lose it.

    >>> rename_keys({"module.a": 1, "queue": 2}, [("module.", "")]), rename_keys({"module.a": 1, "module.b": 2}, [])
    ({'a': 1}, {'a': 1, 'b': 2})
    """
    pairs = list(key_map)
    if not pairs and state and all(name.startswith(PARALLEL) for name in state):
        pairs = [(PARALLEL, "")]
    if not pairs:
        return state
    result: State = {}
    for name, tensor in state.items():
        for old, new in pairs:
            if name.startswith(old):
                result[new + name[len(old) :]] = tensor
                break
    return result


def in_order(network: torch.nn.Module, state: State) -> State | None:
    """The tensors under the network's names, one after another; None where a shape differs on the way.

    For files of another library's naming that lists the same layers in the same order, as torchvision's MobileNetV2
    for timm's. What a file holds at its end beyond the network, its classifier, is left out.
    """
    wanted = [(name, tensor.shape) for name, tensor in network.state_dict().items() if not name.endswith(COUNTER)]
    there = [tensor for name, tensor in state.items() if not name.endswith(COUNTER)]
    same = len(there) >= len(wanted) and all(
        tensor.shape == shape for tensor, (_, shape) in zip(there, wanted, strict=False)
    )
    spare = there[len(wanted) :]
    if not same or len(spare) > 2 or any(tensor.ndim > 2 for tensor in spare):
        return None
    return {name: tensor for (name, _), tensor in zip(wanted, there, strict=False)}


def fit(network: torch.nn.Module, state: State, where: str, spare: Iterable[str] = ()) -> None:
    """Load the tensors, all of them; names under `spare` (an unused head), or equal to one, may be left over."""
    wanted = network.state_dict()
    heads = tuple(f"{name.removesuffix('.')}." for name in spare)
    missing = [name for name in wanted if name not in state and not name.endswith(COUNTER)]
    over = [name for name in state if name not in wanted and not f"{name}.".startswith(heads)]
    shapes = [
        f"{name} has shape {tuple(state[name].shape)}, the network {tuple(wanted[name].shape)}"
        for name in wanted
        if name in state and state[name].shape != wanted[name].shape
    ]
    faults = [*_list_names("missing from the file", missing), *_list_names("unexpected in the file", over)]
    if faults or shapes:
        fits = "One after another they fit, under other names: ?match=order takes them so. "
        raise InputError(
            "the weights do not fit this architecture",
            where=where,
            hint=(fits if in_order(network, state) else "")
            + "Name the right architecture, or map the keys: ?prefix=OLD., ?map=OLD>NEW, ?drop=NAME.",
            faults=[*faults, *_list_names("of another shape", shapes)],
        )
    network.load_state_dict({name: state[name] for name in wanted if name in state}, strict=False)


def build_seeded(build: Callable[[], torch.nn.Module]) -> torch.nn.Module:
    """Build a network with a reproducible random initialisation; the caller's random state does not change."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return build()


def refuse_forbidden(path: Path) -> None:
    """Raise if the user may not read the file: safetensors reports such a file as missing."""
    with suppress(FileNotFoundError):
        try:
            path.open("rb").close()
        except PermissionError as error:
            raise forbidden(path) from error


def refuse_missing(path: Path) -> None:
    """Raise InputError if the weights file does not exist or may not be read."""
    try:
        there = path.is_file()
    except PermissionError as error:  # of its folder
        raise forbidden(path) from error
    if not there:
        raise InputError("weights file not found", where=str(path), hint="Check the path after @ or checkpoint:.")
    refuse_forbidden(path)


def _damaged(path: Path, error: Exception) -> InputError:
    return InputError(f"the safetensors file is damaged ({error})", where=str(path), hint="Download or train it again.")


def _safetensors(path: Path) -> State:
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        return dict(load_file(path))
    except (SafetensorError, OSError) as error:
        raise _damaged(path, error) from error


def _tensors(loaded: Any, path: Path, entry: str) -> State:
    """The only dictionary of tensors in a torch file; with several, the user must name one."""
    if isinstance(loaded, Mapping):
        if not entry and _is_state(loaded):
            return dict(loaded)
        inner = {str(name): value for name, value in loaded.items() if isinstance(value, Mapping) and _is_state(value)}
        if entry in inner or (not entry and len(inner) == 1):
            return dict(inner[entry] if entry else next(iter(inner.values())))
        if inner:
            names = ", ".join(inner)
            raise InputError(f"several sets of weights: {names}", where=str(path), hint="Name one: ?entry=NAME.")
    raise InputError("no tensors in the file", where=str(path), hint="Save the network's state_dict().")


def _is_state(value: Mapping[Any, Any]) -> bool:
    return bool(value) and all(isinstance(tensor, torch.Tensor) for tensor in value.values())


def _list_names(what: str, names: list[str]) -> list[str]:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return [f"{what} ({len(names)}): {', '.join(names[:SHOWN])}{more}"] if names else []
