"""Embedding in parts gives the bytes that it gives in one piece, by every engine, however it is cut and cut off."""

import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from eds.backbones import load
from eds.embeddings.compute import compute
from eds.embeddings.tasks import Recipe
from eds.errors import EdsError, ImageError, InputError
from eds.parallel import Backend, Receipt, Resources, Work
from eds.parallel.backends.serial import Backend as Serial
from eds.parallel.inputs import Array, load_arrays, save_arrays
from eds.parallel.protocol import DEFAULT
from eds.registry import EXECUTORS
from eds.tables import Provenance
from eds.vectors import Vectors
from tests.conformance.places import executor
from tests.embeddings.toy import catalogue as pictures
from tests.embeddings.toy import paint

NAMES = list(EXECUTORS)
MADE = Provenance("test")


def files(folder: Path) -> dict[str, Any]:
    """Every file of a folder of vectors but the seconds that were measured."""
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "timing.json"}


@pytest.mark.parametrize("name", NAMES)
def test_embeddings(engines: dict[str, Backend], name: str, tmp_path: Path) -> None:
    root = tmp_path / "pictures"
    images = pictures(root, 90)
    (root / "017.jpg").write_text("no picture")
    texts = {"colour": "descriptor:hsv", "texture": "descriptor:lbp"}
    backbones = {model: load(text) for model, text in texts.items()}
    recipes = [Recipe(model, text, backbones[model].spec.digest) for model, text in texts.items()]
    given: dict[str, Any] = {"provenance": dict.fromkeys(texts, MADE), "batch": 8}

    def folders(kind: str) -> dict[str, Path]:
        return {model: tmp_path / kind / model for model in texts}

    here = executor(engines[name], tmp_path, images=20)
    one, both = images[:30], {"colour": backbones["colour"]}
    compute(one, root, both, folders("plain"), **given)  # so that one model lacks fewer than the other
    compute(one, root, both, folders("parts"), **given)
    plain = compute(images, root, backbones, folders("plain"), **given)
    parts = compute(images, root, backbones, folders("parts"), executor=here, recipes=recipes, **given)
    pd.testing.assert_frame_equal(parts.bad, plain.bad)
    assert [(done.computed, done.kept) for done in parts.models] == [(60, 29), (89, 0)]
    assert [(done.computed, done.kept) for done in plain.models] == [(60, 29), (89, 0)]
    for model in texts:
        assert files(folders("parts")[model]) == files(folders("plain")[model])
    again = compute(images, root, backbones, folders("parts"), executor=here, recipes=recipes, **given)
    assert [(done.computed, done.kept) for done in again.models] == [(0, 89), (0, 89)]
    if name == "serial":
        with pytest.raises(ImageError, match="1 image cannot be read"):
            compute(images, root, backbones, folders("refused"), executor=here, recipes=recipes, on_bad="fail", **given)


class Ending(Serial):
    """Ends after the first task."""

    def map(self, fn: Work, specs: Iterable[Any], need: Resources = DEFAULT) -> Iterator[Receipt]:
        yield next(super().map(fn, specs, need))
        raise KeyboardInterrupt


class Forgetful(Serial):
    """Loses the last vector of the last task."""

    def map(self, fn: Work, specs: Iterable[Any], need: Resources = DEFAULT) -> Iterator[Receipt]:
        *others, last = super().map(fn, specs, need)
        yield from others
        kept = {name: part if name == "bad" else part[:-1] for name, part in load_arrays(Path(last.url)).items()}
        yield save_arrays(last.url, last.rows, kept)


class Embedding:
    """A catalogue whose vectors are computed in parts of 4 images, again and again, in a place that is not cleared."""

    def __init__(self, folder: Path, count: int, **changed: Any) -> None:
        self.root, self.folder, self.made = folder / "pictures", folder, folder / "m"
        self.images = pictures(self.root, count).assign(**changed)
        self.backbone = load("descriptor:hsv")

    def plain(self, images: pd.DataFrame, name: str = "m") -> Array:
        compute(images, self.root, {"m": self.backbone}, {"m": self.folder / name}, provenance={"m": MADE})
        return self.values(name)

    def parts(self, engine: Backend | None = None, **options: Any) -> tuple[int, int]:
        """How many vectors were computed, and kept."""
        done = compute(
            self.images,
            self.root,
            {"m": self.backbone},
            {"m": self.made},
            executor=executor(engine or Serial(), self.folder, images=4),
            recipes=[Recipe("m", "descriptor:hsv", self.backbone.spec.digest)],
            provenance={"m": MADE},
            **options,
        ).models[0]
        return done.computed, done.kept

    def values(self, name: str = "m") -> Array:
        """The vectors in the order of the table; all must be there."""
        vectors = Vectors.open(self.folder / name)
        return vectors.take(pd.Index(vectors.ids).get_indexer_for(pd.Index(self.images["image_id"])))

    def receipts(self) -> dict[str, int]:
        """When each task was done."""
        there = (self.folder / "work").glob("vectors-*.npz")
        return {path.name: path.stat().st_mtime_ns for path in sorted(there)}


