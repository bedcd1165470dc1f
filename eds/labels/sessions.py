"""Signing in and staying signed in: sessions live on the server, the browser holds only a random token.

How guessing is slowed is in guessing.py. An unknown name costs the same time and gives the same answer as a wrong
password. Nothing here is logged; the audit knows sign-outs everywhere, not tokens. When a session was last used is
kept in memory and written from time to time (`write_last_seen`): a question who somebody is never waits for a writer.
"""

import math
import secrets
from dataclasses import dataclass
from functools import cache
from typing import Any

import argon2
import sqlalchemy as sa

from eds.errors import EdsError
from eds.labels import audit, guessing
from eds.labels.experts import digest, end_sessions, hasher, known, use_invitation
from eds.labels.guessing import Origin
from eds.labels.password_hashing import RETRY, HashingBusyError, at_low_priority
from eds.labels.permissions import check_account
from eds.labels.schema import expert, session
from eds.labels.store import Store

SECOND = 1_000_000
IDLE = 12 * 3600 * SECOND  # an unused session ends after that
LIFE = 14 * 86400 * SECOND  # and after this one signs in again anyhow
GRACE = 60 * SECOND  # requests under way may still come with the token of before a rotation
MOST_VOUCHED = 50
INVITED = "invitation"  # the way of a session that an invitation opened
KEPT = 30 * 86400 * SECOND  # rows of sessions that have ended
_OPEN = (  # built once: it is asked before every request, and building it takes longer than its answer
    sa.select(
        session.c.id,
        expert.c.name,
        expert.c.role,
        session.c.created_at,
        session.c.expires_at,
        session.c.seen_at,
        session.c.rotated_at,
        session.c.way,
        expert.c.language,
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
_last_seen: dict[tuple[str, int], int] = {}  # by store and session: not written yet


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
    way: str = ""
    language: str = ""  # that the account has chosen; "": the browser's


def sign_in(store: Store, name: str, password: str, origin: Origin = Origin()) -> str:  # noqa: B008 - frozen
    """A new session's token for a right name and password; SignInError otherwise."""
    wait = guessing.count_failure(store, name, origin)
    if wait:
        raise SignInError("too many tries", hint=f"Wait {math.ceil(wait)} s, then try again.", wait=wait)
    result = store.read(lambda connection: _account(connection, name))
    nobody = _nobody()
    usable = result is not None and result.disabled_at is None and result.password is not None
    hashed = str(result.password) if result is not None and usable else nobody
    if not _matches(hashed, password) or result is None or not usable:
        raise SignInError("the name or the password is wrong", hint="Try again, or ask your lead for a new link.")
    token = secrets.token_urlsafe(32)
    renewed = at_low_priority(hasher().hash, _bytes(password)) if hasher().check_needs_rehash(hashed) else hashed

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
        guessing.forgive(connection, store, name, origin)
        begin_session(connection, result.id, token, now, "password")

    store.write(act)
    return token


def sign_in_invited(store: Store, invitation: str) -> tuple[str, str]:
    """Use an invitation: the account's name and the token of its new session; earlier ways to sign in end."""
    token = secrets.token_urlsafe(32)

    def act(connection: sa.Connection) -> str:
        now = store.now()
        account, name = use_invitation(connection, invitation, now)
        begin_session(connection, account, token, now, INVITED)
        return name

    return store.write(act), token


def begin_session(connection: sa.Connection, account: int, token: str, now: int, way: str) -> None:
    """Keep a new session of this account; of its token only the digest."""
    times = {"created_at": now, "rotated_at": now, "seen_at": now, "expires_at": now + LIFE}
    connection.execute(sa.insert(session).values(expert=account, token_hash=digest(token), way=way, **times))


def sign_in_vouched(store: Store, name: str, *, by: str, way: str = "vouched") -> str:
    """Return the token of a new session for an account that `by` (recorded in the audit log) vouches for.

    Programs that keep no cookie would open one with each request: of a way the newest MOST_VOUCHED stay, and the
    audit log has the first.
    """
    token = secrets.token_urlsafe(32)

    def act(connection: sa.Connection) -> None:
        now, result = store.now(), _account(connection, name)
        if result is None or result.disabled_at is not None:
            raise SignInError("this identity has no account here", hint="Ask your lead to make one.")
        of_way = sa.and_(session.c.expert == result.id, session.c.way == way)
        still_open = sa.and_(of_way, session.c.ended_at.is_(None), session.c.expires_at > now)
        query = sa.select(session.c.id).where(still_open).order_by(session.c.id.desc())
        numbers = connection.execute(query).scalars().all()
        begin_session(connection, result.id, token, now, way)
        if not numbers:
            audit.note(connection, now, name, "sign in", name, by=by)
        if len(numbers) >= MOST_VOUCHED:
            connection.execute(sa.delete(session).where(of_way, session.c.id <= numbers[MOST_VOUCHED - 1]))

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
        _last_seen[store.place, result.id] = now
    return Session(
        result.id,
        result.name,
        result.role,
        result.created_at,
        result.expires_at,
        result.rotated_at,
        result.way,
        result.language,
    )


def write_last_seen(store: Store) -> int:
    """Write when sessions were last used; how many. A server does it from time to time, and when it ends."""
    seen = {key: at for key, at in list(_last_seen.items()) if key[0] == store.place}
    if not seen:
        return 0
    at = sa.bindparam("at", type_=sa.BigInteger())
    later = sa.and_(session.c.id == sa.bindparam("number"), session.c.seen_at < at)
    change = sa.update(session).where(later).values(seen_at=at)
    rows = [{"number": key[1], "at": time} for key, time in seen.items()]
    store.write(lambda connection: connection.execute(change, rows), again=True)
    for key, time in seen.items():
        if _last_seen.get(key) == time:
            del _last_seen[key]
    return len(rows)


def forget_ended(store: Store) -> int:
    """Delete sessions that ended long ago; how many. The newest stays, so that no number is given twice."""
    old = store.now() - KEPT
    newest = sa.select(sa.func.max(session.c.id)).scalar_subquery()
    ended = sa.or_(session.c.ended_at < old, session.c.expires_at < old, session.c.seen_at < old)
    act = sa.delete(session).where(ended, session.c.id < newest)
    return store.write(lambda connection: connection.execute(act).rowcount, again=True)


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
    try:
        return at_low_priority(hasher().verify, hashed, _bytes(password))
    except argon2.exceptions.VerifyMismatchError:
        return False
    except HashingBusyError as error:
        raise SignInError(error.what, hint=error.hint, wait=RETRY) from error


def _bytes(password: str) -> bytes:
    """What is hashed; of an absurdly long password only the beginning, which cannot match any (they are shorter)."""
    return password[:2000].encode(errors="surrogatepass")
