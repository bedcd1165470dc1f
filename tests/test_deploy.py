"""The files in deploy/ hold together: each is read by the program that it is for, or as strictly as we can."""

import re
import shutil
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
import yaml  # type: ignore[import-untyped]
from click.testing import CliRunner

from eds.cli import cli
from tests import deploy_rehearsal
from tests.browser.test_nginx import free_port

ROOT = Path(__file__).parents[1]
DEPLOY = ROOT / "deploy"
NGINX = (DEPLOY / "nginx.conf").read_text(encoding="utf-8")
UNIT = (DEPLOY / "eds-annotator@.service").read_text(encoding="utf-8")
BACKUP = (DEPLOY / "eds-backup.service").read_text(encoding="utf-8")
PORTS = re.findall(r"server 127\.0\.0\.1:(\d+)", NGINX)
# Of the Compose Specification, what our file uses; a key that is none of these is a slip.
SERVICE = {
    "image",
    "restart",
    "network_mode",
    "environment",
    "volumes",
    "depends_on",
    "healthcheck",
    "ports",
    "build",
    "command",
    "cap_drop",
    "security_opt",
    "user",
    "read_only",
    "tmpfs",
    "sysctls",
}
MOST_EXPOSED = 4.0  # of systemd-analyze security, where 10 is everything


class Strict(yaml.SafeLoader):  # type: ignore[misc]
    """YAML in which a key stands once."""


def _once(loader: Strict, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
    keys = [key.value for key, _ in node.value]
    twice = {str(key) for key in keys if keys.count(key) > 1}
    if twice:
        raise yaml.constructor.ConstructorError(None, None, f"stands twice: {twice}", node.start_mark)
    loader.flatten_mapping(node)
    made: dict[Any, Any] = loader.construct_mapping(node, deep)
    return made


Strict.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _once)


@pytest.fixture
def compose() -> Any:
    return yaml.load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"), Strict)


def program(name: str) -> str:
    found = shutil.which(name) or shutil.which(name, path="/usr/sbin")
    if found is None:
        pytest.fail(f"this test needs {name}: apt-get install nginx-light systemd")
    return found


