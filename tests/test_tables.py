import json
from itertools import chain
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eds import tables
from eds.errors import TableError
from eds.schema import Column, Table
from eds.tables import IMAGES, NEIGHBORS, SCORES, SUSPECTS, Provenance
from tests import strategies

MADE_BY = Provenance("eds test", {"neighbors.k": 3}, {"images.parquet": "0" * 64}, "1")


@pytest.fixture
def frame() -> pd.DataFrame:
    return pd.DataFrame(
        {"model": "a", "query_id": "q", "candidate_id": ["x", "y"], "rank": [0, 1], "score": [0.9, 0.5]}
    )


@pytest.fixture
def path(tmp_path: Path, frame: pd.DataFrame) -> Path:
    target = tmp_path / "neighbors" / "a.parquet"
    tables.write(frame, NEIGHBORS, target, MADE_BY)
    return target


def rewrite(path: Path, schema: pa.Schema) -> None:
    table = pq.read_table(path)
    pq.write_table(table.select([name for name in schema.names if name in table.column_names]).cast(schema), path)


def refusal(path: Path, table: Table = NEIGHBORS) -> str:
    with pytest.raises(TableError) as caught:
        tables.read(path, table)
    message = str(caught.value)
    assert str(path) in message
    return message


@given(st.data())
def test_what_is_written_is_read(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    table = data.draw(strategies.tables)
    frame = data.draw(strategies.frames(table))
    target = tmp_path_factory.mktemp("t") / "t.parquet"
    tables.write(frame, table, target, MADE_BY)
    pd.testing.assert_frame_equal(tables.read(target, table), frame)
    assert tables.read_provenance(target, table) == (MADE_BY, len(frame))


def test_equal_content_is_equal_bytes(tmp_path: Path, frame: pd.DataFrame, path: Path) -> None:
    tables.write(frame, NEIGHBORS, tmp_path / "again.parquet", MADE_BY)
    assert (tmp_path / "again.parquet").read_bytes() == path.read_bytes()


def test_the_file_says_what_it_is_and_is_compressed(path: Path) -> None:
    file = pq.ParquetFile(path)
    assert file.schema_arrow.metadata[b"eds.table"] == b"neighbors"
    assert json.loads(file.schema_arrow.metadata[b"eds.provenance"])["operation"] == "eds test"
    assert file.metadata.row_group(0).column(0).compression == "ZSTD"


def test_one_column_can_be_read_alone(path: Path) -> None:
    assert tables.read(path, NEIGHBORS, ["score"])["score"].tolist() == [0.9, 0.5]


def test_some_columns_are_those_of_the_whole_in_the_order_asked_for(path: Path) -> None:
    asked = ["score", "query_id"]
    pd.testing.assert_frame_equal(tables.read(path, NEIGHBORS, asked), tables.read(path, NEIGHBORS)[asked])


def test_a_column_that_is_not_there_is_refused(path: Path) -> None:
    with pytest.raises(TableError, match=r"neighbors has no column place, why\. It has model, query_id"):
        tables.read(path, NEIGHBORS, ["score", "place", "why"])


def test_a_faulty_frame_leaves_the_old_file(path: Path, frame: pd.DataFrame) -> None:
    before = path.read_bytes()
    with pytest.raises(TableError, match="must be unique"):
        tables.write(pd.concat([frame, frame]), NEIGHBORS, path, MADE_BY)
    assert path.read_bytes() == before


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 0.999])
def test_a_truncated_file_is_told(path: Path, share: float) -> None:
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * share)])
    assert "damaged or not Parquet" in refusal(path)


def test_flipped_bytes_in_the_data_are_told(path: Path) -> None:
    content = bytearray(path.read_bytes())
    for place in range(40, 80):
        content[place] ^= 0xFF
    path.write_bytes(bytes(content))
    assert "damaged" in refusal(path)


def test_a_newer_schema_is_refused_and_left_alone(path: Path) -> None:
    schema = pq.read_schema(path)
    rewrite(path, schema.with_metadata({**schema.metadata, b"eds.version": b"99"}))
    assert "schema version 99, this program knows 1. Upgrade eds" in refusal(path)


def test_a_missing_and_a_changed_column_are_told_together(path: Path) -> None:
    schema = pq.read_schema(path)
    kept = pa.schema([f if f.name != "rank" else pa.field("rank", pa.string()) for f in schema if f.name != "score"])
    rewrite(path, kept.with_metadata(schema.metadata))
    message = refusal(path)
    assert "column rank holds string, not integer" in message
    assert "column score is missing" in message


