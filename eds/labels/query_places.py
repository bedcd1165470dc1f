"""Where a query stands in an expert's queue, and how many of its pairs are judged: "query 2 of 40, 3 of 24 pairs"."""

from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache

import sqlalchemy as sa

from eds.labels.schema import OPEN, assignment, campaign, expert, item, pair
from eds.labels.shuffle import END
from eds.labels.store import Store

_MINE = (
    assignment.c.campaign
    == sa.select(campaign.c.id).where(campaign.c.name == sa.bindparam("campaign")).scalar_subquery(),
    assignment.c.expert == sa.select(expert.c.id).where(expert.c.name == sa.bindparam("expert")).scalar_subquery(),
    item.c.kind != "repeat",  # asked again one by one, later
)
_FROM = assignment.join(item, item.c.id == assignment.c.item).join(pair, pair.c.id == item.c.pair)
_FIRST = sa.func.min(sa.case((assignment.c.returned == 1, assignment.c.position - END), else_=assignment.c.position))
_ORDER = (
    sa.select(pair.c.query_id, sa.func.count())
    .select_from(_FROM)
    .where(*_MINE)
    .group_by(pair.c.query_id)
    .order_by(_FIRST)
)
_DONE = (
    sa.select(pair.c.query_id, sa.func.count())
    .select_from(_FROM)
    .where(*_MINE, assignment.c.state != OPEN, pair.c.query_id.in_(sa.bindparam("queries", expanding=True)))
    .group_by(pair.c.query_id)
)


@dataclass(frozen=True)
class QueryPlace:
    """A query in one expert's queue."""

    place: int  # from 1
    pairs: int  # that this expert is asked about it
    done: int  # no longer asked


@dataclass(frozen=True)
class QueryPlaces:
    """The places of some queries among all."""

    queries: int
    largest: int  # how many pairs the query with most of them has
    of: dict[str, QueryPlace]


def query_places(
    store: Store, campaign_name: str, expert_name: str, queries: Collection[str], total: int
) -> QueryPlaces:
    """The places of these queries; `total` is how many pairs the expert is asked, which changes when the order does."""
    order = _order(store, campaign_name, expert_name, total)
    asked = {"campaign": campaign_name, "expert": expert_name, "queries": sorted(set(queries))}
    done = {str(row[0]): int(row[1]) for row in store.read(lambda connection: connection.execute(_DONE, asked).all())}
    found = {name: QueryPlace(*order[name], done.get(name, 0)) for name in queries if name in order}
    return QueryPlaces(len(order), max((pairs for _, pairs in order.values()), default=0), found)


@lru_cache(maxsize=256)
def _order(store: Store, campaign_name: str, expert_name: str, total: int) -> dict[str, tuple[int, int]]:
    """Place and number of pairs of every query: read once, since it is as large as the campaign."""
    asked = {"campaign": campaign_name, "expert": expert_name}
    rows = store.read(lambda connection: connection.execute(_ORDER, asked).all())
    return {str(row[0]): (place, int(row[1])) for place, row in enumerate(rows, 1)}
