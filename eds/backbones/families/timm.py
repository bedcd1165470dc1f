"""Any model of timm: `timm:NAME` with its hub weights, `timm:NAME@FILE` with weights of your own.

`timm:hf-hub:ORG/NAME` and `timm:local-dir:PATH` are repositories in timm's layout: config.json and the weights.
"""

import difflib
import sys
import zipfile
from pathlib import Path
from typing import Any

import timm
import torch
from timm.data.config import resolve_data_config
from timm.models._hub import load_model_config_from_path

from eds.backbones import hub, network, weights
from eds.backbones.preprocessing import Preprocessing
from eds.backbones.repository import Repository
from eds.backbones.request import Request
from eds.errors import InputError, UnknownNameError

EXTRA = "vision"

OPTIONS = ("output", "pooling", "classes", "entry", "prefix", "map", "drop", "match")
HUB_FILES = ("model.safetensors", "pytorch_model.bin")
POSITIONS = "pos_embed"
DECODER = (  # of MAE, which reconstructs pixels: its encoder does without
    "mask_token",
    "decoder_embed",
    "decoder_pos_embed",
    "decoder_blocks",
    "decoder_norm",
    "decoder_pred",
)
PREFIX_TOKENS = 5  # at most: a class token and four registers, which files keep inside or outside of pos_embed
FILTERS = ("checkpoint_filter_fn", "_filter_fn", "_filter_torchvision_pretrained", "_filter_pretrained")


def load(request: Request) -> network.NetworkBackbone:
    """Load a model of timm."""
    request.allow_only(*OPTIONS)
    if request.weights and request.random_init:
        raise InputError(
            "weights and random_init contradict each other", where=request.text, hint="Remove one of them."
        )
    if repository := Repository.of(request):
        return _of_repository(repository)
    path = Path(request.weights).expanduser() if request.weights else None
    if path is None and not request.random_init:
        config = _config(request.name)
        path = hub.weights_file(
            str(config.get("hf_hub_id") or ""),
            [config["hf_hub_filename"]] if config.get("hf_hub_filename") else HUB_FILES,
            str(config.get("url") or ""),
            request.supply(),
        )
    return build(request, request.name, path)


def build(request: Request, name: str, path: Path | None) -> network.NetworkBackbone:
    """The architecture `name` with the weights of a file, or random ones without a path."""
    return _build(request, name, _config(name), {}, path)


def _of_repository(repository: Repository) -> network.NetworkBackbone:
    """The model that the repository's config.json describes."""
    config, architecture, arguments = read_repository(repository)
    path = None if repository.request.random_init else repository.file(HUB_FILES)
    return _build(repository.request, architecture, config, arguments, path)


def read_repository(repository: Repository) -> tuple[dict[str, Any], str, dict[str, Any]]:
    """Timm's pretrained configuration, the architecture's name and its arguments."""
    path, values = repository.config("config.json")
    if "architecture" not in values:
        hint = "Use a repository of timm's layout; a model of transformers has another."
        raise InputError("the configuration names no architecture of timm", where=str(path), hint=hint)
    config, architecture, arguments = load_model_config_from_path(path.parent)
    _config(architecture)  # raises for one that this version of timm does not know
    return dict(config), architecture, dict(arguments)


def _build(
    request: Request, name: str, config: dict[str, Any], arguments: dict[str, Any], path: Path | None
) -> network.NetworkBackbone:
    output = request.option("output", "pooled", ("pooled", "logits"))
    classes = request.integer("classes", int(config.get("num_classes") or 0)) if output == "logits" else 0
    if output == "logits" and not classes:
        raise InputError("the model has no classifier", where=request.text, hint="Leave output=logits out.")
    if pooling := request.option("pooling"):
        arguments = {**arguments, "global_pool": pooling}
    model = weights.build_seeded(lambda: _create(name, classes, arguments, request)).eval()
    if path is not None and path.suffix == ".npz":
        _fit_arrays(model, path)
    elif path is not None:
        state = weights.rename_keys(weights.read(path, request.option("entry")), request.key_map)
        if request.option("match", "names", ("names", "order")) == "order":
            state = weights.in_order(model, state) or state
        heads = [] if classes else _heads(config)
        weights.fit(
            model, _native(model, state, request), str(path), [*heads, *DECODER, *request.options_named("drop")]
        )
    spec = request.spec(
        preprocessing(config, request),
        weights_sha256=weights.file_digest(path) if path else weights.tensors_digest(model.state_dict()),
        key_map=request.key_map,
        pooling=output if classes else _pooling(model),
        licence="not stated" if request.weights else str(config.get("license") or "not stated"),
    )
    return network.backbone(model, spec, request)


