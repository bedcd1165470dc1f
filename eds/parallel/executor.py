"""Which engine, with what resources, and where its tasks write: all that a stage needs to do its work in parts."""

import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from eds import io as storage
from eds.config import EngineSettings
from eds.parallel.outputs import deliver
from eds.parallel.protocol import Engine, Need, Receipt, Spec, Work
from eds.registry import Entry, Registry

Progress = Callable[[int, int], None]
MEGABYTE = 1 << 20
# Another family than "engine", which are those that search (eds.neighbors).
ENGINES = Registry(
    "executor",
    {
        "serial": Entry("eds.parallel.serial:Serial", "one task after the other, in this process"),
        "pool": Entry("eds.parallel.processes:ProcessPool", "several processes on this machine"),
        "ray": Entry("eds.parallel.on_ray:Ray", "a cluster", "scale"),
    },
)


@dataclass(frozen=True)
class Site:
    """A place where work is done in parts."""

    engine: Engine
    work: storage.Address  # folder or prefix of all that tasks write; every machine must see it
    settings: EngineSettings

    def at(self, *names: str) -> str:
        """The address of something that tasks read or write."""
        return str(storage.join(self.work, *names))

    def reachable(self, file: Path, sha256: str, rows: int) -> Receipt:
        """A file of this machine as tasks can read it: where it is, or copied beside the parts that are elsewhere."""
        if not storage.is_remote(self.work):
            return Receipt(str(file.resolve()), sha256, rows)
        there = self.at("given", f"{sha256}{file.suffix}")
        if not storage.exists(there):
            return deliver(there, rows, lambda path: shutil.copyfile(file, path))
        return Receipt(there, sha256, rows)

    def within(self, name: str) -> "Site":
        """The same site, writing to a folder of its own."""
        return replace(self, work=storage.join(self.work, name))

    def map(self, fn: Work, specs: Iterable[Spec], *, gpus: float = 0.0) -> Iterator[Receipt]:
        """Engine.map with the resources that the settings tell."""
        settings = self.settings
        memory, deadline = settings.memory * MEGABYTE or None, settings.deadline or None
        return self.engine.map(fn, specs, Need(settings.threads, gpus, memory, deadline, settings.retries))

    def finish(
        self, fn: Work, specs: Iterable[Spec], progress: Progress | None = None, *, gpus: float = 0.0
    ) -> list[Receipt]:
        """Every receipt, in the order of the specs; `progress` is told (tasks done, tasks)."""
        listed = list(specs)
        if progress:
            progress(0, len(listed))
        found: dict[str, Receipt] = {}
        for receipt in self.map(fn, listed, gpus=gpus):
            found[receipt.url] = receipt
            if progress:
                progress(len(found), len(listed))
        return [found[spec.out] for spec in listed]


def start(settings: EngineSettings) -> Engine:
    """The engine that the settings name; nothing is started before the first task."""
    engine: Engine = ENGINES.load(settings.use)(settings)
    return engine
