"""A backend, the resources of its tasks and the folder they write to: what a stage needs to do its work in parts."""

import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from eds import io as storage
from eds.config import ExecutorSettings
from eds.parallel.outputs import deliver
from eds.parallel.protocol import Backend, Receipt, Resources, Spec, Work
from eds.registry import EXECUTORS

Progress = Callable[[int, int], None]
MEGABYTE = 1 << 20


@dataclass(frozen=True)
class Executor:
    """Does the work of a stage in parts."""

    backend: Backend
    work: storage.Address  # folder or prefix of all that tasks write; every machine must see it
    settings: ExecutorSettings

    def at(self, *names: str) -> str:
        """The address of something that tasks read or write."""
        return str(storage.join(self.work, *names))

    def reachable(self, file: Path, sha256: str, rows: int) -> Receipt:
        """A local file as tasks can read it: itself, or copied beside the parts if they are remote."""
        if not storage.is_remote(self.work):
            return Receipt(str(file.resolve()), sha256, rows)
        there = self.at("inputs", f"{sha256}{file.suffix}")
        if not storage.exists(there):
            return deliver(there, rows, lambda path: shutil.copyfile(file, path))
        return Receipt(there, sha256, rows)

    def within(self, name: str) -> "Executor":
        """The same executor, writing to a folder of its own."""
        return replace(self, work=storage.join(self.work, name))

    def map(self, fn: Work, specs: Iterable[Spec], *, gpus: float = 0.0) -> Iterator[Receipt]:
        """Backend.map with the resources of the settings."""
        settings = self.settings
        memory, deadline = settings.memory * MEGABYTE or None, settings.deadline or None
        return self.backend.map(fn, specs, Resources(settings.threads, gpus, memory, deadline, settings.retries))

    def finish(
        self, fn: Work, specs: Iterable[Spec], progress: Progress | None = None, *, gpus: float = 0.0
    ) -> list[Receipt]:
        """Every receipt, in the order of the specs; `progress` gets (tasks done, tasks)."""
        listed = list(specs)
        if progress:
            progress(0, len(listed))
        receipts: dict[str, Receipt] = {}
        for receipt in self.map(fn, listed, gpus=gpus):
            receipts[receipt.url] = receipt
            if progress:
                progress(len(receipts), len(listed))
        return [receipts[spec.out] for spec in listed]


def start(settings: ExecutorSettings) -> Backend:
    """The backend that the settings name; nothing is started before the first task."""
    backend: Backend = EXECUTORS.load(settings.use)(settings)
    return backend
