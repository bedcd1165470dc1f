"""A CLIP model: `open_clip:NAME@TAG`, `open_clip:hf-hub:ORG/NAME`, or your own file or folder.

`NAME@TAG` takes the weights from the hub, `NAME@TAG=FILE` from a file and images are prepared as for the tag;
`local-dir:PATH` is a folder in open_clip's layout.

Vectors are the output of `encode_image`, after the projection into the space shared with text.
"""

import difflib
import json
import logging
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import numpy.typing as npt
import open_clip
import torch
from open_clip.transform import PreprocessCfg
from safetensors.torch import save_file

from eds.backbones import hub, network, weights
from eds.backbones.preprocessing import Preprocessing
from eds.backbones.repository import FOLDER, Repository
from eds.backbones.request import Request
from eds.errors import InputError, UnknownNameError

NAME = "open_clip"
EXTRA = "vision"

OPTIONS: tuple[str, ...] = ()
HUB_FILES = ("open_clip_model.safetensors", "open_clip_pytorch_model.bin")
CONFIG = "open_clip_config.json"
STEPS = ("mean", "std", "interpolation", "resize_mode")  # open_clip's names
OWN_STEPS = ("mean", "std", "interpolation", "resize")  # the options that replace all of them
OPENAI = {
    "input_resolution",
    "context_length",
    "vocab_size",
    "attn_mask",
}  # what OpenAI's files hold beside the weights


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
    return _build(*_located(request))


def load_text(request: Request) -> "TextSide":
    """Load the text side of the same model, with the same weights."""
    named, name, steps, path = _located(request)
    model = _weighted(named, name, steps, path)
    try:
        tokenizer = open_clip.get_tokenizer(name)
    except (OSError, ValueError, ImportError, KeyError) as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
        raise InputError(
            f"its tokenizer cannot be read ({reason})", where=request.text, hint="Supply its files beside the weights."
        ) from error
    return TextSide(model, tokenizer, _digest(model, path), request.text)


