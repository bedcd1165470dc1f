"""deploy/README.md run to the letter in an empty Debian under its own systemd: installed, judged, upgraded, restored.

    python -m tests.deploy_rehearsal [--base FOLDER] [--keep]

Needs root, debootstrap, systemd-nspawn (Debian: systemd-container), network, and nobody on ports 80, 443, 5432, 8501,
8502. `--base` is an empty Debian of debootstrap, made there if it is missing, so that the next run is faster.
"""

import argparse
import http.client
import json
import os
import re
import shutil
import signal
import ssl
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlencode, urlsplit

ROOT = Path(__file__).parents[1]
README = ROOT / "deploy" / "README.md"
HOST = "labels.example"
# Of the database: whatever a URL, a shell, SQL or a file might trip over.
PASSWORD = """p@ss/w:o\\r'd "$HOME" #1%20 ü&?;"""
SECRET = "a long sentence of the lead"
PORTS = (80, 443, 5432, 8501, 8502)
PROJECT = "/srv/eds/catalogue"
JUDGED = 12


def blocks(heading: str) -> list[str]:
    """The shell blocks below a heading of the README, in order."""
    section = re.split(rf"^## {heading}$", README.read_text(encoding="utf-8"), flags=re.MULTILINE)[1]
    return re.findall(r"^```sh\n(.*?)^```", re.split(r"^## ", section, flags=re.MULTILINE)[0], re.DOTALL | re.MULTILINE)


def say(text: str) -> None:
    """One line at once."""
    sys.stdout.write(f"{time.strftime('%H:%M:%S')}  {text}\n")
    sys.stdout.flush()


def expect(holds: bool, what: str) -> None:
    """Go on only if this holds."""
    if not holds:
        raise SystemExit(f"FAILED: {what}")
    say(f"ok: {what}")


