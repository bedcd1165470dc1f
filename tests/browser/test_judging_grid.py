"""The grid view in a real Chromium: marks, polarity, what was on screen; the database holds exactly what was typed."""

from typing import Any

import pandas as pd
import pytest
from playwright.sync_api import Browser, Page, expect

from eds.labels.campaigns import Plan, create_campaign
from eds.labels.flags import open_flags
from eds.labels.frames import labels_frame
from tests.browser.annotator import ONE, Annotator, add_campaign, axe_faults
from tests.browser.judging import (
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


def make(annotator: Annotator, queries: int, each: int, **plan: Any) -> str:
    name = new_name("Grid")
    images = annotator.project.read("images")["image_id"].tolist()
    pairs = [(images[query], images[10 + place]) for query in range(queries) for place in range(each)]
    values = {"mode": "grid", "polarity": "similar", "repeat_share": ONE, **plan}
    frame = pd.DataFrame(pairs, columns=["query_id", "candidate_id"])
    create_campaign(annotator.store, Plan(name, **values), frame, ["ann", "bob"])
    return name


def asked_again(page: Page) -> list[tuple[int, int | None]]:
    """Answer the pair that the grid asks a second time, if it comes now; its assignment and value."""
    if page.locator(".judging").get_attribute("data-state") != "pair":
        return []
    [number] = shown(page)
    press(page, "d")
    return [(number, 0)]


def flag_one_of(page: Page, count: int) -> None:
    """Flag the candidate with the focus: the others close up."""
    page.keyboard.press("f")
    page.get_by_role("button", name="The same picture twice").click()
    page.get_by_role("button", name="Flag and go on").click()
    expect(page.locator(".tile")).to_have_count(count - 1)


def states(page: Page) -> list[str | None]:
    return [tile.get_attribute("data-state") for tile in page.locator(".tile").all()]


def test_five_pages_of_exceptions(browser: Browser, annotator: Annotator) -> None:
    name = new_name("Five pages")
    plan = Plan(name, "grid", "similar", guideline="1", repeat_share=ONE)
    add_campaign(annotator.store, annotator.project.read("images"), plan)
    numbers = pairs_of(annotator, name, "ann")
    marks: list[list[str]] = [
        ["3", "7"],
        [],
        ["1", "2", "2", "5"],
        ["a", "i", "9"],
        ["ArrowRight", " ", "ArrowDown", " ", "u"],
    ]
    expected: list[list[tuple[int, int | None]]] = []
    with annotator.page(browser, "ann") as page:
        typed = watch(page)
        open_page(page, annotator, name, "ann", "grid")
        between: list[tuple[int, int | None]] = []
        for keys in marks:
            between += asked_again(page)
            for key in keys:
                page.keyboard.press(key)
            found = states(page)
            assert len(found) == 25, "all candidates of the query at once"
            values = {"rest": 1, "marked": 0, "unsure": None}
            expected.append([(number, values[str(state)]) for number, state in zip(shown(page), found, strict=True)])
            press(page, "Enter")
        wait_saved(page)
        assert [[value for _, value in part].count(0) for part in expected] == [2, 0, 2, 1, 1]
        assert [[place for place, (_, value) in enumerate(part) if value == 0] for part in expected[:3]] == [
            [2, 6],
            [],
            [11, 24],
        ]
        between += asked_again(page)
        flat = [one for part in expected for one in part] + between
        assert len(between) == 1
        assert sorted(typed.labels, key=str) == sorted(flat, key=str)
        wait_saved(page)
    assert sorted(stored(annotator, name, "ann", numbers), key=str) == sorted(flat, key=str)


@pytest.mark.parametrize(("polarity", "marked"), [("similar", 0), ("different", 1)])
def test_what_a_mark_means(browser: Browser, annotator: Annotator, polarity: str, marked: int) -> None:
    name = make(annotator, 2, 4, polarity=polarity)
    numbers = pairs_of(annotator, name, "ann")
    with annotator.page(browser, "ann") as page:
        watch(page)
        open_page(page, annotator, name, "ann", "grid")
        rule = {"similar": "Mark those that are not similar", "different": "Mark those that are similar"}[polarity]
        expect(page.locator(".rule")).to_contain_text(rule)
        page.locator(".tile").nth(2).click()
        first = shown(page)
        expected = [(number, marked if place == 2 else 1 - marked) for place, number in enumerate(first)]
        press(page, "Enter")
        wait_saved(page)
    assert stored(annotator, name, "ann", numbers) == expected


def test_the_last_exception_is_marked_and_saved_in_one_act(browser: Browser, annotator: Annotator) -> None:
    name = make(annotator, 4, 5)
    numbers = pairs_of(annotator, name, "ann")
    with annotator.page(browser, "ann") as page:
        typed = watch(page)
        open_page(page, annotator, name, "ann", "grid")
        expected: list[tuple[int, int | None]] = []
        for marks in ([3], [0, 4], [2, 2]):  # the last click holds Shift: it marks, also what is marked already
            expected += asked_again(page)
            order = shown(page)
            for place in marks[:-1]:
                page.locator(".tile").nth(place).click()
            before = paintings(page)
            page.locator(".tile").nth(marks[-1]).click(modifiers=["Shift"])
            wait_painted(page, before)
            expected += [(number, 0 if place in marks else 1) for place, number in enumerate(order)]
        expected += asked_again(page)
        order = shown(page)
        page.keyboard.press("ArrowRight")
        page.keyboard.press("Shift+Space")
        expected += [(number, 0 if place == 1 else 1) for place, number in enumerate(order)]
        end = page.get_by_role("heading", name="All done. Thank you!")
        expect(end.or_(page.locator(".pair")).first).to_be_visible()
        if page.locator(".pair").count():  # the pair that is asked again may stand behind the last page
            page.wait_for_timeout(400)
            expected.append((shown(page)[0], 0))
            page.keyboard.press("d")
        expect(end).to_be_visible()
        wait_saved(page)
        assert typed.labels == expected
        assert len(typed.labels) == 4 * 5 + 1
    assert stored(annotator, name, "ann", numbers) == typed.labels


def test_undo_brings_a_page_back_and_stores_changes_only(browser: Browser, annotator: Annotator) -> None:
    name = make(annotator, 3, 5)
    numbers = pairs_of(annotator, name, "ann")
    with annotator.page(browser, "ann") as page:
        typed = watch(page)
        open_page(page, annotator, name, "ann", "grid")
        first = shown(page)
        page.keyboard.press("2")
        press(page, "Enter")
        press(page, "z")
        assert shown(page) == first
        assert states(page) == ["rest", "marked", "rest", "rest", "rest"]
        page.keyboard.press("2")
        page.keyboard.press("5")
        press(page, "Enter")
        wait_saved(page)
        page.reload()
        wait_painted(page, 0)
        assert not set(shown(page)) & set(first)
        press(page, "z")
        assert set(shown(page)) == set(first), "also after a reload"
        by_number = dict(zip(shown(page), states(page), strict=True))
        assert [by_number[number] for number in first] == ["rest", "rest", "rest", "rest", "marked"]
        press(page, "Enter")  # nothing changed, nothing stored
        wait_saved(page)
        assert typed.labels == [*zip(first, [1, 0, 1, 1, 1], strict=True), (first[1], 1), (first[4], 0)]
    assert stored(annotator, name, "ann", numbers) == typed.labels


def test_only_what_was_on_screen_counts(browser: Browser, annotator: Annotator) -> None:
    name = make(annotator, 2, 24)
    numbers = pairs_of(annotator, name, "ann")
    phone = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True, "device_scale_factor": 2}
    with annotator.page(browser, "ann", **phone) as page:
        typed = watch(page)
        open_page(page, annotator, name, "ann", "grid")
        expect(page.locator(".below")).to_contain_text("more below")
        assert axe_faults(page) == []
        first = shown(page)
        page.locator(".tile").nth(1).tap()
        save = page.locator(".answers [data-action=save]")
        before = paintings(page)
        for _ in range(6):
            page.wait_for_timeout(300)
            save.tap()
            if typed.labels:
                break
            assert shown(page) == first, "not before everything was seen"
        wait_painted(page, before)
        wait_saved(page)
        assert typed.labels == [(number, 0 if place == 1 else 1) for place, number in enumerate(first)]
    assert stored(annotator, name, "ann", numbers) == typed.labels


