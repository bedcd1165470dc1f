"""Pictures made ahead, in the background, in the order in which experts will meet them; with its progress.

One picture at a time; what an expert asks for sooner comes first (picture_queue.py).
"""

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, zip_longest

import anyio

from annotator_ui.lanes import in_lane
from annotator_ui.pictures import Pictures, Size, Source
from eds.errors import EdsError
from eds.project import Project

LOG = logging.getLogger(__name__)
AHEAD: tuple[Size, ...] = ("large", "thumb")
AGAIN = 20.0  # seconds until it looks whether there is new work
CHUNK = 200  # images whose files are looked for at once
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
    """The background task: it waits in the queue of all pictures, behind everybody who looks at one."""

    def __init__(self, pictures: Pictures, project: Project) -> None:
        self.state = PrefetchProgress()
        self._pictures, self._project = pictures, project

    async def run(self) -> None:
        """Prepare what is open, and look for new work from time to time, until it is cancelled."""
        seen: object = None
        while True:
            try:
                now, names = await in_lane("background", self._work)
                if now != seen:
                    await self.prepare(await in_lane("background", wanted, self._project, names))
                    seen = now
            except EdsError as error:
                LOG.warning("pictures are not prepared: %s", error)
            except Exception:  # whatever it is, the server goes on without
                LOG.exception("pictures are not prepared")
            await anyio.sleep(AGAIN)

    def _work(self) -> tuple[object, list[str]]:
        """What changes when there is new work, and the open campaigns; nothing before there are pictures."""
        if not self._project.path("images").exists():
            return None, []
        campaigns = self._project.campaigns.list()
        waiting = campaigns[campaigns["closed_at"].isna()]
        plan = waiting[["name", "items", "experts"]].to_numpy().tolist()
        return (plan, self._pictures.version()), waiting["name"].tolist()

    async def prepare(self, image_ids: list[str]) -> None:
        """Make the pictures of these images and update the progress."""
        ready = unreadable = 0
        self.state = PrefetchProgress(0, len(image_ids), 0)
        for start in range(0, len(image_ids), CHUNK):
            for source, sizes in await in_lane("background", self._missing, image_ids[start : start + CHUNK]):
                made = source is not None and await self._made(source, sizes)
                ready, unreadable = ready + made, unreadable + (not made)
                self.state = PrefetchProgress(ready, len(image_ids), unreadable)

    async def _made(self, source: Source, sizes: list[Size]) -> bool:
        """Make these sizes; whether the image can be read."""
        try:
            for size in sizes:
                await self._pictures.picture(source, size)
        except EdsError:
            return False
        return True

    def _missing(self, image_ids: list[str]) -> list[tuple[Source | None, list[Size]]]:
        """Each image's source, None if it has none, and the sizes in which it is not made yet."""
        sources = [self._pictures.source(image_id) for image_id in image_ids]
        return [
            (source, [size for size in AHEAD if source is not None and not self._pictures.is_made(source, size)])
            for source in sources
        ]


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
