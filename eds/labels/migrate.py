"""Bring a store's schema to the version this program knows, and refuse one that it does not know.

Alembic's batch mode on SQLite recreates a table and silently drops its triggers: so the triggers are
made again after every upgrade and looked for at every opening. Two programs that upgrade at once wait
for each other: SQLite's BEGIN IMMEDIATE, an advisory lock on PostgreSQL.
"""

import os
from pathlib import Path

import sqlalchemy as sa
from alembic.config import Config
from alembic.runtime.environment import EnvironmentContext
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory

from eds.errors import InputError, ProjectError
from eds.labels import database, schema
from eds.labels.db_errors import corrupt, translated_errors
from eds.labels.triggers import triggers

FOLDER = Path(__file__).with_name("migrations")
ADVISORY_LOCK = 0x65647331  # any number of our own


def newest(folder: Path = FOLDER) -> str:
    """The schema version this program knows."""
    return str(_scripts(folder).get_current_head())


def versions(folder: Path = FOLDER) -> list[str]:
    """Every schema version there has been, oldest first."""
    return [script.revision for script in _scripts(folder).walk_revisions()][::-1]


def revision(connection: sa.Connection) -> str | None:
    """Return the schema version of the database, None if there is no store."""
    return MigrationContext.configure(connection).get_current_revision()


def check(reader: sa.Engine, writer: sa.Engine, place: str, *, create: bool) -> None:
    """Return if the store can be used as it is; else say what it is and what to do. May make a new one."""
    with reader.connect() as connection:
        result = revision(connection)
        if result is None and create:
            connection.close()
            upgrade(writer)
            return
        if result is None:
            if connection.dialect.name == "sqlite":
                raise corrupt(place, "it is a database, but holds no labels")
            raise ProjectError(
                "there are no labels in this database yet", where=place, hint="Begin with eds labels experts add."
            )
        verify_version(result, place)
        missing = sorted(set(triggers(connection.dialect.name)) - _present(connection))
    if missing:
        raise ProjectError(
            f"the guards that keep labels for ever are missing: {', '.join(missing)}",
            where=place,
            hint="Somebody dropped them. Make a backup, then eds labels upgrade puts them back.",
        )


def verify_version(found: str, place: str) -> None:
    """Refuse a version that is not the newest, and say which way out there is."""
    if found == newest():
        return
    if found in versions():
        project, _, file = place.rpartition("/")
        where = f" --project {project}" if file == "labels.db" and project else ""
        raise ProjectError(
            f"the labels have schema version {found}, this program needs {newest()}",
            where=place,
            hint=f"Type: eds labels upgrade{where} (it makes a backup first).",
        )
    raise ProjectError(
        f"the labels have schema version {found}, newer than this program knows ({newest()}); nothing was touched",
        where=place,
        hint="Upgrade eds, then try again.",
    )


def upgrade(engine: sa.Engine, target: str = "head", folder: Path = FOLDER) -> None:
    """Bring the schema to a version, with all data, in one transaction; a failure leaves everything as it was."""
    sqlite = engine.dialect.name == "sqlite"
    with engine.connect() as connection:
        if sqlite:
            # A recreated table is dropped first: with foreign keys on, that would delete what points to it.
            raw = connection.connection.dbapi_connection
            if raw is None:
                raise ProjectError("the connection to the label database was lost")
            raw.execute("PRAGMA foreign_keys=OFF")
        try:
            with connection.begin():
                if not sqlite:
                    connection.execute(sa.select(sa.func.pg_advisory_xact_lock(ADVISORY_LOCK)))
                    _expect_utf8(connection)
                _run(connection, target, folder)
                install_triggers(connection)
                if sqlite and connection.exec_driver_sql("PRAGMA foreign_key_check").first():
                    raise ProjectError("the upgrade would break references between tables; nothing was changed")
        finally:
            connection.invalidate()  # its settings are not those of the others


def install_triggers(connection: sa.Connection) -> None:
    """Recreate every trigger; an older version lacks some of today's tables."""
    tables = sa.inspect(connection).get_table_names()
    for statements in triggers(connection.dialect.name, tables).values():
        for statement in statements:
            connection.exec_driver_sql(statement)


def create_file(path: Path, target: str = "head") -> None:
    """Make an empty SQLite store at `path`: complete or not at all; if another program was first, its stays."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.unlink(missing_ok=True)
        temporary.touch(mode=0o600)
        engine = database.sqlite_engine(temporary, begin="BEGIN IMMEDIATE", size=1)
        with translated_errors(str(path)):
            upgrade(engine, target)
        engine.dispose()
        place(temporary, path)
    except OSError as error:
        raise InputError(
            f"cannot be made ({error.strerror})", where=str(path), hint="Choose another folder."
        ) from error
    finally:
        for leftover in ("", "-wal", "-shm"):
            temporary.with_name(temporary.name + leftover).unlink(missing_ok=True)


def place(temporary: Path, path: Path) -> bool:
    """Give a finished file its name, durably; False if the name is taken."""
    with temporary.open("rb") as stream:
        os.fsync(stream.fileno())
    try:
        os.link(temporary, path)
    except FileExistsError:
        return False
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
    return True


def _run(connection: sa.Connection, target: str, folder: Path) -> None:
    scripts = _scripts(folder)
    context = EnvironmentContext(
        Config(), scripts, fn=lambda result, _: scripts._upgrade_revs(target, result), destination_rev=target
    )
    with context:
        context.configure(connection=connection, target_metadata=schema.metadata, transactional_ddl=False)
        context.run_migrations()


def _scripts(folder: Path) -> ScriptDirectory:
    return ScriptDirectory(str(folder))


def _present(connection: sa.Connection) -> set[str]:
    if connection.dialect.name == "sqlite":
        query = "SELECT name FROM sqlite_master WHERE type = 'trigger'"
    else:
        query = (
            "SELECT t.tgname FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid "
            "WHERE NOT t.tgisinternal AND t.tgenabled <> 'D' AND pg_table_is_visible(c.oid)"
        )
    return set(connection.exec_driver_sql(query).scalars())


def _expect_utf8(connection: sa.Connection) -> None:
    if (result := connection.exec_driver_sql("SHOW server_encoding").scalar_one()) != "UTF8":
        raise ProjectError(f"the database is encoded in {result}", hint="Recreate it with ENCODING 'UTF8'.")