def nginx_file(text: str, folder: Path) -> Path:
    """A whole configuration with this text in its http block."""
    temporary = "".join(
        f"{name}_temp_path {folder}/{name};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    whole = f"pid {folder}/pid; error_log stderr; events {{}} http {{ access_log off; {temporary} {text} }}"
    (folder / "whole.conf").write_text(whole)
    return folder / "whole.conf"


def nginx_says(text: str, folder: Path) -> str:
    """What `nginx -t` says of this text in an http block; empty where all is well."""
    words = [program("nginx"), "-q", "-t", "-e", "stderr", "-c", str(nginx_file(text, folder))]
    return subprocess.run(words, capture_output=True, text=True, check=False).stderr


def test_nginx_takes_its_file(tmp_path: Path) -> None:
    free = NGINX.replace("listen 80;", f"listen unix:{tmp_path}/socket;").replace("/var/log/nginx", str(tmp_path))
    assert nginx_says(free, tmp_path) == ""
    assert "unknown directive" in nginx_says(free.replace("proxy_pass", "proxy_pas"), tmp_path)


def told_of(unit: str, name: str, folder: Path, *words: str) -> str:
    """What systemd-analyze says of a unit whose programs are there."""
    stand_in = folder / "eds"
    shutil.copy("/bin/true", stand_in)
    file = folder / name
    file.write_text(unit.replace("/opt/eds/bin/eds", str(stand_in)))
    done = subprocess.run(
        [program("systemd-analyze"), *words, str(file)], capture_output=True, text=True, check=False, env={"LANG": "C"}
    )
    return done.stdout + done.stderr + (f"code {done.returncode}" if done.returncode else "")


@pytest.mark.parametrize("name", ["eds-annotator@.service", "eds-backup.service", "eds-backup.timer"])
def test_systemd_takes_the_units(name: str, tmp_path: Path) -> None:
    unit = (DEPLOY / name).read_text(encoding="utf-8")
    shutil.copy(DEPLOY / "eds-backup.service", tmp_path)  # which the timer starts
    (tmp_path / "eds-backup.service").write_text(BACKUP.replace("/opt/eds/bin/eds", "/bin/true"))
    assert told_of(unit, name, tmp_path, "verify", "--man=no") == ""
    wrong = told_of(unit.replace("Description=", "Descritpion="), name, tmp_path, "verify", "--man=no")
    assert "Unknown key" in wrong


@pytest.mark.parametrize("name", ["eds-annotator@.service", "eds-backup.service"])
def test_the_services_may_do_little(name: str, tmp_path: Path) -> None:
    unit = (DEPLOY / name).read_text(encoding="utf-8")
    told = told_of(unit, name, tmp_path, "security", "--offline=yes", "--no-pager")
    (exposure,) = re.findall(r"exposure level for \S+: ([0-9.]+)", told)
    assert float(exposure) <= MOST_EXPOSED
    loose = told_of(unit.replace("CapabilityBoundingSet=", "#"), name, tmp_path, "security", "--offline=yes")
    assert float(re.findall(r"exposure level for \S+: ([0-9.]+)", loose)[0]) > float(exposure)


def readme_blocks() -> list[str]:
    return deploy_rehearsal.blocks("A Debian server")


def test_the_blocks_of_the_page_are_shell_and_name_files_that_are_there() -> None:
    every = [*readme_blocks(), *deploy_rehearsal.blocks("Upgrade"), *deploy_rehearsal.blocks("Restore")]
    assert len(every) == 7
    for block in every:
        done = subprocess.run(["sh", "-n"], input=block, text=True, capture_output=True)
        assert done.returncode == 0, done.stderr
        for name in re.findall(r"\bdeploy/([\w.@-]+)", block):
            assert (DEPLOY / name).is_file()
    settings = re.findall(r"^(EDS_\w+)=", "".join(every), re.MULTILINE)
    assert {"EDS_PROJECT", "EDS_LABELS_URL", "EDS_ANNOTATOR_URL"} <= set(settings)


def test_the_page_keeps_any_password_as_libpq_reads_it(tmp_path: Path) -> None:
    """The line of the page that writes the password's file; libpq unescapes a backslash and what follows it."""
    (line,) = [line for block in readme_blocks() for line in block.splitlines() if line.startswith("printf '%s'")]
    file = tmp_path / "pgpass"
    for password in (deploy_rehearsal.PASSWORD, "plain", "a:b", "c\\d", "&", "/"):
        environment = {"EDS_DATABASE_PASSWORD": password, "PATH": "/bin:/usr/bin"}
        subprocess.run(["sh", "-euc", line.replace("/etc/eds/pgpass", str(file))], env=environment, check=True)
        (entry,) = file.read_text().splitlines()
        *fields, kept = re.split(r"(?<!\\):", entry, maxsplit=4)
        assert fields == ["127.0.0.1", "5432", "eds", "eds"]
        assert re.sub(r"\\(.)", r"\1", kept) == password


def test_what_nginx_logs_names_no_invitation(tmp_path: Path) -> None:
    port = free_port()
    text = NGINX.replace("listen 80;", f"listen 127.0.0.1:{port};").replace("/var/log/nginx", str(tmp_path))
    file = nginx_file(text, tmp_path)
    file.write_text(file.read_text() + "daemon off; master_process off;")
    process = subprocess.Popen([program("nginx"), "-e", "stderr", "-c", str(file)], stderr=subprocess.DEVNULL)
    try:
        for path in ("/invitation/s3cret", "/eds/invitation/s3cret?a=b", "/guide?a=b"):
            with suppress(HTTPError):  # nobody is behind it
                _opened(f"http://127.0.0.1:{port}{path}")
        deadline, log = time.monotonic() + 10, ""
        while log.count("\n") < 3 and time.monotonic() < deadline:
            log = (tmp_path / "access.log").read_text()
            time.sleep(0.05)
    finally:
        process.terminate()
        process.wait(10)
    assert "s3cret" not in log
    assert re.findall(r'"GET (\S+)"', log) == ["/invitation/...", "/eds/invitation/...", "/guide?a=b"]


def _opened(address: str) -> None:
    deadline = time.monotonic() + 10
    while True:
        try:
            with urlopen(address):
                return
        except HTTPError:
            raise
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def commands(compose: Any) -> list[list[str]]:
    """Every command line of ours that stands in the files, without `eds`."""
    (start,) = re.findall(r"^ExecStart=/opt/eds/bin/eds (.*)$", UNIT, re.MULTILINE)
    found = [start.replace("%i", PORTS[0]).split()]
    return found + [one["command"][1:] for one in compose["services"].values() if one.get("command", [""])[0] == "eds"]


def test_our_command_lines_are_known_to_our_command_line(compose: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[dict[str, Any]] = []
    from eds.cli import labels, serving  # noqa: F401 - so that the command is there to be watched

    monkeypatch.setattr(serving.serve, "callback", lambda **given: asked.append(given))
    for words in commands(compose):
        done = CliRunner().invoke(cli, words)
        assert done.exit_code == 0, done.output
    assert [one["proxies"] for one in asked] == [("127.0.0.1",)] * 3
    assert {str(one["port"]) for one in asked} == set(PORTS)


def test_compose_names_only_what_is_there(compose: Any) -> None:
    assert set(compose) == {"name", "x-confined", "x-annotator", "services", "volumes"}
    services = compose["services"]
    mounted = set()
    for name, service in services.items():
        assert set(service) <= SERVICE, name
        assert "image" in service
        assert set(service.get("depends_on", {})) <= set(services)
        assert service.get("network_mode", "service:nginx") == "service:nginx"
        for one in service.get("depends_on", {}):
            assert "healthcheck" in services[one]
        for volume in service.get("volumes", []):
            source = volume.rpartition(":ro")[0] or volume
            mounted.add(source.rsplit(":", 1)[0])
    assert set(compose["volumes"]) == {one for one in mounted if one[0] not in "./$"}
    assert all((DEPLOY / one).is_file() for one in mounted if one[0] == ".")
    assert sorted(one["command"][4] for one in services.values() if "command" in one) == sorted(PORTS)
    assert services["nginx"]["ports"] == ["127.0.0.1:8080:80"]  # a port alone would be open to everybody, past ufw
    assert "listen 80;" in NGINX


def test_what_the_image_copies_is_there_and_names_an_extra_that_exists(compose: Any) -> None:
    dockerfile = compose["services"]["annotator-1"]["build"]["dockerfile_inline"]
    assert compose["services"]["annotator-1"]["build"]["context"] == ".."
    for line in re.findall(r"^COPY (.*)$", dockerfile, re.MULTILINE):
        *sources, _ = line.split()
        assert all((DEPLOY.parent / one).exists() for one in sources)
    assert 'pip install --no-cache-dir "/src[annotator]" -c /src/constraints.txt' in dockerfile


def test_the_container_file_is_free_of_what_hadolint_warns_of(compose: Any) -> None:
    dockerfile = compose["services"]["annotator-1"]["build"]["dockerfile_inline"]
    done = subprocess.run(
        [Path(sys.executable).parent / "hadolint", "-"], input=dockerfile, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "")


def test_what_the_image_copies_is_enough_to_build_it(compose: Any, tmp_path: Path) -> None:
    """The container's own commands, in an empty folder instead of an image: COPY, and of the installation the build."""
    dockerfile = compose["services"]["annotator-1"]["build"]["dockerfile_inline"]
    for line in re.findall(r"^COPY (.*)$", dockerfile, re.MULTILINE):
        *sources, target = line.split()
        place = tmp_path / target.lstrip("/")
        for one in sources:
            if (ROOT / one).is_dir():
                shutil.copytree(ROOT / one, place, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                place.mkdir(exist_ok=True)
                shutil.copy(ROOT / one, place)
    command: list[str | Path] = [
        sys.executable,
        "-m",
        "build",
        "--wheel",
        "--no-isolation",
        "--outdir",
        tmp_path,
        tmp_path / "src",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(list(tmp_path.glob("eds_benchmark-*.whl"))) == 1


def test_nobody_in_a_container_is_root(compose: Any) -> None:
    for name, service in compose["services"].items():
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]
        assert service.get("user") or "unprivileged" in service["image"], name
    assert "USER 10001" in compose["services"]["annotator-1"]["build"]["dockerfile_inline"]


def test_no_file_holds_a_password_and_a_key_stands_once(compose: Any) -> None:
    assert compose["services"]["database"]["environment"]["POSTGRES_PASSWORD"].startswith("${EDS_DATABASE_PASSWORD:?")
    assert compose["x-annotator"]["environment"]["PGPASSWORD"].startswith("${EDS_DATABASE_PASSWORD:?")
    told = {word for file in DEPLOY.iterdir() for word in re.findall(r"://\w+:([^@]+)@", file.read_text("utf-8"))}
    assert told == set()  # in a URL some characters of a password would mean something else
    with pytest.raises(yaml.YAMLError, match="stands twice"):
        yaml.load("a: 1\na: 2\n", Strict)


def test_every_file_is_told_of() -> None:
    said = (DEPLOY / "README.md").read_text(encoding="utf-8")
    assert {file.name for file in DEPLOY.iterdir()} - {"README.md"} <= set(re.findall(r"`([\w.@-]+)`", said))


def test_no_page_installs_the_package_of_an_index_that_is_called_alike() -> None:
    pages = [path for path in ROOT.rglob("*.md") if not path.relative_to(ROOT).parts[0].startswith(".")]
    told = [
        path.relative_to(ROOT).as_posix()
        for path in pages
        if re.search(r'pip install "?eds(?!-benchmark)\b', path.read_text())
    ]
    assert len(pages) > 10
    assert told == []
