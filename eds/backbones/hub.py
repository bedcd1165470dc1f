"""Weights of the model hubs: from the loaders' own cache, else fetched into it, else a quick refusal.

The hub's client retries for most of a minute where there is no network; so reachability is asked once,
shortly, before it starts. HF_HUB_OFFLINE is honoured: then only the cache is looked at.
"""

import os
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path

from eds.errors import InputError

PATIENCE = 5.0  # seconds to wait for a first sign of the hub


def weights_file(repository: str, names: Sequence[str], url: str, supply: str) -> Path:
    """The first of `names` in a hub repository, or the file of `url`; `supply` tells how to give one's own."""
    import huggingface_hub
    import torch
    from huggingface_hub import constants

    for name in names if repository else ():
        cached = huggingface_hub.try_to_load_from_cache(repository, name)
        if isinstance(cached, str):
            return Path(cached)
    kept = Path(torch.hub.get_dir()) / "checkpoints" / url.rpartition("/")[2]
    if url and kept.is_file():
        return kept
    wanted = f"{repository}/{names[0]} on the hub" if repository else url
    place = constants.ENDPOINT if repository else url
    if constants.HF_HUB_OFFLINE or os.environ.get("HF_HUB_OFFLINE", "").upper() in (
        "1",
        "ON",
        "YES",
        "TRUE",
    ):
        raise _refusal(wanted, "HF_HUB_OFFLINE is set and the cache does not have it", supply)
    if trouble := _unreachable(place):
        raise _refusal(wanted, f"the cache does not have it and the hub cannot be reached: {trouble}", supply)
    return _fetch(repository, names, url, kept, wanted, supply)


def _fetch(repository: str, names: Sequence[str], url: str, kept: Path, wanted: str, supply: str) -> Path:
    import huggingface_hub
    import torch
    from huggingface_hub.errors import EntryNotFoundError

    try:
        if not repository:
            kept.parent.mkdir(parents=True, exist_ok=True)
            torch.hub.download_url_to_file(url, str(kept), progress=False)
            return kept
        for name in names:
            try:
                return Path(huggingface_hub.hf_hub_download(repository, name))
            except EntryNotFoundError as error:
                if isinstance(error, FileNotFoundError):  # not absent on the hub: the hub was lost on the way
                    raise
    except _losses() as error:
        told = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise _refusal(wanted, told, supply) from error
    raise _refusal(wanted, "the repository has no such file", supply)


def _losses() -> tuple[type[Exception], ...]:
    """What the hub's client raises where a transfer fails.

    Versions of it speak by different libraries, whose errors of transport need not be OSErrors; the
    client's own error is made from the library's root.
    """
    from huggingface_hub.errors import HfHubHTTPError

    return (OSError, *(kind for kind in HfHubHTTPError.__bases__ if issubclass(kind, Exception)))


def _unreachable(place: str) -> str:
    """Why there is no way to the place; empty if it answers anything at all."""
    try:
        urllib.request.urlopen(urllib.request.Request(place, method="HEAD"), timeout=PATIENCE).close()  # noqa: S310 (the loaders' own https addresses)
    except urllib.error.HTTPError:
        return ""
    except OSError as error:
        return str(getattr(error, "reason", error))
    return ""


def _refusal(wanted: str, why: str, supply: str) -> InputError:
    do = f"Fetch the file where there is a network and give it: {supply}. Untrained weights are never used instead."
    return InputError(f"the weights are not at hand ({why})", where=wanted, do=do)
