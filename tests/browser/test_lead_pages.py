"""A lead's way from a new campaign to its export, in a real browser; who must not see it; how it looks and reads."""

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from playwright.sync_api import Browser, Dialog, Page, expect
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import connect
from websockets.typing import Origin

from annotator_ui.texts_campaign import OVERVIEW
from annotator_ui.texts_campaigns import CAMPAIGNS
from annotator_ui.texts_leads import COMMON, EXPERTS
from eds.labels.calibration import due, rounds_of
from eds.labels.experts import list_experts
from eds.labels.frames import labels_frame
from eds.labels.guidelines import guideline_named
from eds.labels.lead_queries import campaigns_of_experts
from eds.labels.progress import expert_progress
from eds.labels.queue import next_batch, progress
from eds.labels.transfer import export_votes
from eds.truth import disputed_pairs
from tests.annotator.judged import NAME, NASTY, furnish, judge
from tests.browser.annotator import Annotator, axe_faults, foreign_requests, prepare, running
from tests.browser.judging import new_name, paintings, press, wait_painted, watch

PAGES = ("campaigns", "campaign", "new-campaign", "guidelines", "known-pairs", "experts", "catalogue", "journal")
TABS = ("Experts", "Agreement", "Disputes", "Yield", "Settings")
LEADS = (*PAGES, *(f"campaign?{urlencode({'campaign': NAME, 'tab': tab})}" for tab in TABS))
SIZES = ((1440, 900), (1280, 720), (820, 1180), (390, 844))
OWN = "The lead's <i>own</i> $x$"


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Annotator]:
    """A server over a project with judged campaigns, whose texts are as nasty as texts can be."""
    project = prepare(tmp_path_factory.mktemp("leading") / "shop", campaigns=False)
    with running(project, "--no-prepare") as found:
        furnish(project, found.store)
        for name in ("ann", "bob", "cid"):
            found.invitation(name)  # who can begin is preselected
        yield found


BUSY = """() => {
  const quiet = !document.querySelector("[data-testid=stStatusWidget], [data-stale=true], [data-testid=stSkeleton]")
    && document.querySelector("[data-testid=stApp]")?.dataset.testScriptState !== "running";
  window.quietSince = quiet ? window.quietSince ?? performance.now() : null;
  return quiet && performance.now() - window.quietSince > 120;
}"""


def settle(page: Page) -> None:
    """Wait until the script has run and everything is drawn, and stays so for a moment."""
    page.evaluate("window.quietSince = null")
    page.wait_for_function(BUSY, timeout=60_000)


def visit(page: Page, address: str) -> None:
    """Open a lead's page and wait for it."""
    page.goto(address)
    page.locator("h2").first.wait_for()
    settle(page)


def told(seen: list[str], dialog: Dialog) -> None:
    """Note what a dialog of the browser says, and close it."""
    seen.append(dialog.message)
    dialog.dismiss()


