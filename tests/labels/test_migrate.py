"""Schemas: made, upgraded with data from every version, refused when newer; the triggers survive each of it."""

import io
import shutil
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from psycopg import sql

from eds.errors import ConfigError, ProjectError
from eds.labels import bulk, database, migrate, schema
from eds.labels.adjudication import adjudications
from eds.labels.backup import back_up, check_backup, restore, upgrade_store
from eds.labels.frames import labels_frame
from eds.labels.store import PATIENCE, Store, open_store
from tests import postgres
from tests.labels.stores import BACKENDS, begin, fresh_url, judge_all

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
            store.write(lambda c, t=table: _touch(c, t))  # type: ignore[misc]
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


@pytest.mark.parametrize("version", migrate.versions()[:-1])
def test_from_every_version_with_data(url: str, version: str, tmp_path: Path) -> None:
    """A backup that each version made of itself is kept beside this file: restored, it is as if today's had made it."""
    old = Path(__file__).with_name(f"v{version}.zip")
    assert check_backup(old).schema == version
    restore(old, url)
    store = open_store(url)
    before = {name: rows for name, (rows, _) in contents(old).items()}
    back_up(store, tmp_path / "again.zip")
    assert check_backup(tmp_path / "again.zip").schema == migrate.newest()
    after = contents(tmp_path / "again.zip")
    for name, rows in before.items():
        assert after[name][0].select(rows.column_names).equals(rows), name
    assert len(labels_frame(store)) + len(adjudications(store)) == check_backup(old).labels > 0
    for table in schema.APPEND_ONLY:
        with pytest.raises(sa.exc.DBAPIError, match="append-only"):
            store.write(lambda c, t=table: _touch(c, t))  # type: ignore[misc]
    judge_all(store, "g", "ann")  # life goes on
    store.close()


def test_an_upgrade_in_place_keeps_the_data_and_guards_what_is_new(url: str, tmp_path: Path) -> None:
    """Version 0001 with rows in it, as a program of its time left it: the tables of today come by themselves."""
    address = database.parse(url)
    sqlite = address.get_backend_name() == "sqlite"
    file = Path(address.database or "")
    if sqlite:
        migrate.create_file(file, "0001")
        engine = database.sqlite_engine(file, begin="BEGIN IMMEDIATE", size=1)
    else:
        engine = database.postgresql_engine(address)
        migrate.upgrade(engine, "0001")
    with engine.begin() as connection:
        assert "guideline" not in sa.inspect(connection).get_table_names()
        seen = sa.MetaData()
        seen.reflect(connection)
        rows = contents(Path(__file__).with_name("v0001.zip"))
        for table in seen.sorted_tables:
            if table.name in rows:
                bulk.insert(connection, table, rows[table.name][0])
    engine.dispose()
    with pytest.raises(ProjectError, match=f"schema version 0001, this program needs {migrate.newest()}"):
        open_store(url)
    assert upgrade_store(url, tmp_path / "before.zip") == "0001"
    assert contents(tmp_path / "before.zip")["label_event"][0].equals(rows["label_event"][0])
    store = open_store(url)
    assert len(labels_frame(store)) == len(rows["label_event"][0])
    store.close()


def contents(path: Path) -> dict[str, tuple[pa.Table, int]]:
    """The tables of a backup, and the size of each file."""
    with zipfile.ZipFile(path) as archive:
        files = {name: archive.read(name) for name in archive.namelist() if name.endswith(".parquet")}
    return {name.removesuffix(".parquet"): (pq.read_table(io.BytesIO(file)), len(file)) for name, file in files.items()}


def _touch(connection: sa.Connection, table: str) -> None:
    """Put a row in where there is none, past all references, and try to change it."""
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql("PRAGMA defer_foreign_keys=ON")
    else:
        connection.exec_driver_sql("SET LOCAL session_replication_role = replica")
    found = schema.metadata.tables[table]
    if connection.execute(sa.select(sa.func.count()).select_from(found)).scalar_one() == 0:
        texts = {c.name: "border" if c.name == "kind" else "x" for c in found.c if isinstance(c.type, sa.Text)}
        values = {c.name: 1 for c in found.c if c.name not in texts}
        connection.execute(sa.insert(found).values({**values, **texts}))
    if connection.dialect.name != "sqlite":
        connection.exec_driver_sql("SET LOCAL session_replication_role = origin")
    connection.exec_driver_sql(f"DELETE FROM {table}")


def test_an_older_schema_says_how_to_upgrade_and_the_upgrade_makes_a_backup(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store(url)
    judge_all(store, begin(store), "ann")
    before = labels_frame(store)
    store.close()
    folder, original = later(tmp_path / "m"), migrate._scripts
    monkeypatch.setattr(migrate, "_scripts", lambda _: original(folder))
    with pytest.raises(ProjectError, match=r"this program needs toy. Type: eds labels upgrade"):
        open_store(url)
    assert upgrade_store(url, tmp_path / "before.zip") == migrate.versions()[-2]
    assert check_backup(tmp_path / "before.zip").schema == migrate.versions()[-2]
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
    address = database.parse(url).render_as_string(hide_password=False)
    started = [
        subprocess.Popen(
            [sys.executable, "-c", OPENER, address], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for _ in range(4)
    ]
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
    for password in ("sec@ret", "s@ec/ret", "ret@1/sec"):
        with pytest.raises(ConfigError, match="PGPASSWORD") as refused:
            open_store(f"postgresql://u:{password}@127.0.0.1:1/d")
        assert "sec" not in str(refused.value).partition("PGPASSWORD")[0].replace("means", "")
        assert "ret" not in str(refused.value)


def test_a_server_that_turns_one_away_is_not_called_unreachable(monkeypatch: pytest.MonkeyPatch) -> None:
    """At once, not after PATIENCE; a password of any characters goes beside the address."""
    password = """p@ss/w:o\\r'd "x" #1%20 ü&?"""
    server = postgres.Server(durable=False)
    try:
        rules = server.data / "pg_hba.conf"
        rules.write_text("local all guest scram-sha-256\n" + rules.read_text())
        with psycopg.connect(server.url, autocommit=True) as connection:
            connection.execute(sql.SQL("CREATE ROLE guest LOGIN PASSWORD {}").format(password))
            connection.execute("CREATE DATABASE labels OWNER guest TEMPLATE template0 ENCODING 'UTF8'")
            connection.execute("SELECT pg_reload_conf()")
        at = f"@/labels?host={server.folder}"
        begun = time.monotonic()
        for address, reason in (
            (f"postgresql://guest:wrong{at}", "password authentication failed"),
            (f"postgresql://guest{at}", "no password supplied"),
            (f"postgresql://nobody{at}", "does not exist"),
            (server.url.replace("/postgres?", "/nowhere?"), "does not exist"),
        ):
            with pytest.raises(ProjectError, match=f"refuses the connection .*{reason}") as told:
                open_store(address)
            assert "wrong" not in str(told.value)
        assert time.monotonic() - begun < PATIENCE
        monkeypatch.setenv("PGPASSWORD", password)
        store = open_store(f"postgresql://guest{at}")
        assert begin(store) == "first"
        store.close()
    finally:
        server.remove()
