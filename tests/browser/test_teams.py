"""A team: two annotators behind one nginx (deploy/nginx.conf), over one PostgreSQL; one of them may end at any time."""

import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.annotator import PAIRS, Annotator, prepare, running
from tests.browser.judging import insist, open_page, pairs_of, press, stored, wait_saved, watch
from tests.browser.test_nginx import _nginx, _wait_for, free_port
from tests.postgres import Server

DEPLOYED = (Path(__file__).parents[2] / "deploy" / "nginx.conf").read_text(encoding="utf-8")


@dataclass
class Team:
    """Two processes, by their port, and the address before them."""

    annotators: dict[int, Annotator]
    url: str

    @property
    def any(self) -> Annotator:
        """One of them, for its store; it answers at the common address."""
        return next(iter(self.annotators.values()))

    def serving(self, page: Page) -> Annotator:
        """The process that this browser is kept with."""
        cookie = "; ".join(f"{one['name']}={one['value']}" for one in page.context.cookies())
        return self.annotators[self.asked(cookie)[0]]

    def asked(self, cookie: str = "") -> tuple[int, str]:
        """Which process answers a browser with this cookie, and the cookie that it is given."""
        try:
            with urlopen(Request(f"{self.url}/sign-in", headers={"Cookie": cookie} if cookie else {})) as answer:
                headers = answer.headers
        except HTTPError as error:
            with error:
                headers = error.headers
        given = [one.split(";")[0] for one in headers.get_all("Set-Cookie", []) if one.startswith("eds_browser=")]
        return int(headers["X-Upstream"].rpartition(":")[2]), given[0] if given else ""


@pytest.fixture
def team(tmp_path: Path) -> Iterator[Team]:
    with ExitStack() as stack:
        server = Server(durable=False)
        stack.callback(server.remove)
        project = prepare(tmp_path / "shop", labels=server.url)
        both = [stack.enter_context(running(project, "--proxy", "127.0.0.1", "--no-prepare")) for _ in range(2)]
        port = free_port()
        text = DEPLOYED.replace("listen 80;", f"listen 127.0.0.1:{port};").replace("/var/log/nginx", str(tmp_path))
        for wanted, one in zip(re.findall(r"127\.0\.0\.1:(850\d)", DEPLOYED), both, strict=True):
            text = text.replace(f"127.0.0.1:{wanted}", f"127.0.0.1:{one.port}")
        text = text.replace(
            "location / {", "location / { add_header X-Upstream $upstream_addr always;"
        )  # to see who answers
        temporary = "".join(
            f"{name}_temp_path {tmp_path}/{name};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        (tmp_path / "nginx.conf").write_text(
            f"daemon off; pid {tmp_path}/pid; error_log {tmp_path}/error.log; worker_processes 2; user root;"
            f"events {{}} http {{ access_log off; {temporary} {text} }}"
        )
        nginx = subprocess.Popen([_nginx(), "-e", str(tmp_path / "error.log"), "-c", str(tmp_path / "nginx.conf")])
        stack.callback(nginx.wait, 10)
        stack.callback(nginx.terminate)
        _wait_for(port)
        for one in both:
            one.url = f"http://127.0.0.1:{port}"  # browsers are to go there
        yield Team({one.port: one for one in both}, f"http://127.0.0.1:{port}")


def test_an_expert_goes_on_when_the_process_dies(browser: Browser, team: Team) -> None:
    # Browsers stay where they are led, and are led to both.
    led = {}
    for _ in range(12):
        port, cookie = team.asked()
        assert cookie.startswith("eds_browser=")
        led[cookie] = port
    assert set(led.values()) == set(team.annotators)
    for cookie, port in led.items():
        assert {team.asked(cookie) for _ in range(3)} == {(port, "")}
    numbers = {name: pairs_of(team.any, PAIRS, name) for name in ("ann", "bob")}
    with team.any.page(browser, "ann") as page, team.any.page(browser, "bob") as other:
        typed, typed_there = watch(page), watch(other)
        open_page(page, team.any, PAIRS, "ann")
        open_page(other, team.any, PAIRS, "bob")
        session = [one["value"] for one in page.context.cookies() if one["name"] == "eds_session"]
        for key in "sdus":
            press(page, key)
            press(other, key)
        wait_saved(page)
        wait_saved(other)
        dying = team.serving(page)
        press(page, "s")
        dying.stop(signal.SIGKILL)  # as it is: with what is on its way
        for _ in range(3):
            insist(page, "d")
        insist(other, "d")
        wait_saved(page, 30)
        wait_saved(other, 30)
        surviving = team.serving(page)
        assert surviving is not dying
        page.goto(f"{team.url}/")  # still signed in, by the same session
        expect(page.get_by_text(PAIRS)).to_be_visible()
        assert [one["value"] for one in page.context.cookies() if one["name"] == "eds_session"] == session
        dying.start()  # it comes again, and takes its browsers back; what was judged stands
        open_page(page, team.any, PAIRS, "ann")
        insist(page, "s")
        wait_saved(page, 30)
    assert len(typed.labels) >= 9
    assert stored(team.any, PAIRS, "ann", numbers["ann"]) == typed.labels
    assert stored(team.any, PAIRS, "bob", numbers["bob"]) == typed_there.labels
