"""The annotator's server: start to usable page, keep-alive answers, pictures from the cache, memory over many requests.

    python -m tests.speed.annotator_server

Everything is printed with the number that it is held against; ratios are of one run.
"""

import shutil
import sys
import time
from http.client import HTTPConnection
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from playwright.sync_api import sync_playwright

from eds.labels.queue import next_batch
from tests.browser.annotator import PAIRS, Annotator, prepare, running

ROUNDS = 400
REQUESTS = 20_000


def main() -> None:
    """Print every figure."""
    with TemporaryDirectory() as folder:
        project = prepare(Path(folder) / "shop")
        begun = time.perf_counter()
        with running(project) as annotator:
            ready = time.perf_counter() - begun
            shown = ready + _first_page(annotator)
            print(f"start to ready {ready:.2f} s, to a usable page {shown:.2f} s (at most 5)")
            _answers(annotator)
            _memory(annotator)


def _first_page(annotator: Annotator) -> float:
    """Seconds from the browser's first request to the campaigns on the page."""
    path = shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        with annotator.page(browser, "ann") as page:
            begun = time.perf_counter()
            page.goto(annotator.url)
            page.get_by_text(PAIRS).wait_for()
            took = time.perf_counter() - begun
        browser.close()
    return took


def _answers(annotator: Annotator) -> None:
    headers = {"Cookie": f"eds_session={annotator.token('ann')}"}
    connection = HTTPConnection("127.0.0.1", annotator.port)
    health = _median(connection, "/health", {})
    task = next_batch(annotator.store, PAIRS, "ann", 1)[0]
    url = _picture(annotator, task.query_id)
    first = _median(connection, url, headers, rounds=1)
    picture = _median(connection, url, headers)
    icon = _median(connection, "/favicon.png", headers)
    print(f"keep-alive GET of /health {health:.2f} ms (below 5); behind the gate {icon:.2f} ms: {icon / health:.1f}x")
    print(f"a picture, made {first:.0f} ms, from the cache {picture:.2f} ms: {picture / icon:.1f}x an icon in memory")
    connection.close()


def _picture(annotator: Annotator, image_id: str) -> str:
    from annotator_ui.app_state import Site

    return Site(annotator.project).pictures.url("ann", image_id, "large")


def _median(connection: HTTPConnection, path: str, headers: dict[str, str], rounds: int = ROUNDS) -> float:
    times = []
    for _ in range(rounds):
        begun = time.perf_counter()
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        answer.read()
        if answer.status != 200:
            sys.exit(f"{path} answered {answer.status}")
        times.append(time.perf_counter() - begun)
    return 1000 * median(times)


def _memory(annotator: Annotator) -> None:
    """Resident memory after a warm-up and after many requests of every kind."""
    assert annotator.process is not None
    headers = {"Cookie": f"eds_session={annotator.token('ann')}"}
    pictures = {task.candidate_id for task in next_batch(annotator.store, PAIRS, "ann", 40)}
    paths = ["/health", *(_picture(annotator, image) for image in pictures)]
    connection = HTTPConnection("127.0.0.1", annotator.port)
    sizes = []
    for _ in range(3):
        for number in range(REQUESTS // 3):
            connection.request("GET", paths[number % len(paths)], headers=headers)
            connection.getresponse().read()
        status = Path(f"/proc/{annotator.process.pid}/status").read_text()
        sizes.append(int(status.split("VmRSS:")[1].split()[0]) / 1024)
    connection.close()
    print(f"memory after each third of {REQUESTS:,} requests: {', '.join(f'{size:.0f} MB' for size in sizes)}")


if __name__ == "__main__":
    main()
