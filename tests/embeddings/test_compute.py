"""Vectors of a catalogue: what is computed, what is kept, and that nothing but picture and model decides a vector."""

from collections import Counter
from dataclasses import replace as changed
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from eds.backbones import BackboneSpec, Preprocessing
from eds.embeddings.compute import Summary, compute
from eds.errors import ImageError, InputError, ProjectError
from eds.io.files import digest
from eds.tables import Provenance
from eds.vectors import Vectors
from tests.embeddings.toy import RULES, SPEC, Toy, catalogue, paint

MADE = Provenance("test")


def run(images: pd.DataFrame, root: Path, toys: dict[str, Toy], into: Path, **options: Any) -> Summary:
    given: dict[str, Any] = {
        "batch": 4,
        "workers": 2,
        "shard_rows": 8,
        "provenance": dict.fromkeys(toys, MADE),
    } | options
    return compute(images, root, toys, {name: into / name for name in toys}, **given)


def expected(images: pd.DataFrame, root: Path) -> np.ndarray[Any, np.dtype[np.float32]]:
    """One picture at a time, with Pillow and the model alone."""
    toy = Toy()
    opened = [Image.open(root / path).convert("RGB") for path in images["path"]]
    return np.vstack([toy.encode(toy.spec.preprocessing.pixels(image)[None]) for image in opened])


@pytest.mark.parametrize(("batch", "workers", "shard_rows"), [(1, 1, 5), (7, 3, 8), (64, 8, 100)])
def test_vectors_are_those_of_one_picture_alone(tmp_path: Path, batch: int, workers: int, shard_rows: int) -> None:
    images = catalogue(tmp_path / "images")
    run(images, tmp_path / "images", {"m": Toy()}, tmp_path, batch=batch, workers=workers, shard_rows=shard_rows)
    vectors = Vectors.open(tmp_path / "m")
    vectors.verify()
    assert vectors.ids.tolist() == images["image_id"].tolist()
    found = vectors.gather(images["image_id"].tolist())
    np.testing.assert_allclose(found, expected(images, tmp_path / "images"), atol=1e-5)


def test_row_order_of_the_table_changes_no_vector(tmp_path: Path) -> None:
    images = catalogue(tmp_path / "images")
    run(images, tmp_path / "images", {"a": Toy()}, tmp_path)
    run(images.sample(frac=1, random_state=1), tmp_path / "images", {"b": Toy()}, tmp_path)
    first, second = (Vectors.open(tmp_path / name).gather(images["image_id"].tolist()) for name in "ab")
    np.testing.assert_allclose(first, second, atol=1e-5)


@pytest.fixture
def prepared(monkeypatch: pytest.MonkeyPatch) -> Counter[int]:
    """How many pictures were prepared, by the size that was asked for."""
    counted, really = Counter[int](), Preprocessing.pixels

    def counting(self: Preprocessing, image: Any) -> Any:
        counted[self.size] += 1
        return really(self, image)

    monkeypatch.setattr(Preprocessing, "pixels", counting)
    return counted


def test_only_new_and_changed_images_are_computed_and_gone_ones_are_dropped(
    tmp_path: Path, prepared: Counter[int]
) -> None:
    root = tmp_path / "images"
    images = catalogue(root)
    run(images, root, {"m": Toy()}, tmp_path)
    paint(root / "003.jpg", 999)
    images.loc[3, "sha256"] = digest(root / "003.jpg")
    images.loc[5, ["box_left", "box_top", "box_right", "box_bottom"]] = (2, 2, 30, 20)
    left = images.drop(index=[0, 20])
    toy = Toy()
    prepared.clear()
    summary = run(left, root, {"m": toy}, tmp_path)
    assert (summary.models[0].computed, summary.models[0].kept) == (2, 20)
    assert sum(toy.batches) == prepared[toy.spec.preprocessing.size] == 2
    vectors = Vectors.open(tmp_path / "m")
    vectors.verify()
    assert sorted(vectors.ids) == left["image_id"].tolist()
    whole = left.drop(index=5)
    np.testing.assert_allclose(vectors.gather(whole["image_id"].tolist()), expected(whole, root), atol=1e-5)
    cropped = Image.open(root / "005.jpg").crop((2, 2, 30, 20))
    wanted = toy.encode(toy.spec.preprocessing.pixels(cropped)[None])[0]
    np.testing.assert_allclose(vectors.gather(["i005"])[0], wanted, atol=1e-5)


def test_nothing_to_do_leaves_the_folder_untouched(tmp_path: Path) -> None:
    images = catalogue(tmp_path / "images")
    run(images, tmp_path / "images", {"m": Toy()}, tmp_path)
    before = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "m").iterdir()}
    summary = run(images, tmp_path / "images", {"m": Toy()}, tmp_path)
    assert summary.models[0].computed == 0
    assert {path.name: path.stat().st_mtime_ns for path in (tmp_path / "m").iterdir()} == before


def test_models_of_one_preprocessing_share_the_decoding(tmp_path: Path, prepared: Counter[int]) -> None:
    images = catalogue(tmp_path / "images")
    toys = {
        "a": Toy(),
        "b": Toy(changed(SPEC, name="b", dimension=7)),
        "c": Toy(changed(SPEC, preprocessing=RULES.changed(size=9))),
    }
    run(images, tmp_path / "images", toys, tmp_path)
    assert prepared == {RULES.size: len(images), 9: len(images)}
    assert Vectors.open(tmp_path / "b").gather(["i000"]).shape == (1, 7)


