"""A project's benchmark on a model hub: pushed as a data set, and pulled into another project."""

from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from eds.benchmarks.hub import check_endpoint, check_repository, pull_folder, push_folder, read_token
from eds.project.dataset_card import CardText
from eds.project.exchange import FORMAT_OF_HUBS, ExportResult, ImportResult, export, import_pulled, would_push
from eds.project.results import Result

if TYPE_CHECKING:
    from eds.project import Project


@dataclass(frozen=True)
class PushResult(Result):
    """A benchmark that was pushed: where it is, and what was written."""

    repository: str
    address: str
    commit: str
    public: bool
    export: ExportResult


def push(
    project: "Project",
    repository: str,
    *,
    token_env: str,
    public: bool = False,
    endpoint: str | None = None,
    card: CardText | None = None,
    **options: Any,
) -> PushResult:
    """Write the benchmark and put it on the hub; see `Project.push`."""
    check_repository(repository)
    check_endpoint(endpoint)
    would_push(project, f"the {'public' if public else 'private'} data set {repository} on the hub")
    token = read_token(token_env)
    with TemporaryDirectory(prefix="eds-push-") as place:
        made = export(project, FORMAT_OF_HUBS, Path(place) / "benchmark", card=card, **options)
        project.say(f"Sending {made.files:,} files to {repository}.")
        address, commit = push_folder(Path(place) / "benchmark", repository, token, public=public, endpoint=endpoint)
    return PushResult(repository, address, commit, public, replace(made, folder=address))


def pull(
    project: "Project",
    repository: str,
    *,
    revision: str | None = None,
    token_env: str | None = None,
    endpoint: str | None = None,
    separate: bool = False,
    replace: bool = False,
) -> ImportResult:
    """Download a benchmark from the hub and import it; see `Project.pull`."""
    check_repository(repository)
    check_endpoint(endpoint)
    if project.dry_run:
        project.would("change", "the project's tables", f"to those of {repository}, which would be downloaded")
        project.end_rehearsal()
    token = read_token(token_env) if token_env else None
    given = {"revision": revision, "endpoint": endpoint, "separate": separate or None, "replace": replace or None}
    params = {"arguments": [repository], **{name: value for name, value in given.items() if value is not None}}
    with TemporaryDirectory(prefix="eds-pull-") as place:
        project.say(f"Downloading {repository}.")
        pull_folder(Path(place), repository, token, revision=revision, endpoint=endpoint)
        return import_pulled(project, Path(place), params, separate=separate, replace=replace)
