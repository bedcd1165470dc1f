"""Which folder is the image root, and how a command may set it in eds.toml without touching the rest of the file.

The root is the setting `images.root`. A command that names another folder may set it as long as there is
no table `images` yet; afterwards every path of the project hangs on it, and the command is refused. It works
with the new root first and writes it when the table is there, so that a failure leaves eds.toml as it was.
"""

import copy
import os
import re
import tomllib
from contextlib import suppress
from pathlib import Path

from eds import config, tables
from eds import io as storage
from eds.errors import ConfigError, EdsError, ProjectError
from eds.io import Address
from eds.io.files import write_text
from eds.project import Project


def settled_root(project: Project, folder: Address | None) -> Project:
    """The project with `folder` as its image root; nothing is written, but what `write_root` would refuse is."""
    if folder is None or _same(folder, project.pictures):
        return project
    value = _written(project, folder)
    if project.path("images").exists() and _made_below(project) != value:
        raise ProjectError(
            f"{folder} is not the image root; that is {project.pictures}, and the project's paths hang on it",
            where=str(project.root),
            hint=f"Scan the root, make another project (eds init), or change images.root in {config.FILE}.",
        )
    if "EDS_IMAGES_ROOT" in os.environ:
        raise ConfigError(f"EDS_IMAGES_ROOT says another root than {folder}", hint="Unset it, or leave out the folder.")
    _with_root(project, value)
    images = project.config.images.model_copy(update={"root": value})
    settings = project.config.model_copy(update={"images": images})
    rooted = copy.copy(project)
    rooted.config = settings
    return rooted


def write_root(project: Project) -> None:
    """Write the project's image root to its eds.toml."""
    text = _with_root(project, project.config.images.root)
    if not project.would("change", config.FILE, f"images.root = {project.config.images.root}"):
        write_text(project.root / config.FILE, text)


def _with_root(project: Project, value: str) -> str:
    file = project.root / config.FILE
    return with_root(file.read_text(encoding="utf-8"), value, str(file))


def _made_below(project: Project) -> str:
    """The root that the table `images` was made below: a killed command may not have come to write it."""
    with suppress(EdsError):
        return str(tables.read_provenance(project.path("images"), tables.IMAGES)[0].settings.get("images.root", ""))
    return ""


def _same(one: Address, other: Address) -> bool:
    if storage.is_remote(one) or storage.is_remote(other):
        return storage.checked(one) == storage.checked(other)
    return os.path.realpath(storage.local_path(one)) == os.path.realpath(storage.local_path(other))


def _written(project: Project, folder: Address) -> str:
    """How eds.toml names the root: its address, or its path, relative where it lies in the project."""
    if storage.is_remote(folder):
        return str(storage.checked(folder))
    home, place = Path(os.path.realpath(project.root)), Path(os.path.realpath(storage.local_path(folder)))
    return place.relative_to(home).as_posix() if place.is_relative_to(home) else str(place)


def with_root(text: str, value: str, where: str = config.FILE) -> str:
    r"""The text of an eds.toml with `images.root` set, every other character as it was.

    >>> print(with_root('[images]  # where\n# root = "images"  # folder\n', "photos"), end="")
    [images]  # where
    root = "photos"  # folder
    """
    lines = text.splitlines(keepends=True)
    quoted = '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    start = next((at for at, line in enumerate(lines) if re.match(r"\s*\[\s*images\s*\]", line)), None)
    if start is None:
        closed = text if text.endswith("\n") or not text else text + "\n"
        changed = f"{closed}\n[images]\nroot = {quoted}\n"
    else:
        end = next((at for at in range(start + 1, len(lines)) if re.match(r"\s*\[", lines[at])), len(lines))
        places = [at for at in range(start + 1, end) if re.match(r"\s*#?\s*root\s*=", lines[at])]
        live = [at for at in places if not lines[at].lstrip().startswith("#")]
        if places:
            at = (live or places)[0]
            found = re.match(r"\s*#?\s*root\s*=\s*(\"(?:[^\"\\]|\\.)*\"|'[^']*')?(?P<rest>[^\n]*)", lines[at])
            lines[at] = f"root = {quoted}{found['rest'] if found else ''}\n"
        else:
            lines.insert(start + 1, f"root = {quoted}\n")
        changed = "".join(lines)
    _only_root_differs(text, changed, value, where)
    return changed


def _only_root_differs(before: str, after: str, value: str, where: str) -> None:
    try:
        old, new = tomllib.loads(before), tomllib.loads(after)
        good = new["images"].pop("root") == value
        old.setdefault("images", {}).pop("root", None)
    except (tomllib.TOMLDecodeError, KeyError, AttributeError):
        good, old, new = False, {}, {}
    if not good or old != new:
        raise ConfigError(
            "images.root cannot be set in this file by itself", where=where, hint=f'Write it by hand: root = "{value}".'
        )
