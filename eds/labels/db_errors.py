"""Errors of database drivers as errors of eds, and which of them are temporary.

Both databases fail in their own words. Here their words become one sentence with what to do, and
`passing` says whether the same action may simply be tried again. No message contains a password.
"""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import sqlalchemy as sa
from sqlalchemy import exc

from eds.errors import EdsError, LockedError, ProjectError

# PostgreSQL's states: the server stops, starts or is full of connections; deadlock and serialisation.
PASSING = {"57P01", "57P02", "57P03", "57P05", "53300"}
UNDONE = {"40001", "40P01"}
FULL = {"53100", "53200"}
REFUSED = ("not a database", "malformed", "disk image", "Could not decode")
# What a PostgreSQL server that was reached says of a connection it does not take; libpq passes on no state of it.
TURNED_AWAY = re.compile(
    r"password authentication failed|no password supplied|no pg_hba.conf entry|Peer authentication failed"
    r'|(?:role|database) ".*" does not exist|permission denied for database|certificate'
)


@contextmanager
def translated_errors(place: str) -> Iterator[None]:
    """Turn a driver's complaint inside the block into an error that says what to do."""
    try:
        yield
    except exc.DBAPIError as error:
        raise _translated(error, place) from error
    except UnicodeDecodeError as error:  # SQLite's driver, on a text or on a message that holds a damaged name
        raise corrupt(place, str(error)) from error
    except exc.NoSuchTableError as error:  # a name that was read a moment before
        raise corrupt(place, f"table {str(error)!r} cannot be found") from error
    except exc.TimeoutError as error:
        raise LockedError(
            "no connection became free in time", where=place, hint="Fewer writers at once, or try again."
        ) from error


@contextmanager
def driver_errors(dialect: sa.Dialect, raw: Any, statement: str) -> Iterator[None]:
    """Raise what a driver complains of when it is used directly, inside the block, as SQLAlchemy's own error."""
    errors: Any = dialect.loaded_dbapi
    try:
        yield
    except errors.Error as error:
        lost = dialect.is_disconnect(error, raw, None)
        raise exc.DBAPIError.instance(
            statement, None, error, errors.Error, connection_invalidated=lost, dialect=dialect
        ) from error


def passing(error: exc.DBAPIError) -> bool:
    """Whether the complaint is of a moment: a lost connection, a server starting, a deadlock."""
    state = state_of(error)
    lost = error.connection_invalidated or state in PASSING or state.startswith("08")
    unreachable = isinstance(error, exc.OperationalError) and not state and not _is_sqlite(error)
    return (lost or unreachable) and not _turned_away(error)


def undone(error: exc.DBAPIError) -> bool:
    """Whether the database says for certain that nothing of the transaction took place, and to try again."""
    return state_of(error) in UNDONE


def state_of(error: exc.DBAPIError) -> str:
    """PostgreSQL's five-letter state of the error, or nothing."""
    return str(getattr(error.orig, "sqlstate", None) or "")


def corrupt(place: str, reason: str) -> EdsError:
    """Return the error for a damaged database file, which is left as it is."""
    return ProjectError(
        f"the label database is damaged or is none ({reason}); it was left as it is",
        where=place,
        hint="Keep the file, and bring a backup back beside it: eds labels restore BACKUP --replace.",
    )


def _turned_away(error: exc.DBAPIError) -> bool:
    """Whether a server that was reached refused the connection, as it will the next time."""
    return not _is_sqlite(error) and not state_of(error) and TURNED_AWAY.search(str(error.orig)) is not None


def _is_sqlite(error: exc.DBAPIError) -> bool:
    return isinstance(error.orig, sqlite3.Error)


def _translated(error: exc.DBAPIError, place: str) -> Exception:
    text = str(error.orig).splitlines()[0] if str(error.orig) else type(error.orig).__name__
    if _is_sqlite(error):
        if any(words in text for words in REFUSED):
            return corrupt(place, text)
        if "locked" in text or "busy" in text:
            return LockedError("another program holds the label database", where=place, hint="Close it, or try again.")
        if "full" in text or "disk I/O" in text:
            return _full(place, text)
        if "readonly" in text or "unable to open" in text:
            return ProjectError(
                f"the label database cannot be used ({text})", where=place, hint="Check its permissions."
            )
    if state_of(error) in FULL:
        return _full(place, text)
    if passing(error):
        return ProjectError(
            f"the database cannot be reached ({_reason(text)})",
            where=place,
            hint="See that the server runs, then try again; what was acknowledged is kept.",
        )
    if _turned_away(error):
        return ProjectError(
            f"the database server refuses the connection ({_reason(text)})",
            where=place,
            hint="Correct the user, the database or the password: labels.url, or PGPASSWORD or PGPASSFILE beside it.",
        )
    if isinstance(error, (exc.IntegrityError, exc.DataError)) or state_of(error) == "P0001":
        return error
    return ProjectError(f"the database refused ({text})", where=place, hint="See the server's own log.")


def _reason(text: str) -> str:
    """The end of a driver's sentence about a connection, which says what was the matter."""
    return text.rpartition("failed: ")[2].removeprefix("FATAL:").strip()


def _full(place: str, text: str) -> EdsError:
    return ProjectError(
        f"no space is left for the label database ({text}); nothing of this act was stored",
        where=place,
        hint="Free space, then try again; what was acknowledged before is kept.",
    )


def shown(url: sa.URL) -> str:
    """The address without its password; of its options only where the server is, since any may be a secret."""
    server = {name: url.query[name] for name in ("host", "port") if name in url.query}
    text = url.set(drivername=url.get_backend_name(), query={}).render_as_string(hide_password=True)
    return " ".join([text, *(f"{name}={value}" for name, value in server.items())])
