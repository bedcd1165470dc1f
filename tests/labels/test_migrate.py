"""Schemas: made, upgraded with data from every version, refused when newer; the triggers survive each of it."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from eds.errors import ProjectError
from eds.labels import engines, migrate, schema
from eds.labels.backup import back_up, check_backup, restore, upgrade_store
from eds.labels.frames import labels_frame
from eds.labels.store import Store, open_store
from tests.labels.stores import BACKENDS, begin, fresh_store, fresh_url, judge_all

TOY = '''
"""A later version, that makes a table anew."""
import sqlalchemy as sa
from alembic import op
revision, down_revision = "toy", "{before}"
def upgrade() -> None:
    with op.batch_alter_table("label_event", recreate="always") as batch:
        batch.add_column(sa.Column("device", sa.Text(), nullable=True))
    {more}
'''


@pytest.fixture(params=BACKENDS)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    with fresh_url(request.param, tmp_path) as made:
        yield made


def engine_of(store: Store) -> sa.Engine:
    return store._writer


def test_the_migrations_make_what_the_schema_declares(url: str) -> None:
    store = open_store(url)
    with engine_of(store).connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, schema.metadata) == []
        inspector = sa.inspect(connection)
        for table in schema.metadata.sorted_tables:
            declared = {str(c.name) for c in table.constraints if isinstance(c, sa.CheckConstraint)}
            assert {c["name"] for c in inspector.get_check_constraints(table.name)} == declared
    store.close()


def later(folder: Path, more: str = "pass") -> Path:
    """Our migrations with one more behind."""
    shutil.copytree(migrate.FOLDER, folder)
    (folder / "versions" / "v9999_toy.py").write_text(TOY.format(before=migrate.newest(), more=more))
    return folder


def test_a_table_made_anew_keeps_its_data_and_its_triggers(url: str, tmp_path: Path) -> None:
    store = open_store(url)
    judge_all(store, begin(store), "ann")
    before = labels_frame(store)
    migrate.upgrade(engine_of(store), folder=later(tmp_path / "m"))
    assert (
        store.read(lambda c: c.execute(sa.text("SELECT count(*) FROM label_event WHERE device IS NULL")).scalar()) == 12
    )
    assert labels_frame(store).equals(before)
    for table in schema.APPEND_ONLY:
        with pytest.raises(sa.exc.DBAPIError, match="append-only"):
            store.write(lambda c, t=table: c.exec_driver_sql(f"DELETE FROM {t}"))  # type: ignore[misc]
    store.close()
    with pytest.raises(ProjectError, match=r"schema version toy, newer than this program knows .* nothing was touched"):
        open_store(url)


def test_a_failing_upgrade_leaves_everything_as_it_was(url: str, tmp_path: Path) -> None:
    store = open_store(url)
    judge_all(store, begin(store), "ann")
    with pytest.raises(RuntimeError, match="half way"):
        migrate.upgrade(engine_of(store), folder=later(tmp_path / "m", 'raise RuntimeError("half way")'))
    store.close()
    again = open_store(url)
    assert len(labels_frame(again)) == 12
    again.close()


@pytest.mark.parametrize("version", migrate.versions())
def test_from_every_version_with_data(url: str, version: str, tmp_path: Path) -> None:
    """There is one version so far; a later one brings a backup of this one into the tests, and it is restored here."""
    assert version == "0001"
    with fresh_store("sqlite", tmp_path / "source") as source:
        judge_all(source, begin(source), "ann")
        expected = labels_frame(source)
        back_up(source, tmp_path / "rows.zip")
    restore(tmp_path / "rows.zip", url)
    store = open_store(url)
    assert labels_frame(store).equals(expected)
    store.close()


def test_an_older_schema_says_how_to_upgrade_and_the_upgrade_makes_a_backup(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store(url)
    judge_all(store, begin(store), "ann")
    before = labels_frame(store)
    store.close()
    folder, original = later(tmp_path / "m"), migrate._scripts
    monkeypatch.setattr(migrate, "_scripts", lambda _: original(folder))
    with pytest.raises(ProjectError, match=r"this program needs toy. Run eds labels upgrade; it makes a backup first"):
        open_store(url)
    assert upgrade_store(url, tmp_path / "before.zip") == "0001"
    assert check_backup(tmp_path / "before.zip").schema == "0001"
    store = open_store(url)
    assert labels_frame(store).equals(before)
    store.close()
    restore(tmp_path / "before.zip", tmp_path / "restored.db")  # an older backup comes up to date by itself
    restored = open_store(tmp_path / "restored.db")
    assert labels_frame(restored).equals(before)
    restored.close()


def test_missing_triggers_are_seen_at_the_opening(url: str) -> None:
    store = open_store(url)
    drop = "DROP TRIGGER label_event_no_update" + ("" if store.sqlite else " ON label_event")
    store.write(lambda connection: connection.exec_driver_sql(drop))
    store.close()
    with pytest.raises(ProjectError, match=r"guards .* are missing: label_event_no_update"):
        open_store(url)


OPENER = "import sys; from eds.labels.store import open_store; open_store(sys.argv[1]).close(); print('open')"


def test_many_programs_make_the_same_store_at_once(url: str) -> None:
    address = engines.parse(url).render_as_string(hide_password=False)
    started = [subprocess.Popen([sys.executable, "-c", OPENER, address], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True) for _ in range(4)]  # fmt: skip
    told = [process.communicate(timeout=60) for process in started]
    assert [out for out, _ in told] == ["open\n"] * 4, told
    store = open_store(url, create=False)
    assert begin(store) == "first"
    store.close()


def test_strange_addresses_are_refused_and_no_password_is_shown() -> None:
    for address in ("", "sqlite://", "mysql://u:secret@h/d", "nonsense"):
        with pytest.raises(Exception, match=r"labels\.url") as told:
            open_store(address)
        assert "secret" not in str(told.value)
    with pytest.raises(ProjectError, match="cannot be reached") as told:
        open_store("postgresql://u:secret@127.0.0.1:1/d", patience=0.2)
    assert "secret" not in str(told.value)
