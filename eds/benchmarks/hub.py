"""Folders of benchmarks on a model hub: stored there and brought back by its client, huggingface_hub.

A token is used only if it is given: never one that another program left in the user's home.
"""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from eds.benchmarks.folder import SUMS
from eds.distribution import install
from eds.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from huggingface_hub import CommitOperationAdd, CommitOperationDelete, HfApi

MESSAGE = "Benchmark written by eds"
REPOSITORY = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}")
SAID = {401: "the hub does not know the token", 403: "the token has no right to this", 404: "there is no such data set"}
HINTS = {
    401: "Make a token on the hub's page of access tokens, and name its variable: --token-env.",
    403: "Give the token the right to write to this organisation, or take another name.",
    404: "See its name and revision; a private one needs --token-env.",
}


def check_repository(name: str) -> str:
    """Return the name of a repository, ORGANISATION/NAME."""
    if not REPOSITORY.fullmatch(name):
        raise InputError(
            f"{name!r} is not the name of a repository", hint="Give ORGANISATION/NAME, as example/garments."
        )
    return name


def check_endpoint(address: str | None) -> None:
    """InputError for an address that is none, or with a password: provenance keeps the address."""
    try:
        parts = urlsplit(address or "https://hub.example")
        sound = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.username is None
    except ValueError:
        sound = False
    if not sound:
        raise InputError(
            "not the address of a hub", where="endpoint", hint="Write https://HOST, without a name and a password."
        )


def read_token(variable: str) -> str:
    """Return the token that an environment variable holds; it never stands in a command line or a file of ours."""
    token = os.environ.get(variable, "").strip()
    if not token:
        raise InputError("the variable is not set", where=variable, hint=f"Set it to a token: export {variable}=hf_...")
    if not token.isascii() or not token.isprintable() or " " in token:
        raise InputError("the variable holds no token", where=variable, hint="Copy the token again, without blanks.")
    return token


def push_folder(
    folder: Path, repository: str, token: str, *, public: bool = False, endpoint: str | None = None
) -> tuple[str, str]:
    """Make the data set if it is not there, and put the folder into it as one commit; its address and the commit."""
    with _told(repository, endpoint):
        api = _client(token, endpoint)
        url = api.create_repo(repository, repo_type="dataset", private=not public, exist_ok=True)
        if not public and not api.repo_info(repository, repo_type="dataset").private:
            raise InputError("the data set is public", where=repository, hint="Say --public, or take another name.")
        done = api.create_commit(
            repository, _operations(api, folder, repository), commit_message=MESSAGE, repo_type="dataset"
        )
    return str(url), done.oid


def _operations(api: "HfApi", folder: Path, repository: str) -> "list[CommitOperationAdd | CommitOperationDelete]":
    """Add every file of the folder, and delete what an earlier version had and this one has not."""
    from huggingface_hub import CommitOperationAdd, CommitOperationDelete

    files = {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*")) if path.is_file()}
    there = set(api.list_repo_files(repository, repo_type="dataset")) - {".gitattributes"}
    if there and SUMS not in there:
        hint = "Take a name that is free, or delete that data set first."
        raise InputError(
            "the data set holds files that are not of eds, which a push would delete", where=repository, hint=hint
        )
    return [
        *(CommitOperationAdd(name, path) for name, path in files.items()),
        *(CommitOperationDelete(name) for name in sorted(there - files.keys())),
    ]


def pull_folder(
    folder: Path, repository: str, token: str | None = None, *, revision: str | None = None, endpoint: str | None = None
) -> None:
    """Download a data set into a folder."""
    with _told(repository, endpoint):
        api = _client(token, endpoint)
        api.snapshot_download(repository, repo_type="dataset", revision=revision, local_dir=folder)


def _client(token: str | None, endpoint: str | None) -> "HfApi":
    try:
        from huggingface_hub import HfApi
    except ImportError as error:
        raise MissingExtraError("the hub's client is not installed", hint=install("hub")) from error
    return HfApi(endpoint=endpoint, token=token or False, library_name="eds")


@contextmanager
def _told(repository: str, endpoint: str | None) -> Iterator[None]:
    """Turn what the hub's client raises into one line."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:
        sent = isinstance(error, RuntimeError)  # of several files one could not be sent: its cause says why
        fault = error.__cause__ if sent and error.__cause__ is not None else error
        status = getattr(getattr(fault, "response", None), "status_code", 0)
        if status in SAID:
            raise InputError(SAID[status], where=repository, hint=HINTS[status]) from error
        if not (status or isinstance(fault, (OSError, ValueError)) or type(fault).__module__.startswith("http")):
            raise
        place = endpoint or os.environ.get("HF_ENDPOINT") or "the hub"
        reason = (str(fault).strip() or type(fault).__name__).splitlines()[0][:200]
        hint = "See that the network and the address are right, then give the same command again."
        raise InputError(f"{place} cannot be used ({reason})", where=repository, hint=hint) from error
