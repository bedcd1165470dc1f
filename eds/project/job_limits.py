"""What somebody with an account may let the server read and run: less than who can type a command on it.

Work that is started in the browser is checked here. Pictures come from below the project, its image root or a folder of
`annotator.image_folders`. A model is a preset, one that the project names or has, or the name of a model of a library:
a Python module would run, a file may be anybody's, and an address may lie in the network behind the server.
"""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eds.errors import EdsError, InputError
from eds.io import is_remote
from eds.registry import BACKBONES

if TYPE_CHECKING:
    from eds.project import Project

NAMED = re.compile(r"(hf-hub:)?[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?")
PLAIN = re.compile(r"[\w.,+-]*")


def check_step(project: "Project", verb: str, options: Mapping[str, Any]) -> None:
    """InputError for a step of a job that names more of the server than an account may."""
    if verb in ("scan", "import_images"):
        for place in (*options.get("files", ()), *([options["folder"]] if "folder" in options else ())):
            check_place(project, str(place))
    if verb == "embed":
        check_models(project, options.get("models") or ())


def check_place(project: "Project", place: str) -> None:
    """InputError for a file or folder that accounts may not import from."""
    roots = [project.root, *map(Path, project.config.annotator.image_folders)]
    if not is_remote(project.pictures):
        roots.append(Path(str(project.pictures)))
    if not any(Path(place).resolve().is_relative_to(root.resolve()) for root in roots):
        raise InputError(
            f"{place} is not a folder that pages may import from",
            where="place",
            hint=f'To allow it, the owner of the project adds it to eds.toml: [annotator] image_folders = ["{place}"]',
        )


def check_models(project: "Project", models: Iterable[str]) -> None:
    """InputError for models that accounts may not let the server load."""
    from eds.project.embed import presets

    config = project.config
    known = {*config.embeddings.models, *project.models("embeddings"), *project.models("neighbors")}
    known |= {text for model in config.models for text in (model.name, model.spec)}
    known |= {str(row["preset"]) for row in presets().presets}
    if refused := [name for name in models if name not in known and not _is_of_a_library(name)]:
        raise InputError(
            f"{', '.join(refused)}: pages compute presets, models of eds.toml and models of libraries by name",
            where="models",
            hint="Files, addresses and Python modules are named by the owner of the project: eds models add.",
        )


def _is_of_a_library(text: str) -> bool:
    from eds.backbones.request import ADDRESSED, Request

    try:
        request = Request.parse(text)
    except EdsError:
        return False
    return bool(
        request.loader in BACKBONES
        and request.loader not in ADDRESSED
        and NAMED.fullmatch(request.name)
        and PLAIN.fullmatch(request.weights)
        and all(PLAIN.fullmatch(value) for _, value in request.options)
    )
