"""Vectors that the project would make otherwise today: their preprocessing, or what eds.toml asks for, has changed."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from eds.errors import EdsError

if TYPE_CHECKING:
    from eds.project import Project
    from eds.vectors import Model


def remade(project: "Project", model: "Model") -> Iterator[str]:
    """Why the model's vectors are not those that would be made today; nothing if they are, or were imported.

    What a newer timm or open_clip would prepare otherwise is not seen here, for that needs the network: eds embeddings
    compute refuses it.
    """
    made_from = model.provenance.params.get("model")
    if made_from is None:
        return
    anew = f"; anew: eds embeddings compute -m {made_from} --replace"
    if "preprocessing" in model.spec and (now := _digest_today(model)) != model.preprocessing_digest:
        told = f"now {now[:8]}" if now else "now unreadable"
        yield f"its preprocessing has changed since (digest {model.preprocessing_digest[:8]}, {told}){anew}"
    for asked in project.config.embeddings.models:
        name, equals, spec = asked.partition("=")
        if equals and name == model.name and _canonical(spec) != _canonical(made_from.removeprefix(f"{name}=")):
            yield f"it was made from {made_from}, eds.toml asks for {asked}; anew: eds embeddings compute --replace"


def _digest_today(model: "Model") -> str:
    """The digest of the preprocessing as it is written down; empty if there is no such parameter any more."""
    from eds.backbones import Preprocessing

    try:
        return Preprocessing.from_dict(dict(model.spec["preprocessing"])).digest
    except (EdsError, TypeError, KeyError, ValueError):
        return ""


def _canonical(text: str) -> str:
    """The text with its options in one order; as it is, where it is no backbone's."""
    from eds.backbones import PRESETS, Request

    try:
        return Request.parse(PRESETS[text].text if text in PRESETS else text).text
    except EdsError:
        return text
