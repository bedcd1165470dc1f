"""Notebooks as tests run them: cells one after the other in one namespace; each is stored with what it shows."""

import ast
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "notebooks"


def cells(name: str) -> list[dict[str, Any]]:
    """The code cells of a notebook."""
    notebook: dict[str, Any] = json.loads((FOLDER / name).read_text(encoding="utf-8"))
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def holds_outputs(name: str) -> bool:
    """Whether every cell was run, in order and without an error, and most show something."""
    code = cells(name)
    in_order = [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    outputs = [output for cell in code for output in cell["outputs"]]
    failed = any(output["output_type"] == "error" for output in outputs)
    warned = any(output.get("name") == "stderr" for output in outputs)  # names a path of the machine that ran it
    return in_order and not failed and not warned and sum(bool(cell["outputs"]) for cell in code) > len(code) / 2


def executed(name: str, changes: Mapping[str, str] | None = None) -> dict[str, Any]:
    """What the notebook leaves behind; `last` holds what each cell would show. `changes` replace texts of cells."""
    told: dict[str, Any] = {}
    shown: list[Any] = []
    for cell in cells(name):
        source = "".join(cell["source"])
        for before, after in (changes or {}).items():
            source = source.replace(before, after)
        tree = ast.parse(source, name)
        end = tree.body[-1]
        rest = ast.Expression(end.value) if isinstance(end, ast.Expr) else None
        tree.body = tree.body[:-1] if rest else tree.body
        exec(compile(tree, name, "exec"), told)
        shown.append(eval(compile(rest, name, "eval"), told) if rest else None)
    return {**told, "last": shown}