def test_one_candidate_is_flagged_and_the_others_are_saved(browser: Browser, annotator: Annotator) -> None:
    name = make(annotator, 1, 4)
    numbers = pairs_of(annotator, name, "ann")
    with annotator.page(browser, "ann") as page:
        watch(page)
        open_page(page, annotator, name, "ann", "grid")
        order = shown(page)
        page.keyboard.press("ArrowRight")
        flag_one_of(page, 4)
        press(page, "Enter")
        again = asked_again(page)
        assert len(again) == 1
        assert shown(page) == [order[1]], "the flagged one comes back"
        page.keyboard.press("3")
        page.keyboard.press("1")
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", name="All done. Thank you!")).to_be_visible()
        wait_saved(page)
    answers = [(order[0], 1), (order[2], 1), (order[3], 1), *again, (order[1], 0)]
    assert stored(annotator, name, "ann", numbers) == answers


def test_a_flag_is_undone_while_its_page_is_shown(browser: Browser, annotator: Annotator) -> None:
    name = make(annotator, 1, 4)
    numbers = pairs_of(annotator, name, "ann")
    with annotator.page(browser, "ann") as page:
        watch(page)
        open_page(page, annotator, name, "ann", "grid")
        order = shown(page)
        page.keyboard.press("4")
        page.keyboard.press("2")
        flag_one_of(page, 4)
        assert states(page) == ["rest", "rest", "marked"]
        page.keyboard.press("z")
        expect(page.locator(".tile")).to_have_count(4)
        assert states(page) == ["rest", "marked", "rest", "marked"]
        page.wait_for_timeout(300)  # it must be seen again
        press(page, "Enter")
        wait_saved(page)
    assert stored(annotator, name, "ann", numbers) == list(zip(order, [1, 0, 1, 0], strict=True))
    assert open_flags(annotator.store, name).empty, "it is withdrawn"


