"""A weights file: `checkpoint:PATH`, or `checkpoint:PATH?arch=timm:NAME` where the file does not name its architecture.

Files of `eds training` name it. `checkpoint:PATH?arch=timm:NAME&prefix=OLD.` reads MoCo's.
"""

from dataclasses import replace
from pathlib import Path

from eds.backbones import weights
from eds.backbones.network import NetworkBackbone
from eds.backbones.request import Request
from eds.errors import InputError

EXTRA = "vision"

OPEN_CLIP = "open_clip"


def load(request: Request) -> NetworkBackbone:
    """Load the weights file that the request names."""
    hint = "Name the architecture: checkpoint:PATH?arch=timm:resnet50, or arch=open_clip:ViT-B-32@TAG."
    request = complete(request)
    loader, _, name = request.option("arch").partition(":")
    if loader not in ("timm", "cnn", OPEN_CLIP) or not name:
        raise InputError("the architecture is unknown", where=request.text, hint=hint)
    if request.random_init:
        raise InputError("a checkpoint cannot be random", where=request.text, hint=f"Write {loader}:{name} instead.")
    path = Path(request.name).expanduser()
    named = replace(request, name=path.name)
    if loader == OPEN_CLIP:
        from eds.backbones.families import open_clip

        request.allow_only("arch", *open_clip.OPTIONS)
        model, _, tag = name.partition("@")
        return open_clip.build(named, model, path, tag)
    if loader == "cnn":
        from eds.backbones.families import cnn

        request.allow_only("arch", "prefix")
        backbone = cnn.build(named, name, path)
    else:
        from eds.backbones.families import timm

        request.allow_only("arch", *timm.OPTIONS)
        backbone = timm.build(named, name, path)
    backbone.spec = replace(backbone.spec, weights=path.name, licence="not stated")
    return backbone


def complete(request: Request) -> Request:
    """Add the options that the weights file states, if the request does not name an architecture."""
    if request.loader != "checkpoint" or request.options_named("arch"):
        return request
    return request.with_defaults(weights.read_own_options(Path(request.name).expanduser()))