GROWN = Table(
    "neighbors",
    NEIGHBORS.row,
    NEIGHBORS.key,
    (
        *NEIGHBORS.columns,
        Column("weight", "real", "how much it counts", default=1.0),
        Column("source", "text", "where it came from", default="list"),
        Column("checked", "integer", "how often it was checked", nullable=True),
        Column("seen", "time", "when it was seen", nullable=True),
    ),
    version=2,
)


def test_a_file_without_a_new_column_gets_the_declared_default(path: Path, frame: pd.DataFrame) -> None:
    grown = tables.read(path, GROWN)
    assert list(grown.columns) == GROWN.names
    pd.testing.assert_frame_equal(grown[NEIGHBORS.names], tables.read(path, NEIGHBORS))
    assert grown["weight"].tolist() == [1.0, 1.0]
    assert grown["source"].tolist() == ["list", "list"]
    assert grown["checked"].isna().all()
    assert grown.dtypes.equals(GROWN.empty().dtypes)
    tables.write(grown, GROWN, path, MADE_BY)
    pd.testing.assert_frame_equal(tables.read(path, GROWN), grown)


def test_a_column_that_the_file_lacks_can_be_read_alone(path: Path) -> None:
    assert tables.read(path, GROWN, ["weight", "rank"]).to_dict("list") == {"weight": [1.0, 1.0], "rank": [0, 1]}
    assert tables.read(path, GROWN, ["weight"])["weight"].tolist() == [1.0, 1.0]
    assert tables.read_provenance(path, GROWN) == (MADE_BY, 2)


def test_columns_of_the_user_stay_behind_the_declared_ones(tmp_path: Path) -> None:
    target = tmp_path / "images.parquet"
    images = pd.DataFrame({"image_id": ["a"], "path": "a.png", "product_id": "a", "role": "both", "colour": "red"})
    tables.write(images.reindex(columns=[*IMAGES.names, "colour"]).astype(object), IMAGES, target, MADE_BY)
    stored = pq.read_table(target)
    pq.write_table(stored.drop_columns(["phase", "width"]), target)
    read = tables.read(target, IMAGES)
    assert list(read.columns) == [*IMAGES.names, "colour"]
    assert read["phase"].isna().all()
    assert read["width"].dtype == pd.Int64Dtype()
    with pytest.raises(TableError, match=r"images has no column color\. It has image_id"):
        tables.read(target, IMAGES, ["color"])


def test_a_column_of_the_key_has_no_default(tmp_path: Path) -> None:
    scores = pd.DataFrame({"model": ["a"], "measure": "AP", "query_id": None, "value": 1.0, "n": 1})
    tables.write(scores.reindex(columns=SCORES.names).astype(object), SCORES, tmp_path / "scores.parquet", MADE_BY)
    stored = pq.read_table(tmp_path / "scores.parquet")
    pq.write_table(stored.drop_columns(["query_id"]), tmp_path / "scores.parquet")
    assert "column query_id is missing" in refusal(tmp_path / "scores.parquet", SCORES)


def test_another_table_and_a_foreign_file_are_told_apart(path: Path, tmp_path: Path) -> None:
    assert "holds table neighbors, not suspects" in refusal(path, SUSPECTS)
    foreign = tmp_path / "foreign.parquet"
    pq.write_table(pa.table({"a": [1]}), foreign)
    assert "was not written by eds" in refusal(foreign)
    assert "there is no table neighbors yet" in refusal(tmp_path / "none.parquet")


def test_provenance_ignores_what_a_later_version_added() -> None:
    text = json.dumps(json.loads(MADE_BY.to_json()) | {"new": 1})
    assert Provenance.from_json(text) == MADE_BY


@pytest.mark.parametrize("rows", [1, 3, 7, 1000])
def test_groups_of_a_file_in_any_order_are_the_file_in_order(tmp_path: Path, rows: int) -> None:
    names = ["b", "a", "ä", "Z", "a b", "日"]
    depths = [1, 5, 2, 1, 3, 4]
    lists = pd.DataFrame(
        [
            {"model": "m", "query_id": name, "candidate_id": f"c{rank}", "rank": rank, "score": -float(rank)}
            for name, depth in zip(names, depths, strict=True)
            for rank in range(depth)
        ]
    )
    file = tmp_path / "m.parquet"
    tables.write(lists.sample(frac=1, random_state=0, ignore_index=True), NEIGHBORS, file, Provenance("test"))
    groups = list(tables.read_groups(file, NEIGHBORS, "query_id", rows))
    queries = [sorted(set(group["query_id"])) for group in groups]
    assert list(chain.from_iterable(queries)) == sorted(names)  # each in one group, and these in order
    assert max(map(len, groups)) < rows + max(depths)
    found = pd.concat(groups).sort_values(["query_id", "rank"], ignore_index=True)
    pd.testing.assert_frame_equal(found, lists.sort_values(["query_id", "rank"], ignore_index=True), check_dtype=False)
