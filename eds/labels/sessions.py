"""Signing in and staying signed in: sessions live on the server, the browser holds only a random token.

Guessing is slowed per (name, address), never per name alone (a stranger could lock an expert out): after
a few failures each further one doubles the wait. A failure is noted before the password is looked at, so
many guesses at once do not slip through. An unknown name costs the same time and gives the same answer
as a wrong password. Nothing here is logged; the audit knows sign-outs everywhere, not tokens.
"""

import hashlib
import secrets
import threading
from dataclasses import dataclass
from functools import cache
from typing import Any

import argon2
import sqlalchemy as sa

from eds.errors import EdsError
from eds.labels import audit
from eds.labels.experts import digest, end_sessions, hasher, known
from eds.labels.permissions import check_account
from eds.labels.schema import attempt, expert, session
from eds.labels.store import Store

SECOND = 1_000_000
IDLE = 12 * 3600 * SECOND  # an unused session ends after that
LIFE = 14 * 86400 * SECOND  # and after this one signs in again anyhow
GRACE = 60 * SECOND  # requests under way may still come with the token of before a rotation
FREE = 3  # failures that cost no wait
LONGEST_WAIT = 900 * SECOND
FORGOTTEN = 86400 * SECOND  # failures older than this count no more
_FIRST = sa.text(  # the same words in both databases
    "INSERT INTO attempt (who, failures, not_before) VALUES (:who, 0, :now) ON CONFLICT (who) DO NOTHING"
)
_OPEN = (  # built once: it is asked before every request, and building it takes longer than its answer
    sa.select(
        session.c.id,
        expert.c.name,
        expert.c.role,
        session.c.created_at,
        session.c.expires_at,
        session.c.seen_at,
        session.c.rotated_at,
    )
    .join(expert, expert.c.id == session.c.expert)
    .where(
        session.c.ended_at.is_(None),
        session.c.expires_at > sa.bindparam("now"),
        session.c.seen_at > sa.bindparam("unused"),
        expert.c.disabled_at.is_(None),
    )
)
_BY_NUMBER = _OPEN.where(session.c.id == sa.bindparam("number"))
_BY_TOKEN = _OPEN.where(
    sa.or_(
        session.c.token_hash == sa.bindparam("hashed"),
        sa.and_(session.c.former_hash == sa.bindparam("hashed"), session.c.rotated_at > sa.bindparam("rotated")),
    )
)
_AT_ONCE = threading.BoundedSemaphore(4)  # a hash takes 64 MiB: so many at a time


class SignInError(EdsError):
    """Signing in was refused; `wait` says for how many seconds another try would be refused too."""

    def __init__(self, what: str, *, hint: str = "", wait: float = 0.0) -> None:
        super().__init__(what, hint=hint)
        self.wait = wait


@dataclass(frozen=True)
class Session:
    """Who a request comes from."""

    number: int
    expert: str
    role: str
    created_at: int
    expires_at: int
    rotated_at: int = 0


def sign_in(store: Store, name: str, password: str, address: str = "") -> str:
    """A new session's token for a right name and password; SignInError otherwise."""
    who = hashlib.sha256(f"{name}\0{address}".encode(errors="surrogatepass")).hexdigest()
    wait = store.write(lambda connection: _count_failure(connection, who, store.now()))
    if wait:
        raise SignInError("too many tries", hint=f"Wait {-(-wait // SECOND)} s, then try again.", wait=wait / SECOND)
    result = store.read(lambda connection: _account(connection, name))
    nobody = _nobody()
    usable = result is not None and result.disabled_at is None and result.password is not None
    hashed = str(result.password) if result is not None and usable else nobody
    if not _matches(hashed, password) or result is None or not usable:
        raise SignInError("the name or the password is wrong", hint="Try again, or ask your lead for a new link.")
    token = secrets.token_urlsafe(32)
    renewed = hasher().hash(_bytes(password)) if hasher().check_needs_rehash(hashed) else hashed

    def act(connection: sa.Connection) -> None:
        now = store.now()
        # Disabled or given another password in the meantime: the update then finds no row.
        same = connection.execute(
            sa.update(expert)
            .where(expert.c.id == result.id, expert.c.disabled_at.is_(None), expert.c.password == hashed)
            .values(password=renewed)
        )
        if same.rowcount != 1:
            raise SignInError("the name or the password is wrong", hint="Try again.")
        connection.execute(sa.delete(attempt).where(attempt.c.who == who))
        _begin(connection, result.id, token, now)

    store.write(act)
    return token


def _begin(connection: sa.Connection, account: int, token: str, now: int) -> None:
    """Keep a new session of this account; of its token only the digest."""
    times = {"created_at": now, "rotated_at": now, "seen_at": now, "expires_at": now + LIFE}
    connection.execute(sa.insert(session).values(expert=account, token_hash=digest(token), **times))


