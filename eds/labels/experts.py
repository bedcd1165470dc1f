"""Experts' accounts: made, invited by a link that works once, disabled (their labels stay).

No password or token is kept: of passwords an argon2 hash, of tokens a SHA-256 digest (they are random
and long, so a fast digest is enough). A token is given out once, by the function that made it.
"""

import hashlib
import re
import secrets
from functools import cache
from typing import Any

import argon2
import pandas as pd
import sqlalchemy as sa

from eds.errors import InputError
from eds.labels import audit, schema
from eds.labels.assign import resume, suspend
from eds.labels.bulk import frame
from eds.labels.password_hashing import at_low_priority
from eds.labels.permissions import check_account
from eds.labels.schema import api_token, expert, invitation, passkey, session
from eds.labels.store import Store
from eds.labels.validation import check_name, check_new_name, short

HOUR = 3600 * 1_000_000
SHORTEST_PASSWORD, LONGEST_PASSWORD = 10, 1000
LOOKED_AT = 72  # characters whose guesses are estimated
LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*")
STRONG_ENOUGH = 2  # of zxcvbn's scores 0 to 4: more than 10^6 guesses; the sign-in page allows some 20,000 a day


@cache
def hasher() -> argon2.PasswordHasher:
    """What hashes passwords, with the library's own (RFC 9106) cost."""
    return argon2.PasswordHasher()


def digest(token: str) -> str:
    """What is kept of a token."""
    return hashlib.sha256(token.encode(errors="surrogatepass")).hexdigest()


def add_expert(store: Store, name: str, role: str = "expert", *, by: str = "") -> None:
    """Make an account; it cannot sign in before an invitation was accepted."""
    check_new_name(name, "expert")
    _check_role(role)

    def act(connection: sa.Connection) -> None:
        check_account(connection, store, by, "invite", name, role)
        if connection.execute(sa.select(expert.c.id).where(expert.c.name == name)).first():
            raise InputError(f"there is an expert {short(name)} already", where="expert", hint="Choose another name.")
        connection.execute(sa.insert(expert).values(name=name, role=role, created_at=store.now()))
        audit.note(connection, store.now(), by, "add expert", name, role=role)

    try:
        store.write(act)
    except sa.exc.IntegrityError as error:  # two at the same moment: the database let one through
        raise InputError(f"there is an expert {short(name)} already", where="expert") from error


def set_role(store: Store, name: str, role: str, *, by: str = "") -> None:
    """Give an expert another role; it counts from the next request."""
    _check_role(role)

    def act(connection: sa.Connection) -> None:
        number = known(connection, name)
        check_account(connection, store, by, "set role", name, role)
        connection.execute(sa.update(expert).where(expert.c.id == number).values(role=role))
        audit.note(connection, store.now(), by, "set role", name, role=role)

    store.write(act)


def set_language(store: Store, name: str, language: str) -> None:
    """Show an expert's pages in this language, "" for the browser's; it counts from the next request."""
    if language and not LANGUAGE.fullmatch(language):
        raise InputError(f"{short(language)} is not a language", where="language", hint="Write it as de or pt-BR.")
    change = sa.update(expert).where(expert.c.name == name).values(language=language)
    store.write(lambda connection: (known(connection, name), connection.execute(change)), again=True)


def invite(store: Store, name: str, *, hours: float = 72, by: str = "") -> str:
    """A token for a link that signs the expert in, once; earlier invitations end."""
    token = secrets.token_urlsafe(32)
    if not 0 < hours <= 24 * 365:
        raise InputError(f"hours is {hours}", where="invitation", hint="Give more than 0 and at most a year.")

    def act(connection: sa.Connection) -> None:
        now, number = store.now(), known(connection, name)
        check_account(connection, store, by, "invite", name)
        _end_invitations(connection, number, now)
        connection.execute(
            sa.insert(invitation).values(
                expert=number, token_hash=digest(token), created_at=now, expires_at=now + int(hours * HOUR)
            )
        )
        audit.note(connection, now, by, "invite", name, hours=hours)

    store.write(act)
    return token


