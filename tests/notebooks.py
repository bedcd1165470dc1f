"""Notebooks as tests run them: cells one after the other in one namespace; none holds results of somebody's machine."""

import ast
import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "notebooks"


def cells(name: str) -> list[dict[str, Any]]:
    """The code cells of a notebook."""
    found: dict[str, Any] = json.loads((FOLDER / name).read_text(encoding="utf-8"))
    return [cell for cell in found["cells"] if cell["cell_type"] == "code"]


def holds_outputs(name: str) -> bool:
    """Whether some cell keeps what it once printed."""
    return any(cell["outputs"] or cell["execution_count"] for cell in cells(name))


def executed(name: str) -> dict[str, Any]:
    """What the notebook leaves behind; `last` holds what each cell would show."""
    told: dict[str, Any] = {}
    shown: list[Any] = []
    for cell in cells(name):
        tree = ast.parse("".join(cell["source"]), name)
        end = tree.body[-1]
        rest = ast.Expression(end.value) if isinstance(end, ast.Expr) else None
        tree.body = tree.body[:-1] if rest else tree.body
        exec(compile(tree, name, "exec"), told)
        shown.append(eval(compile(rest, name, "eval"), told) if rest else None)
    return {**told, "last": shown}
