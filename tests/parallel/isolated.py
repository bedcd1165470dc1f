"""An engine in a process of its own, inside a network namespace: Ray listens on all addresses, so nobody else is there.

Used as an engine by the tests; run as a program it is the other side of the pipe.
"""

import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from eds.config import ExecutorSettings
from eds.parallel import Backend, Receipt, Resources, Spec, Work, start
from eds.parallel.protocol import DEFAULT
from tests.privileges import needs_root

ROOT = Path(__file__).parents[2]
ALONE = ("unshare", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh")  # a namespace with nobody in it


class Isolated:
    """An engine behind a pipe."""

    def __init__(self, settings: ExecutorSettings, enter: Iterable[str] = ALONE, **environment: str) -> None:
        self._process = subprocess.Popen(
            [*enter, sys.executable, "-m", "tests.parallel.isolated"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=ROOT,
            env=os.environ | {"PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "ignore"} | environment,
        )
        self._send(settings)

    def map(self, fn: Work, specs: Iterable[Spec], need: Resources = DEFAULT) -> Iterator[Receipt]:
        self._send((fn, list(specs), need))
        over = False
        try:
            while True:
                answer = self._receive()
                over = answer is None or isinstance(answer, BaseException)
                if answer is None:
                    return
                if isinstance(answer, BaseException):
                    raise answer
                yield answer
        finally:
            while not over:  # the iterator was closed: that is what Ctrl-C does
                self._process.send_signal(signal.SIGINT)
                over = isinstance(self._receive(), BaseException)

    def _send(self, message: Any) -> None:
        assert self._process.stdin
        pickle.dump(message, self._process.stdin)
        self._process.stdin.flush()

    def _receive(self) -> Any:
        assert self._process.stdout
        return pickle.load(self._process.stdout)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.close()
        self._process.wait(30)
        self._process.stdout.close()


def begun(name: str) -> Backend:
    """An engine of two workers; Ray where it harms nobody, which takes root."""
    settings = ExecutorSettings.model_validate({"use": name, "workers": 2})
    if name != "ray":
        return start(settings)
    needs_root("make the network namespace that Ray runs in")
    return Isolated(settings)


def main() -> None:
    """Answer every request with receipts, then None or the error."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell that starts tests with & lets them ignore it
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)  # whatever a library prints shall not stand among the answers

    def answer(message: Any) -> None:
        answers.write(pickle.dumps(message))

    with start(pickle.load(requests)) as engine:
        while True:
            try:
                fn, specs, need = pickle.load(requests)
            except EOFError:
                return
            try:
                for receipt in engine.map(fn, specs, need):
                    answer(receipt)
                answer(None)
            except BaseException as error:  # noqa: BLE001 - the other side raises it
                answer(error)


if __name__ == "__main__":
    main()
