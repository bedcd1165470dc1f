"""A small project with vectors, a pool made of two models, labels of all its pairs, and an outsider."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import numpy as np
import pandas as pd
from click.testing import CliRunner

from eds import tables
from eds.neighbors import Rules, mine
from eds.project import Project
from eds.suspects import draw_random, pool
from eds.tables import Provenance
from eds.universe import PairRules, Universe
from eds.vectors import Model, Vectors, write

MAKERS = ("m0", "m1")
MODELS = (*MAKERS, "new")
RULES = Rules(12)


def catalogue(seed: int = 0) -> pd.DataFrame:
    """Sixty images of about 25 products; the first twelve are queries and candidates, two are wild queries."""
    rng = np.random.default_rng(seed)
    names = [f"i{number:02}" for number in range(60)]
    roles = ["both"] * 12 + ["query"] * 2 + ["candidate"] * 46
    rows = pd.DataFrame({"image_id": names, "path": names, "role": roles})
    rows["product_id"] = rng.choice([f"p{number}" for number in range(25)], 60)
    for column in tables.IMAGES.columns:
        if column.name not in rows:
            rows[column.name] = pd.array([pd.NA] * 60, "Int64") if column.kind == "integer" else None
    return rows[tables.IMAGES.names]


def measured(project: Project) -> pd.DataFrame:
    """Table truth without the pairs that are there as a random draw or sampled negative alone, by loops."""
    origins: dict[tuple[str, str], set[str]] = {}
    for query, candidate, origin in project.read("suspects")[["query_id", "candidate_id", "origin"]].to_numpy():
        origins.setdefault((query, candidate), set()).add(origin)
    truth = project.read("truth")
    pairs = zip(truth["query_id"], truth["candidate_id"], strict=True)
    return truth[[bool(origins.get(pair, {"pool"}) - {"negative", "random"}) for pair in pairs]].reset_index(drop=True)


def project_in(folder: Path, seed: int = 0) -> Project:
    """Images, vectors of three models, lists and pool of two of them, random pairs, labels of all."""
    project = Project.create(folder, {"neighbors.k": 12, "suspects.k": 3})
    images = catalogue(seed)
    project.write(images, "images", Provenance("images.import"))
    rng = np.random.default_rng(seed + 1)
    base = rng.normal(0, 1, (60, 8))
    for number, name in enumerate(MODELS):
        vectors = base + rng.normal(0, 0.7 + 0.2 * number, base.shape)
        if name == "m1":
            vectors[20:30] = vectors[30:40]  # so that scores tie
        model = Model(name, {"loader": "test"}, 8, "float32", "cosine", "", "")
        write(project.path("embeddings", name), model, images["image_id"].tolist(), vectors.astype(np.float32))
    for name in MAKERS:
        lists = mine(Vectors.open(project.path("embeddings", name)), images, RULES)
        project.write(lists, "neighbors", Provenance("neighbors.mine", {"neighbors.k": 12}), name)
    lists = pd.concat([project.read("neighbors", name) for name in MAKERS], ignore_index=True)
    suspects = draw_random(Universe(images, PairRules()), 80, 5, suspects=pool(lists, 3))
    project.write(suspects, "suspects", Provenance("suspects.pool", {"suspects.k": 3}))
    pairs = suspects[["query_id", "candidate_id"]].drop_duplicates()
    near = {name: base[row] for row, name in enumerate(images["image_id"])}
    value = [int(np.dot(near[q], near[c]) > 3) for q, c in pairs.itertuples(index=False)]
    votes = dict.fromkeys(("votes_for", "votes_against", "unsure"), 0)
    truth = pairs.assign(value=value, **votes, tie=False, rule="majority")
    project.write(truth[tables.TRUTH.names], "truth", Provenance("truth.decide"))
    return project


def answers(group: click.Group, project: Project) -> Callable[..., Any]:
    """Types words at a group of commands; gives the answer's JSON document."""

    def run(*words: str) -> Any:
        options = ["--json", "-q", "-p", str(project.root)]
        return json.loads(CliRunner().invoke(group, [*words, *options], catch_exceptions=False).stdout)

    return run


def by_name(document: dict[str, Any]) -> dict[tuple[str, str], dict[str, Any]]:
    """The rows over all queries of the answer of `eds metrics score`, by model and measure."""
    return {(row["model"], row["measure"]): row for row in document["scores"] if row["query_id"] is None}
