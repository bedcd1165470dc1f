"""Data sets like VSD-Fashion's, small and awkward: ties, shared pictures, lost candidates, odd names."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

PHASES = ("gallery", "train", "search")


@dataclass
class Release:
    """The files' content and one model's vectors."""

    metadata: dict[str, Any]
    annotations: list[dict[str, Any]]
    vectors: dict[str, list[float]]
    seeds: dict[str, Any] | None = None
    manifest: dict[str, Any] | None = None
    gallery_phases: tuple[str, ...] = ()
    options: list[str] = field(default_factory=list)

    def write(self, folder: Path, seed: int = 0) -> list[str]:
        """Write the files with their rows in an order drawn from `seed`; the options of the import."""
        folder.mkdir(parents=True, exist_ok=True)
        rng = np.random.default_rng(seed)

        def mixed(rows: list[Any]) -> list[Any]:
            return [rows[place] for place in rng.permutation(len(rows))]

        content: dict[str, Any] = {
            "metadata": {"images": mixed(self.metadata["images"])},
            "annotations": mixed(self.annotations),
        }
        if self.seeds is not None:
            content["seeds"] = {"seeds": mixed(self.seeds["seeds"])}
        if self.manifest is not None:
            content["manifest"] = {"images": mixed(self.manifest["images"])}
        words = []
        for name, told in content.items():
            file = folder / f"{name}.json"
            file.write_text(json.dumps(told, ensure_ascii=bool(seed % 2)), encoding="utf-8")
            words += [f"--{name}", str(file)]
        if self.gallery_phases:
            words += ["--gallery-phases", ",".join(self.gallery_phases)]
        names = mixed(list(self.vectors))
        np.save(folder / "vectors.npy", np.array([self.vectors[name] for name in names], np.float32))
        (folder / "ids.txt").write_text("".join(f"{name}\n" for name in names), encoding="utf-8")
        return words


def release(*, wild: bool, seed: int, split: bool = False, seeds: bool = True) -> Release:
    """A data set drawn from `seed`.

    Every third picture has the vector of another one, or twice it, so that scores tie; products have one to four
    pictures; some queries have no positive, one no annotation at all; some labelled candidates are in no gallery.
    """
    rng = np.random.default_rng(seed)
    images: list[dict[str, Any]] = []
    for product in range(28):
        for view in range(int(rng.integers(1, 5))):
            path = f"img/WOMEN/Abendkleid grün {product % 3}/id_{product:03d}/{view:02d}_1 front.jpg"
            phase = PHASES[int(rng.integers(0, 3))] if wild else "gallery"
            images.append({"id": product, "path": path, "phase": phase, "bbox": [1, 2, 30, 40]})
    shops = [image["path"] for image in images]
    if wild:
        for number in range(14):
            path = f"img/TOPS/Sommer/id_{number:03d}/comsumer_{number:02d}.jpg"
            images.append({"id": f"w{number}" if number else 3, "path": path, "phase": "query"})
        asked = [image["path"] for image in images if image["phase"] == "query"]
    else:
        asked = [shops[place] for place in rng.choice(len(shops), 16, replace=False)]
    vectors = rng.integers(-3, 4, (len(images), 6)).astype(np.float64) + rng.normal(0, 0.4, (len(images), 6))
    for row in range(0, len(images), 3):
        vectors[row] = vectors[int(rng.integers(0, len(images)))] * float(rng.choice([1.0, 2.0]))
    known = [image["path"] for image in images]
    stored = vectors.astype(np.float32)
    by_path = {name: [float(x) for x in stored[row]] for row, name in enumerate(known)}
    annotations = []
    for number, query in enumerate(asked[:-1]):
        near = sorted(shops, key=lambda name: -float(np.dot(by_path[query], by_path[name])))[:14]
        chosen = {*near[:9], *rng.choice(shops, 4).tolist()} - {query}
        for candidate in sorted(chosen):
            value = 0 if number in (1, 2) else int(rng.random() < 0.45)
            annotations.append({"key": [query, candidate], "value": value})
    annotations += annotations[:3]  # said twice alike
    manifest = None
    if split:
        manifest = {"images": [{"path": name, "id": 1} for name in known if rng.random() < 0.8]}
    return Release(
        {"images": images},
        annotations,
        by_path,
        {"seeds": asked} if seeds else None,
        manifest,
        ("gallery", "search") if wild else (),
    )
