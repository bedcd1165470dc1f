"""The studies of notebook 04, larger: python -m tests.speed.training_studies dispersal|codes|continuation|recognition.

A drawn catalogue, real weights (EfficientNet-Lite0, ImageNet), three seeds; means and standard deviations are printed.
`--folder` keeps pictures and runs, so that a second call goes on.
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from eds.backbones import load
from eds.backbones.trainable import trainable
from eds.io.files import replacing
from eds.project.training_presets import PRESETS
from eds.registry import DATASETS
from eds.synthetic.catalogue import draw_catalogue
from eds.synthetic.experts import draw_experts
from eds.synthetic.panel import true_value
from eds.training.batches import split
from eds.training.finetune import finetune
from eds.training.hash_losses import Pairing, Scale
from eds.training.hash_objective import Design
from eds.training.pictures import prepare_images
from eds.training.plan import Plan
from eds.training.studies import compare_heads, recognition_and_discovery, spread
from eds.training.supervision import Supervision, supervise

LITE0 = "wheel:efficientnet_lite0?size=128&crop=128&resize=squash"
SEEDS = (0, 1, 2)
Pixels = NDArray[np.uint8]


def catalogue(folder: Path, products: int) -> tuple[pd.DataFrame, Pixels]:
    """The images table and the prepared pictures, uint8 (images, 128, 128, 3), drawn once."""
    place = folder / f"catalogue-{products}"
    images = draw_catalogue(place, products=products, views=4, size=160).sort_values("image_id", ignore_index=True)
    steps = load(LITE0, device="cpu", runtime="torch").spec.preprocessing
    return images, prepare_images(images, images["image_id"].tolist(), place, steps, place)


def vectors_of(text: str, pixels: Pixels) -> NDArray[np.float32]:
    """Unit vectors (images, dimension) by the backbone of that text."""
    backbone = load(text, device="cpu", runtime="torch")
    blocks = (np.array(pixels[start : start + 64]) for start in range(0, len(pixels), 64))
    return np.concatenate([backbone.encode(block) for block in blocks])


def lite0_vectors(folder: Path, pixels: Pixels) -> NDArray[np.float32]:
    """Those of the weights as they come, kept in the folder."""
    file = folder / f"lite0-{len(pixels)}.npy"
    if not file.exists():
        with replacing(file) as temporary, temporary.open("wb") as stream:
            np.save(stream, vectors_of(LITE0, pixels))
    found: NDArray[np.float32] = np.load(file)
    return found


def dispersal(folder: Path, products: int, epochs: int, widths: list[int], kinds: list[str]) -> None:
    """DSH and dispersed DSH: accuracy, mLGAP and usage."""
    images, pixels = catalogue(folder, products)
    vectors = lite0_vectors(folder, pixels)
    plan = Plan(epochs=epochs, batch=200, keep="last", validation_share=0.05, test_share=0.25)
    for column in kinds:
        labels = supervise("category", images.assign(category=images[column]))
        for bits in widths:

            def design(name: str, margin: float | None = None, alpha: float | None = None, bits: int = bits) -> Design:
                return Design(bits, name, "mlp", pairing=Pairing(margin, alpha))

            designs = {
                "dsh": design("dsh"),
                "dispersed": design("dispersed-dsh"),
                "dispersed, alpha 0.01": design("dispersed-dsh", None, 0.01),
                "dispersed, m = 2K": design("dispersed-dsh", 2.0),
            }
            runs = folder / f"dispersal-{products}-{epochs}-{column}-{bits}"
            rows = compare_heads(vectors, labels, designs, plan, SEEDS, runs)
            print(f"\n{column}, {bits} bits, {epochs} epochs, {len(images):,} images")
            print(spread(rows)[["ap_others", "mlgap", "distinct", "one_code"]].round(3).to_string())
            apart = rows.set_index(["design", "seed"])[["ap_others", "mlgap"]]
            differences = (apart.loc["dispersed"] - apart.loc["dsh"]).round(3).T.to_numpy().tolist()
            print("mAP and mLGAP of dispersed less those of dsh, by seed:", *differences, flush=True)


def codes(folder: Path, products: int, epochs: int, widths: list[int], kinds: list[str]) -> None:
    """TALR-AP against codes that nothing is trained for."""
    images, pixels = catalogue(folder, products)
    vectors, labels = lite0_vectors(folder, pixels), supervise("product", images)
    plan = Plan(epochs=epochs, batch=256, test_share=0.25, validation_share=0.1)
    for bits in widths:
        names = ("talr-ap", "pca-sign", "itq")
        designs = {name: Design(bits, name) for name in names}
        rows = compare_heads(vectors, labels, designs, plan, SEEDS, folder / f"codes-{products}-{epochs}-{bits}")
        print(f"\nproduct, {bits} bits, {len(images):,} images")
        print(spread(rows)[["ap", "ap_best", "ap_worst", "epochs"]].round(3).to_string())
        wide = rows.pivot(index="seed", columns="design", values="ap")
        gain = wide["talr-ap"] - wide[["pca-sign", "itq"]].max(axis=1)
        print("talr-ap less the better of the others, by seed:", gain.round(3).tolist(), flush=True)


def continuation(folder: Path, products: int, epochs: int, widths: list[int], kinds: list[str]) -> None:
    """Fixed and growing scales of tanh by TALR's recipe (rate 0.1 halved every 10 epochs), Fashion-MNIST's pixels."""
    found = DATASETS.load("fashion-mnist").read(Path(DATASETS.load("fashion-mnist").PLACES[0]))
    rows = np.random.default_rng(0).permutation(len(found.rows))[:products]
    vectors = found.pixels[rows].reshape(products, -1).astype(np.float32) / 255
    vectors -= vectors.mean(axis=0)
    kind = found.rows["category"].to_numpy()[rows]
    ids = [f"{number:06d}" for number in range(products)]
    labels = supervise("category", pd.DataFrame({"image_id": ids, "product_id": ids, "category": kind}))
    recipe = PRESETS["talr"] | {"epochs": epochs, "keep": "last"}
    plan = Plan(**recipe, validation_share=0.05, test_share=0.2)
    for bits in widths:
        designs = {f"scale {text}": Design(bits, "talr-ap", scale=Scale.parse(text)) for text in SCALES}
        runs = folder / f"continuation-{products}-{epochs}-{bits}"
        made = compare_heads(vectors, labels, designs, plan, SEEDS, runs)
        print(f"\n{bits} bits, {epochs} epochs, {products:,} images, {plan.learning_rate:g} and {plan.schedule}")
        print(spread(made)[["ap", "ap_others", "mlgap", "distinct"]].round(3).to_string(), flush=True)


def recognition(folder: Path, products: int, epochs: int, widths: list[int], kinds: list[str]) -> None:
    """X-ID: what the labels teach, on products seen and on products held out."""
    images, pixels = catalogue(folder, products)
    runs = [
        _one_recognition(folder / f"recognition-{products}-{epochs}-{seed}", images, pixels, epochs, seed)
        for seed in SEEDS
    ]
    told = pd.concat(runs).drop(columns="seed").groupby(["products", "model"], sort=False)
    print(f"\nX-ID, {epochs} epochs, {len(images):,} images")
    print(told.agg(["mean", "std"]).round(3).to_string())


def _one_recognition(run: Path, images: pd.DataFrame, pixels: Pixels, epochs: int, seed: int) -> pd.DataFrame:
    """A seed's rows, kept in the run's folder."""
    file, labels, rows = run / "found.csv", supervise("product", images), []
    if file.exists():
        return pd.read_csv(file)
    plan = Plan(epochs=epochs, batch=32, learning_rate=5e-4, keep="last", seed=seed)
    found = finetune(trainable(LITE0), pixels, labels, plan, run, frozen=FROZEN)
    parts = split(labels, plan.validation_share, plan.test_share, seed)
    for name, text in (("before", LITE0), ("X-ID", found.text)):
        vectors = vectors_of(text, pixels)
        for part, places in (("seen", parts.train), ("held out", parts.test)):
            some = images.iloc[places]
            whose = vectors[places], some["image_id"].tolist(), some["product_id"].tolist()
            truth = other_products(images, labels, places)
            alike = truth["query_id"].map(images.set_index("image_id")["category"])
            alike = alike == truth["candidate_id"].map(images.set_index("image_id")["category"])
            told = recognition_and_discovery(*whose, truth)
            told["within_category"] = recognition_and_discovery(*whose, truth[alike])["discovery"]
            rows.append({"model": name, "seed": seed, "products": part, **told})
    made = pd.DataFrame(rows)
    print(made.round(3).to_string(), flush=True)
    with replacing(file) as temporary:
        made.to_csv(temporary, index=False)
    return made


def other_products(images: pd.DataFrame, labels: Supervision, places: NDArray[np.int64]) -> pd.DataFrame:
    """The panel's noise-free majority on all pairs of these images that show different products."""
    first, second = np.nonzero(labels.product[places][:, None] != labels.product[places][None, :])
    ids = images["image_id"].to_numpy()[places]
    pairs = pd.DataFrame({"query_id": ids[first], "candidate_id": ids[second]})
    return pairs.assign(value=true_value(pairs, images, draw_experts(3)).astype(np.int64))


SCALES = ("1", "5", "20", "1:5", "1:20")
FROZEN = 50  # parameter tensors of Lite0's lower blocks
STUDIES = {  # what is run, products, epochs, bits
    "dispersal": (dispersal, 600, 120, [6, 12]),
    "codes": (codes, 600, 60, [16, 32, 64]),
    "continuation": (continuation, 6000, 50, [16]),
    "recognition": (recognition, 150, 4, [0]),
}


def main() -> None:
    """Run one study."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("study", choices=STUDIES)
    parser.add_argument("--products", type=int)
    parser.add_argument("--epochs", type=int)
    parser.add_argument("--bits", type=int, nargs="+")
    parser.add_argument("--labels", nargs="+", default=["category", "true_fabric"], help="dispersal: these columns")
    parser.add_argument("--folder", type=Path)
    asked = parser.parse_args()
    study, products, epochs, bits = STUDIES[asked.study]
    with tempfile.TemporaryDirectory() as temporary:
        folder = asked.folder or Path(temporary)
        study(folder, asked.products or products, asked.epochs or epochs, asked.bits or bits, asked.labels)


if __name__ == "__main__":
    main()
