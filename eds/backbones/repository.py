"""A model repository by the name that its library uses: `hf-hub:ORG/NAME[@REVISION]`, or a folder, `local-dir:PATH`."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from eds.backbones import hub
from eds.backbones.request import Request
from eds.errors import InputError

HUB, FOLDER = "hf-hub:", "local-dir:"


@dataclass(frozen=True)
class Repository:
    """Where the files of one model are: its configuration and weights."""

    request: Request  # named as every machine can name it: a folder by its last part
    identifier: str  # ORG/NAME[@REVISION], or the folder
    folder: bool

    @classmethod
    def of(cls, request: Request) -> "Repository | None":
        """The repository that the request names; None where it names a model of the library."""
        if request.name.startswith(FOLDER):
            path = Path(request.name.removeprefix(FOLDER)).expanduser()
            if not path.is_dir():
                raise InputError("model folder not found", where=str(path), hint=f"Check the path after {FOLDER}")
            if request.weights:
                raise InputError("a model folder has its own weights", where=request.text, hint="Remove @...")
            return cls(replace(request, name=FOLDER + path.resolve().name), str(path), folder=True)
        if request.name.startswith(HUB):
            name = request.name.removeprefix(HUB)
            if name.count("/") != 1 or name.startswith("/") or name.endswith("/"):
                raise InputError(f"invalid repository {name!r}", where=request.text, hint=f"Write {HUB}ORG/NAME.")
            return cls(request, name + (f"@{request.weights}" if request.weights else ""), folder=False)
        return None

    @classmethod
    def on_hub(cls, request: Request) -> "Repository":
        """The repository of the hub whose name is the request's name."""
        if request.name.count("/") > 1 or Path(request.name).is_dir():
            hint = f"Write {request.loader}:ORG/NAME, or {request.loader}:{FOLDER}{request.name} for a folder."
            raise InputError(f"invalid repository {request.name!r}", where=request.text, hint=hint)
        return cls(request, request.name + (f"@{request.weights}" if request.weights else ""), folder=False)

    def file(self, names: Sequence[str]) -> Path:
        """The first of these files that the repository has."""
        if not self.folder:
            supply = f"the repository's files, as {self.request.loader}:{FOLDER}/path/folder"
            return hub.weights_file(self.identifier, names, "", supply)
        found = next((path for name in names if (path := Path(self.identifier) / name).is_file()), None)
        if found is None:
            raise InputError(
                "the model folder lacks a file", where=self.identifier, hint=f"It needs {' or '.join(names)}."
            )
        return found

    def config(self, name: str) -> tuple[Path, dict[str, Any]]:
        """The configuration file `name` and its values."""
        path = self.file([name])
        try:
            values = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise InputError(f"invalid JSON ({error})", where=str(path), hint="Download the file again.") from error
        if not isinstance(values, dict):
            raise InputError("the configuration is not a JSON object", where=str(path))
        return path, values