def test_from_a_guideline_to_the_export(browser: Browser, shop: Annotator, tmp_path: Path) -> None:
    with shop.page(browser, "lea", viewport={"width": 1280, "height": 900}) as page:
        visit(page, f"{shop.url}/guidelines")
        expect(page.get_by_label(CAMPAIGNS.version)).to_have_value("2")
        page.get_by_label("Text (headings").fill(f"# Two\n{NASTY}")
        page.get_by_label("Text (headings").press("Control+Enter")
        settle(page)
        page.get_by_role("button", name=CAMPAIGNS.save).click()
        expect(page.get_by_text("Guideline 2 is saved")).to_be_visible()
        saved = guideline_named(shop.store, "2")
        assert saved.content == f"# Two\n{NASTY}"
        assert saved.examples == guideline_named(shop.store, "1").examples

        visit(page, f"{shop.url}/new-campaign")
        expect(page.get_by_role("radio", name=CAMPAIGNS.mode_labels["pair"])).to_be_checked()  # preselected
        name = page.get_by_label(CAMPAIGNS.name, exact=True)
        name.fill(OWN)
        name.press("Tab")
        settle(page)
        page.get_by_role("button", name=CAMPAIGNS.make).click()
        expect(page.get_by_text("is created:")).to_contain_text(OWN)
        row = campaigns_of_experts(shop.store).set_index("name").loc[OWN]
        assert (row["mode"], row["guideline"], row["experts"]) == ("pair", "2", 3)
        assert parse_qs(urlsplit(page.url).query)["campaign"] == [OWN]

        judge(shop.store, OWN, 0.8, leave={"cid": 5})
        place = f"{shop.url}/campaign?{urlencode({'campaign': OWN})}"
        visit(page, place)
        counts = progress(shop.store, OWN)
        done, total = int(counts["done"].sum()), int(counts["total"].sum())
        expect(page.get_by_text(OVERVIEW.judged_about.format(done=done, total=total))).to_be_visible()
        page.get_by_role("tab", name="Disputes").click()
        settle(page)
        assert parse_qs(urlsplit(page.url).query) == {"campaign": [OWN], "tab": ["Disputes"]}
        page.reload()
        settle(page)
        disputed = disputed_pairs(labels_frame(shop.store, campaign=OWN))
        expect(page.get_by_text(f"Votes differ ({len(disputed)})")).to_be_visible()
        expect(page.locator(".eds-pair")).to_have_count(min(9, len(disputed)))
        for picture in page.locator(".eds-pair img").all()[:4]:
            picture.scroll_into_view_if_needed()
            expect(picture).to_have_js_property("complete", True)
            assert picture.evaluate("one => one.naturalWidth") > 0
        page.get_by_role("button", name="Export").click()
        with page.expect_download() as downloading:
            page.get_by_role("link", name="Download CSV").click()
        downloading.value.save_as(tmp_path / "got.csv")
        export_votes(shop.store, tmp_path / "expected.csv", only=OWN)
        assert (tmp_path / "got.csv").read_bytes() == (tmp_path / "expected.csv").read_bytes()

        visit(page, place)
        page.get_by_role("button", name="Decide and report").first.click()
        page.get_by_role("dialog").get_by_role("button", name="Decide and report").click()
        expect(page.get_by_text("The report is written.")).to_be_visible(timeout=90_000)
        assert shop.project.state("truth").condition == "fresh"
        assert (shop.project.root / "report.html").is_file()

        visit(page, f"{place}&tab=Settings")
        expect(page.get_by_role("button", name=CAMPAIGNS.close)).to_be_disabled()
        page.get_by_text(CAMPAIGNS.confirm.format(campaign=OWN)).click()
        settle(page)
        page.get_by_role("button", name=CAMPAIGNS.close).click()
        expect(page.get_by_text("is closed.").first).to_be_visible()
        assert campaigns_of_experts(shop.store).set_index("name")["closed_at"].notna()[OWN]
        assert next_batch(shop.store, OWN, "cid") == []


def test_an_invitation_is_shown_once_and_opens(browser: Browser, shop: Annotator) -> None:
    with shop.page(browser, "lea") as page:
        visit(page, f"{shop.url}/experts")
        names = [new_name("dora"), new_name("emil")]
        page.get_by_label(EXPERTS.names, exact=True).fill(", ".join(names))
        page.get_by_role("button", name=EXPERTS.send).click()
        expect(page.get_by_test_id("stCode")).to_have_count(2, timeout=30_000)
        link = page.get_by_test_id("stCode").first.inner_text().strip()
        assert link.startswith(f"{shop.url}/invitation/")
        assert set(names) <= set(list_experts(shop.store)["name"])
        visit(page, f"{shop.url}/experts")
        expect(page.get_by_test_id("stCode")).to_have_count(0)
        expect(page.get_by_role("button", name=EXPERTS.lock_it)).to_have_count(0)  # administrators' affair
    with shop.page(browser) as page:
        page.goto(link)
        page.get_by_role("button", name="Begin").click()
        expect(page.get_by_text("Account").first).to_be_visible()


def test_an_administrator_locks_and_unlocks(browser: Browser, shop: Annotator) -> None:
    """The account that is chosen first; its name stands on the button."""
    with shop.page(browser, "ada") as page, shop.page(browser, "ann") as other:
        other.goto(shop.url + "/")
        expect(other.get_by_text("Account").first).to_be_visible()
        visit(page, f"{shop.url}/experts")
        page.get_by_role("button", name=f"{EXPERTS.lock_it} ann", exact=True).click()
        expect(page.get_by_text("ann is locked out.")).to_be_visible()
        other.goto(shop.url + "/")
        expect(other).to_have_url(re.compile("/sign-in"))
        page.get_by_role("button", name=f"{EXPERTS.unlock_it} ann", exact=True).click()
        expect(page.get_by_text("ann may sign in again.")).to_be_visible()
        states = list_experts(shop.store).set_index("name")["state"]
        assert "disabled" not in set(states)


def test_an_expert_is_refused_on_every_page(browser: Browser, shop: Annotator) -> None:
    with shop.page(browser, "ann") as page:
        for name in (*LEADS, "adjudicate", "report"):
            page.goto(f"{shop.url}/{name}")
            page.get_by_test_id("stAppViewContainer").wait_for()
            settle(page)
            expect(page.get_by_text(COMMON.refused_title)).to_be_visible()
            expect(page.get_by_test_id("stDataFrame")).to_have_count(0)
            expect(page.get_by_text("bob", exact=True)).to_have_count(0)
            expect(page.get_by_role("button", name=CAMPAIGNS.make)).to_have_count(0)
        answer = page.context.request.get(f"{shop.url}/export/csv")
        assert answer.status == 403


