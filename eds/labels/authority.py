"""Who may do what to whose account: leads invite experts, administrators everything but lock themselves out.

A new invitation lets its bearer choose the password: whoever could make one for an administrator would be one.
"""

from eds.errors import InputError
from eds.labels.schema import ROLES
from eds.labels.texts import short

ACTS = ("invite", "disable", "enable", "set role")


def check_authority(actor: str, role: str, act: str, whom: str, their_role: str) -> None:
    """InputError unless `actor` with `role` may do `act` to the account `whom` with (or to get) `their_role`."""
    if act not in ACTS or role not in ROLES or their_role not in ROLES:
        raise InputError(f"{act} by {role} of {their_role} is unknown", where="accounts", do="Name another act.")
    if role == "administrator":
        if actor == whom and act in ("disable", "set role"):
            raise InputError(
                "nobody takes their own rights away", where="accounts", do="Ask another administrator to do it."
            )
        return
    if role == "lead" and act == "invite" and their_role == "expert":
        return
    raise InputError(
        f"a {role} may not {act} {short(whom)} ({their_role})", where="accounts", do="Ask an administrator."
    )
