"""A cheap fingerprint of all acts, by which a project knows what is stale.

Acts are never changed or taken away, so their number and the last one stand for all. Who is waited for no more, since
they left a panel or are locked out, counts too: pairs are complete without them. So do imports that were voided or
counted again. Nothing of the address is in it:
labels that move to another database are the same labels.
"""

import hashlib
from contextlib import closing
from pathlib import Path

import sqlalchemy as sa

from eds.labels.database import address, parse
from eds.labels.migrate import revision
from eds.labels.schema import expert, import_void, label_event, panel
from eds.labels.store import Store, open_store

PATIENCE = 3.0  # seconds that a look at a project waits for a server that does not answer


def fingerprint(store: Store) -> str:
    """The number of acts, a digest of the last one, how many experts are waited for no more, and voids."""
    away = sa.select(sa.func.count()).select_from(panel.join(expert, expert.c.id == panel.c.expert))
    # Whom an import or a decision entered left at once: nobody ever waited for them.
    away = away.where(sa.or_(panel.c.left_at > panel.c.joined_at, expert.c.disabled_at.is_not(None)))
    last = sa.select(label_event.c.id, label_event.c.label_id).order_by(label_event.c.id.desc()).limit(1)

    def act(connection: sa.Connection) -> str:
        count = connection.execute(sa.select(sa.func.count()).select_from(label_event)).scalar_one()
        result = tuple(connection.execute(last).first() or ())
        gone = connection.execute(away).scalar_one()
        voids = connection.execute(sa.select(sa.func.count()).select_from(import_void)).scalar_one()
        digest = hashlib.sha256(repr(result).encode()).hexdigest()[:32]
        parts = [
            f"{count} acts, {digest}",
            f"without {gone} experts" if gone else "",
            f"{voids} voids" if voids else "",
        ]
        return ", ".join(filter(None, parts))

    return store.snapshot(act)


def of_project(url: str, default: Path) -> str:
    """Return the fingerprint of a project's labels: those at `labels.url`, or in the file."""
    with closing(open_store(address(url, default), create=False, patience=PATIENCE)) as store:
        return fingerprint(store)


def holds_acts(url: str, default: Path) -> bool:
    """Return whether there is any judgement; False, too, if there is no store yet."""
    where = address(url, default)
    if isinstance(where, Path) and not where.exists():
        return False
    any_act = sa.select(label_event.c.id).limit(1)
    with closing(Store(parse(where), patience=PATIENCE)) as store:
        return store.read(lambda held: revision(held) is not None and held.execute(any_act).first() is not None)