def sign_in_vouched(store: Store, name: str, *, by: str) -> str:
    """Return the token of a new session for an account that `by` (recorded in the audit log) vouches for."""
    token = secrets.token_urlsafe(32)

    def act(connection: sa.Connection) -> None:
        now, result = store.now(), _account(connection, name)
        if result is None or result.disabled_at is not None:
            raise SignInError("this identity has no account here", hint="Ask your lead to make one.")
        _begin(connection, result.id, token, now)
        audit.note(connection, now, name, "sign in", name, by=by)

    store.write(act)
    return token


def session_of(store: Store, token: str) -> Session | None:
    """Whose session the token opens; None if it is unknown, too old, ended, or its expert disabled."""
    return _open_session(store, _BY_TOKEN, hashed=digest(token))


def session_numbered(store: Store, number: int) -> Session | None:
    """The session of this number, if it is still open: for a connection that was let in by its token and stays."""
    return _open_session(store, _BY_NUMBER, number=number)


def _open_session(store: Store, query: "sa.Select[Any]", **which: str | int) -> Session | None:
    now = store.now()
    requested = {"now": now, "unused": now - IDLE, "rotated": now - GRACE, **which}
    result = store.read(lambda connection: connection.execute(query, requested).first())
    if result is None:
        return None
    if result.seen_at < now - GRACE:
        seen = sa.update(session).where(session.c.id == result.id, session.c.seen_at < now).values(seen_at=now)
        store.write(lambda connection: connection.execute(seen), again=True)
    return Session(result.id, result.name, result.role, result.created_at, result.expires_at, result.rotated_at)


def rotate(store: Store, token: str) -> str | None:
    """Another token for the same session; the old one ends after a minute. None if it opens nothing."""
    result, fresh, now = session_of(store, token), secrets.token_urlsafe(32), store.now()
    if result is None:
        return None
    change = (
        sa.update(session)
        .where(session.c.id == result.number, session.c.token_hash == digest(token), session.c.ended_at.is_(None))
        .values(token_hash=digest(fresh), former_hash=digest(token), rotated_at=now)
    )
    changed = store.write(lambda connection: connection.execute(change).rowcount)
    return fresh if changed else None


def sign_out(store: Store, token: str) -> None:
    """End this session; an unknown token is ignored."""
    hashed = digest(token)
    end = (
        sa.update(session)
        .where(sa.or_(session.c.token_hash == hashed, session.c.former_hash == hashed), session.c.ended_at.is_(None))
        .values(ended_at=store.now())
    )
    store.write(lambda connection: connection.execute(end), again=True)


def sign_out_everywhere(store: Store, name: str, *, by: str) -> int:
    """End every session of an expert, on their own behalf or by an administrator; return how many there were."""

    def act(connection: sa.Connection) -> int:
        if by != name:
            check_account(connection, store, by, "disable", name)
        ended = end_sessions(connection, known(connection, name), store.now())
        audit.note(connection, store.now(), by, "sign out everywhere", name, sessions=ended)
        return ended

    return store.write(act)


def _count_failure(connection: sa.Connection, who: str, now: int) -> int:
    """Note a failure in advance (a success deletes it); or the microseconds still to wait, noting nothing."""
    connection.execute(sa.delete(attempt).where(attempt.c.not_before < now - FORGOTTEN))
    connection.execute(_FIRST, {"who": who, "now": now})
    row = connection.execute(sa.select(attempt).where(attempt.c.who == who).with_for_update()).one()
    if now < row.not_before <= now + LONGEST_WAIT:  # a wait beyond the longest: the clock went back, so it is void
        return int(row.not_before - now)
    failures = row.failures + 1
    wait = min(SECOND * 2 ** min(failures - FREE - 1, 20), LONGEST_WAIT) if failures > FREE else 0
    connection.execute(sa.update(attempt).where(attempt.c.who == who).values(failures=failures, not_before=now + wait))
    return 0


def _account(connection: sa.Connection, name: str) -> Any:
    if "\0" in name or any("\ud800" <= sign <= "\udfff" for sign in name):
        name = ""  # no such name can exist; the databases would complain
    return connection.execute(
        sa.select(expert.c.id, expert.c.password, expert.c.disabled_at).where(expert.c.name == name)
    ).first()


@cache
def _nobody() -> str:
    """Return a hash without a known password, so that unknown names take as long as known ones."""
    return hasher().hash(secrets.token_bytes(32))


def _matches(hashed: str, password: str) -> bool:
    with _AT_ONCE:
        try:
            return hasher().verify(hashed, _bytes(password))
        except argon2.exceptions.VerifyMismatchError:
            return False


def _bytes(password: str) -> bytes:
    """What is hashed; of an absurdly long password only the beginning, which cannot match any (they are shorter)."""
    return password[:2000].encode(errors="surrogatepass")
