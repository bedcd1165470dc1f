"""Efficient discovery of visual similarities: which pairs experts should judge, and how far the result can be trusted.

The names below are the library's front; everything is imported on use, so that `import eds` costs nothing.
"""

from importlib import import_module
from typing import Any

_FRONT = {
    "Config": "eds.config:Config",
    "EdsError": "eds.errors:EdsError",
    "Project": "eds.project:Project",
    "Provenance": "eds.tables:Provenance",
    "Rules": "eds.neighbors.rules:Rules",
    "TABLES": "eds.tables:TABLES",
    "Table": "eds.schema:Table",
    "Vectors": "eds.vectors:Vectors",
    "budget": "eds.suspects.budget:budget",
    "check": "eds.tables:check",
    "compute": "eds.embeddings.compute:compute",
    "draw_catalogue": "eds.synthetic.catalogue:draw_catalogue",
    "draw_random": "eds.suspects:draw_random",
    "load_backbone": "eds.backbones:load",
    "mine": "eds.neighbors.mine:mine",
    "open_rgb": "eds.imaging:open_rgb",
    "overlap": "eds.suspects:overlap",
    "pool": "eds.suspects:pool",
    "read": "eds.tables:read",
    "scan": "eds.images.scan:scan",
    "write": "eds.tables:write",
}

__all__ = sorted(_FRONT)


def __getattr__(name: str) -> Any:
    if name not in _FRONT:
        raise AttributeError(f"module eds has no attribute {name!r}")
    module, _, attribute = _FRONT[name].partition(":")
    return getattr(import_module(module), attribute)


def __dir__() -> list[str]:
    return __all__