def invited(store: Store, token: str) -> str | None:
    """Whom an invitation is for; None if it is unknown, used or too old."""
    result = store.read(lambda connection: connection.execute(_invitation(token, store.now())).first())
    return None if result is None else str(result.name)


def accept(store: Store, token: str, password: str) -> str:
    """Use an invitation: the password replaces what the account signed in with; return the expert's name."""
    name = invited(store, token)
    if name is None:
        raise _unusable()
    hashed = hash_password(name, password)  # slow: before the transaction, and not for guessed tokens

    def act(connection: sa.Connection) -> None:
        account, _ = use_invitation(connection, token, store.now())
        connection.execute(sa.update(expert).where(expert.c.id == account).values(password=hashed))

    store.write(act)
    return name


def set_password(store: Store, name: str, password: str) -> None:
    """Give an account its first password; one that has a password needs a new invitation."""
    hashed = hash_password(name, password)

    def act(connection: sa.Connection) -> None:
        free = sa.update(expert).where(expert.c.id == known(connection, name), expert.c.password.is_(None))
        if connection.execute(free.values(password=hashed)).rowcount != 1:
            raise InputError("the account has a password", where="account", hint="Ask your lead for a new link.")
        audit.note(connection, store.now(), name, "set password", name)

    store.write(act)


def can_return(store: Store, name: str) -> bool:
    """Return whether this account has a password or a passkey, so that it can sign in again without an invitation."""
    has_passkey = sa.exists().where(passkey.c.expert == expert.c.id)
    query = sa.select(sa.or_(expert.c.password.is_not(None), has_passkey)).where(expert.c.name == name)
    return bool(store.read(lambda connection: connection.execute(query).scalar()))


def use_invitation(connection: sa.Connection, token: str, now: int) -> tuple[int, str]:
    """Mark an invitation as used; end every session, the password and the passkeys of its account (number, name)."""
    result = connection.execute(_invitation(token, now)).first()
    if result is None:
        raise _unusable()
    used = sa.update(invitation).where(invitation.c.id == result.id, invitation.c.used_at.is_(None))
    if connection.execute(used.values(used_at=now)).rowcount != 1:
        raise _unusable()
    connection.execute(sa.update(expert).where(expert.c.id == result.expert).values(password=None))
    connection.execute(sa.delete(passkey).where(passkey.c.expert == result.expert))
    end_sessions(connection, result.expert, now)
    audit.note(connection, now, result.name, "accept invitation", result.name)
    return result.expert, result.name


def disable(store: Store, name: str, *, by: str = "") -> None:
    """Lock an expert out at once, everywhere; every label stays.

    Where pairs are asked of some of a panel, others get what this expert has not judged.
    """

    def act(connection: sa.Connection) -> None:
        now, number = store.now(), known(connection, name)
        check_account(connection, store, by, "disable", name)
        locking = sa.update(expert).where(expert.c.id == number, expert.c.disabled_at.is_(None))
        if connection.execute(locking.values(disabled_at=now)).rowcount:
            suspend(connection, number)
        _end_invitations(connection, number, now)
        end_sessions(connection, number, now)
        audit.note(connection, now, by, "disable", name)

    store.write(act)


def enable(store: Store, name: str, *, by: str = "") -> None:
    """Let a disabled expert in again, with the password of before."""

    def act(connection: sa.Connection) -> None:
        number = known(connection, name)
        check_account(connection, store, by, "enable", name)
        now = store.now()
        opening = sa.update(expert).where(expert.c.id == number, expert.c.disabled_at.is_not(None))
        if connection.execute(opening.values(disabled_at=None)).rowcount:
            resume(connection, number, name, now)
        audit.note(connection, now, by, "enable", name)

    store.write(act)


