"""Speed of the other two modes of the judging page: what practice says to an answer, and the next disputed pair."""

from pathlib import Path

import numpy as np
import pandas as pd
from playwright.sync_api import Page

from eds.labels.calibration import plan_calibration
from eds.labels.experts import add_expert
from eds.labels.gold import add_gold
from eds.labels.judgements import Judgement, submit
from eds.labels.queue import next_batch
from eds.labels.store import Store
from tests.speed.judging.stage import PAIRS, chromium, go_far, open_campaign, pressed, served, told

SIZE, PACE, GOAL = 40, 300, 50
FEEDBACK = (
    "addEventListener('eds-told', () => {"
    " if (window.pressed) window.answered.push(performance.now() - window.pressed); window.pressed = 0; });"
    "window.answered = [];"
)


def modes(folder: Path) -> None:
    """Key to feedback in practice, key to the next pair in adjudication: median below 50 ms."""
    with served(folder, ["ann", "bob"], pairs=400, size=256) as annotator, chromium() as browser:
        store = annotator.store
        _dispute(store)
        add_expert(store, "lea", "lead")
        with annotator.page(browser, "lea") as page:
            open_campaign(page, annotator, PAIRS, "lea", "adjudicate")
            waits = pressed(page, ["j", "k"] * (SIZE // 4), PACE)
            print(told("adjudicate, next pair", waits))
            go_far(page)
            far = pressed(page, ["j", "k"] * (SIZE // 4 - 1), 1000)
            print(told("adjudicate, 150 ms and 2 Mbit/s", far))
            print(f"  median far / local = {np.median(far) / np.median(waits):.2f} (goal 1.2)")
        _calibrate(annotator.project.read("images")["image_id"].tolist(), store)
        with annotator.page(browser, "ann") as page:
            page.add_init_script(FEEDBACK)
            open_campaign(page, annotator, PAIRS, "ann", "practice")
            found = _practised(page, SIZE // 2)
            print(told("practice, feedback", found))
            go_far(page)
            print(told("practice, 150 ms and 2 Mbit/s: one round trip", _practised(page, SIZE // 2 - 2)))
        for name, times in (("adjudicate", waits), ("practice", found)):
            print(f"  {name}: median {np.median(times):.1f} ms (goal {GOAL})")


def _dispute(store: Store) -> None:
    """Two experts differ on some pairs."""
    for expert, value in (("ann", 1), ("bob", 0)):
        tasks = sorted(next_batch(store, PAIRS, expert, 1000), key=lambda task: (task.query_id, task.candidate_id))
        acts = [Judgement(f"{expert}{task.assignment}", task.assignment, value) for task in tasks[:SIZE]]
        submit(store, expert, acts)


def _calibrate(images: list[str], store: Store) -> None:
    """A practice round of known pairs before the campaign goes on."""
    known = pd.DataFrame(
        [(images[-1 - number], images[-80 - number], number % 2) for number in range(SIZE)],
        columns=["query_id", "candidate_id", "value"],
    )
    add_gold(store, known)
    plan_calibration(store, PAIRS, SIZE)


def _practised(page: Page, count: int) -> np.ndarray:
    """Answer so many pairs; ms from each key to what was expected."""
    page.evaluate("window.answered = []")
    for turn in range(count):
        page.evaluate("window.pressed = 0")
        page.keyboard.press("jk"[turn % 2])
        page.wait_for_function("count => window.answered.length >= count", arg=turn + 1, polling=10)
        page.keyboard.press("Enter")
        page.wait_for_timeout(PACE)
    return np.array(page.evaluate("window.answered"))
