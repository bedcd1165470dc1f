"""How guessing passwords is slowed, without letting strangers lock an expert out.

| counted by | free | then | kept |
|---|---|---|---|
| name and network | 3 failures | each further one doubles the wait, up to 15 minutes | in the store |
| name | 50 failures a day | one try every 30 s | in the store |
| network (/24, /64) | 60 failures | one try every 10 s | in memory |
| everything | 300 failures | one try every 5 s | in memory |

A browser in which this account was signed in before (`device`) has a count of its own and is held up by no other: so
guessing at an expert's password delays only that expert's new devices. A failure is noted before the password is
looked at, so many guesses at once do not slip through. What is kept in memory refuses first, so that the store's
table grows by at most one row every 5 s.
"""

import hashlib
import threading
import time
from dataclasses import dataclass, field
from ipaddress import ip_address, ip_network
from typing import Any

import sqlalchemy as sa

from eds.labels.schema import attempt
from eds.labels.store import Store

SECOND = 1_000_000
FREE, FREE_OF_NAME = 3, 50  # failures that cost no wait
LONGEST_WAIT = 900 * SECOND
WAIT_OF_NAME = 30 * SECOND
FORGOTTEN = 86400 * SECOND  # failures older than this count no more
OF_NETWORK, OF_ALL = (60, 0.1), (300, 0.2)  # failures at once, and a second
MOST_NETWORKS = 10_000
_FIRST = sa.text(  # the same words in both databases
    "INSERT INTO attempt (who, failures, not_before) VALUES (:who, 0, :now) ON CONFLICT (who) DO NOTHING"
)


@dataclass(frozen=True)
class Origin:
    """Where a password comes from: an address (empty: not over a network), and perhaps a device known for the name."""

    address: str = ""
    device: str = ""

    @property
    def network(self) -> str:
        """Who counts as one: an IPv4 /24, an IPv6 /64; addresses within them are free to change."""
        try:
            address = ip_address(self.address.partition("%")[0])
        except ValueError:
            return self.address
        mapped = getattr(address, "ipv4_mapped", None) or address
        return str(ip_network(f"{mapped}/{24 if mapped.version == 4 else 64}", strict=False))


@dataclass
class Bucket:
    """Tries that are left; they come back with time, up to `size`."""

    size: float
    per_second: float
    at: float  # of the monotonic clock
    left: float = field(init=False)

    def __post_init__(self) -> None:
        self.left = self.size

    def wait(self, now: float) -> float:
        """Seconds until there is a try; 0 if there is one."""
        self.left, self.at = min(self.left + (now - self.at) * self.per_second, self.size), now
        return max(1 - self.left, 0) / self.per_second


class Memory:
    """The buckets of one store in this process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._all = Bucket(*OF_ALL, time.monotonic())
        self._networks: dict[str, Bucket] = {}

    def take(self, network: str) -> float:
        """Take a try of this network and of all; or the seconds to wait, taking nothing."""
        now = time.monotonic()  # a clock that is set takes nobody's tries away
        with self._lock:
            buckets = [self._all]
            if network:
                if network not in self._networks and len(self._networks) >= MOST_NETWORKS:
                    self._networks = {
                        name: one for name, one in self._networks.items() if one.wait(now) or one.left < one.size
                    }
                buckets.append(self._networks.setdefault(network, Bucket(*OF_NETWORK, now)))
            wait = max(bucket.wait(now) for bucket in buckets)
            if not wait:
                for bucket in buckets:
                    bucket.left -= 1
            return wait

    def give_back(self, network: str) -> None:
        """The try was right: it does not count."""
        with self._lock:
            for bucket in (self._all, self._networks.get(network)):
                if bucket is not None:
                    bucket.left = min(bucket.left + 1, bucket.size)


_memories: dict[str, Memory] = {}


def count_failure(store: Store, name: str, origin: Origin) -> float:
    """Note a failure in advance (`forgive` deletes it); or the seconds to wait, noting nothing."""
    if not origin.device:
        wait = _memory(store).take(origin.network)
        if wait:
            return wait

    def act(connection: sa.Connection) -> int:
        now, keys = store.now(), _keys(name, origin)
        rows = [_row(connection, key, now) for key in keys]
        waits = [row.not_before - now for row in rows if now < row.not_before <= now + LONGEST_WAIT]
        if waits:  # one beyond the longest does not count: the clock went back
            return int(max(waits))
        pauses = [_pause(rows[0].failures + 1), *(WAIT_OF_NAME * (row.failures >= FREE_OF_NAME) for row in rows[1:])]
        for key, row, pause in zip(keys, rows, pauses, strict=True):
            values = {"failures": row.failures + 1, "not_before": now + pause}
            connection.execute(sa.update(attempt).where(attempt.c.who == key).values(values))
        return 0

    return store.write(act) / SECOND


def forgive(connection: sa.Connection, store: Store, name: str, origin: Origin) -> None:
    """The password was right: forget the failures of this name from there."""
    connection.execute(sa.delete(attempt).where(attempt.c.who == _keys(name, origin)[0]))
    if not origin.device:
        _memory(store).give_back(origin.network)


def forget_old(store: Store) -> int:
    """Delete what counts no more; how many rows. Something must call it from time to time."""
    old = sa.delete(attempt).where(attempt.c.not_before < store.now() - FORGOTTEN)
    return store.write(lambda connection: connection.execute(old).rowcount, again=True)


def _keys(name: str, origin: Origin) -> list[str]:
    """What is counted in the store: the name with the device; or with the network, and the name itself."""
    texts = [f"{name}\0device\0{origin.device}"] if origin.device else [f"{name}\0{origin.network}", f"{name}\0\0"]
    return [hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest() for text in texts]


def _row(connection: sa.Connection, key: str, now: int) -> Any:
    connection.execute(_FIRST, {"who": key, "now": now})
    query = sa.select(attempt.c.who, attempt.c.failures, attempt.c.not_before).where(attempt.c.who == key)
    return connection.execute(query.with_for_update()).one()


def _pause(failures: int) -> int:
    return min(SECOND * 2 ** min(failures - FREE - 1, 20), LONGEST_WAIT) if failures > FREE else 0


def _memory(store: Store) -> Memory:
    return _memories.setdefault(store.place, Memory())
