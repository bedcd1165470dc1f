"""Every stage done in parts gives the bytes that it gives in one piece, by every engine, however it is cut."""

import json
import shutil
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from eds import tables
from eds.backbones import load
from eds.config import EngineSettings
from eds.embeddings.compute import compute
from eds.embeddings.sharded import Asked, compute_in_parts
from eds.engines import ENGINES, Engine, Need, Receipt, Site, Work
from eds.engines.inputs import Array, load_arrays, save_arrays
from eds.engines.protocol import USUAL
from eds.engines.serial import Serial
from eds.errors import EdsError, ImageError, InputError
from eds.neighbors import Rules, mine, pair_ranks
from eds.neighbors.sharded import mine_in_parts
from eds.neighbors.sharded_ranks import ranks_in_parts
from eds.suspects.sharded import heads, heads_in_parts
from eds.tables import NEIGHBORS, Provenance
from eds.vectors import Vectors, Writer, write
from tests.embeddings.toy import catalogue as pictures
from tests.embeddings.toy import paint
from tests.neighbors.galleries import METRICS, Gallery, catalogue
from tests.object_storage import storage

NAMES = list(ENGINES.entries())
MADE = Provenance("test")
RULES = [Rules(6), Rules(100), Rules(5, False, False), Rules(2, keep_ties=True, category="same")]


def site(engine: Engine, folder: Path, **settings: Any) -> Site:
    return Site(engine, folder / "work", EngineSettings(**settings))


