"""Weights of the model hubs: from the libraries' own cache, else downloaded into it, else an error within seconds.

The hub's client retries for most of a minute where there is no network; so reachability is
tested once, with a short timeout, before it starts. With HF_HUB_OFFLINE only the cache is used.
"""

import os
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path

from eds.errors import InputError

NOT_MODELS = ["*.md", "*.h5", "*.msgpack", "*.onnx", "onnx/*", "openvino/*"]
PATIENCE = 5.0  # seconds to wait for the hub's first response


def weights_file(repository: str, names: Sequence[str], url: str, supply: str) -> Path:
    """The first of `names` in a hub repository (ORG/NAME or ORG/NAME@REVISION), or the file of `url`.

    `supply` shows how to use your own file.
    """
    import huggingface_hub
    import torch
    from huggingface_hub import constants

    repository, _, revision = repository.partition("@")
    for name in names if repository else ():
        cached = huggingface_hub.try_to_load_from_cache(repository, name, revision=revision or None)
        if isinstance(cached, str):
            return Path(cached)
    kept = Path(torch.hub.get_dir()) / "checkpoints" / url.rpartition("/")[2]
    if url and kept.is_file():
        return kept
    wanted = f"{repository}/{names[0]} on the hub" if repository else url
    address = constants.ENDPOINT if repository else url
    if constants.HF_HUB_OFFLINE or os.environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "ON", "YES", "TRUE"):
        raise _refusal(wanted, "HF_HUB_OFFLINE is set and the cache does not have it", supply)
    if trouble := _find_trouble(address):
        raise _refusal(wanted, f"the cache does not have it and the hub cannot be reached: {trouble}", supply)
    try:
        if repository:
            return _download(repository, names, revision)
        kept.parent.mkdir(parents=True, exist_ok=True)
        torch.hub.download_url_to_file(url, str(kept), progress=False)
        return kept
    except _transfer_errors() as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise _refusal(wanted, reason, supply) from error


def snapshot(repository: str, supply: str) -> Path:
    """The folder with all files of a hub repository (ORG/NAME or ORG/NAME@REVISION), its documentation apart."""
    import huggingface_hub

    name, _, revision = repository.partition("@")
    try:
        return Path(huggingface_hub.snapshot_download(name, revision=revision or None, ignore_patterns=NOT_MODELS))
    except _transfer_errors() as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise _refusal(repository, reason, supply) from error


def _download(repository: str, names: Sequence[str], revision: str) -> Path:
    """The first of the files that the repository has."""
    import huggingface_hub
    from huggingface_hub.errors import EntryNotFoundError

    for name in names:
        try:
            return Path(huggingface_hub.hf_hub_download(repository, name, revision=revision or None))
        except EntryNotFoundError as error:
            if isinstance(error, FileNotFoundError):  # the file is not absent: the connection to the hub was lost
                raise
    raise FileNotFoundError("the repository has no such file")


def _transfer_errors() -> tuple[type[Exception], ...]:
    """The exceptions of the hub's client for a failed transfer.

    Its versions use different HTTP libraries, whose transport errors need not be OSErrors; the client's own
    error inherits from the library's base exception.
    """
    from huggingface_hub.errors import HfHubHTTPError

    return (OSError, *(kind for kind in HfHubHTTPError.__bases__ if issubclass(kind, Exception)))


def _find_trouble(address: str) -> str:
    """Why the address cannot be reached; empty if it responds at all."""
    try:
        urllib.request.urlopen(urllib.request.Request(address, method="HEAD"), timeout=PATIENCE).close()  # noqa: S310 (the libraries' own https addresses)
    except urllib.error.HTTPError:
        return ""
    except OSError as error:
        return str(getattr(error, "reason", error))
    return ""


def _refusal(wanted: str, why: str, supply: str) -> InputError:
    hint = f"Download elsewhere and name it: {supply}. Random weights are never used instead."
    return InputError(f"the weights are not available ({why})", where=wanted, hint=hint)
