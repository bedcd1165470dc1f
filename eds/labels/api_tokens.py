"""Tokens of the API: a program that has one acts as the account that made it, with that account's rights.

Like a session's token it is random, shown once, and kept as a digest only. It ends after its days, when it is revoked,
with "sign out everywhere", and with a new invitation; a disabled account's tokens do not count.
"""

import secrets

import pandas as pd
import sqlalchemy as sa

from eds.errors import InputError
from eds.labels import audit
from eds.labels.bulk import frame
from eds.labels.experts import digest, known
from eds.labels.schema import api_token, expert
from eds.labels.sessions import SECOND, Session
from eds.labels.store import Store
from eds.labels.validation import check_name

PREFIX = "eds_"  # so that scanners of repositories recognise a token
DAYS, MOST_DAYS = 90.0, 366.0
MOST = 20  # of one account
PROGRAM = "program"  # the way of the session that a token stands for


def make_token(store: Store, name: str, label: str, *, days: float = DAYS) -> str:
    """Make a token of this account; it cannot be shown again."""
    check_name(label, "label")
    if not 0 < days <= MOST_DAYS:
        raise InputError(f"days is {days}", where="token", hint=f"Give more than 0 and at most {MOST_DAYS:.0f}.")
    token = PREFIX + secrets.token_urlsafe(32)

    def act(connection: sa.Connection) -> None:
        now, number = store.now(), known(connection, name)
        of = sa.select(sa.func.count()).where(api_token.c.expert == number, _valid(now))
        if connection.execute(of).scalar_one() >= MOST:
            raise InputError(f"{name} has {MOST} tokens", where="token", hint="Revoke one first.")
        ends = now + round(days * 86400 * SECOND)
        row = {"expert": number, "label": label, "token_hash": digest(token), "created_at": now, "expires_at": ends}
        connection.execute(sa.insert(api_token).values(row))
        audit.note(connection, now, name, "make token", name, label=label)

    store.write(act)
    return token


def tokens_of(store: Store, name: str) -> pd.DataFrame:
    """Return the valid tokens of an account, oldest first: number, label, created_at, expires_at."""
    columns = (api_token.c.id.label("number"), api_token.c.label, api_token.c.created_at, api_token.c.expires_at)
    query = sa.select(*columns).join(expert, expert.c.id == api_token.c.expert)
    query = query.where(expert.c.name == name, _valid(store.now())).order_by(api_token.c.id)
    return store.read(lambda connection: frame(connection, query, "created_at", "expires_at"))


def revoke_token(store: Store, name: str, number: int) -> None:
    """End one of this account's tokens; another's, or one that has ended, is an InputError."""

    def act(connection: sa.Connection) -> None:
        now, owner = store.now(), known(connection, name)
        which = sa.update(api_token).where(api_token.c.id == number, api_token.c.expert == owner, _valid(now))
        if connection.execute(which.values(revoked_at=now)).rowcount != 1:
            raise InputError(f"{name} has no token {number}", where="token", hint="See eds labels tokens list.")
        audit.note(connection, now, name, "revoke token", name)

    store.write(act)


def account_of(store: Store, token: str) -> Session | None:
    """Return the account that a token stands for, as a session; None if it does not count."""
    now = store.now()
    query = sa.select(expert.c.name, expert.c.role, api_token.c.created_at, api_token.c.expires_at, expert.c.language)
    query = query.join(expert, expert.c.id == api_token.c.expert)
    query = query.where(api_token.c.token_hash == digest(token), _valid(now), expert.c.disabled_at.is_(None))
    row = store.read(lambda connection: connection.execute(query).first())
    if row is None:
        return None
    return Session(0, row.name, row.role, row.created_at, row.expires_at, way=PROGRAM, language=row.language)


def _valid(now: int) -> sa.ColumnElement[bool]:
    return sa.and_(api_token.c.revoked_at.is_(None), api_token.c.expires_at > now)
