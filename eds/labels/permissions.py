"""Who may change what. Every function that changes more than an expert's own work asks here, in its own transaction.

Leads change campaigns, guidelines, gold and decisions, and invite experts; administrators also set roles and lock
accounts, but not their own. The actor (`by`) must have the right. A name that is not an account (a command, a
simulation: who can open the database can change everything in it) passes only where the store does not insist on
accounts; the store of the web pages does, so a page that forgets to say who acts can change nothing.
"""

import sqlalchemy as sa

from eds.errors import InputError
from eds.labels.schema import ROLES, expert
from eds.labels.store import Store
from eds.labels.validation import short

ACTS = ("invite", "disable", "enable", "set role")  # to accounts
LEADS = ("lead", "administrator")


def check_lead(connection: sa.Connection, store: Store, by: str, act: str) -> None:
    """InputError unless `by` may do what leads do."""
    role = _role_of_actor(connection, store, by, act)
    if role is not None and role not in LEADS:
        raise InputError(
            f"{short(by)} is {role}, not lead, and may not {act}", where="rights", hint="Ask a lead to do it."
        )


def check_account(connection: sa.Connection, store: Store, by: str, act: str, whom: str, their_role: str = "") -> None:
    """InputError unless `by` may do `act` to the account `whom`, which has (or, where given, gets) `their_role`."""
    role = _role_of_actor(connection, store, by, act)
    if role is None:
        return
    has = connection.execute(sa.select(expert.c.role).where(expert.c.name == whom)).scalar()
    for theirs in {has or their_role, their_role or has}:
        check_authority(by, role, act, whom, str(theirs))


def check_authority(actor: str, role: str, act: str, whom: str, their_role: str) -> None:
    """InputError unless `actor` with `role` may do `act` to the account `whom` with (or to get) `their_role`.

    A new invitation lets its bearer in: to make one for an administrator is to be one.
    """
    if act not in ACTS or role not in ROLES or their_role not in ROLES:
        raise InputError(f"{act} by {role} of {their_role} is unknown", where="accounts", hint="Name another act.")
    if role == "administrator":
        if actor == whom and act in ("disable", "set role"):
            raise InputError(
                "you cannot take your own rights away", where="accounts", hint="Ask another administrator to do it."
            )
        return
    if role == "lead" and act == "invite" and their_role == "expert":
        return
    raise InputError(
        f"the role {role} may not {act} {short(whom)} ({their_role})", where="accounts", hint="Ask an administrator."
    )


def _role_of_actor(connection: sa.Connection, store: Store, by: str, act: str) -> str | None:
    """Return the actor's role, None for somebody with access to the database itself."""
    row = connection.execute(sa.select(expert.c.role, expert.c.disabled_at).where(expert.c.name == by)).first()
    if row is None:
        if store.accounts_only:
            raise InputError(
                f"{short(by) if by else 'nobody'} is not an account that may {act}",
                where="rights",
                hint="Sign in, and try again.",
            )
        return None
    if row.disabled_at is not None:
        raise InputError(f"{short(by)} is disabled and may not {act}", where="rights", hint="Ask an administrator.")
    return str(row.role)