class TextSide:
    """`encode_text` of a CLIP model."""

    def __init__(self, model: torch.nn.Module, tokenizer: Any, weights_sha256: str, text: str) -> None:
        self.weights_sha256 = weights_sha256
        self._model, self._tokenizer, self._text = model, tokenizer, text

    def encode_text(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Texts to float32 (n, dimension), not scaled."""
        tokens = self._tokenizer(list(texts))
        table = getattr(self._model, "token_embedding", None)
        if isinstance(table, torch.nn.Embedding) and int(tokens.max()) >= table.num_embeddings:
            raise InputError(
                f"its tokenizer knows more words than the model's {table.num_embeddings:,}",
                where=self._text,
                hint="The tokenizer is another model's: complete the model's configuration (text_cfg).",
            )
        with torch.inference_mode():
            vectors: npt.NDArray[np.float32] = self._model.encode_text(tokens).float().numpy()  # type: ignore[operator]
        return vectors


def _located(request: Request) -> tuple[Request, str, Mapping[str, Any], Path | None]:
    """The request as every machine can name it, open_clip's name, how images are prepared, and the weights file."""
    request.allow_only(*OPTIONS)
    if request.weights and request.random_init:
        raise InputError(
            "weights and random_init contradict each other", where=request.text, hint="Remove one of them."
        )
    if repository := Repository.of(request):
        return _of_repository(repository)
    name, (tag, file) = request.name, _tag_and_file(request.name, request.weights)
    _known(name)
    if not request.weights and not request.random_init:
        raise InputError("no weights are named", where=request.text, hint=f"Write @TAG or @FILE; tags: {_tags(name)}.")
    if tag:
        _refuse_other_activation(request, name, tag)
    path = Path(file).expanduser() if file else _of_tag(request, name, tag) if tag else None
    if path is not None and not path.exists():
        raise InputError(
            f"{file} is neither a file nor a tag of {name}",
            where=request.text,
            hint=f"Write @TAG, @TAG=FILE or @FILE; tags: {_tags(name)}.",
        )
    return request, name, _steps(request, name, path, tag), path


def build(request: Request, name: str, path: Path | None, tag: str = "") -> network.NetworkBackbone:
    """The model `name` with the weights of a file, or random ones without a path; images are prepared as for `tag`."""
    return _build(request, name, _steps(request, name, path, tag), path)


def _steps(request: Request, name: str, path: Path | None, tag: str) -> Mapping[str, Any]:
    _known(name)
    if tag and tag not in open_clip.list_pretrained_tags_by_model(name):
        raise UnknownNameError(f"{name} has no weights {tag!r}", where=request.text, hint=f"Tags: {_tags(name)}.")
    return _steps_of_tag(name, tag) if tag else _steps_of_file(request, name, path)


def _weighted(request: Request, name: str, steps: Mapping[str, Any], path: Path | None) -> torch.nn.Module:
    model = weights.build_seeded(lambda: _create(name, steps, request)).eval()
    if path is not None:
        _fit(model, path)
    return model


def _digest(model: torch.nn.Module, path: Path | None) -> str:
    return weights.file_digest(path) if path else weights.tensors_digest(model.state_dict())


def _build(request: Request, name: str, steps: Mapping[str, Any], path: Path | None) -> network.NetworkBackbone:
    model = _weighted(request, name, steps, path)
    spec = request.spec(preprocessing(model, request), weights_sha256=_digest(model, path), pooling="projected")
    return network.backbone(ImageSide(model), spec, request)


def _of_repository(repository: Repository) -> tuple[Request, str, Mapping[str, Any], Path | None]:
    """The model whose configuration and weights a repository has in open_clip's own layout."""
    config, values = repository.config(CONFIG)
    missing = [
        f"{part} is missing" for part in ("model_cfg", "preprocess_cfg") if not isinstance(values.get(part), dict)
    ]
    if missing:
        raise InputError("incomplete configuration", where=str(config), faults=missing)
    request = repository.request
    path = None if request.random_init else repository.file(HUB_FILES)
    return request, f"{FOLDER}{config.parent}", values["preprocess_cfg"], path


def _tag_and_file(name: str, weights: str) -> tuple[str, str]:
    """The parts of `TAG`, `TAG=FILE` or `FILE`; what is not there is empty."""
    tags = open_clip.list_pretrained_tags_by_model(name)
    tag, equals, file = weights.partition("=")
    if weights in tags:
        return weights, ""
    return (tag, file) if equals and tag in tags else ("", weights)


def _tags(name: str) -> str:
    return ", ".join(open_clip.list_pretrained_tags_by_model(name)) or "none"


def _steps_of_tag(name: str, tag: str) -> dict[str, Any]:
    """How images were prepared for the weights of a tag, as far as it differs from open_clip's defaults."""
    config = open_clip.get_pretrained_cfg(name, tag)
    return {key: config[key] for key in STEPS if config.get(key)}


def _steps_of_file(request: Request, name: str, path: Path | None) -> dict[str, Any]:
    """How images are prepared for a file: as the configuration beside it says, else as for all tags of the model.

    Where the tags differ nothing is guessed: a wrong mean or resize changes every vector and raises no error.
    """
    if path is not None and (path.parent / CONFIG).is_file():
        _, values = Repository(request, str(path.parent), folder=True).config(CONFIG)
        return dict(values.get("preprocess_cfg") or {})
    tags = open_clip.list_pretrained_tags_by_model(name)
    known = {json.dumps(steps, sort_keys=True): steps for tag in tags if (steps := _steps_of_tag(name, tag))}
    if path is not None and len(known) > 1 and not all(request.options_named(option) for option in OWN_STEPS):
        own = "&".join(f"{option}=..." for option in OWN_STEPS)
        raise InputError(
            f"unknown preprocessing: the weights of {name} need different ones",
            where=request.text,
            hint=f"Write {name}@TAG=FILE with the tag of these weights ({_tags(name)}), or your own: ?{own}.",
        )
    return next(iter(known.values()), {})


def preprocessing(model: torch.nn.Module, request: Request) -> Preprocessing:
    """The preprocessing of open_clip's own transform for this model."""
    found = PreprocessCfg(**model.visual.preprocess_cfg)  # type: ignore[union-attr, arg-type]
    height, width = found.size if isinstance(found.size, (tuple, list)) else (found.size, found.size)
    if height != width or found.resize_mode == "longest":
        what = f"the model takes {width} x {height} pixels, resized by {found.resize_mode}"
        raise InputError(what, where=request.text, hint="Choose another; this one is not supported.")
    interpolation = "bilinear" if found.interpolation == "bilinear" else "bicubic"
    return Preprocessing(found.resize_mode, height, interpolation, None, "RGB", found.mean, found.std)  # type: ignore[arg-type]


def _refuse_other_activation(request: Request, name: str, tag: str) -> None:
    """Raise InputError for QuickGELU weights in a GELU network, of which open_clip only warns."""
    config = open_clip.get_pretrained_cfg(name, tag)
    wants, has = bool(config.get("quick_gelu")), bool(open_clip.get_model_config(name).get("quick_gelu"))
    if wants != has:
        other = f"{name}-quickgelu" if wants else name.removesuffix("-quickgelu")
        what = f"the weights {tag} were trained with {'QuickGELU' if wants else 'GELU'}, {name} uses the other"
        raise InputError(what, where=request.text, hint=f"Write open_clip:{other}@{request.weights}.")


def _of_tag(request: Request, name: str, tag: str) -> Path:
    """The weights file of a tag."""
    config = open_clip.get_pretrained_cfg(name, tag)
    repository, _, file = str(config.get("hf_hub") or "").rpartition("/")
    names = [file.rpartition(".")[0] + ".safetensors", file] if file else HUB_FILES
    url = "" if repository else str(config.get("url") or "")
    return hub.weights_file(repository, names, url, replace(request, weights=f"{tag}=").supply())


def _known(name: str) -> None:
    if name not in open_clip.list_models():
        near = difflib.get_close_matches(name, open_clip.list_models(), n=3, cutoff=0.3)
        raise UnknownNameError(
            f"open_clip has no model {name!r}",
            hint=f"Did you mean {', '.join(near)}? (open_clip.list_models() has all.)",
        )


def _create(name: str, steps: Mapping[str, Any], request: Request) -> torch.nn.Module:
    logging.disable(logging.WARNING)  # it warns about random weights, which are replaced at once or were requested
    try:
        model: torch.nn.Module = open_clip.create_model(
            name, load_weights=False, pretrained_text=False, force_preprocess_cfg=dict(steps)
        )
    except (RuntimeError, OSError, ImportError, ValueError) as error:
        raise InputError(f"open_clip cannot build it ({error})", where=request.text) from error
    finally:
        logging.disable(logging.NOTSET)
    return model


def _fit(model: torch.nn.Module, path: Path) -> None:
    """Load a whole CLIP model, strictly, by open_clip's own reader (which knows the original releases)."""
    state = weights.read(path)  # refuses damaged files and files that would run code, with our messages
    try:
        with warnings.catch_warnings(), TemporaryDirectory(prefix="eds-clip-") as folder:
            warnings.simplefilter("ignore", UserWarning)
            file = path
            kept = {
                name: tensor.contiguous() for name, tensor in state.items() if name.rpartition(".")[2] not in OPENAI
            }
            if len(kept) < len(state):
                save_file(kept, file := Path(folder) / "weights.safetensors")
            open_clip.load_checkpoint(model, str(file), strict=True, weights_only=True)
    except (RuntimeError, KeyError) as error:
        faults = [line.strip()[:400] for line in str(error).splitlines()[1:]] or [repr(error)]
        hint = "Name the right model; the file must hold both sides, image and text."
        raise InputError("the weights do not fit this model", where=str(path), hint=hint, faults=faults[:8]) from error