def test_bad_images_are_listed_or_refused(tmp_path: Path) -> None:
    root = tmp_path / "images"
    images = catalogue(root)
    (root / "004.jpg").write_bytes(b"no picture")
    images.loc[4, "sha256"] = digest(root / "004.jpg")
    (root / "007.jpg").unlink()
    paint(root / "009.jpg", 1234)  # another file than the table tells
    images.loc[11, "path"] = "../outside.jpg"
    summary = run(images, root, {"m": Toy()}, tmp_path)
    reasons = dict(zip(summary.bad["image_id"], summary.bad["reason"], strict=True))
    assert sorted(reasons) == ["i004", "i007", "i009", "i011"]
    assert "not a picture" in reasons["i004"]
    assert "No such file" in reasons["i007"]
    assert "not the file that was scanned" in reasons["i009"]
    assert "leaves the image root" in reasons["i011"]
    assert len(Vectors.open(tmp_path / "m")) == len(images) - 4
    toy = Toy()
    with pytest.raises(ImageError, match=r"(?s)4 images cannot be read.*i004.*i007.*i009.*i011"):
        run(images, root, {"n": toy}, tmp_path, on_bad="fail")
    assert toy.batches == [4]  # 000 to 003; behind the first bad picture nothing is computed, all are read
    assert not (tmp_path / "n" / "model.json").exists()


@pytest.mark.parametrize("value", [np.nan, np.inf, 0.0])
def test_a_vector_that_cannot_be_used_names_model_and_image(tmp_path: Path, value: float) -> None:
    class Broken(Toy):
        def encode(self, batch: np.ndarray[Any, np.dtype[np.uint8]]) -> np.ndarray[Any, np.dtype[np.float32]]:
            found = super().encode(batch)
            found[-1] = value
            return found

    with pytest.raises(InputError, match=r"(?s)model m gave vectors .*i003"):
        run(catalogue(tmp_path / "images"), tmp_path / "images", {"m": Broken()}, tmp_path)


def test_a_backbone_that_fails_is_told_with_its_model(tmp_path: Path) -> None:
    class Broken(Toy):
        def encode(self, batch: Any) -> Any:
            raise ValueError("no such layer")

    with pytest.raises(InputError, match=r"model m fails on a batch of 4 pictures \(ValueError: no such layer\)"):
        run(catalogue(tmp_path / "images"), tmp_path / "images", {"m": Broken()}, tmp_path)
    assert not (tmp_path / "m").exists()  # nothing was made, so nothing is begun

    class Tired(Toy):
        def encode(self, batch: Any) -> Any:
            if len(self.batches) == 4:
                raise ValueError("enough")
            return super().encode(batch)

    with pytest.raises(InputError, match="What is finished is kept"):
        run(catalogue(tmp_path / "images"), tmp_path / "images", {"t": Tired()}, tmp_path)
    assert run(catalogue(tmp_path / "images"), tmp_path / "images", {"t": Toy()}, tmp_path).models[0].computed == 8


@pytest.mark.parametrize(
    "other", [changed(SPEC, weights_sha256="w1"), changed(SPEC, preprocessing=RULES.changed(draft=True))]
)
def test_a_folder_of_another_model_is_refused_and_replaced_on_request(tmp_path: Path, other: BackboneSpec) -> None:
    images = catalogue(tmp_path / "images")
    run(images, tmp_path / "images", {"m": Toy()}, tmp_path)
    with pytest.raises(ProjectError, match="stale: made with other spec"):
        run(images, tmp_path / "images", {"m": Toy(other)}, tmp_path)
    summary = run(images, tmp_path / "images", {"m": Toy(other)}, tmp_path, replace=True)
    assert summary.models[0].computed == len(images)
    assert Vectors.open(tmp_path / "m").model.weights_digest == other.weights_sha256


def test_codes_are_packed(tmp_path: Path) -> None:
    images = catalogue(tmp_path / "images")
    run(images, tmp_path / "images", {"h": Toy(changed(SPEC, similarity="hamming"))}, tmp_path)
    vectors = Vectors.open(tmp_path / "h")
    assert (vectors.model.dtype, vectors.model.dimension) == ("bits", 24)
    signs = np.where(expected(images, tmp_path / "images") > 0, 1, -1)
    assert np.array_equal(vectors.gather(images["image_id"].tolist()), signs)


def test_progress_counts_every_image(tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    images = catalogue(tmp_path / "images", 9)
    run(images, tmp_path / "images", {"m": Toy()}, tmp_path, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(done, 9) for done in range(10)]


def test_half_a_crop_box_is_refused(tmp_path: Path) -> None:
    images = catalogue(tmp_path / "images", 3)
    images.loc[1, ["box_left", "box_top"]] = (0, 0)
    with pytest.raises(InputError, match=r"(?s)half a crop box.*i001: 2 of 4 edges"):
        run(images, tmp_path / "images", {"m": Toy()}, tmp_path)


def test_a_table_without_digests_is_computed_from_the_files_as_they_are(tmp_path: Path) -> None:
    root = tmp_path / "images"
    images = catalogue(root, 6)
    run(images, root, {"m": Toy()}, tmp_path)
    images["sha256"] = None
    (root / "001.jpg").unlink()
    paint(root / "002.jpg", 77)
    summary = run(images, root, {"m": Toy()}, tmp_path)
    assert (summary.models[0].computed, summary.bad["image_id"].tolist()) == (1, ["i001"])
