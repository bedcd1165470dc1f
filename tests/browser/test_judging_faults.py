"""Everything that goes wrong while an expert judges: nothing is lost or doubled, and the page says how it stands."""

import signal
from typing import Any

from playwright.sync_api import Browser, CDPSession, Page, expect
from playwright.sync_api import Error as PlaywrightError

from eds.labels.progress import expert_progress
from eds.labels.sessions import sign_out_everywhere
from tests.browser.annotator import PAIRS, Annotator
from tests.browser.judging import (
    Numbers,
    insist,
    make_campaign,
    new_name,
    open_page,
    paintings,
    pairs_of,
    press,
    shown,
    stored,
    wait_painted,
    wait_saved,
    watch,
)

OFFLINE = {"offline": True, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0}
ONLINE = {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}


def network(page: Page) -> CDPSession:
    client = page.context.new_cdp_session(page)
    client.send("Network.enable")
    return client


def cut(client: CDPSession, conditions: dict[str, Any]) -> None:
    client.send("Network.emulateNetworkConditions", conditions)


def is_exactly(annotator: Annotator, expert: str, numbers: Numbers, labels: list[Any], campaign: str = PAIRS) -> None:
    """The database holds these acts, in this order, each once."""
    assert labels, "nothing was typed"
    assert stored(annotator, campaign, expert, numbers) == labels


def test_a_reload_while_judgements_are_under_way(browser: Browser, annotator: Annotator) -> None:
    campaign = make_campaign(annotator, new_name("Faults"), 40)
    numbers = pairs_of(annotator, campaign, "ann")
    with annotator.page(browser, "ann") as page:
        typed = watch(page)
        open_page(page, annotator, campaign, "ann")
        page.route("**/judgements", lambda route: route.abort())  # they do not get through
        for key in "sdsd":
            press(page, key)
        expect(page.locator(".status")).to_contain_text("4 waiting, offline since")
        page.unroute("**/judgements")
        page.reload()
        wait_painted(page, 0)
        assert shown(page)[0] not in [number for number, _ in typed.labels], "what waits is not asked again"
        press(page, "s")
        wait_saved(page)
        assert [value for _, value in typed.labels] == [1, 0, 1, 0, 1]
    is_exactly(annotator, "ann", numbers, typed.labels, campaign)


def test_on_a_phone_the_guideline_stays_in_reach_while_offline(browser: Browser, annotator: Annotator) -> None:
    with annotator.page(browser, "cid", viewport={"width": 390, "height": 844}) as page:
        watch(page)
        open_page(page, annotator, PAIRS, "cid")
        page.evaluate(
            "document.querySelector('[data-testid=stBidiComponentIsolated]').shadowRoot"
            ".querySelector('.status').textContent = '12 waiting, offline since 10:00'"
        )
        box = page.locator("[data-action=guide]:visible").bounding_box()
        assert box is not None
        assert box["x"] + box["width"] <= 390


def test_the_network_is_cut_for_five_seconds_and_then_over_a_reload(browser: Browser, annotator: Annotator) -> None:
    campaign = make_campaign(annotator, new_name("Faults"), 40)
    numbers = pairs_of(annotator, campaign, "bob")
    with annotator.page(browser, "bob") as page:
        typed = watch(page)
        open_page(page, annotator, campaign, "bob")
        page.wait_for_timeout(1500)  # the next pairs are here
        client = network(page)
        cut(client, OFFLINE)
        for turn in range(12):
            press(page, "sd"[turn % 2])
            page.wait_for_timeout(200)
        expect(page.locator(".status")).to_contain_text("waiting, offline since")
        assert len(typed.labels) == 12
        cut(client, ONLINE)
        wait_saved(page, 3)
        is_exactly(annotator, "bob", numbers, typed.labels, campaign)
        cut(client, OFFLINE)
        for key in "uss":
            press(page, key)
        try:
            page.reload(timeout=3000)
        except PlaywrightError as error:  # the page cannot be loaded now
            assert "ERR_INTERNET_DISCONNECTED" in str(error)  # noqa: PT017 - whether it is raised depends on the cut
        cut(client, ONLINE)
        open_page(page, annotator, campaign, "bob")
        wait_saved(page, 3)
        assert [value for _, value in typed.labels[12:]] == [None, 1, 1]
    is_exactly(annotator, "bob", numbers, typed.labels, campaign)


