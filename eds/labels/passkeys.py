"""Passkeys (WebAuthn): what is kept of them, and signing in with one. The signature is verified by the caller.

Only a public key is kept, so nothing here can be guessed or stolen to sign in. A passkey is bound to the address of
the server that it was made for.
"""

import secrets
from dataclasses import dataclass

import sqlalchemy as sa

from eds.errors import InputError
from eds.labels import audit
from eds.labels.experts import known
from eds.labels.schema import expert, passkey
from eds.labels.sessions import SignInError, begin_session
from eds.labels.store import Store
from eds.labels.validation import check

MOST = 20  # of one account


@dataclass(frozen=True)
class NewPasskey:
    """A passkey that a browser has just made; base64url texts."""

    credential: str
    public_key: str
    sign_count: int
    label: str  # how its owner tells it from others


@dataclass(frozen=True)
class Passkey:
    """A passkey that is kept."""

    number: int
    expert: str
    credential: str
    public_key: str
    sign_count: int
    label: str
    created_at: int  # microseconds since 1970
    used_at: int | None


_KNOWN = sa.select(
    passkey.c.id,
    expert.c.name,
    passkey.c.credential,
    passkey.c.public_key,
    passkey.c.sign_count,
    passkey.c.label,
    passkey.c.created_at,
    passkey.c.used_at,
).join(expert, expert.c.id == passkey.c.expert)


def add_passkey(store: Store, name: str, key: NewPasskey) -> None:
    """Let this account sign in with another passkey."""

    def act(connection: sa.Connection) -> None:
        number = known(connection, name)
        count = connection.execute(sa.select(sa.func.count()).where(passkey.c.expert == number)).scalar_one()
        if count >= MOST:
            raise InputError(f"there are {count} passkeys already", where="passkey", hint="Remove one first.")
        _insert(connection, number, key, store.now())
        audit.note(connection, store.now(), name, "add passkey", name, label=key.label)

    store.write(act)


def passkeys_of(store: Store, name: str) -> list[Passkey]:
    """The passkeys of an account, oldest first."""
    query = _KNOWN.where(expert.c.name == name).order_by(passkey.c.id)
    return [Passkey(*row) for row in store.read(lambda connection: connection.execute(query).all())]


def find_passkey(store: Store, credential: str) -> Passkey | None:
    """The passkey with this id, of an account that may sign in."""
    query = _KNOWN.where(passkey.c.credential == credential, expert.c.disabled_at.is_(None))
    row = store.read(lambda connection: connection.execute(query).first())
    return None if row is None else Passkey(*row)


def remove_passkey(store: Store, name: str, number: int) -> None:
    """Remove one of this account's passkeys; another's, or none, is ignored."""

    def act(connection: sa.Connection) -> None:
        account = known(connection, name)
        which = sa.delete(passkey).where(passkey.c.id == number, passkey.c.expert == account)
        if connection.execute(which).rowcount:
            audit.note(connection, store.now(), name, "remove passkey", name)

    store.write(act)


def sign_in_with(store: Store, key: Passkey, sign_count: int) -> str:
    """The token of a new session, after the passkey's signature was verified with this counter."""
    token = secrets.token_urlsafe(32)

    def act(connection: sa.Connection) -> None:
        now = store.now()
        # Removed, disabled or used at the same moment elsewhere: the update then finds no row.
        account = sa.select(expert.c.id).where(expert.c.name == key.expert, expert.c.disabled_at.is_(None))
        used = connection.execute(
            sa.update(passkey)
            .where(
                passkey.c.id == key.number,
                passkey.c.sign_count == key.sign_count,
                passkey.c.expert == account.scalar_subquery(),
            )
            .values(sign_count=sign_count, used_at=now)
        )
        if used.rowcount != 1:
            raise SignInError("the passkey cannot be used", hint="Try again, or ask your lead for a new link.")
        begin_session(connection, known(connection, key.expert), token, now, "passkey")

    store.write(act)
    return token


def _insert(connection: sa.Connection, account: int, key: NewPasskey, now: int) -> None:
    check(key.label, "passkey")
    values = {"credential": key.credential, "public_key": key.public_key, "sign_count": key.sign_count}
    try:
        connection.execute(sa.insert(passkey).values(expert=account, label=key.label, created_at=now, **values))
    except sa.exc.IntegrityError as error:
        raise InputError("this passkey is known already", where="passkey", hint="Sign in with it.") from error
