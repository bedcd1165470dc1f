"""Efficient discovery of visual similarities: which pairs experts should judge, and how far the result can be trusted.

The names below are the library's front; everything is imported on use, so that `import eds` costs nothing.
"""

from importlib import import_module
from typing import Any

_FRONT = {
    "Config": "eds.config",
    "EdsError": "eds.errors",
    "Project": "eds.workspace",
    "Provenance": "eds.tables",
    "TABLES": "eds.tables",
    "Table": "eds.schema",
    "check": "eds.tables",
    "read": "eds.tables",
    "write": "eds.tables",
}

__all__ = sorted(_FRONT)


def __getattr__(name: str) -> Any:
    if name not in _FRONT:
        raise AttributeError(f"module eds has no attribute {name!r}")
    return getattr(import_module(_FRONT[name]), name)


def __dir__() -> list[str]:
    return __all__