@pytest.mark.parametrize("engine", [Ending, Serial])
def test_a_plan_that_lacks_less_than_the_folder_does_is_not_taken(engine: type[Serial], tmp_path: Path) -> None:
    given = Embedding(tmp_path, 12)
    given.plain(given.images[:10])
    if engine is Ending:
        with pytest.raises(KeyboardInterrupt):
            given.parts(Ending())
    else:
        assert given.parts() == (2, 10)
    shutil.rmtree(given.made)
    assert given.parts() == (12, 0)
    assert np.array_equal(given.values(), given.plain(given.images, "plain"))
    assert given.parts() == (0, 12)


def test_a_run_that_was_stopped_goes_on_from_its_plan(tmp_path: Path) -> None:
    given = Embedding(tmp_path, 12)
    with pytest.raises(KeyboardInterrupt):
        given.parts(Ending())
    begun = given.receipts()
    assert list(begun) == ["vectors-00000.npz"]
    assert given.parts() == (12, 0)
    assert given.receipts()["vectors-00000.npz"] == begun["vectors-00000.npz"]


def test_parts_that_do_not_hold_all_are_told_and_what_they_hold_is_kept(tmp_path: Path) -> None:
    given = Embedding(tmp_path, 12)
    with pytest.raises(EdsError, match=r"the parts do not hold the vectors of all images(.|\n)*m: 1 images without"):
        given.parts(Forgetful())
    assert not (given.made / "model.json").exists()
    begun = given.receipts()
    assert given.parts() == (1, 11)
    assert [name for name, time in given.receipts().items() if time != begun[name]] == ["vectors-00002.npz"]
    assert np.array_equal(given.values(), given.plain(given.images, "plain"))


@pytest.mark.parametrize("on_bad", ["fail", "skip"])
def test_a_picture_that_was_mended_is_looked_at_again(on_bad: str, tmp_path: Path) -> None:
    given = Embedding(tmp_path, 12)
    for number in (1, 9):
        (given.root / f"{number:03d}.jpg").rename(tmp_path / f"{number}")
    for mended, lacking in ((1, 2), (9, 1)):
        if on_bad == "fail":
            with pytest.raises(ImageError, match=f"{lacking} images? cannot be read"):
                given.parts(on_bad="fail")
        else:
            assert sum(given.parts()) == 12 - lacking
        (tmp_path / f"{mended}").rename(given.root / f"{mended:03d}.jpg")
    assert sum(given.parts(on_bad=on_bad)) == 12
    assert np.array_equal(given.values(), given.plain(given.images, "plain"))


def test_pictures_that_the_table_has_no_digest_of_may_change_before_work_goes_on(tmp_path: Path) -> None:
    given = Embedding(tmp_path, 12, sha256=pd.NA)
    with pytest.raises(KeyboardInterrupt):
        given.parts(Ending())
    paint(given.root / "002.jpg", 99)
    assert given.parts() == (12, 0)
    assert np.array_equal(given.values(), given.plain(given.images, "plain"))


def test_a_node_with_other_weights_is_refused(engines: dict[str, Backend], tmp_path: Path) -> None:
    images, backbone = pictures(tmp_path / "pictures", 3), {"m": load("descriptor:hsv")}
    recipes = [Recipe("m", "descriptor:hsv", "another digest")]
    with pytest.raises(InputError, match=r"vectors-00000\.npz: this machine makes another model of descriptor:hsv"):
        compute(
            images,
            tmp_path / "pictures",
            backbone,
            {"m": tmp_path / "m"},
            executor=executor(engines["processes"], tmp_path),
            recipes=recipes,
            provenance={"m": MADE},
        )