def test_repeats_of_a_grid_are_shown_as_pairs(browser: Browser, annotator: Annotator) -> None:
    name = make(annotator, 2, 5, repeat_share=0.2)
    with annotator.page(browser, "ann") as page:
        typed = watch(page)
        open_page(page, annotator, name, "ann", "grid")
        kinds, order = [], []
        for _ in range(4):
            kind = str(page.locator(".judging").get_attribute("data-state"))
            kinds.append(kind)
            order += shown(page)
            if len(typed.labels) < 11:
                press(page, "Enter" if kind == "grid" else "d")
            else:
                page.keyboard.press("Enter" if kind == "grid" else "d")
                expect(page.get_by_role("heading", name="All done. Thank you!")).to_be_visible()
        assert sorted(kinds) == ["grid", "grid", "pair", "pair"]
        wait_saved(page)
    numbers = pairs_of(annotator, name, "ann")
    for (query, candidate, kind), number in numbers.items():
        if kind == "repeat":  # after its page, be that between two pages or at the end
            assert order.index(number) > order.index(numbers[query, candidate, "normal"])
    labels = labels_frame(annotator.store, campaign=name)
    assert labels.groupby("kind")["value"].sum().to_dict() == {"normal": 10, "repeat": 0}


def test_query_and_candidate_by_turns_and_magnified(browser: Browser, annotator: Annotator) -> None:
    name = make(annotator, 1, 4)
    with annotator.page(browser, "ann") as page:
        typed = watch(page)
        open_page(page, annotator, name, "ann", "grid")
        page.keyboard.press("ArrowRight")
        focused = page.locator(".tile.focus img")
        page.keyboard.down("b")
        expect(page.locator(".grid")).to_have_class("grid swapped")
        other = page.locator(".query .other")
        assert other.get_attribute("src") == focused.get_attribute("src")
        expect(other).to_be_visible()
        expect(page.locator(".grid")).to_have_class("grid")  # and back again by itself
        page.keyboard.up("b")
        expect(other).to_have_count(0)
        page.keyboard.down("l")
        expect(page.locator(".box.magnified")).to_have_count(2)
        page.keyboard.up("l")
        expect(page.locator(".box.magnified")).to_have_count(0)
        assert typed.labels == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_is_for_everybody(browser: Browser, annotator: Annotator, scheme: str) -> None:
    name = make(annotator, 2, 24)
    with annotator.page(browser, "ann", color_scheme=scheme) as page:
        watch(page)
        open_page(page, annotator, name, "ann", "grid")
        page.keyboard.press("4")
        page.keyboard.press("ArrowRight")
        page.keyboard.press("u")
        assert axe_faults(page) == []
        tile = page.get_by_role("button", name="Candidate 4: Not similar")
        assert tile.get_attribute("aria-pressed") == "true"
        boxes = [one.bounding_box() for one in page.locator(".tile").all()]
        assert all(box is not None and box["y"] + box["height"] <= 720 and box["width"] > 90 for box in boxes)
