"""Which tab of an expert judges a campaign: the one that asked last. The others pause.

Kept in memory: after a restart the first tab that speaks holds the claim, and nothing is lost, since
judgements of a tab that lost its claim are stored all the same.
"""

import threading


class Claims:
    """The claims of one server."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._holders: dict[tuple[str, str], str] = {}

    def take(self, expert: str, campaign: str, tab: str) -> None:
        """Give the claim to this tab."""
        with self._lock:
            self._holders[expert, campaign] = tab

    def holds(self, expert: str, campaign: str, tab: str) -> bool:
        """Return whether this tab holds the claim; it takes a free one."""
        with self._lock:
            return self._holders.setdefault((expert, campaign), tab) == tab
