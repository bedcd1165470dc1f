"""Long work that leads start on a page: a process of its own, so that nobody who judges waits for it.

    site().jobs.start("report", who.name, [("decide", {}), ("report", {"keep": True})])
    site().jobs.latest("report")        the newest job of this name: its progress, messages, result or error

The process is this module: it reads what to do from its standard input, calls the verbs of `eds.Project` one after the
other and writes what it reports as lines of JSON. One job runs at a time, since a project is written by one process.
"""

import json
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, Literal, cast

from eds.child_process import yield_to_others
from eds.errors import EdsError, LockedError, TruthChangeError
from eds.project import Progress, Project
from eds.project.job_limits import check_step

VERBS = (
    *("scan", "import_images", "embed", "mine", "pool", "draw_random", "decide", "report", "run", "map_images"),
    "find_near_duplicates",
)
Steps = Sequence[tuple[str, Mapping[str, Any]]]  # a verb and its options; `files` are its unnamed arguments
SINGLE = (str, int, float, bool, type(None))  # values that are passed on; tables are read from the project
KINDNESS = 10  # the process yields to those who judge


@dataclass
class Job:
    """One job: what it does, how far it is, and how it ended."""

    name: str
    by: str
    steps: Steps
    started: datetime = field(default_factory=lambda: datetime.now(UTC))
    state: Literal["running", "done", "failed"] = "running"
    step: int = 0  # the verb at work, from 0
    task: str = ""  # what the verb is about, with its progress:
    done: int = 0
    total: int = 0
    messages: list[str] = field(default_factory=list)
    results: dict[str, dict[str, Any]] = field(default_factory=dict)  # of each verb: the single values of `to_dict`
    error: str = ""
    change: dict[str, Any] | None = None  # what a decision would change, if it needs consent: as TruthChangeError

    @property
    def share(self) -> float:
        """The part that is done, each verb counted alike."""
        part = self.done / self.total if self.total else 0.0
        return min((self.step + part) / max(len(self.steps), 1), 1.0)


class Jobs:
    """The jobs of one server."""

    def __init__(self, root: Path, at_end: Callable[[], None] = lambda: None) -> None:
        self.root, self.at_end = root, at_end
        self._jobs: dict[str, Job] = {}
        self._process: subprocess.Popen[str] | None = None
        self._starting = threading.Lock()

    @property
    def running(self) -> Job | None:
        """The job at work."""
        return next((job for job in self._jobs.values() if job.state == "running"), None)

    def latest(self, name: str) -> Job | None:
        """The newest job of a name."""
        return self._jobs.get(name)

    def forget(self, name: str) -> None:
        """Show a finished job no more."""
        if name in self._jobs and self._jobs[name].state != "running":
            del self._jobs[name]

    def start(self, name: str, by: str, steps: Steps) -> Job:
        """Start a job; LockedError while another one runs, InputError for what an account may not ask for."""
        project = Project.open(self.root)
        for verb, options in steps:
            check_step(project, verb, options)
        with self._starting:
            if (busy := self.running) is not None:
                raise LockedError(
                    f"{busy.by} has started other work, since {busy.started:%H:%M} UTC",
                    where=str(self.root),
                    hint="Wait until it has ended, then try again.",
                )
            job = Job(name, by, steps)
            self._process = subprocess.Popen(
                [sys.executable, "-m", "annotator_ui.jobs"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                encoding="utf-8",
            )
            self._jobs[name] = job
        threading.Thread(target=_follow, args=(job, self._process, self.root, self.at_end), daemon=True).start()
        return job

    def close(self) -> None:
        """End the process, if there is one; what it was writing is not written."""
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()


def _follow(job: Job, process: "subprocess.Popen[str]", root: Path, at_end: Callable[[], None]) -> None:
    """Read what the process reports until it ends."""
    stdin, stdout = cast("IO[str]", process.stdin), cast("IO[str]", process.stdout)
    try:
        with stdin as given:
            json.dump({"root": str(root), "by": job.by, "steps": [list(step) for step in job.steps]}, given)
        for line in stdout:
            if line.startswith("{"):
                _note(job, json.loads(line))
    except (OSError, ValueError) as error:
        job.error = job.error or str(error)
    stdout.close()
    failed = bool(process.wait() or job.error)
    with suppress(EdsError):  # an eds.toml that cannot be read is reported where it is used
        at_end()
    if failed:
        job.state, job.error = "failed", job.error or "the work was ended from outside"
    else:
        job.state, job.step, job.done, job.total = "done", len(job.steps), 0, 0


def _note(job: Job, event: dict[str, Any]) -> None:
    if "step" in event:
        job.step, job.task, job.done, job.total = event["step"], "", 0, 0
    elif "say" in event:
        job.messages.append(event["say"])
    elif "task" in event:
        job.task, job.done, job.total = event["task"], event["done"], event["total"]
    elif "result" in event:
        job.results[event["verb"]] = event["result"]
    elif "error" in event:
        job.error, job.change = event["error"], event.get("change")


class LineReporter:
    """Writes messages and progress as lines of JSON."""

    def say(self, message: str) -> None:
        """Write a message."""
        write(say=message)

    @contextmanager
    def progress(self, label: str, unit: str = "") -> Iterator[Progress]:
        """Give a function that writes how far the task is, at every hundredth."""
        last = -1

        def show(done: int, total: int) -> None:
            nonlocal last
            if total and (place := 100 * done // total) != last:
                last = place
                write(task=label, done=done, total=total)

        write(task=label, done=0, total=0)
        yield show


def write(**event: object) -> None:
    """Write one line."""
    sys.stdout.write(f"{json.dumps(event)}\n")
    sys.stdout.flush()


def work(asked: dict[str, Any]) -> None:
    """Do what was asked for, verb by verb."""
    from eds.project.label_store import exists, keep_open

    project = Project.open(asked["root"], reporter=LineReporter())
    try:
        if exists(project):
            keep_open(project)
        project = project.acting_as(asked["by"], accounts_only=True)
        for number, (verb, options) in enumerate(asked["steps"]):
            if verb not in VERBS:
                raise ValueError(f"{verb} is not a verb of a job")
            write(step=number)
            files = options.pop("files", [])
            result = getattr(project, verb)(*files, **options).to_dict()
            write(verb=verb, result={key: value for key, value in result.items() if isinstance(value, SINGLE)})
    except TruthChangeError as error:
        change = {name: getattr(error, name) for name in ("stored", "lost", "turned", "directions", "reasons")}
        write(error=str(error), change=change)
    except EdsError as error:
        write(error=str(error))
    finally:
        project.close()


if __name__ == "__main__":
    yield_to_others(KINDNESS)
    work(json.load(sys.stdin))
