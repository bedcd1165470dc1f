"""A trained model as one file, to be used anywhere."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from eds.errors import InputError
from eds.project.results import Result
from eds.project.runs import run_folder

if TYPE_CHECKING:
    from eds.project import Project

SUFFIX = ".safetensors"


@dataclass(frozen=True)
class ExportRunResult(Result):
    """The file of a trained model; `spec` names it as a backbone."""

    name: str
    file: str
    spec: str
    sha256: str
    megabytes: float
    base: str  # text of the network under a hash head; empty for a network
    missing: str  # that text where the file names the base model and does not hold it


def export_run(project: "Project", name: str, file: Path | None = None, *, replace: bool = False) -> ExportRunResult:
    """Write the trained model of a run to one file; see `Project.export_run`."""
    from eds.training.export import export_run as write

    folder = run_folder(project, name)
    if not folder.is_dir():
        known = sorted(path.name for path in (project.root / "training").glob("*") if path.is_dir())
        raise InputError(
            f"there is no run {name!r}", where=str(project.root), hint=f"There are: {', '.join(known) or 'none'}."
        )
    target = file or Path(f"{name}{SUFFIX}")
    if target.suffix != SUFFIX:
        raise InputError(f"the file has no name in {SUFFIX}", where=str(target), hint=f"Write {target.stem}{SUFFIX}.")
    if target.exists() and not replace:
        raise InputError("the file exists", where=str(target), hint="Name another, or overwrite it: --replace.")
    if not target.parent.is_dir():
        raise InputError("there is no such folder", where=str(target.parent), hint="Make it first.")
    if project.dry_run:
        project.would("replace" if target.exists() else "make", target, f"the trained model {name}")
        project.end_rehearsal()
    project.find_modules()
    done = write(folder, target)
    size = target.stat().st_size / 1e6
    return ExportRunResult(name, str(target), done.text, done.sha256, size, done.base, done.missing)