def pages_by_websocket(shop: Annotator, name: str, wanted: dict[str, str]) -> tuple[dict[str, bytes], dict[str, str]]:
    """What the server sends for these pages (path: hash) past all scripts of ours; and the pages of the menu."""
    shown: dict[str, bytes] = {}
    offered: dict[str, str] = {}
    cookie = {"Cookie": f"eds_session={shop.token(name)}"}
    address = f"{shop.url.replace('http', 'ws')}/_stcore/stream"
    with connect(address, additional_headers=cookie, origin=Origin(shop.url), max_size=None) as socket:
        for path, page in wanted.items():
            asked, parts, kind = BackMsg(), [], ""
            asked.rerun_script.page_script_hash = page
            socket.send(asked.SerializeToString())
            while kind != "script_finished":
                parts.append(bytes(socket.recv(30)))  # type: ignore[arg-type]  # Streamlit sends bytes
                message = ForwardMsg.FromString(parts[-1])
                kind = str(message.WhichOneof("type"))
                if kind == "navigation":
                    offered |= {one.url_pathname: one.page_script_hash for one in message.navigation.app_pages}
            shown[path] = b"".join(parts)
    return shown, offered


def test_no_page_of_leads_comes_to_an_expert_who_asks_the_websocket_itself(shop: Annotator) -> None:
    offered = pages_by_websocket(shop, "lea", {"": ""})[1]
    pages = {path: page for path, page in offered.items() if path in (*PAGES, "adjudicate", "report", "standing")}
    assert len(pages) == len(PAGES) + 3
    refused = COMMON.refused_title.encode()
    assert not [path for path, sent in pages_by_websocket(shop, "lea", pages)[0].items() if refused in sent]
    sent = pages_by_websocket(shop, "ann", pages)[0]
    assert [path for path in pages if refused not in sent[path]] == []
    assert not [path for path, text in sent.items() if b"bob" in text or b"cid" in text]


def test_calibration_from_the_first_pair_to_the_result(browser: Browser, shop: Annotator) -> None:
    with shop.page(browser, "cid") as page:
        assert due(shop.store, NAME, "cid")
        handle = expert_progress(shop.store, NAME, "cid").handle
        watch(page)
        page.goto(f"{shop.url}/practice?campaign={handle}")
        wait_painted(page, 0)
        size = rounds_of(shop.store, NAME, "cid")[-1].size
        for place in range(1, size + 1):
            expect(page.locator(".where")).to_have_text(f"Practice pair {place} of {size}")
            if place == 2:  # a reload goes on where it stopped
                page.reload()
                wait_painted(page, 0)
                expect(page.locator(".where")).to_have_text(f"Practice pair {place} of {size}")
            page.evaluate("addEventListener('eds-told', () => { window.told = performance.now(); })")
            begun = page.evaluate("performance.now()")
            page.keyboard.press("u")
            expect(page.locator(".feedback")).to_be_visible()
            assert page.evaluate("window.told") - begun < 1000, "no rerun of a script lies between"
            expect(page.locator(".verdict-words")).to_contain_text("You said Unsure")
            assert page.locator(".verdict-why").inner_text()
            assert axe_faults(page) == []
            if place < size:
                press(page, "Enter")
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", name="One more round")).to_be_visible()
        tones = page.locator(".judged").evaluate_all("all => all.map(one => one.dataset.tone)")
        assert tones == sorted(tones, key=["wrong", "either", "right"].index)
        assert len(tones) == size
        assert axe_faults(page) == []
        done = rounds_of(shop.store, NAME, "cid")[-1]
        assert (done.answered, done.right) == (size, 0)
        assert due(shop.store, NAME, "cid")
        before = paintings(page)
        page.get_by_role("button", name="Take another round").click()
        wait_painted(page, before)
        expect(page.locator(".where")).to_contain_text("Practice pair 1 of")
    assert set(labels_frame(shop.store)["kind"]) <= {"normal", "gold", "repeat"}


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_pages_read_well_fit_and_let_nothing_run(browser: Browser, shop: Annotator, theme: str) -> None:
    for width, height in SIZES if theme == "light" else (SIZES[0], SIZES[-1]):
        options = {"color_scheme": theme, "viewport": {"width": width, "height": height}}
        with shop.page(browser, "ada", **options) as page:
            foreign = foreign_requests(page, shop.url)
            dialogs: list[str] = []
            page.on("dialog", partial(told, dialogs))
            for name in LEADS if width in (1440, 390) else LEADS[:2]:
                visit(page, f"{shop.url}/{name}")
                expect(page.get_by_test_id("stException")).to_have_count(0)
                assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), (name, width)
                assert axe_faults(page) == [], (name, width)
                assert page.locator("main a[href^='javascript']").count() == 0
                assert page.locator("main .katex").count() == 0
            assert foreign == []
            assert dialogs == []