def list_experts(store: Store) -> pd.DataFrame:
    """Every expert: name, role, created_at, state (invited, active, disabled or new), labels (acts so far), seen_at."""
    acts = (
        sa.select(schema.assignment.c.expert, sa.func.sum(schema.assignment.c.events).label("labels"))
        .group_by(schema.assignment.c.expert)
        .subquery()
    )
    waiting = sa.exists().where(
        invitation.c.expert == expert.c.id, invitation.c.used_at.is_(None), invitation.c.expires_at > store.now()
    )
    signed_in = sa.exists().where(
        session.c.expert == expert.c.id, session.c.ended_at.is_(None), session.c.expires_at > store.now()
    )
    has_passkey = sa.exists().where(passkey.c.expert == expert.c.id)
    state = sa.case(
        (expert.c.disabled_at.is_not(None), "disabled"),
        (sa.or_(expert.c.password.is_not(None), has_passkey, signed_in), "active"),
        (waiting, "invited"),
        else_="new",
    )
    labels = sa.cast(sa.func.coalesce(acts.c.labels, 0), schema.WHOLE)
    seen = sa.select(sa.func.max(session.c.seen_at)).where(session.c.expert == expert.c.id).scalar_subquery()
    query = (
        sa.select(
            expert.c.name,
            expert.c.role,
            expert.c.created_at,
            state.label("state"),
            labels.label("labels"),
            seen.label("seen_at"),
        )
        .outerjoin(acts, acts.c.expert == expert.c.id)
        .order_by(expert.c.id)
    )
    return store.read(lambda connection: frame(connection, query, "created_at", "seen_at"))


def hash_password(name: str, password: str) -> str:
    """The argon2 hash of a password that is long enough, not the name, and not easily guessed."""
    if not SHORTEST_PASSWORD <= len(password) <= LONGEST_PASSWORD or password == name:
        raise InputError(
            "the password cannot be used",
            where="password",
            hint=f"Choose {SHORTEST_PASSWORD} to {LONGEST_PASSWORD:,} characters, and not the name.",
        )
    if _is_guessable(name, password):
        raise InputError(
            "the password is among the first that are guessed",
            where="password",
            hint="Choose a few unrelated words.",
        )
    return at_low_priority(hasher().hash, password.encode(errors="surrogatepass"))


def _is_guessable(name: str, password: str) -> bool:
    """Return whether a million guesses would do: common passwords, repeats, keyboard rows, dates, the name."""
    from zxcvbn import zxcvbn  # type: ignore[import-untyped]  # takes 0.1 s to load, and is rarely needed

    return int(zxcvbn(password[:LOOKED_AT], [name])["score"]) < STRONG_ENOUGH


def known(connection: sa.Connection, name: str) -> int:
    """Return the number of this expert; InputError if the name is unknown."""
    check_name(name, "expert")
    result = connection.execute(sa.select(expert.c.id).where(expert.c.name == name)).scalar()
    if result is None:
        raise InputError(f"unknown expert {short(name)}", where="expert", hint="See eds labels experts list.")
    return int(result)


def end_sessions(connection: sa.Connection, number: int, now: int) -> int:
    """End every session of an expert, and the tokens of programs; how many sessions were open."""
    tokens = sa.update(api_token).where(api_token.c.expert == number, api_token.c.revoked_at.is_(None))
    connection.execute(tokens.values(revoked_at=now))
    ended = connection.execute(
        sa.update(session).where(session.c.expert == number, session.c.ended_at.is_(None)).values(ended_at=now)
    )
    return ended.rowcount


def _invitation(token: str, now: int) -> "sa.Select[Any]":
    """The invitation of this token, if it can be used."""
    return (
        sa.select(invitation.c.id, expert.c.id.label("expert"), expert.c.name)
        .join(expert, expert.c.id == invitation.c.expert)
        .where(
            invitation.c.token_hash == digest(token),
            invitation.c.used_at.is_(None),
            invitation.c.expires_at > now,
            expert.c.disabled_at.is_(None),
        )
    )


def _unusable() -> InputError:
    return InputError(
        "the invitation is unknown, used or too old", where="invitation", hint="Ask your lead for a new link."
    )


def _end_invitations(connection: sa.Connection, number: int, now: int) -> None:
    connection.execute(
        sa.update(invitation).where(invitation.c.expert == number, invitation.c.used_at.is_(None)).values(used_at=now)
    )


def _check_role(role: str) -> None:
    if role not in schema.ROLES:
        raise InputError(
            f"{short(str(role))} is not a role", where="role", hint=f"Choose one of {', '.join(schema.ROLES)}."
        )
