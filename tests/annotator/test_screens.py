"""What the first pages say in each state: nothing yet, begun, finished, closed, pictures on their way."""

from collections.abc import Callable
from html import unescape

import pandas as pd
import pytest

import annotator_ui.screen
from annotator_ui.app_state import Site, Viewer
from annotator_ui.picture_prefetch import PrefetchProgress
from annotator_ui.texts import HOME, PROGRESS, REPORT
from eds.labels.campaigns import Plan, close_campaign, create_campaign
from eds.labels.judgements import Judgement, submit
from eds.labels.queue import next_batch
from tests.annotator.leads.pages import alone, page_html
from tests.annotator.sites import store_of

Show = Callable[..., str]


@pytest.fixture
def show(site: Site, monkeypatch: pytest.MonkeyPatch) -> Show:
    """Everything that a screen says to somebody."""

    def shown(screen: str, name: str, role: str = "expert") -> str:
        monkeypatch.setattr(annotator_ui.screen, "viewer", lambda: Viewer(name, role, 1))
        page = alone(screen).run()
        assert not page.exception
        parts = [*page.header, *page.subheader, *page.caption, *page.markdown, *page.info, *page.warning]
        own = [unescape(one) for one in page_html(page).split("\n") if "<style>" not in one]
        said = own + [str(part.value) for part in parts] + [str(one.label) for one in page.button]
        return "\n".join(said + [f"{one.label}: {one.value}" for one in page.metric])

    return shown


def _campaign(site: Site, name: str, pairs: int = 4) -> None:
    rows = [(f"q{number // 2}", f"c{number}") for number in range(pairs)]
    create_campaign(store_of(site.owner), Plan(name), pd.DataFrame(rows, columns=["query_id", "candidate_id"]), ["ann"])


def _judge(site: Site, name: str, count: int, *, start: int = 0, pause: float = 10.0, value: int | None = 1) -> None:
    tasks = next_batch(store_of(site.owner), name, "ann", count)
    acts = [Judgement(f"{name}-{start + place}", task.assignment, value) for place, task in enumerate(tasks)]
    now = store_of(site.owner).now()
    submit(
        store_of(site.owner),
        "ann",
        acts,
        times=[now - round(1e6 * pause * (count - place)) for place in range(count)],
    )


def test_the_account_says_who_makes_a_new_link(show: Show) -> None:
    assert "ask your lead" in show("account", "ann")
    assert "ask an administrator" in show("account", "lea", "lead")
    assert "eds labels experts invite ada" in show("account", "ada", "administrator")


def test_before_there_is_anything(show: Show) -> None:
    assert HOME.nothing_title in show("home", "ann")
    assert HOME.no_suspects in show("home", "lea", "lead")
    assert PROGRESS.nothing_title in show("my_progress", "ann")
    assert REPORT.none_title in show("report", "lea", "lead")


def test_a_campaign_waits_goes_on_is_finished_and_closed(site: Site, show: Show) -> None:
    _campaign(site, "Hats")
    said = show("home", "ann")
    assert HOME.begin in said
    assert f"{HOME.modes['pair']} · {HOME.left_of.format(left=4, total=4)}" in said
    _judge(site, "Hats", 1)
    assert HOME.go_on in show("home", "ann")
    assert HOME.progress.format(done=1, total=4, share=0.25) in show("home", "lea", "lead")
    _judge(site, "Hats", 3, start=1)
    said = show("home", "ann")
    assert HOME.all_finished_title in said
    assert HOME.finished in said
    assert HOME.done in show("home", "lea", "lead")
    close_campaign(store_of(site.owner), "Hats")
    said = show("home", "ann")
    assert HOME.nothing_title in said
    assert HOME.closed in said
    assert HOME.closed_state in show("home", "lea", "lead")
    assert "Hats" not in show("home", "bob")  # not on its panel


def test_progress_tells_what_is_done_and_left(site: Site, show: Show) -> None:
    _campaign(site, "Hats", 60)
    _judge(site, "Hats", 30, pause=50)
    said = show("my_progress", "ann")
    assert f"{PROGRESS.left}: 30" in said
    assert f"{PROGRESS.done}: 30" in said
    assert f"{PROGRESS.pace}: 72" in said
    assert "without a break" not in said
    _judge(site, "Hats", 1, start=30, pause=50, value=None)
    said = show("my_progress", "ann")  # who is unsure is asked again: as many are judged as the bars show
    assert f"{PROGRESS.done}: 30" in said
    assert f"{PROGRESS.left}: 30" in said


def test_a_rest_is_due_after_three_quarters_of_an_hour(site: Site, show: Show) -> None:
    _campaign(site, "Hats", 60)
    _judge(site, "Hats", 50, pause=60)
    assert PROGRESS.rest.format(n=49) in show("my_progress", "ann")


def test_a_lead_sees_pictures_on_their_way_and_those_that_cannot_be_read(site: Site, show: Show) -> None:
    _campaign(site, "Hats")
    site.prefetch.state = PrefetchProgress(3, 10, 2)
    assert HOME.unreadable.format(n=2) in show("home", "lea", "lead")
    assert HOME.unreadable.format(n=2) not in show("home", "ann")
    site.prefetch.state = PrefetchProgress(10, 10, 0)
    assert "cannot be read" not in show("home", "lea", "lead")
