"""Pictures made ahead, in the background, in the order in which experts will meet them; with its progress.

One thread of low priority. What an expert asks for sooner is made at once by the route, in its own thread.
"""

import logging
import os
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import Literal

from annotator_ui.pictures import Pictures
from eds.errors import EdsError
from eds.project import Project

LOG = logging.getLogger(__name__)
AHEAD: tuple[Literal["thumb", "large"], ...] = ("large", "thumb")
AGAIN = 20.0  # seconds until it looks whether there is new work
NICE = 15
EVERYTHING = 10_000_000


@dataclass(frozen=True)
class PrefetchProgress:
    """How far the pictures are: images of open campaigns that are ready, all of them, and those that cannot be read."""

    ready: int = 0
    total: int = 0
    unreadable: int = 0

    @property
    def finished(self) -> bool:
        """Whether nothing is left to be made."""
        return self.ready + self.unreadable >= self.total


class PicturePrefetch:
    """The background thread."""

    def __init__(self, pictures: Pictures, project: Project) -> None:
        self.state = PrefetchProgress()
        self._pictures, self._project = pictures, project
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, name="pictures", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End after the picture under way."""
        self._end.set()
        if self._thread.is_alive():
            self._thread.join(10)

    def _run(self) -> None:
        with suppress(AttributeError, OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICE)  # Linux: this thread only
        seen: object = None
        while not self._end.is_set():
            try:
                campaigns = self._project.campaigns.list()
                waiting = campaigns[campaigns["closed_at"].isna()]
                now = (waiting[["name", "items", "experts"]].to_numpy().tolist(), self._pictures.version())
                if now != seen:
                    self.prepare(wanted(self._project, waiting["name"].tolist()))
                    seen = now
            except EdsError as error:
                LOG.warning("pictures are not made ahead: %s", error)
            self._end.wait(AGAIN)

    def prepare(self, image_ids: list[str]) -> None:
        """Make the pictures of these images and update the progress."""
        ready = unreadable = 0
        self.state = PrefetchProgress(0, len(image_ids), 0)
        for image_id in image_ids:
            if self._end.is_set():
                return
            try:
                source = self._pictures.source(image_id)
                if source is None:
                    unreadable += 1
                else:
                    for size in AHEAD:
                        if not self._pictures.is_made(source, size):
                            self._pictures.picture(source, size)
                    ready += 1
            except EdsError:
                unreadable += 1
            self.state = PrefetchProgress(ready, len(image_ids), unreadable)


def wanted(project: Project, campaigns: list[str]) -> list[str]:
    """The images of what is open, each once: what any expert meets first comes first."""
    orders = [
        _order(project, name, expert) for name in campaigns for expert in project.campaigns.progress(name)["expert"]
    ]
    together = chain.from_iterable(zip_longest(*orders))
    return list(dict.fromkeys(image for image in together if image is not None))


def _order(project: Project, campaign: str, expert: str) -> Iterator[str]:
    tasks = project.labels.next_tasks(campaign, expert, EVERYTHING)
    return iter(dict.fromkeys(image for task in tasks for image in (task.query_id, task.candidate_id)))