def test_what_a_closed_tab_left_behind_is_sent_by_any_page(browser: Browser, annotator: Annotator) -> None:
    campaign = make_campaign(annotator, new_name("Left behind"), 12)
    numbers = pairs_of(annotator, campaign, "ann")
    with annotator.page(browser, "ann") as page:
        typed = watch(page)
        open_page(page, annotator, campaign, "ann")
        page.wait_for_timeout(1000)
        cut(network(page), OFFLINE)
        for key in "sds":
            press(page, key)
        second = page.context.new_page()
        page.close()
        assert stored(annotator, campaign, "ann", numbers) == []
        second.goto(f"{annotator.url}/my-progress")
        expect(second.locator(".saving .status")).to_have_text("All saved")
        assert stored(annotator, campaign, "ann", numbers) == typed.labels
        assert len(typed.labels) == 3
        third = second.context.new_page()  # another campaign's page takes care of it, too
        watch(third)
        open_page(third, annotator, PAIRS, "ann")
        wait_saved(third)


def test_a_page_whose_script_does_not_come_says_so(browser: Browser, annotator: Annotator) -> None:
    campaign = make_campaign(annotator, new_name("No script"), 3)
    with annotator.page(browser, "ann") as page:
        watch(page)
        page.route("**/judging/*/main.js", lambda route: route.abort())
        page.goto(f"{annotator.url}/pair?campaign={expert_progress(annotator.store, campaign, 'ann').handle}")
        expect(page.get_by_role("heading", name="The page cannot be shown")).to_be_visible()
        page.unroute("**/judging/*/main.js")
        page.get_by_role("button", name="Reload").click()
        wait_painted(page, 0)


def test_a_second_tab_takes_over_and_gives_back(browser: Browser, annotator: Annotator) -> None:
    campaign = make_campaign(annotator, new_name("Faults"), 40)
    numbers = pairs_of(annotator, campaign, "bob")
    with annotator.page(browser, "bob") as page:
        typed = watch(page)
        open_page(page, annotator, campaign, "bob")
        press(page, "s")
        second = page.context.new_page()
        typed_there = watch(second)
        open_page(second, annotator, campaign, "bob")
        standby = page.get_by_role("heading", name="Active in another tab or on another device")
        expect(standby).to_be_visible()
        page.keyboard.press("s")
        press(second, "d")
        press(second, "d")
        wait_saved(second)
        before = paintings(page)
        page.bring_to_front()
        page.get_by_role("button", name="Continue here").click()
        wait_painted(page, before)
        expect(second.get_by_role("button", name="Continue here")).to_be_visible()
        assert shown(page)[0] not in [number for number, _ in typed.labels + typed_there.labels]
        press(page, "s")
        wait_saved(page)
        expected = [typed.labels[0], *typed_there.labels, *typed.labels[1:]]
        assert [value for _, value in expected] == [1, 0, 0, 1]
        with annotator.page(browser, "bob") as device:  # another browser knows only by the server
            typed_device = watch(device)
            open_page(device, annotator, campaign, "bob")
            press(page, "s")  # typed before it was known: it counts
            expect(standby).to_be_visible()
            wait_saved(page)
            page.wait_for_timeout(200)
            assert typed_device.labels == []
        expected.append(typed.labels[-1])
    is_exactly(annotator, "bob", numbers, expected, campaign)


