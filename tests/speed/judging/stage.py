"""What the speed measurements of the annotator share: a project with many pairs, a server, a browser, statistics."""

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
from playwright.sync_api import Browser, Page, sync_playwright

from eds import tables
from eds.labels.campaigns import Plan, create_campaign
from eds.labels.experts import add_expert
from eds.labels.progress import expert_progress
from eds.labels.shuffle import positions
from eds.project import Project
from eds.synthetic.catalogue import draw_catalogue
from tests.browser.annotator import Annotator, running, store_of
from tests.browser.conftest import QUIET

PAIRS, GRID = "pairs", "grid"


def prepare(folder: Path, experts: Sequence[str], pairs: int = 3000, size: int = 768) -> Project:
    """Drawn pictures of the size that shops use, and a campaign of pairs and one of grids of 24 for everybody."""
    project = Project.create(folder / "shop", {"project.name": "Speed"})
    images = draw_catalogue(project.image_root, products=70, views=2, wild=20, size=size, workers=2)
    project.write(images, "images", tables.Provenance("drawn to measure"))
    names = images["image_id"].tolist()
    queries, others = names[:20], names[20:]
    frame = pd.DataFrame(
        [(queries[n % 20], others[(n // 20) % len(others)]) for n in range(min(pairs, 20 * len(others)))],
        columns=["query_id", "candidate_id"],
    )
    rows = [(query, other) for query in names for other in [one for one in others if one != query][:24]]
    grid = pd.DataFrame(rows, columns=frame.columns)
    with store_of(project) as store:
        for name in experts:
            add_expert(store, name)
        create_campaign(store, Plan(PAIRS, guideline="1"), frame, list(experts))
        plan = Plan(GRID, "grid", "similar", guideline="1")
        create_campaign(store, plan, _asked_again_last(grid, plan.seed, experts[0]), list(experts))
    return project


def _asked_again_last(grid: pd.DataFrame, seed: int, expert: str) -> pd.DataFrame:
    """The pairs and, behind all pages of this expert, one of them again, as a grid must: only pages are measured."""
    queries, candidates = (pa.array(grid[name], pa.string()) for name in ("query_id", "candidate_id"))
    last = int(positions(seed, expert, queries, candidates, np.zeros(len(grid), np.bool_)).argmax())
    return pd.concat([grid.assign(origin="pool"), grid.iloc[[last]].assign(origin="repeat")], ignore_index=True)


@contextmanager
def served(folder: Path, experts: Sequence[str], pairs: int = 3000, size: int = 768) -> Iterator[Annotator]:
    """A running annotator over such a project."""
    with running(prepare(folder, experts, pairs, size)) as found:
        yield found


@contextmanager
def chromium() -> Iterator[Browser]:
    """A real Chromium."""
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, headless=True, args=QUIET)
        yield browser
        browser.close()


def open_campaign(page: Page, annotator: Annotator, campaign: str, expert: str, view: str) -> None:
    """The judging page with its first pictures painted; `window.waits` then fills with ms from key to painted."""
    page.add_init_script(
        "window.waits = []; window.pressed = 0;"
        "addEventListener('keydown', (event) => { window.pressed = event.timeStamp; }, true);"
        "addEventListener('eds-painted', (event) => {"
        " if (window.pressed) window.waits.push(event.detail.at - window.pressed);"
        " window.pressed = 0; window.there = 1; });"
    )
    handle = expert_progress(annotator.store, campaign, expert).handle
    page.goto(f"{annotator.url}/{view}?campaign={handle}")
    page.wait_for_function("() => window.there === 1")
    page.wait_for_timeout(1500)


def pressed(page: Page, keys: Sequence[str], pace: int) -> np.ndarray:
    """Press the keys at this pace (ms); ms from each key to the next picture painted."""
    page.evaluate("window.waits = []")
    for turn, key in enumerate(keys):
        page.keyboard.press(key)
        page.wait_for_function("count => window.waits.length >= count", arg=turn + 1, polling=10, timeout=20_000)
        page.wait_for_timeout(pace)
    return np.array(page.evaluate("window.waits"))


def go_far(page: Page) -> None:
    """From now on a round trip takes 150 ms, at 2 Mbit/s."""
    client = page.context.new_cdp_session(page)
    client.send("Network.enable")
    rate = 2e6 / 8
    limits = {"offline": False, "latency": 150, "downloadThroughput": rate, "uploadThroughput": rate}
    client.send("Network.emulateNetworkConditions", limits)
    page.wait_for_timeout(3000)


def told(name: str, waits: np.ndarray) -> str:
    """Mean, median and 95th percentile in ms."""
    return (
        f"  {name}: mean {waits.mean():.1f} ms, median {np.median(waits):.1f}, p95 {np.percentile(waits, 95):.1f}"
        f" ({len(waits)} presses)"
    )


def cpu_seconds(process: int) -> float:
    """Processor time of a process so far."""
    parts = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(parts[11]) + int(parts[12])) / 100


def resident(process: int) -> float:
    """Memory of a process in MB."""
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    return 0.0
