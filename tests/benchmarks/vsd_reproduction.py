"""A release of two tasks, drawn small, with vectors of models for it: what a reproduction starts from."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

ZERO, WILD = "in_catalog_retrieval_zero_shot", "consumer-catalog_wild_zero_shot"
GENERATORS = ("argus", "dino", "beit", "clip", "argus_id", "argus_id_c")
K = 6


def draw(
    models: Sequence[str] = (*GENERATORS, "dino_ft", "resnet50"), products: int = 150, seed: int = 0
) -> dict[str, Any]:
    """Content of the files by name, and vectors by model and path.

    Products have one or two pictures; a model's vector is what the picture shows plus what the model adds of its own.
    The labelled pairs of a task are the first six of each generator's list; a pair is similar if both show near things.
    """
    rng = np.random.default_rng(seed)
    shown: dict[str, np.ndarray[Any, Any]] = {}
    images: list[dict[str, Any]] = []
    for product in range(products):
        style = rng.normal(size=5)
        for view in range(1 + product % 2):
            path = f"img/WOMEN/Röcke/id_{product:08d}/{view:02d}_1 front.jpg"
            images.append({"id": f"id_{product:08d}", "path": path, "phase": ("gallery", "train")[product % 2]})
            shown[path] = style + 0.3 * rng.normal(size=5)
    shops = list(shown)
    wild = [f"img/TOPS/id_{number:08d}/comsumer_01.jpg" for number in range(8)]
    for number, path in enumerate(wild):
        images.append({"id": f"wild_{number}", "path": path, "phase": "query"})
        shown[path] = shown[shops[3 * number]] + 0.8 * rng.normal(size=5)
    own = {model: rng.normal(size=(5, 3)) for model in models}
    vectors = {
        model: {path: np.concatenate([seen, seen @ own[model]]).astype(np.float32) for path, seen in shown.items()}
        for model in models
    }
    asked = {ZERO: [shops[place] for place in rng.choice(len(shops), 12, replace=False)], WILD: wild}
    product_of = {image["path"]: image["id"] for image in images}
    files: dict[str, Any] = {"metadata.json": {"images": images}}
    for task, queries in asked.items():
        pairs: dict[tuple[str, str], int] = {}
        for query in queries:
            for model in GENERATORS:
                for candidate in _nearest(query, shops, vectors[model], product_of):
                    away = float(np.linalg.norm(shown[query] - shown[candidate]))
                    pairs[query, candidate] = int(away + 0.5 * rng.normal() < 1.9)
        files[f"{task}/annotations.json"] = [{"key": list(pair), "value": value} for pair, value in pairs.items()]
        files[f"{task}/seeds.json"] = {"seeds": queries}
    return {"files": files, "vectors": vectors, "shops": shops, "wild": wild}


def write(drawn: dict[str, Any], folder: Path) -> Path:
    """The release below folder/release, the vectors in folder/vectors; the folder."""
    for name, content in drawn["files"].items():
        file = folder / "release" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(content), encoding="utf-8")
    (folder / "vectors").mkdir(exist_ok=True)
    for model, by_path in drawn["vectors"].items():
        np.save(folder / "vectors" / f"{model}.npy", np.array(list(by_path.values())))
        (folder / "vectors" / f"{model}.ids.txt").write_text("".join(f"{path}\n" for path in by_path), encoding="utf-8")
    return folder


def _nearest(query: str, shops: Sequence[str], vectors: dict[str, Any], product: dict[str, str]) -> list[str]:
    """The first six by cosine, the best picture of each other product."""

    def cosine(path: str) -> float:
        a, b = vectors[query].astype(float), vectors[path].astype(float)
        return float(a @ b / np.sqrt((a @ a) * (b @ b)))

    found: dict[str, str] = {}
    for path in sorted((path for path in shops if path != query), key=lambda path: (-cosine(path), path)):
        if product[path] != product[query]:
            found.setdefault(product[path], path)
        if len(found) == K:
            break
    return list(found.values())
