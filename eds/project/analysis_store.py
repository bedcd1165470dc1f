"""Where the analyses keep what they found: analysis/NAME.json in the project, with what it was made from."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from eds.project.results import to_jsonable

if TYPE_CHECKING:
    from eds.project import Project


def keep(project: "Project", name: str, document: Any, tables: Sequence[str]) -> str:
    """Write the document, whole or not at all; what to say of it. `tables` are those it was made from."""
    from eds.io.files import digest, write_text

    made_from: dict[str, str] = {}
    for table in tables:
        paths: list[Path] = []
        if table in ("embeddings", "neighbors"):
            for model in project.models(table):
                place = project.path(table, model)
                paths.append(place / "model.json" if table == "embeddings" else place)
        else:
            paths = [project.path(table)]
        made_from |= {path.relative_to(project.root).as_posix(): digest(path) for path in paths if path.is_file()}
    context = click.get_current_context()
    options = {
        key: value for key, value in context.params.items() if key not in ("folder", "as_json", "verbose", "quiet")
    }
    told = {"analysis": name, "options": options, "made_from": made_from, "found": document}
    file = project.root / "analysis" / f"{name}.json"
    write_text(file, json.dumps(to_jsonable(told), ensure_ascii=False, allow_nan=False, indent=1))
    return f"Kept in {file}."
