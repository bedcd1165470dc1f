"""Vectors computed in one piece or in parts, as the engine says: the same folders."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from eds.project.executor import open_executor

if TYPE_CHECKING:
    import pandas as pd

    from eds.backbones import Backbone
    from eds.embeddings.compute import Summary
    from eds.project import Project


def vectors_made(
    project: "Project",
    images: "pd.DataFrame",
    backbones: "Mapping[str, Backbone]",
    texts: Mapping[str, str],
    loading: Mapping[str, Any],
    *,
    workers: int,
    **options: Any,
) -> "Summary":
    """Bring every model's folder up to date; `texts` and `loading` are what the backbones were loaded from."""
    from eds.embeddings.compute import compute
    from eds.embeddings.tasks import Recipe

    given = (images, project.pictures, backbones, {name: project.path("embeddings", name) for name in backbones})
    recipes = [Recipe(name, texts[name], backbone.spec.digest, **loading) for name, backbone in backbones.items()]
    with (
        open_executor(project, "embeddings") as executor,
        project.progress("computing", "parts" if executor else "images") as progress,
    ):
        return compute(*given, workers=workers, executor=executor, recipes=recipes, progress=progress, **options)