class Machine:
    """A Debian that is booted in a folder, and shares our network."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.pip = pip_settings()
        words = ["systemd-nspawn", "-q", "-D", str(folder), "--boot", "--register=no", "--keep-unit"]
        words += ["--console=passive", *(f"--bind-ro={one}" for one in folders_in(self.pip))]
        legacy = not Path("/sys/fs/cgroup/cgroup.controllers").exists()
        environment = os.environ | ({"SYSTEMD_NSPAWN_UNIFIED_HIERARCHY": "0"} if legacy else {})
        self.log = (folder.parent / f"{folder.name}.log").open("w")
        self.process = subprocess.Popen(
            words, env=environment, stdin=subprocess.DEVNULL, stdout=self.log, stderr=subprocess.STDOUT
        )

    def boot(self) -> None:
        """Wait until its systemd is up."""
        wait_for(lambda: self.leader() is not None, 30, "the machine boots")
        wait_for(lambda: self.answer("systemctl is-system-running") in ("running", "degraded"), 120, "systemd runs")

    def leader(self) -> int | None:
        """The number of its first process."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        found = children.read_text().split() if children.exists() else []
        return int(found[0]) if found else None

    def run(self, script: str, **environment: str) -> str:
        """Run a script as root in the checkout; what it printed. It must succeed."""
        done = self._ran(script, environment)
        if done.returncode:
            raise SystemExit(f"FAILED ({done.returncode}): {script}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
        return done.stdout

    def answer(self, script: str, **environment: str) -> str:
        """What a script printed, whatever its code."""
        return self._ran(script, environment).stdout.strip()

    def _ran(self, script: str, environment: dict[str, str]) -> "subprocess.CompletedProcess[str]":
        path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
        known = {"PATH": path, "HOME": "/root", "LANG": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive", **self.pip}
        words = ["nsenter", "-t", str(self.leader()), "-m", "-u", "-i", "-n", "-p"]
        words += ["sh", "-euc", f"cd /root/checkout\n{script}"]
        return subprocess.run(words, env=known | environment, capture_output=True, text=True, timeout=1500)

    def end(self) -> None:
        """Shut it down."""
        if self.leader() is not None:
            os.kill(int(self.leader() or 0), signal.SIGRTMIN + 4)  # systemd: power off
        try:
            self.process.wait(40)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def pip_settings() -> dict[str, str]:
    """What pip is told on this machine, as variables: with it the rehearsal works behind a mirror, too."""
    listed = subprocess.run([sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True).stdout
    named = re.findall(r"^[^.\n]*\.([\w-]+)='(.*)'$", listed, re.MULTILINE)
    return {f"PIP_{name.upper().replace('-', '_')}": value for name, value in named}


def folders_in(settings: dict[str, str]) -> list[str]:
    """The folders, of the first two levels, in which pip is told to look for packages."""
    paths = [Path(one) for one in re.findall(r"(?<![:/\w])(?:file://)?(/[\w./-]+)", " ".join(settings.values()))]
    return sorted({str(Path(*one.parts[:3])) for one in paths if one.is_dir()})


def wait_for(holds: Callable[[], bool], seconds: float, what: str) -> None:
    """Wait until this holds; it must within so many seconds."""
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            raise SystemExit(f"FAILED: {what}: not within {seconds:.0f} s")
        time.sleep(0.3)


def bootstrap(base: Path) -> None:
    """An empty Debian with systemd, as an installation without tasks has it."""
    extra = "systemd,systemd-sysv,dbus,ca-certificates,adduser"
    words = ["debootstrap", "--variant=minbase", f"--include={extra}", "bookworm", str(base)]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)


def prepare(base: Path, folder: Path) -> None:
    """A copy of the base, with the checkout in it and what this machine knows of mirrors."""
    subprocess.run(["cp", "-a", "--reflink=auto", f"{base}/.", str(folder)], check=True)
    tracked = subprocess.run(["git", "ls-files", "-z", "."], cwd=ROOT, check=True, capture_output=True).stdout
    checkout = folder / "root" / "checkout"
    for name in filter(None, tracked.decode().split("\0")):
        if (ROOT / name).is_file() and not name.startswith(("notebooks/", "data/")):
            (checkout / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, checkout / name)
    for name in ("etc/ssl/certs/ca-certificates.crt", "etc/resolv.conf", "etc/apt/sources.list.d"):
        source, target = Path("/") / name, folder / name
        if source.is_dir():
            shutil.copytree(source, target, dirs_exist_ok=True, ignore=lambda _, names: set(names) - {"debian.sources"})
        elif source.exists():
            target.unlink(missing_ok=True)
            shutil.copy(source, target)


class Browser:
    """Requests to the server by its name, with cookies; its certificate must be the one in nginx."""

    def __init__(self, machine: Machine) -> None:
        self.context = ssl.create_default_context(cafile=str(machine.folder / "etc/eds/tls/cert.pem"))
        self.cookies: dict[str, str] = {}

    def ask(self, method: str, path: str, body: str | None = None, **headers: str) -> tuple[int, str]:
        """Status and body of an answer."""
        connection = http.client.HTTPSConnection("127.0.0.1", 443, context=self.context, timeout=60)
        connection._http_vsn_str = "HTTP/1.1"  # type: ignore[attr-defined]
        self.context.check_hostname = False  # the address is ours, the certificate is the name's
        given = {"Host": HOST, "Cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items())}
        connection.request(method, path, body, given | {name.replace("_", "-"): text for name, text in headers.items()})
        answer = connection.getresponse()
        for one in answer.headers.get_all("Set-Cookie") or []:
            name, _, value = one.partition(";")[0].partition("=")
            self.cookies[name] = value
            if name == "eds_browser" or "session" in name:
                assert "secure" in one.lower(), one
        return answer.status, answer.read().decode()

    def form(self, path: str, **fields: str) -> int:
        """Fill in the form that is there and send it; the status."""
        page = self.ask("GET", path, Accept="text/html")[1].partition("</form>")[0]
        hidden = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', page))
        kind = "application/x-www-form-urlencoded"
        body = urlencode({**hidden, **fields})
        status, answer = self.ask("POST", path, body, Origin=f"https://{HOST}", Content_Type=kind)
        if status >= 400:
            say(f"{path} answered {status}: {answer[-600:]}")
        return status


def main() -> None:
    """Walk through the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", type=Path, default=Path("/var/tmp/eds-debian"))
    parser.add_argument("--keep", action="store_true", help="leave the folder of the machine")
    options = parser.parse_args()
    for port in PORTS:
        if subprocess.run(["ss", "-Hltn", f"sport = :{port}"], capture_output=True, text=True).stdout:
            raise SystemExit(f"port {port} is in use here; the machine shares our network")
    if not options.base.exists():
        say("debootstrap")
        bootstrap(options.base)
    folder = Path(tempfile.mkdtemp(prefix="eds-debian-", dir="/var/tmp"))
    folder.chmod(0o755)
    prepare(options.base, folder)
    machine = Machine(folder)
    try:
        machine.boot()
        rehearse(machine)
        say("everything holds")
    finally:
        machine.end()
        if not options.keep:
            shutil.rmtree(folder)


def rehearse(machine: Machine) -> None:
    """Every block of the README, and a look after each."""
    machine.run("apt-get update -q")
    words = {"EDS_HOST": HOST, "EDS_DATABASE_PASSWORD": PASSWORD}
    programs, database, project, nginx, start = blocks("A Debian server")
    say("programs")
    machine.run(programs, **words)
    say("database")
    machine.run(database, **words)
    link = machine.run(project, **words).strip().splitlines()[-1]
    expect(link.startswith(f"https://{HOST}/invitation/"), "the invitation is a whole link")
    machine.run(nginx, **words)
    machine.run("eds synthetic catalogue --products 8 --size 96; eds suspects random -n 40 --yes")
    expert = machine.run("eds labels experts add ann").strip().splitlines()[-1]
    machine.run("eds labels campaigns add rehearsed --expert ann --yes")
    machine.run(start, **words)
    browser = Browser(machine)
    wait_for(lambda: browser.ask("GET", "/ready") == (200, '{"status":"ok"}'), 60, "the annotators are ready")
    path = urlsplit(expert).path
    expect(browser.form(path) == 303, "the link signs an expert in")
    expect(browser.form("/password", password=SECRET, again=SECRET) == 303, "who then chooses a password")
    judge(machine, browser, JUDGED // 2)
    machine.run("kill -9 $(systemctl show -p MainPID --value eds-annotator@8501)")
    judge(machine, browser, JUDGED)
    wait_for(lambda: machine.answer("systemctl is-active eds-annotator@8501") == "active", 20, "it comes again")
    say("ok: an expert judges through nginx, also while one process is killed")
    confined(machine)
    rotated(machine, path)
    backup = backed_up(machine)
    upgraded(machine)
    restored(machine, browser, backup)


def judge(machine: Machine, browser: Browser, until: int) -> None:
    """Judge until so many acts are stored; a refusal is tried again, as the page does."""
    handle = machine.run(inside("print(expert_progress(store, 'rehearsed', 'ann').handle)")).strip()
    deadline = time.monotonic() + 60
    while (acts := stored(machine)) < until and time.monotonic() < deadline:
        status, text = browser.ask("GET", f"/api/campaigns/{handle}/next?count=1")
        if status != 200:
            continue
        number = json.loads(text)["tasks"][0]["assignment"]
        act = {"token": f"rehearsed-{number}", "assignment": number, "value": acts % 2, "seconds": 1.0, "guideline": ""}
        body = json.dumps({"tab": "t", "expert": "ann", "judgements": [act]})
        browser.ask("POST", f"/api/campaigns/{handle}/judgements", body, X_EDS="1", Content_Type="application/json")
    expect(stored(machine) == until, f"{until} acts are stored")


def inside(code: str) -> str:
    """A script that runs Python on the server's label store, as the user of the services."""
    imports = (
        "import os; from eds.labels.store import open_store; from eds.labels.frames import labels_frame; "
        "from eds.labels.progress import expert_progress; store = open_store(os.environ['EDS_LABELS_URL'])"
    )
    python = f'runuser -u eds -- /opt/eds/bin/python -c "{imports}; {code}; store.close()"'
    return f"set -a; . /etc/eds/annotator.env; set +a; {python}"


def stored(machine: Machine) -> int:
    """How many acts are in the database."""
    return int(machine.run(inside("print(len(labels_frame(store)))")))


def confined(machine: Machine) -> None:
    """What the services may, and what the password shows up in."""
    for unit in ("eds-annotator@8501", "eds-backup"):
        said = machine.answer(f"systemd-analyze security {unit}.service --no-pager | tail -1")
        value = re.search(r"exposure level.*?: ([0-9.]+)", said)
        expect(value is not None and float(value[1]) <= 4, f"{unit}: {said.lstrip('→ ').strip()}")
    main = "$(systemctl show -p MainPID --value eds-annotator@{port})"
    users = [machine.run(f"stat -c %U /proc/{main.format(port=port)}").strip() for port in PORTS[3:]]
    expect(users == ["eds", "eds"], "the annotators run as their user")
    for private in ("/srv/eds/catalogue", "/var/backups/eds", "/etc/eds/pgpass", "/etc/eds/tls/key.pem"):
        said = machine.answer(f"runuser -u nobody -- head -c1 {private} 2>&1")
        expect("Permission denied" in said, f"{private} is not for others")
    logs = "journalctl --no-pager -o cat; cat /var/log/nginx/*.log /var/log/postgresql/*.log"
    text = machine.answer(f"{logs}; cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ | tr '\\0' '\\n'")
    expect("EDS_LABELS_URL" in text and "p@ss" not in text, "the database's password is in no log, no process")


def rotated(machine: Machine, path: str) -> None:
    """Logs: no invitation is in them, and they are rotated while nginx goes on."""
    token = path.rpartition("/")[2]
    text = machine.run("cat /var/log/nginx/access.log")
    expect("/invitation/... " in text.replace('"', " ") and token not in text, "no invitation's token is in nginx' log")
    machine.run("logrotate -f /etc/logrotate.d/nginx")
    Browser(machine).ask("GET", "/health")
    wait_for(lambda: "/health" in machine.answer("cat /var/log/nginx/access.log"), 10, "nginx logs after a rotation")
    said = machine.answer("systemd-analyze cat-config systemd/journald.conf")
    expect("SystemMaxUse=1G" in said, "the journal has a limit")


def backed_up(machine: Machine) -> str:
    """A backup by the timer's service."""
    expect(machine.answer("systemctl is-active eds-backup.timer") == "active", "the timer of backups waits")
    machine.run("touch -d '40 days ago' /var/backups/eds/labels-old.zip; systemctl start eds-backup.service")
    found = machine.run("ls /var/backups/eds/labels-*.zip").split()
    expect(len(found) == 1 and "old" not in found[0], "a backup is there, and the old one is gone")
    return found[0]


def upgraded(machine: Machine) -> None:
    """The block "Upgrade" on a database of the previous schema."""
    previous = sorted((ROOT / "tests" / "labels").glob("v0*.zip"))[-1]
    machine.run("systemctl stop 'eds-annotator@*'")
    remade = "ALTER DATABASE eds RENAME TO eds_aside; CREATE DATABASE eds OWNER eds ENCODING 'UTF8' LOCALE 'C.UTF-8' "
    for statement in (remade + "TEMPLATE template0").split("; "):
        machine.run(f'runuser -u postgres -- psql -v ON_ERROR_STOP=1 -d postgres -c "{statement}"')
    machine.run(f"install -o eds -m 0600 tests/labels/{previous.name} /srv/eds/{previous.name}")
    old = (
        "import os; from pathlib import Path; from eds.labels import backup, database, migrate; "
        f"tables, manifest = backup._read(Path('/srv/eds/{previous.name}')); "
        "engine = database.postgresql_engine(database.parse(os.environ['EDS_LABELS_URL'])); "
        "migrate.upgrade(engine, manifest.schema); newest, migrate.upgrade = migrate.upgrade, lambda *_: None; "
        "backup._fill(engine, tables, manifest, made=True); engine.dispose()"
    )
    machine.run(f'set -a; . /etc/eds/annotator.env; set +a; runuser -u eds -- /opt/eds/bin/python -c "{old}"')
    refused = machine.answer("eds labels status 2>&1")
    expect("eds labels upgrade" in refused, "an older schema is refused, and the message says what to do")
    (block,) = blocks("Upgrade")
    machine.run(block)
    expect(stored(machine) > 0, f"{previous.stem} is upgraded, {stored(machine)} acts are there")
    expect("before-upgrade-" in machine.run("ls /var/backups/eds"), "the upgrade made a backup first")


def restored(machine: Machine, browser: Browser, backup: str) -> None:
    """The block "Restore", and the expert goes on."""
    (block,) = blocks("Restore")
    machine.run(block, EDS_BACKUP=backup)
    expect(stored(machine) == JUDGED, f"the restored database has the {JUDGED} acts")
    wait_for(lambda: browser.ask("GET", "/ready")[0] == 200, 60, "ready again")
    browser.form("/sign-in", name="ann", password=SECRET, next="/")
    judge(machine, browser, JUDGED + 4)


if __name__ == "__main__":
    main()
