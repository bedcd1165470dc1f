"""Give a model another name wherever the project keeps the old one; what is up to date stays so."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eds import tables
from eds.errors import InputError
from eds.io.files import digest, write_text
from eds.project.embed import parse_model
from eds.project.models import ModelsResult, existing_model, known_models, list_models, write_models
from eds.schema import Table
from eds.tables import check_model_name

if TYPE_CHECKING:
    import pandas as pd

    from eds.project import Project

NAMING = ("models", "model", "pool_model", "base", "arguments", "new", "ids")  # parameters that name models
STRATUM = "delta:"  # of pairs that were added for a model


def rename_model(project: "Project", text: str, name: str) -> ModelsResult:
    """Rename a model; see `Project.rename_model`."""
    with project.writing("models.rename"):
        old = existing_model(project, text)
        check_model_name(name)
        models = known_models(project)
        if any(model.name == name and model.role != "removed" for model in models):
            raise InputError(f"there is a model {name} already", where="models rename", hint="Give another name.")
        for table in ("embeddings", "neighbors"):
            if project.path(table, old).exists():
                project.would("change", project.path(table, old), f"renamed to {project.path(table, name).name}")
        for table in ("suspects", "truth", "scores"):
            if project.path(table).exists():
                project.would("change", project.path(table), f"{old} is called {name}")
        kept = [model for model in models if model.name != name]
        changed = [model.model_copy(update={"name": name}) if model.name == old else model for model in kept]
        if project.dry_run:
            write_models(project, changed, {old: name})
            project.end_rehearsal()
        renamed = _Rename(project, old, name)
        renamed.vectors()
        renamed.table(tables.NEIGHBORS, project.path("neighbors", old), project.path("neighbors", name), renamed.column)
        for other in project.models("neighbors"):  # lists of images that all models have depend on every model
            if other != name:
                path = project.path("neighbors", other)
                renamed.table(tables.NEIGHBORS, path, path, None)
        for table, change in (("suspects", renamed.sources), ("truth", None), ("scores", renamed.column)):
            renamed.table(tables.TABLES[table], project.path(table), project.path(table), change)
        write_models(project, changed, {old: name})
    return list_models(project)


class _Rename:
    """One renaming: the files written so far, by their old path and digest, so that later ones can name them."""

    def __init__(self, project: "Project", old: str, new: str) -> None:
        self.project, self.old, self.new = project, old, new
        self.moved: dict[tuple[str, str], tuple[str, str]] = {}  # (path, digest) -> (path, digest)

    def vectors(self) -> None:
        """Move the folder of vectors, and name the model in its description."""
        before, after = (self.project.path("embeddings", name) for name in (self.old, self.new))
        if not (before / "model.json").exists():
            return
        found = digest(before / "model.json")
        shutil.rmtree(after, ignore_errors=True)
        before.rename(after)
        described = json.loads((after / "model.json").read_text(encoding="utf-8"))
        described["name"] = self.new
        made_by = tables.Provenance.from_json(json.dumps(described["provenance"]))
        if made_by.operation == "embeddings.compute":  # the text that it is computed by again
            spec = parse_model(str(made_by.params["models"][0]))[1]
            made_by = replace(made_by, params={**made_by.params, "models": [f"{self.new}={spec}"]})
        described["provenance"] = json.loads(self.provenance(made_by).to_json())
        write_text(after / "model.json", json.dumps(described, indent=1, ensure_ascii=False))
        ids = after / "ids.parquet"
        if ids.exists():
            self.table(tables.EMBEDDINGS, ids, ids, self.column)
        self._note(before, found, after, digest(after / "model.json"))

    def table(
        self, declared: Table, before: Path, after: Path, change: "Callable[[pd.DataFrame], pd.DataFrame] | None"
    ) -> None:
        """Write a table again with its rows changed, and with the parents that were renamed."""
        if not before.exists():
            return
        found, (made_by, _) = digest(before), tables.read_provenance(before, declared)
        stamped = self.provenance(made_by)
        if change is None and stamped == made_by:
            return
        frame = tables.read(before, declared)
        tables.write(frame if change is None else change(frame), declared, after, stamped)
        if before != after:
            before.unlink()
        self._note(before, found, after, digest(after))

    def provenance(self, made_by: tables.Provenance) -> tables.Provenance:
        """The provenance with the new name in parents and parameters."""
        parents = dict(self.moved.get(parent, parent) for parent in made_by.parents.items())
        params = {key: self._in_value(key, value) for key, value in made_by.params.items()}
        later = tuple(
            replace(step, params={key: self._in_value(key, value) for key, value in step.params.items()})
            for step in made_by.later
        )
        return replace(made_by, parents=parents, params=params, later=later)

    def column(self, frame: "pd.DataFrame") -> "pd.DataFrame":
        """The frame with the new name in column model."""
        return frame.assign(model=frame["model"].where(frame["model"] != self.old, self.new))

    def sources(self, suspects: "pd.DataFrame") -> "pd.DataFrame":
        """The suspects with the new name in their sources, sorted by model, and in the stratum of its own pairs."""

        def text(sources: Any) -> Any:
            if not isinstance(sources, str) or not sources:
                return sources
            parts = [part.rpartition(":")[::2] for part in sources.split(";")]
            renamed = sorted((self.new if model == self.old else model, rank) for model, rank in parts)
            return ";".join(f"{model}:{rank}" for model, rank in renamed)

        mine = suspects["stratum"] == f"{STRATUM}{self.old}"
        stratum = suspects["stratum"].where(~mine, f"{STRATUM}{self.new}")
        return suspects.assign(sources=suspects["sources"].map(text), stratum=stratum)

    def _in_value(self, key: str, value: Any) -> Any:
        """A parameter with the new name; texts that name a backbone get it in front of their spec."""
        if isinstance(value, list):
            return [self._in_value(key, item) for item in value]
        if not isinstance(value, str) or key not in (
            "models",
            "model",
            "pool_model",
            "base",
            "arguments",
            "new",
            "ids",
        ):
            return value
        name, equals, rest = value.partition("=")
        return self.new + equals + rest if name == self.old else value

    def _note(self, before: Path, found: str, after: Path, made: str) -> None:
        root = self.project.root
        self.moved[before.relative_to(root).as_posix(), found] = after.relative_to(root).as_posix(), made
