"""The files in deploy/ hold together: each is read by the program that it is for, or as strictly as we can."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]
from click.testing import CliRunner

from eds.cli import cli

ROOT = Path(__file__).parents[1]
DEPLOY = ROOT / "deploy"
NGINX = (DEPLOY / "nginx.conf").read_text(encoding="utf-8")
UNIT = (DEPLOY / "eds-annotator@.service").read_text(encoding="utf-8")
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
}


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


def nginx_says(text: str, folder: Path) -> str:
    """What `nginx -t` says of this text in an http block; empty where all is well."""
    temporary = "".join(
        f"{name}_temp_path {folder}/{name};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    whole = f"pid {folder}/pid; error_log stderr; events {{}} http {{ access_log off; {temporary} {text} }}"
    (folder / "whole.conf").write_text(whole)
    words = [program("nginx"), "-q", "-t", "-e", "stderr", "-c", str(folder / "whole.conf")]
    return subprocess.run(words, capture_output=True, text=True, check=False).stderr


def test_nginx_takes_its_file(tmp_path: Path) -> None:
    free = NGINX.replace("listen 80;", f"listen unix:{tmp_path}/socket;")
    assert nginx_says(free, tmp_path) == ""
    assert "unknown directive" in nginx_says(free.replace("proxy_pass", "proxy_pas"), tmp_path)


def verified(unit: str, folder: Path) -> str:
    """What `systemd-analyze verify` says of a unit whose program is there; it warns of what it does not know."""
    stand_in = folder / "eds"
    shutil.copy("/bin/true", stand_in)
    file = folder / "eds-annotator@.service"
    file.write_text(unit.replace("/opt/eds/bin/eds", str(stand_in)))
    words = [program("systemd-analyze"), "verify", "--man=no", str(file)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return done.stderr + (f"code {done.returncode}" if done.returncode else "")


def test_systemd_takes_the_unit(tmp_path: Path) -> None:
    assert verified(UNIT, tmp_path) == ""
    assert "Unknown key" in verified(UNIT.replace("Restart=", "Restrt="), tmp_path)


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
    assert set(compose) == {"name", "x-annotator", "services", "volumes"}
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
    assert services["nginx"]["ports"] == ["8080:80"]
    assert "listen 80;" in NGINX


def test_what_the_image_copies_is_there_and_names_an_extra_that_exists(compose: Any) -> None:
    dockerfile = compose["services"]["annotator-1"]["build"]["dockerfile_inline"]
    assert compose["services"]["annotator-1"]["build"]["context"] == ".."
    for line in re.findall(r"^COPY (.*)$", dockerfile, re.MULTILINE):
        *sources, _ = line.split()
        assert all((DEPLOY.parent / one).exists() for one in sources)
    assert 'pip install --no-cache-dir "/src[annotator]"' in dockerfile


def test_no_file_holds_a_password_and_a_key_stands_once(compose: Any) -> None:
    assert compose["services"]["database"]["environment"]["POSTGRES_PASSWORD"].startswith("${EDS_DATABASE_PASSWORD:?")
    told = {word for file in DEPLOY.iterdir() for word in re.findall(r"://\w+:([^@]+)@", file.read_text("utf-8"))}
    assert {word.partition(":?")[0] for word in told} == {"${EDS_DATABASE_PASSWORD", "PASSWORD"}
    with pytest.raises(yaml.YAMLError, match="stands twice"):
        yaml.load("a: 1\na: 2\n", Strict)


def test_every_file_is_told_of() -> None:
    said = (DEPLOY / "README.md").read_text(encoding="utf-8")
    assert {file.name for file in DEPLOY.iterdir()} - {"README.md"} <= set(re.findall(r"`([\w.@-]+)`", said))


def test_no_page_installs_the_package_of_an_index_that_is_called_alike() -> None:
    pages = [path for path in ROOT.rglob("*.md") if not path.relative_to(ROOT).parts[0].startswith(".")]
    told = [path.relative_to(ROOT).as_posix() for path in pages if re.search(r'pip install "?eds\b', path.read_text())]
    assert len(pages) > 10
    assert told == []
