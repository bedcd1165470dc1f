"""What the tests of the judging page share: opening it, pressing keys, comparing what was typed with the database."""

from dataclasses import dataclass, field
from itertools import count
from typing import Any

import pandas as pd
import sqlalchemy as sa
from playwright.sync_api import Page, expect

from eds.labels import schema
from eds.labels.campaigns import Plan, create_campaign
from eds.labels.frames import labels_frame
from eds.labels.progress import expert_progress
from tests.browser.annotator import Annotator

Numbers = dict[tuple[str, str, str], int]  # (query, candidate, kind) -> assignment
VALUES = {"s": 1, "d": 0, "u": None}
_MADE = count(1)
PACE = 170  # ms between painting and pressing: just beyond the guard


@dataclass
class Typed:
    """Every act that the page took, in order, as its own events tell it; lives through reloads."""

    acts: list[dict[str, Any]] = field(default_factory=list)

    @property
    def labels(self) -> list[tuple[int, int | None]]:
        """(assignment, value) of each judgement."""
        return [(act["assignment"], act["value"]) for act in self.acts if "value" in act]


def watch(page: Page) -> Typed:
    """Note from now on what the page takes, and when a pair is painted."""
    typed = Typed()
    page.expose_function("edsTyped", lambda acts: typed.acts.extend(acts))
    page.add_init_script(
        "addEventListener('eds-judged', (event) => window.edsTyped(event.detail.map((act) => ({ ...act }))));"
        "window.paintings = 0; addEventListener('eds-painted', () => { window.paintings += 1; });"
    )
    return typed


def open_page(page: Page, annotator: Annotator, campaign: str, expert: str, view: str = "pair") -> None:
    """Go to a campaign and wait until the first pair or page is painted."""
    handle = expert_progress(annotator.store, campaign, expert).handle
    page.goto(f"{annotator.url}/{view}?campaign={handle}")
    wait_painted(page, 0)


def wait_painted(page: Page, before: int) -> None:
    """Wait until something was painted after the `before`-th painting, and the guard's moment is over."""
    page.wait_for_function("before => window.paintings > before", arg=before, polling=20)
    page.wait_for_timeout(PACE)


def paintings(page: Page) -> int:
    """How many pairs or pages were painted since the page was loaded."""
    return int(page.evaluate("window.paintings"))


def press(page: Page, key: str) -> None:
    """Press a key that goes on, and wait for what comes next."""
    before = paintings(page)
    page.keyboard.press(key)
    wait_painted(page, before)


def insist(page: Page, key: str) -> None:
    """Press a key until something comes next: one that falls between two mounts of the page is rightly not taken."""
    before = paintings(page)
    for _ in range(20):
        page.keyboard.press(key)
        page.wait_for_timeout(1500)
        if paintings(page) != before:
            return
    raise AssertionError(f"{key} is not taken")


def shown(page: Page) -> list[int]:
    """The assignments on screen."""
    text = page.locator(".pair:visible, .grid:visible").first.get_attribute("data-assignment")
    return [int(part) for part in (text or "").split(",")]


def wait_saved(page: Page, seconds: float = 10) -> None:
    """Wait until nothing waits, and the page says so."""
    page.wait_for_function(
        "() => document.querySelector('[data-testid=stBidiComponentIsolated]')?.shadowRoot"
        ".querySelector('.judging')?.dataset.waiting === '0'",
        timeout=seconds * 1000,
    )
    expect(page.locator(".status")).to_have_text("All saved")


def pairs_of(annotator: Annotator, campaign: str, expert: str) -> Numbers:
    """The assignment of each pair of an expert; one that is asked again has two, of two kinds."""
    columns = (schema.pair.c.query_id, schema.pair.c.candidate_id, schema.item.c.kind, schema.assignment.c.id)
    asked = (
        sa.select(*columns)
        .select_from(schema.assignment.join(schema.item).join(schema.pair))
        .where(schema.assignment.c.expert.in_(sa.select(schema.expert.c.id).where(schema.expert.c.name == expert)))
        .where(schema.item.c.campaign.in_(sa.select(schema.campaign.c.id).where(schema.campaign.c.name == campaign)))
    )
    return {(row[0], row[1], row[2]): row[3] for row in annotator.store.read(lambda c: c.execute(asked).all())}


def stored(annotator: Annotator, campaign: str, expert: str, numbers: Numbers) -> list[Any]:
    """(assignment, value) of every act in the database, in the order of acts."""
    found = labels_frame(annotator.store, campaign=campaign)
    found = found[found["expert_id"] == expert].sort_values("created_at", kind="stable")
    keys = zip(found["query_id"], found["candidate_id"], found["kind"], strict=True)
    values = [None if pd.isna(value) else int(value) for value in found["value"]]
    return [(numbers[key], value) for key, value in zip(keys, values, strict=True)]


def new_name(words: str) -> str:
    """A campaign's name that no other test has taken."""
    return f"{words} {next(_MADE)}"


def make_campaign(annotator: Annotator, name: str, size: int, **plan: Any) -> str:
    """A campaign of ann and bob with so many pairs, ten of each query; its name."""
    images = annotator.project.read("images")["image_id"].tolist()
    pairs = [(images[number // 10], images[20 + number]) for number in range(size)]
    create_campaign(
        annotator.store, Plan(name, **plan), pd.DataFrame(pairs, columns=["query_id", "candidate_id"]), ["ann", "bob"]
    )
    return name
