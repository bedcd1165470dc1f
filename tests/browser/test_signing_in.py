"""From the invitation to the first page, and every way in which somebody must not get in, in a real browser."""

import json
import re
from collections.abc import Iterator
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from playwright.sync_api import Browser, Page, expect
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from eds.labels.campaigns import Plan
from eds.labels.experts import add_expert
from eds.labels.frames import labels_frame
from eds.labels.guidelines import Example, save_guideline
from eds.labels.judgements import Judgement, submit
from eds.labels.progress import expert_progress
from eds.labels.queue import next_batch
from eds.labels.sessions import sign_out_everywhere
from tests.browser.annotator import (
    GRID,
    PAIRS,
    PASSWORD,
    Annotator,
    add_campaign,
    axe_faults,
    foreign_requests,
    prepare,
    running,
)

EVIL = "<script>window.taken=1</script><img src=x onerror=window.taken=1>"
PHONE = {"width": 390, "height": 844}
SIZES = [{"width": 1440, "height": 900}, {"width": 1280, "height": 720}, {"width": 820, "height": 1180}, PHONE]


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Annotator]:
    """A server over a project in which every text is hostile."""
    project = prepare(tmp_path_factory.mktemp("hostile") / "shop")
    settings = project.root / "eds.toml"
    settings.write_text(settings.read_text().replace('"Drawn garments"', json.dumps(EVIL)))
    with running(project) as found:
        images = project.read("images")
        ids = images["image_id"].tolist()
        words = f"# {EVIL}\n\n{EVIL} ![x](http://evil.example/x.png) [link](javascript:window.taken=1)"
        save_guideline(found.store, EVIL, words, [Example(ids[0], ids[1], "positive", EVIL)], by="lea")
        add_campaign(found.store, images, Plan(f"{EVIL} **bold** :red[x] $x$", guideline=EVIL), queries=2, each=3)
        for name in (EVIL, "dan"):
            add_expert(found.store, name)
        yield found


def test_from_the_invitation_to_the_first_page(browser: Browser, annotator: Annotator) -> None:
    with annotator.page(browser) as page:
        foreign = foreign_requests(page, annotator.url)
        page.goto(annotator.invitation("bob"))
        expect(page.get_by_role("heading", name="Welcome, bob")).to_be_visible()
        assert axe_faults_light_and_dark(page) == []
        page.get_by_role("button", name="Begin").click()
        expect(page.get_by_text(PAIRS)).to_be_visible()  # two campaigns: the first page
        page.goto(f"{annotator.url}/password")
        assert axe_faults_light_and_dark(page) == []
        page.get_by_label("Choose a password").fill(PASSWORD)
        page.get_by_label("Repeat password").fill(PASSWORD)
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_text(PAIRS)).to_be_visible()
        expect(page.get_by_text(GRID)).to_be_visible()
        expect(page.get_by_text("150 left of 150").first).to_be_visible()
        page.get_by_role("button", name="Begin").first.click()
        page.wait_for_url(re.compile(r"/pair\?campaign=[0-9a-f]+-[0-9a-f]+$"))
        cookie = next(one for one in page.context.cookies() if one["name"] == "eds_session")
        assert cookie["httpOnly"]
        assert cookie["sameSite"] == "Lax"
        page.goto(f"{annotator.url}/sign-out")
        assert axe_faults_light_and_dark(page) == []
        page.get_by_role("button", name="Sign out", exact=True).click()
        expect(page).to_have_url(f"{annotator.url}/sign-in")
        page.goto(f"{annotator.url}/my-progress")
        expect(page).to_have_url(f"{annotator.url}/sign-in?next=/my-progress")
        page.get_by_label("Name").fill("bob")
        page.get_by_label("Password").fill("a wrong password")
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_role("alert")).to_contain_text("wrong")
        assert axe_faults_light_and_dark(page) == []
        page.get_by_label("Password").fill(PASSWORD)
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", name="My progress")).to_be_visible()
        assert foreign == []


def axe_faults_light_and_dark(page: Page) -> list[str]:
    """What axe finds in either theme."""
    found = []
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        page.wait_for_timeout(300)
        found += [f"{theme}: {fault}" for fault in axe_faults(page)]
    return found


PAGES = [
    ("ann", "", "Your campaigns"),
    ("ann", "my-progress", "My progress"),
    ("ann", "guide", "Guide"),
    ("ann", "account", "ann"),
    ("lea", "", "Drawn garments"),
    ("lea", "report", "Report"),
]


