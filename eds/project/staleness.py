"""Vectors that would be computed differently today: their preprocessing or eds.toml has changed."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from eds.errors import EdsError

if TYPE_CHECKING:
    from eds.project import Project
    from eds.vectors import Model


def outdated(project: "Project", model: "Model") -> Iterator[str]:
    """Why the model's vectors differ from those that would be computed today; nothing if they do not, or were imported.

    Preprocessing that a newer timm or open_clip changed is not detected here, because that needs the network;
    computing detects it.
    """
    made_from = model.provenance.params.get("models")
    if made_from is None:
        return
    (made_from,) = made_from
    again = f"; compute it again: eds embeddings compute -m {made_from} --replace"
    if "preprocessing" in model.spec and (now := _digest_today(model)) != model.preprocessing_digest:
        today = f"now {now[:8]}" if now else "now unreadable"
        yield f"its preprocessing has changed since (digest {model.preprocessing_digest[:8]}, {today}){again}"
    for requested in project.config.embeddings.models:
        name, equals, spec = requested.partition("=")
        if equals and name == model.name and _canonical(spec) != _canonical(made_from.removeprefix(f"{name}=")):
            command = "eds embeddings compute --replace"
            yield f"it was made from {made_from}, eds.toml names {requested}; compute it again: {command}"


def _digest_today(model: "Model") -> str:
    """The digest of the preprocessing as the model describes it; empty if a parameter of it no longer exists."""
    from eds.backbones import Preprocessing

    try:
        return Preprocessing.from_dict(dict(model.spec["preprocessing"])).digest
    except (EdsError, TypeError, KeyError, ValueError):
        return ""


def _canonical(text: str) -> str:
    """The text with its options in a fixed order; unchanged if it names no backbone."""
    from eds.backbones import MODERN, PRESETS, Request

    try:
        preset = PRESETS.get(text) or MODERN.get(text)
        return Request.parse(preset.text if preset else text).text
    except EdsError:
        return text