def test_the_server_is_killed_and_comes_back_while_keys_are_pressed(
    browser: Browser, fresh_annotator: Annotator
) -> None:
    annotator = fresh_annotator
    numbers = pairs_of(annotator, PAIRS, "ann")
    with annotator.page(browser, "ann") as page:
        typed = watch(page)
        open_page(page, annotator, PAIRS, "ann")
        page.wait_for_timeout(1500)
        press(page, "s")
        annotator.stop(signal.SIGKILL)
        for turn in range(40):  # a busy machine paints late, and a key before the picture is not a judgement
            page.keyboard.press("ds"[turn % 2])
            page.wait_for_timeout(300)
            if len(typed.labels) >= 7:
                break
        during = len(typed.labels)
        assert during >= 7, "judging goes on without the server"
        expect(page.locator("[role=dialog]")).to_have_count(1, timeout=15_000)  # Streamlit has lost its server
        expect(page.locator("[role=dialog]")).to_be_hidden()
        page.keyboard.press("s")
        page.wait_for_timeout(300)
        during += 1
        assert len(typed.labels) == during, "the pair stays in sight, and is judged"
        expect(page.locator(".status")).to_contain_text("waiting, offline since")
        annotator.start()
        wait_saved(page, 10)
        page.wait_for_timeout(2000)  # Streamlit connects again, and may mount the page again
        for key in "sd":
            insist(page, key)
        wait_saved(page)
        assert len(typed.labels) == during + 2
    is_exactly(annotator, "ann", numbers, typed.labels)


def test_the_session_ends_in_the_middle(browser: Browser, fresh_annotator: Annotator) -> None:
    annotator = fresh_annotator
    numbers = pairs_of(annotator, PAIRS, "ann")
    with annotator.page(browser, "ann") as page:
        typed = watch(page)
        open_page(page, annotator, PAIRS, "ann")
        press(page, "s")
        wait_saved(page)
        sign_out_everywhere(annotator.store, "ann", by="ann")
        page.keyboard.press("d")
        expect(page.get_by_role("heading", name="You are signed out")).to_be_visible()
        expect(page.locator(".state p")).to_contain_text("1 waiting")
        expect(page.get_by_role("link", name="Sign in")).to_have_attribute("href", "/sign-in?next=" + _encoded(page))
        page.keyboard.press("s")
        assert len(typed.labels) == 2
        assert len(stored(annotator, PAIRS, "ann", numbers)) == 1
        annotator.sign_in(page.context, "bob")  # somebody else at the same machine
        open_page(page, annotator, PAIRS, "bob")
        wait_saved(page)
        assert stored(annotator, PAIRS, "bob", numbers) == [], "ann's judgement is not bob's"
        assert len(stored(annotator, PAIRS, "ann", numbers)) == 1
        annotator.sign_in(page.context, "ann")
        open_page(page, annotator, PAIRS, "ann")
        wait_saved(page)
    is_exactly(annotator, "ann", numbers, typed.labels)


def _encoded(page: Page) -> str:
    return str(page.evaluate("encodeURIComponent(location.pathname + location.search)"))


def test_a_picture_that_cannot_be_shown_is_never_judged(browser: Browser, fresh_annotator: Annotator) -> None:
    annotator = fresh_annotator
    numbers = pairs_of(annotator, PAIRS, "ann")
    with annotator.page(browser, "ann") as page:
        typed = watch(page)
        broken: list[str] = []

        def serve(route: Any) -> None:
            url = route.request.url
            if not broken and len(seen) >= 4:
                broken.append(url)
            seen.add(url)
            if url in broken:
                route.fulfill(status=404, json={"error": "no such picture"})
            else:
                route.continue_()

        seen: set[str] = set()
        page.route("**/pictures/large/**", serve)
        open_page(page, annotator, PAIRS, "ann")
        for _ in range(8):
            if page.locator(".state[data-state=broken]").count():
                break
            page.keyboard.press("s")
            page.wait_for_timeout(400)
        expect(page.get_by_role("heading", name="This picture cannot be shown")).to_be_visible()
        held = len(typed.labels)
        page.keyboard.press("s")
        page.wait_for_timeout(300)
        assert len(typed.labels) == held
        page.get_by_role("button", name="Leave it for later").click()
        page.wait_for_timeout(800)
        press(page, "d")
        wait_saved(page)
        assert len(typed.labels) == held + 1
    is_exactly(annotator, "ann", numbers, typed.labels)