@pytest.mark.parametrize(("who", "path", "heading"), PAGES)
def test_each_page_reads_well_in_both_themes_and_fits_every_screen(
    browser: Browser, annotator: Annotator, who: str, path: str, heading: str
) -> None:
    for theme in ("light", "dark"):
        with annotator.page(browser, who, color_scheme=theme) as page:
            foreign = foreign_requests(page, annotator.url)
            page.goto(f"{annotator.url}/{path}")
            expect(page.get_by_role("heading", name=heading, exact=True)).to_be_visible()
            page.wait_for_timeout(500)
            assert axe_faults(page) == []
            for size in SIZES if theme == "light" else []:
                page.set_viewport_size(size)  # type: ignore[arg-type]
                page.wait_for_timeout(200)
                assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), size
            assert foreign == []


def test_progress_tells_what_is_done_and_how_fast(browser: Browser, fresh_annotator: Annotator) -> None:
    store = fresh_annotator.store
    for start in range(0, 30, 10):
        tasks = next_batch(store, PAIRS, "ann", 10)
        acts = [Judgement(f"{start}-{place}", task.assignment, 1, 2.0) for place, task in enumerate(tasks)]
        times = [1_780_000_000_000_000 + (start + place) * 10_000_000 for place in range(10)]
        submit(store, "ann", acts, session_id="s", times=times)
    with fresh_annotator.page(browser, "ann") as page:
        page.goto(f"{fresh_annotator.url}/my-progress")
        expect(page.get_by_text("370", exact=True)).to_be_visible()  # 30 in 29 x 10 s and 2 s
        expect(page.get_by_text("30 of 150 judged (20 %)")).to_be_visible()
        expect(page.get_by_text("44 min", exact=True)).to_be_visible()  # 271 left
        page.goto(fresh_annotator.url)
        expect(page.get_by_text("One pair at a time · 120 left of 150")).to_be_visible()
        expect(page.get_by_text("about 19 min at your pace")).to_be_visible()
        expect(page.get_by_role("button", name="Continue")).to_be_visible()


def test_an_ended_session_shows_it_at_the_next_step_and_leads_to_sign_in(
    browser: Browser, fresh_annotator: Annotator
) -> None:
    with fresh_annotator.page(browser, "ann") as page:
        page.goto(fresh_annotator.url)
        expect(page.get_by_text(PAIRS)).to_be_visible()
        sign_out_everywhere(fresh_annotator.store, "ann", by="ann")
        page.get_by_role("link", name="Guide").click()
        expect(page.get_by_text("You are signed out")).to_be_visible()
        assert PAIRS not in page.inner_text("body")
        page.goto(f"{fresh_annotator.url}/guide")
        expect(page).to_have_url(f"{fresh_annotator.url}/sign-in?next=/guide")


def test_a_lead_sees_the_state_of_the_project_and_an_expert_none_of_the_leads_pages(
    browser: Browser, annotator: Annotator
) -> None:
    with annotator.page(browser, "lea") as page:
        page.goto(annotator.url)
        expect(page.get_by_text("0 of 450 judged (0 %)").first).to_be_visible()
    with annotator.page(browser, "ann") as page:
        for path in ("experts", "report", "campaigns", "campaign", "journal"):
            page.goto(f"{annotator.url}/{path}")
            expect(page.get_by_role("heading", name="This page is for leads")).to_be_visible()
            assert PAIRS not in page.inner_text("main")
        assert page.request.get(f"{annotator.url}/report/page").status == 403


def test_a_lead_reads_the_report_which_reaches_nothing_of_ours(browser: Browser, fresh_annotator: Annotator) -> None:
    words = "<h1>Figures</h1><script>document.title='ran'; document.body.append(self.origin)</script>"
    (fresh_annotator.project.root / "report.html").write_text(words)
    with fresh_annotator.page(browser, "lea") as page:
        page.goto(f"{fresh_annotator.url}/report")
        expect(page.frame_locator("iframe").get_by_role("heading", name="Figures")).to_be_visible()
        page.goto(f"{fresh_annotator.url}/report/page")
        assert page.title() == "ran"
        assert "null" in page.inner_text("body")  # an origin of its own: no cookie, no request to us


def _asked(url: str, token: str = "", *, method: str = "GET", **headers: str) -> "tuple[int, bytes]":
    data = b'{"tab":"t","judgements":[],"flags":[]}' if method == "POST" else None
    asked = Request(url, data=data, method=method)
    for name, value in {
        "Cookie": f"eds_session={token}",
        **{key.replace("_", "-"): one for key, one in headers.items()},
    }.items():
        asked.add_header(name, value)
    try:
        with urlopen(asked) as answer:
            return answer.status, answer.read()
    except HTTPError as error:
        with error:
            return error.code, error.read()


