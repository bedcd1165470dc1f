"""The map of the catalogue: the images of one model on a plane, with category, cluster and what was judged."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

from eds import choices
from eds.choices import MapMethod
from eds.errors import InputError, ProjectError
from eds.io.files import digest, replacing
from eds.project.models import find_model
from eds.project.results import Result

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from eds.project import Project
    from eds.vectors import Vectors

    Array = np.ndarray[Any, np.dtype[Any]]

FOLDER = ".eds/map"
MOST_CLUSTERS = 100
LABELS = ("similar", "different", "not judged")


@dataclass(frozen=True)
class MapResult(Result):
    """Where each image stands on the map of a model."""

    model: str
    method: MapMethod
    explained: float | None  # share of the variance on the map; None: UMAP has no such measure
    clusters: int  # 0: none were asked for
    table: "pd.DataFrame"  # image_id, x, y, category, cluster, label
    file: str | None  # that was written

    def inside(self, corners: "Sequence[tuple[float, float]]") -> list[str]:
        """The images within a polygon of the map, by the even-odd rule; refuses a polygon that holds none."""
        import numpy as np

        if len(corners) < 3:
            raise InputError("a region needs three corners or more", hint="Draw around some images.")
        x, y = self.table["x"].to_numpy(), self.table["y"].to_numpy()
        held = np.zeros(len(x), dtype=bool)
        for (x1, y1), (x2, y2) in zip(corners, [*corners[1:], corners[0]], strict=True):
            if y1 != y2:
                crossed = (y1 > y) != (y2 > y)
                held ^= crossed & (x < (x2 - x1) * (y - y1) / (y2 - y1) + x1)
        if not held.any():
            raise InputError("there is no image in this region", hint="Draw around some points of the map.")
        found: list[str] = self.table.loc[held, "image_id"].tolist()
        return found


def map_images(
    project: "Project",
    model: str | None = None,
    *,
    method: MapMethod = "pca",
    clusters: int = 0,
    out: Path | None = None,
) -> MapResult:
    """Lay the images out; see `Project.map_images`."""
    import numpy as np

    from eds.vectors import Vectors

    choices.check(MapMethod, method, "method")
    if not 0 <= clusters <= MOST_CLUSTERS or clusters == 1:
        raise InputError(f"{clusters} clusters", hint=f"Choose 2 to {MOST_CLUSTERS}, or 0 for none.")
    if out is not None and out.suffix.lower() not in (".csv", ".parquet"):
        raise InputError(f"{out.name} is neither CSV nor Parquet", where="option --out", hint="Name it .csv.")
    name = _chosen(project, model)
    vectors = Vectors.open(project.path("embeddings", name))
    seed = project.config.project.seed
    plane = _stored(project, name, f"{method}-{seed}", lambda: _plane(project, vectors, method, seed))
    cluster = None
    if clusters:
        cluster = _stored(project, name, f"k{clusters}-{seed}", lambda: _clusters(project, vectors, clusters, seed))[0]
    images = project.read("images", columns=["image_id", "category"])
    frame = _table(project, images, vectors.ids, plane[0], cluster)
    explained = float(np.sum(plane[1])) if method == "pca" else None
    result = MapResult(name, method, explained, clusters, frame, str(out) if out else None)
    if out is not None and not project.would_write(out, f"{len(frame):,} images"):
        with replacing(out) as temporary:
            if out.suffix.lower() == ".csv":
                frame.to_csv(temporary, index=False)
            else:
                frame.to_parquet(temporary, index=False)
    return result


def is_laid_out(project: "Project", model: str, method: MapMethod) -> bool:
    """Whether the coordinates were computed already; PCA takes no time worth waiting for."""
    file = project.root / FOLDER / f"{model}-{method}-{project.config.project.seed}.npz"
    return method == "pca" or _read(file, digest(project.path("embeddings", model) / "model.json")) is not None


def prepare_maps(project: "Project") -> int:
    """Lay out by PCA what is not laid out yet, so that nobody waits for it; how many models that were."""
    from eds.vectors import Vectors

    made, seed = 0, project.config.project.seed
    for name in project.models("embeddings"):
        stamp = digest(project.path("embeddings", name) / "model.json")
        if _read(project.root / FOLDER / f"{name}-pca-{seed}.npz", stamp) is None:
            vectors = Vectors.open(project.path("embeddings", name))
            _stored(project, name, f"pca-{seed}", partial(_plane, project, vectors, "pca", seed))
            made += 1
    return made


def _chosen(project: "Project", model: str | None) -> str:
    """The model named, or the first that has vectors."""
    there = project.models("embeddings")
    if not there:
        raise ProjectError(
            "no model has vectors yet", where=str(project.root), hint="Compute them: eds embeddings compute."
        )
    name = there[0] if model is None else find_model(project, model)
    if name not in there:
        raise InputError(f"no vectors of {name}", where=str(project.root), hint=f"There are: {', '.join(there)}.")
    return name


def _plane(project: "Project", vectors: "Vectors", method: MapMethod, seed: int) -> "tuple[Array, Array]":
    import numpy as np

    from eds.embeddings.layout import principal_components, umap_plane

    stored = comparable_vectors(vectors)
    if method == "pca":
        return principal_components(stored, 2, seed)
    with project.progress("laying out by UMAP", "images") as progress:
        progress(0, len(stored))
        found = umap_plane(stored, seed)
        progress(len(stored), len(stored))
    return found, np.zeros(0)


def _clusters(project: "Project", vectors: "Vectors", clusters: int, seed: int) -> "tuple[Array, Array]":
    import numpy as np

    from eds.embeddings.layout import k_means

    return k_means(comparable_vectors(vectors), clusters, seed), np.zeros(0)


def comparable_vectors(vectors: "Vectors") -> "Array":
    """The vectors as float32, of length 1 where only directions are compared; codes as -1 and 1."""
    import numpy as np

    from eds.vectors import unpack

    stored = vectors.take(np.arange(len(vectors)))
    if vectors.model.dtype == "bits":
        return unpack(stored, vectors.model.dimension)
    found: Array = stored.astype(np.float32, copy=False)
    if vectors.model.similarity == "cosine":
        lengths = np.sqrt(np.einsum("ij,ij->i", found, found))[:, None]
        np.divide(found, lengths, out=found, where=lengths > 0)
    return found


def _stored(
    project: "Project", name: str, what: str, make: "Callable[[], tuple[Array, Array]]"
) -> "tuple[Array, Array]":
    """What was computed before from the same vectors; else it is computed, and kept where something can be written."""
    import numpy as np

    stamp = digest(project.path("embeddings", name) / "model.json")
    file = project.root / FOLDER / f"{name}-{what}.npz"
    if (kept := _read(file, stamp)) is not None:
        return kept
    values, more = make()
    if not (project.dry_run or project.read_only):
        file.parent.mkdir(parents=True, exist_ok=True)
        with replacing(file) as temporary, temporary.open("wb") as stream:
            np.savez(stream, stamp=np.array(stamp), values=values, more=more)
    return values, more


def _read(file: Path, stamp: str) -> "tuple[Array, Array] | None":
    """What the file holds, if it is there, whole, and of these vectors."""
    import numpy as np

    try:
        with file.open("rb") as stream, np.load(stream, allow_pickle=False) as kept:
            return (kept["values"], kept["more"]) if str(kept["stamp"]) == stamp else None
    except (OSError, ValueError, KeyError, EOFError, BadZipFile):
        return None


def _table(
    project: "Project", images: "pd.DataFrame", ids: "Array", plane: "Array", cluster: "Array | None"
) -> "pd.DataFrame":
    """A row for each image of the catalogue that has a vector, in the catalogue's order."""
    import numpy as np
    import pandas as pd

    place = pd.Index(ids).get_indexer(pd.Index(images["image_id"].astype(object)))
    shown, place = images[place >= 0], place[place >= 0]
    label = np.full(len(shown), LABELS[2], dtype=object)
    if project.path("truth").exists():
        truth = project.read("truth", columns=["query_id", "candidate_id", "value"])
        for value, name in ((0, LABELS[1]), (1, LABELS[0])):  # one similar pair is enough
            rows = truth[truth["value"] == value]
            label[shown["image_id"].isin({*rows["query_id"], *rows["candidate_id"]}).to_numpy()] = name
    return pd.DataFrame(
        {
            "image_id": shown["image_id"].to_numpy(dtype=object),
            "x": plane[place, 0].astype(np.float64),
            "y": plane[place, 1].astype(np.float64),
            "category": shown["category"].astype(object).where(shown["category"].notna(), "").to_numpy(),
            "cluster": pd.array([pd.NA] * len(shown), "Int64") if cluster is None else cluster[place] + 1,
            "label": label,
        }
    )
