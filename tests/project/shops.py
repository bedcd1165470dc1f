"""Catalogues with a completely known truth, as vectors without pictures, so that many can be walked by the verbs."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from eds.pairs import Reals
from eds.project import Project
from eds.tables import IMAGES, Provenance
from eds.universe import PairRules, Universe

PAIR = ["query_id", "candidate_id"]


@dataclass(frozen=True)
class Design:
    """What is drawn."""

    products: int = 120
    queries: int = 40  # products of which one image is a query
    views: tuple[int, int] = (1, 4)  # images of a product, from and to
    prevalence: float = 0.02  # of similar pairs of products, about
    models: int = 3
    noise: float = 0.9  # of a model's view of a product


@dataclass(frozen=True, eq=False)
class Shop:
    """Images, the similarity of every two products, and what each model sees of each image."""

    images: pd.DataFrame
    product: "np.ndarray[tuple[int], np.dtype[np.int64]]"  # of each image
    similar: "np.ndarray[tuple[int, int], np.dtype[np.bool_]]"  # products x products
    vectors: dict[str, Reals]

    def value(self, pairs: pd.DataFrame) -> "pd.Series[int]":
        """What is true of each pair."""
        at = pd.Series(self.product, index=self.images["image_id"])
        value = self.similar[at[pairs["query_id"]].to_numpy(), at[pairs["candidate_id"]].to_numpy()]
        return pd.Series(value.astype(np.int64), index=pairs.index)

    def units(self, rules: PairRules) -> pd.DataFrame:
        """Every unit of the universe of these rules by its definition: query_id, unit, and whether it is similar."""
        images = self.images
        pairs = images[images["role"] != "candidate"][["image_id", "product_id"]].merge(
            images[images["role"] != "query"][["image_id", "product_id"]], how="cross", suffixes=("", "_c")
        )
        pairs = pairs[pairs["image_id"] != pairs["image_id_c"]]
        if rules.exclude_product:
            pairs = pairs[pairs["product_id"] != pairs["product_id_c"]]
        pairs = pairs.rename(columns={"image_id": "query_id", "image_id_c": "candidate_id"})
        pairs = pairs.assign(value=self.value(pairs))
        unit = pairs["product_id_c"] if rules.one_per_product else pairs["candidate_id"]
        return pairs.assign(unit=unit).groupby(["query_id", "unit"])["value"].max().reset_index()


def draw_shop(design: Design, seed: int) -> Shop:
    """Draw a shop: products are points, similar if they are near; an image is a product and a view, a model's noise."""
    rng = np.random.default_rng([seed, 77])
    n, dimension = design.products, 12
    latent = rng.standard_normal((n, dimension))
    latent /= np.linalg.norm(latent, axis=1, keepdims=True)
    near = latent @ latent.T
    np.fill_diagonal(near, -1)
    similar = near >= np.quantile(near[np.triu_indices(n, 1)], 1 - design.prevalence)
    np.fill_diagonal(similar, True)  # views of one product are similar
    views = rng.integers(design.views[0], design.views[1] + 1, n)
    product = np.repeat(np.arange(n), views)
    first = np.append(0, np.cumsum(views))[:-1]
    role = np.full(len(product), "candidate", dtype=object)
    role[first[: design.queries]] = np.where(rng.random(design.queries) < 0.7, "both", "query")
    order = rng.permutation(len(product))
    names = [f"i{number:05d}" for number in range(len(product))]
    images = pd.DataFrame(
        {"image_id": names, "path": names, "product_id": [f"p{at:04d}" for at in product[order]], "role": role[order]}
    )
    for column in IMAGES.columns:
        if column.name not in images:
            images[column.name] = pd.array([pd.NA] * len(images), "Int64") if column.kind == "integer" else None
    view = latent[product[order]] + 0.15 * rng.standard_normal((len(product), dimension)) / np.sqrt(dimension)
    vectors = {
        f"m{number}": (
            view + design.noise * rng.standard_normal((n, dimension))[product[order]] / np.sqrt(dimension)
        ).astype(np.float32)
        for number in range(design.models)
    }
    return Shop(images[IMAGES.names], product[order], similar, vectors)


def make_project(shop: Shop, folder: Path, settings: dict[str, object] | None = None) -> Project:
    """A project with the shop's images and vectors."""
    folder.mkdir(parents=True, exist_ok=True)
    project = Project.create(folder / "project", settings or {})
    project.write(shop.images, "images", Provenance("images.import"))
    (folder / "ids.txt").write_text("\n".join(shop.images["image_id"]) + "\n")
    for name, vectors in shop.vectors.items():
        np.save(folder / f"{name}.npy", vectors)
        project.import_vectors(name, folder / f"{name}.npy", folder / "ids.txt")
    return project


def judge(shop: Shop, project: Project, pairs: pd.DataFrame, file: Path) -> None:
    """One expert judges the pairs as they are; then the labels are decided."""
    votes = pairs[PAIR].drop_duplicates()
    votes.assign(expert_id="ann", value=shop.value(votes)).to_csv(file, index=False)
    project.labels.import_votes(file, "judging", new_experts=True, new_pairs=True)
    project.decide()


def universe_of(shop: Shop, rules: PairRules) -> Universe:
    """The universe of the shop's images."""
    return Universe(shop.images, rules)