def test_anothers_queue_and_pictures_are_refused_by_address_and_over_the_websocket(shop: Annotator) -> None:
    handle = expert_progress(shop.store, PAIRS, "ann").handle
    queue = f"{shop.url}/api/campaigns/{handle}/next?count=3"
    ann, dan = shop.token("ann"), shop.token("dan")
    status, body = _asked(queue, ann)
    assert status == 200
    tasks = json.loads(body)["tasks"]
    assert len(tasks) == 3
    assert _asked(queue, dan)[0] == 403
    assert _asked(queue)[0] == 401
    assert _asked(f"{shop.url}/api/campaigns/1-1/next", ann)[0] == 404
    name = next(part for part in re.findall(r"[\w-]{40,}", body.decode()) if part)
    picture = f"{shop.url}/pictures/thumb/{name}"
    assert _asked(picture, ann)[0] == 200
    assert _asked(picture, dan)[0] == 404
    assert _asked(picture)[0] == 401
    judge = f"{shop.url}/api/campaigns/{handle}/judgements"
    before = len(labels_frame(shop.store))
    for headers in (
        {"Origin": "http://evil.example", "X_EDS": "1"},
        {},
        {"X_EDS": "1", "Sec_Fetch_Site": "cross-site"},
    ):
        assert _asked(judge, ann, method="POST", **headers)[0] == 403
    assert len(labels_frame(shop.store)) == before
    socket = f"{shop.url.replace('http', 'ws')}/_stcore/stream"
    for headers in ({}, {"Cookie": "eds_session=x"}, {"Cookie": f"eds_session={ann}", "Origin": "http://evil.example"}):
        with pytest.raises(InvalidStatus) as refused:
            connect(socket, additional_headers=headers, subprotocols=["streamlit"]).close()  # type: ignore[list-item]
        assert refused.value.response.status_code == 403
    with connect(socket, additional_headers={"Cookie": f"eds_session={ann}"}, subprotocols=["streamlit"]):  # type: ignore[list-item]
        pass


def test_a_form_on_a_foreign_page_changes_nothing(browser: Browser, annotator: Annotator) -> None:
    handle = expert_progress(annotator.store, PAIRS, "ann").handle
    before = len(labels_frame(annotator.store))
    with annotator.page(browser, "ann") as page:
        for path in (f"/api/campaigns/{handle}/judgements", "/sign-out", "/sign-in"):
            form = f"<form method=post action='{annotator.url}{path}'><input name=act value=everywhere></form>"
            page.goto(f"data:text/html,{form}<script>document.forms[0].submit()</script>")
            page.wait_for_url(f"{annotator.url}{path}")
            assert "forged" in page.inner_text("body")
        page.goto(annotator.url)
        expect(page.get_by_text(PAIRS)).to_be_visible()  # still signed in
    assert len(labels_frame(annotator.store)) == before


@pytest.mark.parametrize("who", ["lea", EVIL])
def test_no_text_runs(browser: Browser, shop: Annotator, who: str) -> None:
    with shop.page(browser, who) as page:
        foreign = foreign_requests(page, shop.url)
        for path in ("", "guide", "my-progress", "account"):
            page.goto(f"{shop.url}/{path}")
            page.get_by_role("heading").first.wait_for()
            page.wait_for_timeout(400)
            assert page.evaluate("window.taken") is None, path
        page.goto(f"{shop.url}/{'' if who == 'lea' else 'account'}")
        expect(page.get_by_text("<script>window.taken=1</script>").first).to_be_visible()
        assert foreign == []
    with shop.page(browser) as page:
        page.goto(f"{shop.url}/sign-in?next={EVIL}")
        assert page.evaluate("window.taken") is None
        assert "<script>window.taken=1</script>" in page.inner_text("body")
        page.goto(shop.invitation(EVIL))
        assert page.evaluate("window.taken") is None


def test_the_guide_shows_examples_as_this_viewers_own_pictures(browser: Browser, shop: Annotator) -> None:
    with shop.page(browser, "ann") as page:
        page.goto(f"{shop.url}/guide")
        pictures = page.locator("figure img")
        expect(pictures).to_have_count(2)
        pictures.first.scroll_into_view_if_needed()
        page.wait_for_function("[...document.querySelectorAll('figure img')].every(one => one.naturalWidth > 0)")
        assert all("/pictures/large/" in str(one.get_attribute("src")) for one in pictures.all())
