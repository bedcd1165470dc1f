"""Two nodes on a wire: a worker killed, a node killed, the wire cut. The job finishes with the right bytes each time.

The nodes are network namespaces joined by a pair of virtual cards, which only root may make. They share one file
system, as nodes of a cluster do, and the token without which nobody may speak to Ray.
"""

import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from eds.config import ExecutorSettings
from eds.errors import InputError
from eds.parallel import Backend, Resources
from eds.parallel.cluster import ENVIRONMENT
from tests.parallel.isolated import ROOT, Isolated
from tests.parallel.tasks import places, square, squares
from tests.privileges import needs_root

PORT = 6379
PATIENCE = 100.0  # seconds until a job counts as hanging; without keepalives it hangs beyond 300


def run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True, text=True)


@dataclass
class Cluster:
    """Head and driver in one namespace, the other node in another."""

    name: str
    folder: Path
    token: str = field(default_factory=lambda: secrets.token_hex(16))
    nodes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    def wire(self) -> None:
        """Make both namespaces and the wire between them."""
        run("ip", "link", "add", f"{self.name}a", "type", "veth", "peer", "name", f"{self.name}b")
        for side, address in (("a", "10.203.0.1"), ("b", "10.203.0.2")):
            run("ip", "netns", "add", self.space(side))
            run("ip", "-n", self.space(side), "link", "set", "lo", "up")
            run("ip", "link", "set", f"{self.name}{side}", "netns", self.space(side))
            run("ip", "-n", self.space(side), "addr", "add", f"{address}/24", "dev", f"{self.name}{side}")
            run("ip", "-n", self.space(side), "link", "set", f"{self.name}{side}", "up")

    def space(self, side: str) -> str:
        return f"{self.name}-{side}"

    def inside(self, side: str) -> tuple[str, ...]:
        return ("ip", "netns", "exec", self.space(side))

    def begin(self, side: str) -> None:
        """Start the node and wait until it says that it runs."""
        own = ["--head", f"--port={PORT}", "--include-dashboard=false", f"--temp-dir={self.folder}/ray"]
        joins = own if side == "a" else [f"--address=10.203.0.1:{PORT}"]
        address = "10.203.0.1" if side == "a" else "10.203.0.2"
        log = self.folder / f"{side}-{len(list(self.folder.iterdir()))}.log"
        with log.open("wb") as stream:
            self.nodes[side] = subprocess.Popen(
                [
                    *self.inside(side),
                    sys.executable,
                    "-m",
                    "ray.scripts.scripts",
                    "start",
                    *joins,
                    "--block",
                    f"--node-ip-address={address}",
                    "--num-cpus=2",
                    "--object-store-memory=100000000",
                    "--disable-usage-stats",
                ],
                stdout=stream,
                stderr=stream,
                env=self.environment,
                cwd=ROOT,
                start_new_session=True,
            )
        until(lambda: b"Ray runtime started" in log.read_bytes(), f"node {side}: {log.read_text()}")

    @property
    def environment(self) -> dict[str, str]:
        return os.environ | ENVIRONMENT | {"RAY_AUTH_TOKEN": self.token, "PYTHONPATH": str(ROOT)}

    def number(self, side: str) -> int:
        """The namespace's number, as `tests.parallel.tasks.here` tells it."""
        return Path(f"/run/netns/{self.space(side)}").stat().st_ino

    def kill(self, side: str) -> None:
        """End every process of a node at once, as a power cut does."""
        found = subprocess.run(["ip", "netns", "pids", self.space(side)], capture_output=True, text=True, check=True)
        for process in map(int, found.stdout.split()):
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                continue
        if side in self.nodes:
            self.nodes.pop(side).wait(10)

    def link(self, state: str) -> None:
        run("ip", "-n", self.space("b"), "link", "set", f"{self.name}b", state)

    def remove(self) -> None:
        for side in ("a", "b"):
            self.kill(side)
            run("ip", "netns", "del", self.space(side))
        shutil.rmtree(self.folder, ignore_errors=True)


def until(good: Callable[[], bool], what: str, seconds: float = 40.0) -> None:
    end = time.monotonic() + seconds
    while not good():
        assert time.monotonic() < end, what
        time.sleep(0.05)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    needs_root("make network namespaces")
    made = Cluster(f"eds{os.getpid() % 100_000}", Path(tempfile.mkdtemp(prefix="eds-cluster-", dir="/tmp")))
    try:
        made.wire()
        made.begin("a")
        made.begin("b")
        yield made
    finally:
        made.remove()


@pytest.fixture(scope="module")
def engine(cluster: Cluster) -> Iterator[Backend]:
    settings = ExecutorSettings(use="ray", cluster=f"10.203.0.1:{PORT}")
    with Isolated(settings, cluster.inside("a"), RAY_AUTH_TOKEN=cluster.token) as made:
        yield made


def finished(
    engine: Backend, cluster: Cluster, folder: Path, fault: Callable[[], None], deadline: float | None = None
) -> float:
    """Do a job; the fault comes when the other node works. Seconds from the fault to the end."""
    specs = squares(folder, 16, pause=1.0)
    receipts = engine.map(square, specs, Resources(deadline=deadline))
    done = [next(receipts)]
    until(lambda: cluster.number("b") in {place for _, place in places(folder)[-3:]}, "the other node does nothing")
    fault()
    begun = time.monotonic()
    for receipt in receipts:
        done.append(receipt)
        assert time.monotonic() - begun < PATIENCE
    assert {receipt.rows for receipt in done} == set(range(16))
    assert [Path(spec.out).read_text() for spec in specs] == [str(number**2) for number in range(16)]
    assert {place for _, place in places(folder)} == {cluster.number("a"), cluster.number("b")}
    return time.monotonic() - begun


def test_a_worker_killed(engine: Backend, cluster: Cluster, tmp_path: Path) -> None:
    specs = squares(tmp_path, 8, pause=0.3, dies_once=3)
    assert {receipt.rows for receipt in engine.map(square, specs)} == set(range(8))
    assert [number for number, _ in places(tmp_path)].count(3) == 2


def test_the_wire_cut_and_a_second_copy_begun(engine: Backend, cluster: Cluster, tmp_path: Path) -> None:
    assert finished(engine, cluster, tmp_path, lambda: cluster.link("down"), deadline=4.0) < PATIENCE


def test_the_wire_cut_and_noticed(engine: Backend, cluster: Cluster, tmp_path: Path) -> None:
    cluster.kill("b")
    cluster.link("up")
    cluster.begin("b")
    assert finished(engine, cluster, tmp_path, lambda: cluster.link("down")) < PATIENCE


def test_a_node_killed(engine: Backend, cluster: Cluster, tmp_path: Path) -> None:
    cluster.kill("b")
    cluster.link("up")
    cluster.begin("b")
    assert finished(engine, cluster, tmp_path, lambda: cluster.kill("b")) < PATIENCE


def test_a_wrong_token_and_a_cluster_that_is_not_there(cluster: Cluster, tmp_path: Path) -> None:
    for token, address, told in (
        ("0" * 32, f"10.203.0.1:{PORT}", "the cluster at 10.203.0.1:6379 refuses"),
        (cluster.token, "10.203.0.1:6399", "nothing answers at 10.203.0.1:6399"),
        (cluster.token, "head", "invalid address 'head'"),
    ):
        settings = ExecutorSettings(use="ray", cluster=address)
        with (
            Isolated(settings, cluster.inside("a"), RAY_AUTH_TOKEN=token) as other,
            pytest.raises(InputError, match=told),
        ):
            list(other.map(square, squares(tmp_path, 1)))
