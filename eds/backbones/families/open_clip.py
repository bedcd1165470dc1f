"""The image side of a CLIP model: `open_clip:NAME@TAG` with hub weights, `open_clip:NAME@FILE` with your own.

Vectors are the output of `encode_image`, after the projection into the space shared with text.
"""

import difflib
import logging
import warnings
from pathlib import Path
from typing import Any

import open_clip
import torch
from open_clip.transform import PreprocessCfg

from eds.backbones import hub, network, weights
from eds.backbones.preprocessing import Preprocessing
from eds.backbones.request import Request
from eds.errors import InputError, UnknownNameError

NAME = "open_clip"
EXTRA = "vision"

OPTIONS: tuple[str, ...] = ()
HUB_FILES = ("open_clip_model.safetensors", "open_clip_pytorch_model.bin")


class ImageSide(torch.nn.Module):
    """`encode_image` as a module."""

    def __init__(self, model: torch.nn.Module) -> None:
        super().__init__()
        self.visual = model.visual

    def forward(self, batch: torch.Tensor) -> torch.Tensor:
        """float32 (n, 3, side, side) to float32 (n, dimension)."""
        output: torch.Tensor = self.visual(batch)  # type: ignore[operator]
        return output


def load(request: Request) -> network.NetworkBackbone:
    """Load an image encoder of open_clip."""
    request.allow_only(*OPTIONS)
    name, given = request.name, request.weights
    _known(name)
    if not given and not request.random_init:
        raise InputError("no weights are named", where=request.text, hint=f"Write @TAG or @FILE; tags: {_tags(name)}.")
    if given and request.random_init:
        raise InputError(
            "weights and random_init contradict each other", where=request.text, hint="Remove one of them."
        )
    if given in open_clip.list_pretrained_tags_by_model(name):
        return build(request, name, _of_tag(request, name, given), tag=given)
    path = Path(given).expanduser() if given else None
    if path is not None and not path.exists():
        raise InputError(
            f"{given} is neither a file nor a tag of {name}",
            where=request.text,
            hint=f"Write @FILE, or @TAG: {_tags(name)}.",
        )
    return build(request, name, path, tag="")


def _tags(name: str) -> str:
    return ", ".join(open_clip.list_pretrained_tags_by_model(name)) or "none"


def build(request: Request, name: str, path: Path | None, tag: str) -> network.NetworkBackbone:
    """The model `name` with the weights of a file, or random ones without a path."""
    _known(name)
    config = open_clip.get_pretrained_cfg(name, tag) if tag else {}
    model = weights.build_seeded(lambda: _create(name, config, request)).eval()
    if path is not None:
        _fit(model, path)
    spec = request.spec(
        preprocessing(model, request),
        weights_sha256=weights.file_digest(path) if path else weights.tensors_digest(model.state_dict()),
        pooling="projected",
    )
    return network.backbone(ImageSide(model), spec, request)


def preprocessing(model: torch.nn.Module, request: Request) -> Preprocessing:
    """The preprocessing of open_clip's own transform for this model."""
    found = PreprocessCfg(**model.visual.preprocess_cfg)  # type: ignore[union-attr, arg-type]
    height, width = found.size if isinstance(found.size, (tuple, list)) else (found.size, found.size)
    if height != width or found.resize_mode == "longest":
        what = f"the model takes {width} x {height} pixels, resized by {found.resize_mode}"
        raise InputError(what, where=request.text, hint="Choose another; this one is not supported.")
    interpolation = "bilinear" if found.interpolation == "bilinear" else "bicubic"
    return Preprocessing(found.resize_mode, height, interpolation, None, "RGB", found.mean, found.std)  # type: ignore[arg-type]


def _of_tag(request: Request, name: str, tag: str) -> Path:
    """The weights file of a tag; raises InputError for QuickGELU weights in a GELU network (open_clip only warns)."""
    config = open_clip.get_pretrained_cfg(name, tag)
    wants, has = bool(config.get("quick_gelu")), bool(open_clip.get_model_config(name).get("quick_gelu"))
    if wants != has:
        other = f"{name}-quickgelu" if wants else name.removesuffix("-quickgelu")
        what = f"the weights {tag} were trained with {'QuickGELU' if wants else 'GELU'}, {name} uses the other"
        raise InputError(what, where=request.text, hint=f"Write open_clip:{other}@{tag}.")
    repository, _, file = str(config.get("hf_hub") or "").rpartition("/")
    names = [file.rpartition(".")[0] + ".safetensors", file] if file else HUB_FILES
    url = "" if repository else str(config.get("url") or "")
    return hub.weights_file(repository, names, url, request.supply())


def _known(name: str) -> None:
    if name not in open_clip.list_models():
        near = difflib.get_close_matches(name, open_clip.list_models(), n=3, cutoff=0.3)
        raise UnknownNameError(
            f"open_clip has no model {name!r}",
            hint=f"Did you mean {', '.join(near)}? (open_clip.list_models() has all.)",
        )


def _create(name: str, config: dict[str, Any], request: Request) -> torch.nn.Module:
    steps = {key: config[key] for key in ("mean", "std", "interpolation", "resize_mode") if config.get(key)}
    logging.disable(logging.WARNING)  # it warns about random weights, which are replaced at once or were requested
    try:
        model: torch.nn.Module = open_clip.create_model(
            name, load_weights=False, pretrained_text=False, force_preprocess_cfg=steps
        )
    except (RuntimeError, OSError, ImportError, ValueError) as error:
        raise InputError(f"open_clip cannot build it ({error})", where=request.text) from error
    finally:
        logging.disable(logging.NOTSET)
    return model


def _fit(model: torch.nn.Module, path: Path) -> None:
    """Load a whole CLIP model, strictly, by open_clip's own reader (which knows the original releases)."""
    weights.read(path)  # refuses damaged files and files that would run code, with our messages
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            open_clip.load_checkpoint(model, str(path), strict=True, weights_only=True)
    except (RuntimeError, KeyError) as error:
        faults = [line.strip()[:400] for line in str(error).splitlines()[1:]] or [repr(error)]
        hint = "Name the right model; the file must hold both sides, image and text."
        raise InputError("the weights do not fit this model", where=str(path), hint=hint, faults=faults[:8]) from error