def preprocessing(config: dict[str, Any], request: Request) -> Preprocessing:
    """The preprocessing of timm's own `create_transform` for inference with this configuration."""
    found = resolve_data_config({}, pretrained_cfg=config)  # type: ignore[no-untyped-call]
    _, height, width = found["input_size"]
    if height != width:
        hint = "Choose a model of square images."
        raise InputError(f"the model takes {width} x {height} pixels", where=request.text, hint=hint)
    resize = {"squash": "squash", "border": "longest"}.get(found["crop_mode"], "shortest")
    size = int(height // found["crop_pct"])
    return Preprocessing(resize, size, found["interpolation"], height, "RGB", found["mean"], found["std"])  # type: ignore[arg-type]


def _config(name: str) -> dict[str, Any]:
    """The configuration of a model; for an unknown name or tag the error lists similar ones."""
    architecture, _, tag = name.partition(".")
    if not timm.is_model(architecture):
        near = difflib.get_close_matches(architecture, timm.list_models(), n=3)
        raise UnknownNameError(
            f"timm has no model {architecture!r}", hint=f"Did you mean {', '.join(near)}?" if near else ""
        )
    tags = [known.partition(".")[2] for known in timm.list_pretrained(f"{architecture}.*")]
    if tag and tag not in tags:
        raise UnknownNameError(
            f"timm has no weights {tag!r} of {architecture}", hint=f"Known: {', '.join(tags) or 'none'}."
        )
    found = timm.get_pretrained_cfg(name)
    return dict(found.to_dict()) if found is not None else {}  # type: ignore[no-untyped-call]


def _create(name: str, classes: int, arguments: dict[str, Any], request: Request) -> torch.nn.Module:
    try:
        model: torch.nn.Module = timm.create_model(name, pretrained=False, **{**arguments, "num_classes": classes})
    except (RuntimeError, AssertionError, TypeError, ValueError, KeyError) as error:
        raise InputError(
            f"timm cannot build it ({error})", where=request.text, hint="Check pooling and classes."
        ) from error
    return model


def _pooling(model: torch.nn.Module) -> str:
    """Timm's name of the pooling of this model, or `pooled`."""
    found = getattr(model, "global_pool", None)
    named = found if isinstance(found, str) else getattr(found, "pool_type", None)
    return named if isinstance(named, str) and named else "pooled"


def _heads(config: dict[str, Any]) -> list[str]:
    """The names of the classifier's layers, which a file may have and features do without."""
    found = config.get("classifier") or []
    return [found] if isinstance(found, str) else list(found)


def _native(model: torch.nn.Module, state: weights.State, request: Request) -> weights.State:
    """The tensors under timm's own names: original releases are renamed by timm's filter of that model.

    The filter also drops what files hold beside the weights (BEiT's position indices, DINOv2's mask token).
    """
    own = model.state_dict()
    module = sys.modules[type(model).__module__]
    convert = next((getattr(module, name) for name in FILTERS if hasattr(module, name)), None)
    if convert is None or set(state) == set(own):
        return state
    try:
        try:
            converted = dict(convert(state, model))
        except TypeError:
            converted = dict(convert(state))
    except (KeyError, RuntimeError, AttributeError, IndexError) as error:
        raise InputError(
            f"the weights do not fit this architecture (timm cannot rename them: {error!r})",
            where=request.text,
            hint="Name the right architecture, or map the keys: ?prefix=OLD., ?map=OLD>NEW.",
        ) from error
    # The filter stretches position embeddings of another image size: a different network, so `fit` refuses them.
    if POSITIONS in state and POSITIONS in converted:
        tokens = state[POSITIONS].shape[1], converted[POSITIONS].shape[1]
        if abs(tokens[0] - tokens[1]) > PREFIX_TOKENS:
            converted[POSITIONS] = state[POSITIONS]
    return converted


def _fit_arrays(model: torch.nn.Module, path: Path) -> None:
    """Load the arrays of an original release of ViT (.npz) by timm's own reader, all of them."""
    if not hasattr(model, "load_pretrained"):
        raise InputError("this architecture has no weights as .npz", where=str(path), hint="Use safetensors or .pth.")
    weights.refuse_missing(path)
    with torch.no_grad():
        for tensor in model.state_dict().values():
            if tensor.is_floating_point():
                tensor.fill_(torch.nan)
    read: Any = model.load_pretrained
    try:
        read(str(path))
    except (KeyError, RuntimeError, ValueError, OSError, zipfile.BadZipFile, AssertionError) as error:
        raise InputError(f"the weights do not fit this architecture ({error!r})", where=str(path)) from error
    faults = [
        name for name, tensor in model.state_dict().items() if tensor.is_floating_point() and tensor.isnan().any()
    ]
    if faults:
        raise InputError("the weights do not fit this architecture", where=str(path), faults=faults[: weights.SHOWN])
