"""Every stage done in parts gives the bytes that it gives in one piece, by every engine, however it is cut."""

import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from eds import tables
from eds.config import ExecutorSettings
from eds.errors import InputError
from eds.neighbors import Rules, mine, mine_with_recall, pair_ranks
from eds.parallel import Backend, Executor, Receipt, Resources, Work
from eds.parallel.backends.serial import Backend as Serial
from eds.parallel.protocol import DEFAULT
from eds.registry import EXECUTORS
from eds.suspects.list_heads import list_heads
from eds.tables import NEIGHBORS, Provenance
from eds.vectors import Vectors, Writer, write
from tests.conformance.places import executor
from tests.neighbors.galleries import METRICS, Gallery, catalogue
from tests.object_storage import storage

NAMES = list(EXECUTORS)
MADE = Provenance("test")
RULES = [Rules(6), Rules(100), Rules(5, False, False), Rules(2, keep_ties=True, category="same")]


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


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("metric", "levels"), [("cosine", 0), ("cosine", 1), ("hamming", 0)])
def test_neighbors(engines: dict[str, Backend], name: str, metric: str, levels: int, tmp_path: Path) -> None:
    gallery, vectors = stored(tmp_path / "vectors", metric, levels)
    for place, rule in enumerate(RULES if name == "serial" else RULES[-1:]):
        tables.write(mine(vectors, gallery.images, rule), NEIGHBORS, tmp_path / "plain", MADE)
        for rows in (70, 10_000):
            here = executor(engines[name], tmp_path / f"{place}-{rows}", rows=rows)
            told = Told()
            mined = mine_with_recall(vectors, gallery.images, rule, executor=here, progress=told)
            tables.write(mined.lists, NEIGHBORS, tmp_path / "parts", MADE)
            assert (tmp_path / "parts").read_bytes() == (tmp_path / "plain").read_bytes()
            tasks = -(-500 // rows) + 1
            assert told.all == [(done, tasks) for done in range(tasks + 1)]


@pytest.mark.parametrize("metric", METRICS)
def test_neighbors_of_many_query_blocks(
    engines: dict[str, Backend], metric: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.modules["eds.neighbors.mine"], "QUERY_CELLS", 20 * 64)
    gallery, vectors = stored(tmp_path / "vectors", metric, 1, images=300)
    expected = mine(vectors, gallery.images, Rules(7))
    found = mine_with_recall(
        vectors, gallery.images, Rules(7), executor=executor(engines["serial"], tmp_path, rows=90), search="faiss"
    )
    pd.testing.assert_frame_equal(found.lists, expected, check_exact=True)
    assert len(list((tmp_path / "work").glob("lists-*.npz"))) == 4


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("metric", "levels"), [("cosine", 0), ("dot", 1), ("hamming", 0)])
def test_ranks(
    engines: dict[str, Backend], name: str, metric: str, levels: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("eds.neighbors.rank_counting.QUERY_CELLS", 20 * 500)
    gallery, vectors = stored(tmp_path / "vectors", metric, levels)
    pairs = some_pairs(gallery.images, 2000)
    for place, rule in enumerate(RULES if name == "serial" else RULES[-1:]):
        here = executor(engines[name], tmp_path / str(place), rows=170)
        expected = pair_ranks(vectors, gallery.images, pairs, rule)
        assert (expected >= 0).sum() > 100
        assert np.array_equal(pair_ranks(vectors, gallery.images, pairs, rule, executor=here), expected)


def test_parts_in_a_bucket(engines: dict[str, Backend], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gallery, vectors = stored(tmp_path / "vectors", "cosine", 0, images=200)
    expected = mine(vectors, gallery.images, Rules(5))
    with storage() as server, monkeypatch.context() as patch:
        for variable, value in server.environment().items():
            patch.setenv(variable, value)
        server.bucket("shop")
        here = Executor(engines["serial"], "s3://shop/work", ExecutorSettings(rows=120))
        found = mine_with_recall(vectors, gallery.images, Rules(5), executor=here)
        names = {one["Key"] for one in server.client().list_objects_v2(Bucket="shop")["Contents"]}
        puts = server.seen["PUT"]
        again = mine_with_recall(vectors, gallery.images, Rules(5), executor=here)
        inputs = server.seen["PUT"] - puts
    pd.testing.assert_frame_equal(found.lists, expected, check_exact=True)
    pd.testing.assert_frame_equal(again.lists, expected, check_exact=True)
    assert {f"work/inputs/{shard.sha256}.npy" for shard in vectors.model.shards} <= names
    assert {"work/top-00000-00001.npz", "work/top-00000-00001.npz.receipt", "work/lists-00000.npz"} <= names
    assert inputs == 3  # queries and two parts of the gallery; no output was made again


@pytest.mark.parametrize("name", NAMES)
def test_heads_of_lists(engines: dict[str, Backend], name: str, tmp_path: Path) -> None:
    gallery, vectors = stored(tmp_path / "vectors", "cosine", 0)
    lists = mine(vectors, gallery.images, Rules(30))
    paths = {}
    for model in ("a", "b"):
        paths[model] = tmp_path / f"{model}.parquet"
        tables.write(lists.assign(model=model), NEIGHBORS, paths[model], MADE)
    found = list_heads(paths, 12, executor=executor(engines[name], tmp_path))
    expected = list_heads(paths, 12)
    assert set(expected["rank"]) == set(range(12))
    pd.testing.assert_frame_equal(found, expected)


@pytest.mark.parametrize("name", NAMES)
def test_bad_shards_are_refused_by_name(engines: dict[str, Backend], name: str, tmp_path: Path) -> None:
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

    for place, (spoil, told) in enumerate(
        [
            (shard.unlink, "the file is missing"),
            (cut, "is not the one that was written"),
            (changed, "is not the one that was written"),
            (another_dimension, "is not the one that was written"),
            (of_another_model, "is not the one that was written"),
        ]
    ):
        shard.write_bytes(whole)
        if name != "serial" and spoil is not cut:
            continue
        spoil()
        here = executor(engines[name], tmp_path / str(place), rows=90)
        with pytest.raises(InputError, match=told) as caught:
            mine_with_recall(vectors, gallery.images, Rules(3), executor=here)
        assert "00003.npy" in caught.value.where
        assert "on node" in caught.value.what if name == "ray" else "on node" not in caught.value.what
        shard.write_bytes(whole)
        expected = mine(vectors, gallery.images, Rules(3))
        pd.testing.assert_frame_equal(
            mine_with_recall(vectors, gallery.images, Rules(3), executor=here).lists, expected
        )


class Narrow(Serial):
    """Tells every task another dimension than the shards have."""

    def map(self, fn: Work, specs: Iterable[Any], need: Resources = DEFAULT) -> Iterator[Receipt]:
        return super().map(fn, [replace(spec, part=replace(spec.part, dimension=10)) for spec in specs], need)


def test_shards_of_another_dimension_than_the_models_are_refused(tmp_path: Path) -> None:
    gallery, vectors = stored(tmp_path / "vectors", "cosine", 0)
    told = r"00000\.npy: the shard is not one of model m: 00000\.npy holds float32 \(100, 20\), not float32 \(100, 10\)"
    with pytest.raises(InputError, match=told):
        mine_with_recall(vectors, gallery.images, Rules(3), executor=executor(Narrow(), tmp_path))


@pytest.mark.parametrize("name", NAMES)
def test_vectors_that_cannot_be_compared_are_named(engines: dict[str, Backend], name: str, tmp_path: Path) -> None:
    gallery, _ = stored(tmp_path / "vectors", "cosine", 0, images=200)
    held = gallery.vectors()
    values = held.take(np.arange(200))
    values[[31, 150]] = 0
    writer = Writer(tmp_path / "bad", held.model, shard_rows=64)
    setattr(writer, "_as_stored", lambda _, given: given)  # noqa: B010 - what a Writer refuses, others may write
    writer.add(held.names, [None] * 200, values)
    writer.finish(pd.DataFrame({"image_id": held.names, "source": [None] * 200}, dtype=object), MADE)
    images = gallery.images.assign(role="both")
    with pytest.raises(InputError, match=r"vectors are zero or not finite, or nearly so: ") as caught:
        mine_with_recall(
            Vectors.open(tmp_path / "bad"), images, Rules(3), executor=executor(engines[name], tmp_path, rows=1000)
        )
    assert {held.names[31], held.names[150]} == set(caught.value.what.split(": ")[1].split(" (on")[0].split(", "))


def test_an_index_is_not_cut_up(engines: dict[str, Backend], tmp_path: Path) -> None:
    gallery, vectors = stored(tmp_path / "vectors", "cosine", 0, images=50)
    with pytest.raises(InputError, match="an index is searched in one piece"):
        mine_with_recall(
            vectors, gallery.images, Rules(3), executor=executor(engines["serial"], tmp_path), search="faiss-ivf"
        )