def stored(folder: Path, metric: str, levels: int, images: int = 500) -> tuple[Gallery, Vectors]:
    """A catalogue with its vectors in many shards; with levels most scores tie."""
    gallery = catalogue(images, 3, products=images // 4, metric=metric, dimension=20, levels=levels)
    held = gallery.vectors()
    return gallery, write(folder, held.model, held.names, held.take(np.arange(images)), shard_rows=100)


class Told:
    """What a progress was told, each once."""

    def __init__(self) -> None:
        self.all: list[tuple[int, int]] = []

    def __call__(self, done: int, total: int) -> None:
        if (done, total) not in self.all:
            self.all.append((done, total))


def some_pairs(images: pd.DataFrame, count: int) -> pd.DataFrame:
    draw = np.random.default_rng(0)
    asked = images.loc[images["role"] != "candidate", "image_id"].to_numpy()
    return pd.DataFrame(
        {"query_id": draw.choice(asked, count), "candidate_id": draw.choice(images["image_id"].to_numpy(), count)}
    )


def files(folder: Path) -> dict[str, Any]:
    """Every file of a folder of vectors; model.json without the seconds that were measured."""
    found: dict[str, Any] = {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "model.json"}
    model = json.loads((folder / "model.json").read_text())
    return found | {
        "model": {name: value for name, value in model.items() if name not in ("seconds", "images_per_second")}
    }


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("metric", "levels"), [("cosine", 0), ("cosine", 1), ("hamming", 0)])
def test_neighbors(engines: dict[str, Engine], name: str, metric: str, levels: int, tmp_path: Path) -> None:
    gallery, vectors = stored(tmp_path / "vectors", metric, levels)
    for place, rule in enumerate(RULES if name == "serial" else RULES[-1:]):
        tables.write(mine(vectors, gallery.images, rule), NEIGHBORS, tmp_path / "plain", MADE)
        for rows in (70, 10_000):
            here = site(engines[name], tmp_path / f"{place}-{rows}", rows=rows)
            told = Told()
            mined = mine_in_parts(vectors, gallery.images, rule, here, progress=told)
            tables.write(mined.lists, NEIGHBORS, tmp_path / "parts", MADE)
            assert (tmp_path / "parts").read_bytes() == (tmp_path / "plain").read_bytes()
            tasks = -(-500 // rows) + 1
            assert told.all == [(done, tasks) for done in range(tasks + 1)]


@pytest.mark.parametrize("metric", METRICS)
def test_neighbors_of_many_query_blocks(
    engines: dict[str, Engine], metric: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.modules["eds.neighbors.mine"], "QUERY_CELLS", 20 * 64)
    gallery, vectors = stored(tmp_path / "vectors", metric, 1, images=300)
    expected = mine(vectors, gallery.images, Rules(7))
    found = mine_in_parts(vectors, gallery.images, Rules(7), site(engines["serial"], tmp_path, rows=90), engine="faiss")
    pd.testing.assert_frame_equal(found.lists, expected, check_exact=True)
    assert len(list((tmp_path / "work").glob("lists-*.npz"))) == 4


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("metric", "levels"), [("cosine", 0), ("dot", 1), ("hamming", 0)])
def test_ranks(
    engines: dict[str, Engine], name: str, metric: str, levels: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("eds.neighbors.sharded_ranks.QUERY_CELLS", 20 * 500)
    gallery, vectors = stored(tmp_path / "vectors", metric, levels)
    pairs = some_pairs(gallery.images, 2000)
    for place, rule in enumerate(RULES if name == "serial" else RULES[-1:]):
        here = site(engines[name], tmp_path / str(place), rows=170)
        expected = pair_ranks(vectors, gallery.images, pairs, rule)
        assert (expected >= 0).sum() > 100
        assert np.array_equal(ranks_in_parts(vectors, gallery.images, pairs, rule, here), expected)


def test_parts_in_a_bucket(engines: dict[str, Engine], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gallery, vectors = stored(tmp_path / "vectors", "cosine", 0, images=200)
    expected = mine(vectors, gallery.images, Rules(5))
    with storage() as server, monkeypatch.context() as patch:
        for variable, value in server.environment().items():
            patch.setenv(variable, value)
        server.bucket("shop")
        here = Site(engines["serial"], "s3://shop/work", EngineSettings(rows=120))
        found = mine_in_parts(vectors, gallery.images, Rules(5), here)
        names = {one["Key"] for one in server.client().list_objects_v2(Bucket="shop")["Contents"]}
        puts = server.seen["PUT"]
        again = mine_in_parts(vectors, gallery.images, Rules(5), here)
        inputs = server.seen["PUT"] - puts
    pd.testing.assert_frame_equal(found.lists, expected, check_exact=True)
    pd.testing.assert_frame_equal(again.lists, expected, check_exact=True)
    assert {f"work/given/{shard.sha256}.npy" for shard in vectors.model.shards} <= names
    assert {"work/top-00000-00001.npz", "work/top-00000-00001.npz.receipt", "work/lists-00000.npz"} <= names
    assert inputs == 3  # queries and two parts of the gallery; no output was made again


@pytest.mark.parametrize("name", NAMES)
def test_heads_of_lists(engines: dict[str, Engine], name: str, tmp_path: Path) -> None:
    gallery, vectors = stored(tmp_path / "vectors", "cosine", 0)
    lists = mine(vectors, gallery.images, Rules(30))
    paths = {}
    for model in ("a", "b"):
        paths[model] = tmp_path / f"{model}.parquet"
        tables.write(lists.assign(model=model), NEIGHBORS, paths[model], MADE)
    found = heads_in_parts(paths, 12, site(engines[name], tmp_path))
    expected = pd.concat([heads(lists.assign(model=model), 12) for model in paths], ignore_index=True)
    pd.testing.assert_frame_equal(found, expected)


@pytest.mark.parametrize("name", NAMES)
def test_embeddings(engines: dict[str, Engine], name: str, tmp_path: Path) -> None:
    root = tmp_path / "pictures"
    images = pictures(root, 90)
    (root / "017.jpg").write_text("no picture")
    texts = {"colour": "descriptor:hsv", "texture": "descriptor:lbp"}
    backbones = {model: load(text) for model, text in texts.items()}
    asked = [Asked(model, text, backbones[model].spec.digest) for model, text in texts.items()]
    given: dict[str, Any] = {"provenance": dict.fromkeys(texts, MADE), "batch": 8}

    def folders(kind: str) -> dict[str, Path]:
        return {model: tmp_path / kind / model for model in texts}

    here = site(engines[name], tmp_path, images=20)
    one, both = images[:30], {"colour": backbones["colour"]}
    compute(one, root, both, folders("plain"), **given)  # so that one model lacks fewer than the other
    compute(one, root, both, folders("parts"), **given)
    plain = compute(images, root, backbones, folders("plain"), **given)
    parts = compute_in_parts(images, root, backbones, folders("parts"), asked, here, **given)
    pd.testing.assert_frame_equal(parts.bad, plain.bad)
    assert [(done.computed, done.kept) for done in parts.models] == [(60, 29), (89, 0)]
    assert [(done.computed, done.kept) for done in plain.models] == [(60, 29), (89, 0)]
    for model in texts:
        assert files(folders("parts")[model]) == files(folders("plain")[model])
    again = compute_in_parts(images, root, backbones, folders("parts"), asked, here, **given)
    assert [(done.computed, done.kept) for done in again.models] == [(0, 89), (0, 89)]
    if name == "serial":
        with pytest.raises(ImageError, match="1 image cannot be read"):
            compute_in_parts(images, root, backbones, folders("refused"), asked, here, on_bad="fail", **given)


class Ending(Serial):
    """Ends after the first task."""

    def map(self, fn: Work, specs: Iterable[Any], need: Need = USUAL) -> Iterator[Receipt]:
        yield next(super().map(fn, specs, need))
        raise KeyboardInterrupt


class Forgetful(Serial):
    """Loses the last vector of the last task."""

    def map(self, fn: Work, specs: Iterable[Any], need: Need = USUAL) -> Iterator[Receipt]:
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

    def parts(self, engine: Engine | None = None, **options: Any) -> tuple[int, int]:
        """How many vectors were computed, and kept."""
        done = compute_in_parts(
            self.images, self.root, {"m": self.backbone}, {"m": self.made},
            [Asked("m", "descriptor:hsv", self.backbone.spec.digest)], site(engine or Serial(), self.folder, images=4),
            provenance={"m": MADE}, **options,
        ).models[0]  # fmt: skip
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


def test_a_node_with_other_weights_is_refused(engines: dict[str, Engine], tmp_path: Path) -> None:
    images, backbone = pictures(tmp_path / "pictures", 3), {"m": load("descriptor:hsv")}
    asked = [Asked("m", "descriptor:hsv", "another digest")]
    with pytest.raises(InputError, match=r"vectors-00000\.npz: this machine makes another model of descriptor:hsv"):
        compute_in_parts(
            images, tmp_path / "pictures", backbone, {"m": tmp_path / "m"}, asked, site(engines["pool"], tmp_path),
            provenance={"m": MADE},
        )  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_bad_shards_are_refused_by_name(engines: dict[str, Engine], name: str, tmp_path: Path) -> None:
    gallery, vectors = stored(tmp_path / "vectors", "cosine", 0)
    shard = vectors.folder / "00003.npy"
    whole, other = shard.read_bytes(), np.load(vectors.folder / "00004.npy")

    def cut() -> None:
        shard.write_bytes(whole[:-40])

    def changed() -> None:
        shard.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))

    def another_dimension() -> None:
        np.save(shard, np.hstack([other, other]))

    def of_another_model() -> None:
        np.save(shard, other[: len(np.load(shard))] + 1)

    for place, (spoil, told) in enumerate([
        (shard.unlink, "the file is missing"),
        (cut, "is not the one that was written"),
        (changed, "is not the one that was written"),
        (another_dimension, "is not the one that was written"),
        (of_another_model, "is not the one that was written"),
    ]):  # fmt: skip
        shard.write_bytes(whole)
        if name != "serial" and spoil is not cut:
            continue
        spoil()
        here = site(engines[name], tmp_path / str(place), rows=90)
        with pytest.raises(InputError, match=told) as caught:
            mine_in_parts(vectors, gallery.images, Rules(3), here)
        assert "00003.npy" in caught.value.where
        assert "on node" in caught.value.what if name == "ray" else "on node" not in caught.value.what
        shard.write_bytes(whole)
        expected = mine(vectors, gallery.images, Rules(3))
        pd.testing.assert_frame_equal(mine_in_parts(vectors, gallery.images, Rules(3), here).lists, expected)


