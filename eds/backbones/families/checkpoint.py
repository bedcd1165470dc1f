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
    """The factory of loader `checkpoint`."""
    do = "Say what the weights are of: checkpoint:PATH?arch=timm:resnet50, or arch=open_clip:ViT-B-32."
    request = completed(request)
    loader, _, name = request.one("arch").partition(":")
    if loader not in ("timm", OPEN_CLIP) or not name:
        raise InputError("the architecture is not told", where=request.text, do=do)
    if request.random_init:
        raise InputError("a checkpoint is never random", where=request.text, do=f"Write {loader}:{name} instead.")
    path = Path(request.name).expanduser()
    named = replace(request, name=path.name)
    if loader == OPEN_CLIP:
        from eds.backbones.families import open_clip

        request.only("arch", *open_clip.OPTIONS)
        return open_clip.build(named, name, path, tag="")
    from eds.backbones.families import timm

    request.only("arch", *timm.OPTIONS)
    backbone = timm.build(named, name, path)
    backbone.spec = replace(backbone.spec, weights=path.name, licence="not stated")
    return backbone


def completed(request: Request) -> Request:
    """The request with the options that the weights file tells of itself, if it says nothing of the architecture."""
    if request.loader != "checkpoint" or request.all("arch"):
        return request
    return request.with_defaults(weights.told_options(Path(request.name).expanduser()))
