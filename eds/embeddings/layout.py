"""Vectors on a plane, for a map of the catalogue; and groups of vectors that are near each other."""

import warnings
from typing import Any

import numpy as np

from eds.distribution import install
from eds.errors import InputError, MissingExtraError

Array = np.ndarray[Any, np.dtype[Any]]
KEPT = 50  # principal components that UMAP and k-means work on
SAMPLE = 5000  # vectors that principal axes are computed from
BATCH = 4096  # vectors in a step of k-means


def principal_components(vectors: Array, count: int, seed: int) -> tuple[Array, Array]:
    """Coordinates on the first principal components, (n, count) float32, and each one's share of the variance.

    Formula: scores of the centred vectors on the leading eigenvectors of their covariance.
    Source: Jolliffe, "Principal Component Analysis", 2002.
    Conventions: the axes of more than SAMPLE vectors, and the shares, are those of so many drawn by the seed. Vectors
    of fewer numbers, or fewer vectors, than components leave the last coordinates 0.
    Example, run by doctest:
    >>> line = np.outer(np.arange(4.0), [3.0, 4.0])
    >>> found, share = principal_components(line, 2, 0)
    >>> np.abs(found[:, 0]).tolist(), share.round(6).tolist()
    ([7.5, 2.5, 2.5, 7.5], [1.0, 0.0])
    """
    from scipy.linalg import eigh
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    drawn = vectors
    if len(vectors) > SAMPLE:
        rows = np.random.default_rng(seed).choice(len(vectors), SAMPLE, replace=False)
        drawn = vectors[np.sort(rows)]
    found, share = np.zeros((len(vectors), count), np.float32), np.zeros(count)
    if not len(drawn):
        return found, share
    mean = drawn.mean(axis=0)
    centred = drawn - mean
    covariance = centred.T @ centred  # of float32, as precise as a picture needs
    size, total = len(covariance), float(np.trace(covariance))
    kept = min(count, size)
    with threadpool_limits(1):  # threads of so small a product wait for each other
        values, axes = eigh(covariance, subset_by_index=[size - kept, size - 1])  # ascending
    axes = axes[:, ::-1]
    axes = axes * np.where(axes[np.abs(axes).argmax(axis=0), np.arange(kept)] < 0, -1, 1).astype(axes.dtype)
    found[:, :kept] = vectors @ axes - mean @ axes
    share[:kept] = values[::-1].clip(0) / total if total > 0 else 0
    return found, share


def umap_plane(vectors: Array, seed: int) -> Array:
    """Coordinates by UMAP on the first principal components, (n, 2) float32; needs umap-learn."""
    if len(vectors) < 4:
        raise InputError("UMAP needs four images or more", hint="Choose the method pca.")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of parts that it could have and lacks
        try:
            from umap import UMAP
        except ImportError as error:
            raise MissingExtraError(
                "the method umap needs the package umap-learn, which is not installed",
                hint=f"Run: {install('scale')}, or choose the method pca.",
            ) from error
        reduced, _ = principal_components(vectors, KEPT, seed)
        neighbours = min(15, len(vectors) - 1)
        model = UMAP(n_neighbors=neighbours, random_state=seed, init="pca", n_jobs=1)
        found: Array = model.fit_transform(reduced).astype(np.float32)
    return found


def varied_rows(vectors: Array, count: int, seed: int) -> Array:
    """The rows of `count` vectors that differ much, (n,) int64: of each k-means cluster the one nearest its middle.

    Formula: clusters = `k_means`; nearest by Euclidean distance on the principal components. Clusters that are not
    there, since vectors are equal, are made up for by rows that are drawn.
    Source: Bodo, Minier and Csato, "Active learning with clustering", 2011.
    Conventions: rare kinds count as much as frequent ones: means over such queries are not those of the catalogue.
    Example, run by doctest:
    >>> corners = np.repeat([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]], [50, 2, 1], axis=0)
    >>> sorted(map(tuple, corners[varied_rows(corners, 3, 0)].tolist()))
    [(0.0, 0.0), (0.0, 9.0), (9.0, 0.0)]
    """
    if not 1 <= count <= len(vectors):
        raise InputError(f"{count} of {len(vectors)} vectors", hint="Give a number from 1 to that of the images.")
    reduced, _ = principal_components(vectors, KEPT, seed)
    cluster = k_means(vectors, count, seed)
    sizes = np.bincount(cluster).astype(np.float64)
    middle = (
        np.stack([np.bincount(cluster, column) for column in reduced.T.astype(np.float64)], axis=1) / sizes[:, None]
    )
    distance = ((reduced - middle[cluster]) ** 2).sum(axis=1)
    order = np.lexsort((distance, cluster))
    first = order[np.flatnonzero(np.diff(cluster[order], prepend=-1))]
    rest = np.setdiff1d(np.arange(len(vectors)), first)
    more = np.random.default_rng(seed).permutation(rest)[: count - len(first)]
    return np.sort(np.concatenate([first, more])).astype(np.int64)


def k_means(vectors: Array, clusters: int, seed: int) -> Array:
    """The cluster of each vector, (n,) int64, from 0, the largest first; by k-means on the principal components."""
    from sklearn.cluster import MiniBatchKMeans

    reduced, _ = principal_components(vectors, KEPT, seed)
    count = min(clusters, len(np.unique(reduced, axis=0)))
    model = MiniBatchKMeans(count, random_state=seed, batch_size=BATCH, n_init=3)
    raw: Array = model.fit_predict(reduced)
    sizes = np.bincount(raw, minlength=count)
    order = np.argsort(-sizes, kind="stable")
    place = np.empty(count, np.int64)
    place[order] = np.arange(count)
    found: Array = place[raw]
    return found
