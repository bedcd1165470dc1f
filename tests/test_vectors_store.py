"""The folder of vectors: what is written is read, what is damaged is told, and no crash costs a finished shard."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eds import tables
from eds.errors import InputError, ProjectError, TableError
from eds.tables import EMBEDDINGS, Provenance
from eds.vectors import Model, Vectors, Writer, pack, write

Floats = np.ndarray[Any, np.dtype[np.float32]]


def model(dimension: int = 6, **others: Any) -> Model:
    given = {"dtype": "float32", "similarity": "cosine", "preprocessing_digest": "p", "weights_digest": "w"} | others
    return Model("m", {"loader": "toy"}, dimension, provenance=Provenance("made"), **given)


def some(rows: int, dimension: int = 6, seed: int = 0) -> tuple[list[str], Floats]:
    values = np.random.default_rng(seed).standard_normal((rows, dimension), dtype=np.float32)
    return [f"é {row}" for row in range(rows)], values


def frame(ids: list[str], sources: list[str | None] | None = None) -> pd.DataFrame:
    return pd.DataFrame({"image_id": ids, "source": sources or [None] * len(ids)}, dtype=object)


@given(
    rows=st.integers(0, 23),
    dimension=st.integers(1, 19),
    shard_rows=st.integers(1, 9),
    dtype=st.sampled_from(["float32", "float16", "bits"]),
    block=st.integers(1, 7),
    data=st.data(),
)
def test_what_is_written_is_read(
    tmp_path_factory: pytest.TempPathFactory,
    rows: int,
    dimension: int,
    shard_rows: int,
    dtype: str,
    block: int,
    data: st.DataObject,
) -> None:
    folder = tmp_path_factory.mktemp("store") / "m"
    ids, values = some(rows, dimension)
    bits = dtype == "bits"
    exacts: dict[str, Any] = {
        "float32": values,
        "float16": values.astype(np.float16),
        "bits": np.where(values > 0, 1, -1),
    }
    exact = exacts[dtype]
    vectors = write(folder, model(dimension, dtype=dtype), ids, pack(values) if bits else values, shard_rows=shard_rows)
    vectors.verify()
    assert vectors.ids.tolist() == ids
    assert len(vectors.model.shards) == -(-rows // shard_rows)
    blocks = list(vectors.blocks(block))
    assert [first for first, _ in blocks] == np.cumsum([0, *(len(part) for _, part in blocks)])[:-1].tolist()
    assert all(0 < len(part) <= block for _, part in blocks)
    assert sum(len(part) for _, part in blocks) == rows
    expected = pack(values) if bits else exact
    assert np.array_equal(np.vstack([part for _, part in blocks]) if rows else expected[:0], expected)
    asked = data.draw(st.lists(st.integers(0, rows - 1), max_size=30)) if rows else []
    assert np.array_equal(vectors.gather([ids[row] for row in asked]), exact[asked].astype(np.float32))
    assert vectors.rows_of([ids[row] for row in asked]).tolist() == asked
    if bits:
        assert np.array_equal(vectors.gather_packed([ids[row] for row in asked]), pack(values)[asked])


@settings(max_examples=20)  # each example writes several folders
@given(steps=st.lists(st.dictionaries(st.integers(0, 11), st.integers(0, 2), min_size=1), min_size=1, max_size=5))
def test_a_folder_follows_its_catalogue(tmp_path_factory: pytest.TempPathFactory, steps: list[dict[int, int]]) -> None:
    """Each step is a catalogue: image -> version of its picture. Only what is lacking is ever added."""
    folder = tmp_path_factory.mktemp("store") / "m"
    held: dict[int, int] = {}
    for number, catalogue in enumerate(steps):
        ids, sources = [f"i{image}" for image in catalogue], [f"v{version}" for version in catalogue.values()]
        writer = Writer(folder, model(2), shard_rows=3)
        lacking = writer.lacking(frame(ids, list(sources)))
        assert lacking.tolist() == [held.get(image) != version for image, version in catalogue.items()]
        for (image, version), lacks in zip(catalogue.items(), lacking, strict=True):
            if lacks:
                writer.add([f"i{image}"], [f"v{version}"], np.array([[image + 1, version]], dtype=np.float32))
        writer.finish(frame(ids, list(sources)), Provenance(f"step {number}"))
        held = catalogue
        vectors = Vectors.open(folder)
        vectors.verify()
        assert sorted(vectors.ids) == sorted(ids)
        assert vectors.gather(ids).tolist() == [[image + 1, version] for image, version in catalogue.items()]
        assert dict(zip(vectors.ids, vectors.sources, strict=True)) == dict(zip(ids, sources, strict=True))
        files = {path.name for path in folder.iterdir()}
        assert files == {"ids.parquet", "model.json", "timing.json", *(shard.file for shard in vectors.model.shards)}


def test_an_interrupted_run_goes_on_at_its_last_finished_shard(tmp_path: Path) -> None:
    ids, values = some(10)
    first = Writer(tmp_path / "m", model(), shard_rows=4)
    first.add(ids, [None] * 10, values)  # two shards are written, two vectors are lost with the process
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "m").glob("0*")}
    (tmp_path / "m" / "00002.npy").write_bytes(b"a shard without receipt does not count")
    with pytest.raises(TableError, match="not finished"):
        Vectors.open(tmp_path / "m")
    again = Writer(tmp_path / "m", model(), shard_rows=4)
    assert again.lacking(frame(ids)).tolist() == [False] * 8 + [True] * 2
    assert {path: path.stat().st_mtime_ns for path in before} == before
    again.add(ids[8:], [None] * 2, values[8:])
    again.finish(frame(ids), Provenance("made"))
    vectors = Vectors.open(tmp_path / "m")
    vectors.verify()
    assert np.array_equal(vectors.gather(ids), values)
    assert (tmp_path / "m" / "00000.npy").stat().st_mtime_ns == before[tmp_path / "m" / "00000.npy"]


@pytest.mark.parametrize("step", ["model.json gone", "ids.parquet new", "model.json new", "half swept"])
def test_a_crash_at_any_step_of_finishing_loses_nothing(
    tmp_path: Path, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids, values = some(9)
    folder = tmp_path / "m"
    write(folder, model(), ids, values, shard_rows=3)
    writer = Writer(folder, model(), shard_rows=3)
    changed = values.copy()
    changed[4] = 7
    wanted = frame(ids, [None, None, None, None, "new", None, None, None, None])
    writer.add([ids[4]], ["new"], changed[4:5])

    class Killed(BaseException):
        pass

    def killed(*_: Any, **__: Any) -> None:
        raise Killed

    with monkeypatch.context() as patched:
        if step == "model.json gone":
            patched.setattr(
                tables, "write", lambda *a, **k: killed() if a[2].name == "ids.parquet" else write_(*a, **k)
            )
        elif step == "ids.parquet new":
            patched.setattr("eds.vectors.writing.write_text", killed)
        elif step == "model.json new":
            patched.setattr("eds.vectors.writing.sweep", killed)
        else:
            patched.setattr(Path, "unlink", lambda p, **k: killed() if p.suffix == ".npy" else unlink_(p, **k))
        with pytest.raises(Killed):
            writer.finish(wanted, Provenance("again"))
    again = Writer(folder, model(), shard_rows=3)
    assert not again.lacking(wanted).any()
    again.finish(wanted, Provenance("again"))
    vectors = Vectors.open(folder)
    vectors.verify()
    assert np.array_equal(vectors.gather(ids), changed)
    assert not list(folder.glob("*.ids.parquet"))


write_, unlink_ = tables.write, Path.unlink


def test_many_small_shards_become_full_ones(tmp_path: Path) -> None:
    ids, values = some(40)
    for number in range(1, 41):
        writer = Writer(tmp_path / "m", model(), shard_rows=10)
        writer.add([ids[number - 1]], [None], values[number - 1 : number])
        writer.finish(frame(ids[:number]), Provenance(f"{number}"))
    vectors = Vectors.open(tmp_path / "m")
    vectors.verify()
    assert len(vectors.model.shards) < 20
    assert np.array_equal(vectors.gather(ids), values)


def test_two_models_never_mix(tmp_path: Path) -> None:
    ids, values = some(4)
    Writer(tmp_path / "m", model(), shard_rows=2).add(ids, [None] * 4, values)  # begun, not finished
    with pytest.raises(ProjectError, match=r"(?s)stale: made with other weights_digest.*stored 'w', requested 'x'"):
        Writer(tmp_path / "m", model(weights_digest="x"))
    other = Writer(tmp_path / "m", model(weights_digest="x"), replace=True)
    assert other.lacking(frame(ids)).all()
    assert not list((tmp_path / "m").glob("0*"))


def test_damage_is_told_all_at_once(tmp_path: Path) -> None:
    ids, values = some(9)
    folder = tmp_path / "m"
    write(folder, model(), ids, values, shard_rows=3)
    (folder / "00000.npy").unlink()
    (folder / "00001.npy").write_bytes(b"rubbish")
    np.save(folder / "00002.npy", values[:2])
    short = tables.read(folder / "ids.parquet", EMBEDDINGS)[:5]
    tables.write(short, EMBEDDINGS, folder / "ids.parquet", Provenance("made"))
    with pytest.raises(TableError) as caught:
        Vectors.open(folder)
    told = str(caught.value)
    for part in ("00000.npy is missing", "00001.npy is damaged", "00002.npy holds float32 (2, 6)", "ids.parquet has 5"):
        assert part in told


def test_verify_sees_a_single_turned_bit(tmp_path: Path) -> None:
    ids, values = some(9)
    vectors = write(tmp_path / "m", model(), ids, values, shard_rows=3)
    bytes_ = bytearray((tmp_path / "m" / "00001.npy").read_bytes())
    bytes_[-1] ^= 1
    (tmp_path / "m" / "00001.npy").write_bytes(bytes_)
    with pytest.raises(TableError, match=r"00001.npy is not the file that was written"):
        vectors.verify()


def test_verify_sees_ids_in_another_order(tmp_path: Path) -> None:
    ids, values = some(4)
    vectors = write(tmp_path / "m", model(), ids, values)
    turned = tables.read(tmp_path / "m" / "ids.parquet", EMBEDDINGS)[::-1]
    tables.write(turned, EMBEDDINGS, tmp_path / "m" / "ids.parquet", Provenance("made"))
    with pytest.raises(TableError, match="in their order"):
        vectors.verify()


def test_unknown_ids_are_named(tmp_path: Path) -> None:
    ids, values = some(4)
    vectors = write(tmp_path / "m", model(), ids, values)
    with pytest.raises(InputError, match="7 images have no vector: x0, x1, x2, x3, x4, …"):
        vectors.gather([ids[0], *(f"x{number}" for number in range(7))])


@pytest.mark.parametrize("content", ["{", "[]", '{"name": "m"}', json.dumps({"rows": 1, "provenance": {}})])
def test_a_damaged_model_file_is_told(tmp_path: Path, content: str) -> None:
    (tmp_path / "model.json").write_text(content)
    with pytest.raises(TableError, match=r"model.json is damaged"):
        Vectors.open(tmp_path)


def test_vectors_that_no_similarity_can_use_are_refused(tmp_path: Path) -> None:
    ids, values = some(5)
    values[1], values[3, 2] = 0, np.inf
    with pytest.raises(InputError, match=r"(?s)model m.*é 1: all zero.*é 3: not finite"):
        write(tmp_path / "m", model(), ids, values)
    with pytest.raises(InputError, match="not finite"):  # too large for half precision
        write(tmp_path / "h", model(dtype="float16"), ids[:1], np.full((1, 6), 1e6, dtype=np.float32))
    with pytest.raises(InputError, match="shape"):
        write(tmp_path / "s", model(), ids, values[:, :5])
    with pytest.raises(InputError, match="duplicate image ids"):
        write(tmp_path / "t", model(), ["a", "a"], values[[0, 2]])


def test_the_first_shards_are_small_so_that_a_killed_short_run_keeps_most(tmp_path: Path) -> None:
    ids = [f"i{number:04d}" for number in range(1000)]
    sources, values = [f"s{name}" for name in ids], np.random.default_rng(0).normal(size=(1000, 2))
    Writer(tmp_path / "m", model(2)).add(ids[:900], sources[:900], values[:900])  # and dies here
    wanted = pd.DataFrame({"image_id": ids, "source": sources})
    again = Writer(tmp_path / "m", model(2))
    rows = np.flatnonzero(again.lacking(wanted))
    assert rows.tolist() == list(range(256 + 512, 1000))
    again.add(ids[768:], sources[768:], values[768:])
    finished = again.finish(wanted, Provenance("test"))
    assert [shard.rows for shard in finished.shards] == [256, 512, 232]
    np.testing.assert_allclose(Vectors.open(tmp_path / "m").gather(ids), values, rtol=1e-6)