class Narrow(Serial):
    """Tells every task another dimension than the shards have."""

    def map(self, fn: Work, specs: Iterable[Any], need: Need = USUAL) -> Iterator[Receipt]:
        return super().map(fn, [replace(spec, part=replace(spec.part, dimension=10)) for spec in specs], need)


def test_shards_of_another_dimension_than_the_models_are_refused(tmp_path: Path) -> None:
    gallery, vectors = stored(tmp_path / "vectors", "cosine", 0)
    told = r"00000\.npy: the shard is not one of model m: 00000\.npy holds float32 \(100, 20\), not float32 \(100, 10\)"
    with pytest.raises(InputError, match=told):
        mine_in_parts(vectors, gallery.images, Rules(3), site(Narrow(), tmp_path))


@pytest.mark.parametrize("name", NAMES)
def test_vectors_that_cannot_be_compared_are_named(engines: dict[str, Engine], name: str, tmp_path: Path) -> None:
    gallery, _ = stored(tmp_path / "vectors", "cosine", 0, images=200)
    held = gallery.vectors()
    values = held.take(np.arange(200))
    values[[31, 150]] = 0
    writer = Writer(tmp_path / "bad", held.model, shard_rows=64)
    setattr(writer, "_as_stored", lambda _, given: given)  # noqa: B010 - what a Writer refuses, others may write
    writer.add(held.names, [None] * 200, values)
    writer.finish(pd.DataFrame({"image_id": held.names, "source": [None] * 200}, dtype=object), MADE)
    images = gallery.images.assign(role="both")
    with pytest.raises(InputError, match=r"vectors are zero or not finite: ") as caught:
        mine_in_parts(Vectors.open(tmp_path / "bad"), images, Rules(3), site(engines[name], tmp_path, rows=1000))
    assert {held.names[31], held.names[150]} == set(caught.value.what.split(": ")[1].split(" (on")[0].split(", "))


def test_an_index_is_not_cut_up(engines: dict[str, Engine], tmp_path: Path) -> None:
    gallery, vectors = stored(tmp_path / "vectors", "cosine", 0, images=50)
    with pytest.raises(InputError, match="an index is searched in one piece"):
        mine_in_parts(vectors, gallery.images, Rules(3), site(engines["serial"], tmp_path), engine="faiss-ivf")
