"""Who may do what to whose account: all combinations, by a table."""

import itertools

import pytest

from eds.errors import InputError
from eds.labels.authority import ACTS, check_authority
from eds.labels.schema import ROLES


def test_every_combination() -> None:
    allowed = {(role, act, theirs) for role, act, theirs in itertools.product(ROLES, ACTS, ROLES)
               if role == "administrator" or (role, act, theirs) == ("lead", "invite", "expert")}  # fmt: skip
    for role, act, theirs in itertools.product(ROLES, ACTS, ROLES):
        if (role, act, theirs) in allowed:
            check_authority("ada", role, act, "bob", theirs)
        else:
            with pytest.raises(InputError, match="Ask an administrator"):
                check_authority("ada", role, act, "bob", theirs)


def test_nobody_locks_themselves_out() -> None:
    for act in ("disable", "set role"):
        with pytest.raises(InputError, match="their own rights"):
            check_authority("ada", "administrator", act, "ada", "administrator")
    check_authority("ada", "administrator", "invite", "ada", "administrator")
    with pytest.raises(InputError, match="unknown"):
        check_authority("ada", "owner", "invite", "bob", "expert")
