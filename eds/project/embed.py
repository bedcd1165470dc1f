"""Vectors computed by backbones, or imported."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eds.errors import InputError
from eds.project.computing import vectors_made

if TYPE_CHECKING:
    from eds.embeddings.compute import Done, Summary
    from eds.io import Address
    from eds.project import Project

LIST = ".eds/without-vector.csv"


def import_model(
    project: "Project",
    name: str,
    vectors: Path,
    ids: Path | None,
    *,
    named: "tuple[Address, Address | None] | None" = None,
    replace: bool = False,
    **options: Any,
) -> "Done":
    """Copy a file of vectors into the project under a name; the caller holds the project.

    `named` is how the user named the files, where copies of them are read.
    """
    from eds.embeddings.importing import import_vectors
    from eds.project.excluded_images import read_excluded

    files = [str(file) for file in named or (vectors, ids) if file is not None]
    params = {"arguments": [name, *files], **{key: value for key, value in options.items() if value}}
    with project.progress("copying", "vectors") as progress:
        return import_vectors(
            name, vectors, ids, project.read("images", columns=["image_id"]), project.path("embeddings", name),
            provenance=project.provenance("embeddings.import", {}, [project.path("images")], params=params),
            left_out=read_excluded(project), progress=progress, replace=replace, **options,
        )  # fmt: skip


def compute_models(project: "Project", asked: list[str], options: Mapping[str, Any], *, replace: bool) -> "Summary":
    """Compute the vectors that are missing of the models asked for; the caller holds the project."""
    from eds.backbones import load
    from eds.embeddings.sources import USED
    from eds.io.files import write_text

    settings = project.config.embeddings
    images = project.read("images", columns=USED.names)
    parents = [project.path("images")]
    dtype = options.get("dtype") or settings.dtype
    shaped = {} if "dtype" in options else {"embeddings.dtype": settings.dtype}  # an option is the user's own word
    loading = {name: options[name] for name in ("runtime", "precision", "random_init") if name in options}
    kept = {name: options[name] for name in ("dtype", *loading) if name in options}  # what decides the vectors
    backbones, texts, made_by = {}, {}, {}
    device = options.get("device") or settings.device
    for text in asked:
        name, spec = _named(text)
        backbone = load(spec, device=device, **loading)
        name = name or backbone.spec.default_name
        if name in backbones:
            raise InputError(f"two models are called {name}", where=text, do="Name one of them: NAME=SPEC.")
        backbones[name], texts[name] = backbone, spec
        made_by[name] = project.provenance("embeddings.compute", shaped, parents, params={"model": text, **kept})
    summary = vectors_made(
        project, images, backbones, texts, {"device": device, **loading},
        workers=options.get("workers", settings.workers), provenance=made_by,
        batch=options.get("batch") or settings.batch, dtype="float16" if dtype == "float16" else "float32",
        on_bad="fail" if (options.get("on_bad") or project.config.images.on_bad) == "fail" else "skip",
        replace=replace,
    )  # fmt: skip
    write_text(project.root / LIST, summary.bad.to_csv(index=False))
    return summary


def _named(text: str) -> tuple[str, str]:
    """The name, empty where none is given, and the spec; a bare word, or word@FILE, is one of the paper's models."""
    from eds.backbones import name_and_spec, preset_text

    name, spec = name_and_spec(text)
    preset = spec.partition("@")[0]
    return (name, spec) if ":" in preset else (name or preset, preset_text(spec))
