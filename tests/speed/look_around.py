"""Look around at 50,000 images: search by an image, the map of a model, and what a page of it weighs.

Run: python -m tests.speed.look_around [--images N]
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from playwright.sync_api import Page, sync_playwright

from annotator_ui.texts_looking import SEARCH
from eds.labels.experts import add_expert
from eds.project import Project
from eds.tables import IMAGES, Provenance
from tests.browser.annotator import Annotator, running, store_of
from tests.browser.conftest import QUIET, chromium_path

DIMENSIONS = {"small": 384, "large": 768}


def catalogue(folder: Path, count: int) -> Project:
    """A project with so many images in 40 groups, and the vectors of two models; no picture is there."""
    rng = np.random.default_rng(1)
    names = [f"photos/{number:06d}.jpg" for number in range(count)]
    group = rng.integers(0, 40, count)
    frame = pd.DataFrame(
        {
            "image_id": names,
            "path": names,
            "product_id": [f"p{number // 2}" for number in range(count)],
            "category": [f"category {number % 20}" for number in group],
            "role": "both",
        }
    )
    for column in IMAGES.columns:
        if column.name not in frame:
            frame[column.name] = pd.array([pd.NA] * count, "Int64") if column.kind == "integer" else None
    project = Project.create(folder / "p")
    project.write(frame[IMAGES.names], "images", Provenance("images.import"))
    (folder / "ids.txt").write_text("\n".join(names) + "\n")
    for name, dimension in DIMENSIONS.items():
        centres = rng.standard_normal((40, dimension)).astype(np.float32)
        vectors = centres[group] + 0.8 * rng.standard_normal((count, dimension)).astype(np.float32)
        np.save(folder / f"{name}.npy", vectors)
        project.import_vectors(name, folder / f"{name}.npy", folder / "ids.txt")
    return project


def seconds(act: Callable[[], object], times: int = 1) -> str:
    """The median of some calls by the clock, and the processor's time, which other programs do not lengthen."""
    taken = []
    for _ in range(times):
        start, used = time.perf_counter(), time.process_time()
        act()
        taken.append((time.perf_counter() - start, time.process_time() - used))
    clock, used = (statistics.median(values) for values in zip(*taken, strict=True))
    return f"{clock * 1e3:,.0f} ms ({used * 1e3:,.0f} ms of processors)"


PAN = """async (canvas, steps) => {
  const box = canvas.getBoundingClientRect(), times = [];
  const at = (name, x, y) => canvas.dispatchEvent(new PointerEvent(name, {
    pointerId: 1, clientX: box.left + x, clientY: box.top + y, bubbles: true }));
  canvas.setPointerCapture = () => {};
  at("pointerdown", 300, 200);
  let last = await new Promise(requestAnimationFrame);
  for (let step = 0; step < steps; step += 1) {
    at("pointermove", 300 + step * 2, 200 + step);
    const now = await new Promise(requestAnimationFrame);
    times.push(now - last);
    last = now;
  }
  at("pointerup", 300, 200);
  return times;
}"""


def page_figures(server: Annotator, page: Page, *, prepared: bool) -> None:
    """Print how long the page takes, as its reader sees it."""

    def drawn(view: str) -> float:
        start = time.perf_counter()
        page.goto(f"{server.url}/look-around?{view}")
        page.locator(".map[data-drawn]").wait_for(timeout=60_000)
        return time.perf_counter() - start

    page.goto(f"{server.url}/look-around")
    page.locator("h2").first.wait_for()
    first = drawn("view=map")
    print(f"map: first view {first:.2f} s (prepared: {prepared}), again {drawn('view=map'):.2f} s (2 s is the aim)")
    if not prepared:
        return
    drawn("view=map&colour=cluster")
    clusters = drawn("view=map&colour=cluster&layout=pca")
    print(f"map by cluster, once computed: {clusters:.2f} s")
    drawn("view=map")
    times = sorted(page.locator(".map .over").evaluate(PAN, 120))
    print(f"pan: {times[60]:.1f} ms a frame (median), {times[113]:.1f} ms (95 %); WebGL without a graphics card here")
    image = str(server.project.read("images", columns=["image_id"])["image_id"].iloc[77])
    start = time.perf_counter()
    page.goto(f"{server.url}/look-around?image={image}")
    page.get_by_text(SEARCH.query, exact=True).wait_for()
    print(f"page of a search by both models: {time.perf_counter() - start:.2f} s")


def on_pages(project: Project) -> None:
    """Print the figures of the page in Chromium."""
    with store_of(project) as store:
        add_expert(store, "lea", "lead")
    maps = [project.root / ".eds" / "map" / f"{name}-pca-{project.config.project.seed}.npz" for name in DIMENSIONS]
    for prepared in (False, True):
        for file in maps:
            file.unlink(missing_ok=True)
        options = [] if prepared else ["--no-prepare"]
        with running(project, *options) as server, sync_playwright() as playwright:
            begun = time.perf_counter()
            while prepared and not all(file.exists() for file in maps):
                time.sleep(0.1)
            if prepared:
                print(f"maps are prepared {time.perf_counter() - begun:.1f} s after the start")
            browser = playwright.chromium.launch(executable_path=chromium_path(), headless=True, args=QUIET)
            with server.page(browser, "lea") as page:
                page_figures(server, page, prepared=prepared)
            browser.close()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--images", type=int, default=50_000)
    count = parser.parse_args().images
    with tempfile.TemporaryDirectory() as folder:
        project = catalogue(Path(folder), count)
        queries = iter(project.read("images", columns=["image_id"])["image_id"][::997])
        for name, dimension in DIMENSIONS.items():
            first = seconds(lambda: project.search(next(queries), models=name))  # noqa: B023
            again = seconds(lambda: project.search(next(queries), models=name), 9)  # noqa: B023
            print(f"search, {count:,} x {dimension}: first {first}, then {again}")
        both = seconds(lambda: project.search(next(queries)), 9)
        print(f"search by both models: {both}; 200 ms is the aim")
        for name in DIMENSIONS:
            print(f"map by {name}: PCA {seconds(lambda: project.map_images(name))}")  # noqa: B023
            (project.root / ".eds" / "map" / f"{name}-pca-{project.config.project.seed}.npz").unlink()
        print(f"12 clusters: {seconds(lambda: project.map_images('large', clusters=12))}")
        (project.root / ".eds" / "map" / f"large-pca-{project.config.project.seed}.npz").unlink()
        on_pages(project)


if __name__ == "__main__":
    main()
