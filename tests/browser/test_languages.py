"""The pages in other languages, in a real browser: nothing past the catalogues, German with room enough.

Nothing past the catalogues is shown by a language whose every text is in brackets, as a project's own catalogue.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Browser, Page, expect

from annotator_ui.catalogues import entries
from eds.labels.experts import set_language
from tests.annotator.judged import GRID as IN_GRID
from tests.annotator.judged import NAME, RANDOM, furnish
from tests.browser.annotator import GRID, PAIRS, PEOPLE, Annotator, axe_faults, prepare, running
from tests.browser.judging import open_page, watch
from tests.browser.test_lead_pages import settle, visit

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True, "device_scale_factor": 2}
SORTS = ("dress", "shirt", "bag", "coat")  # categories of the catalogue
BRACKETED = "fr"  # any language that the package has no catalogue of
# The texts on the page, and what the judging page's own elements say of themselves; guidelines and data left out.
TEXTS = """() => {
  const data = "script, style, noscript, kbd, svg, td, [data-testid=stIconMaterial], [data-baseweb=tag], .eds-words, " +
    ".eds-example-note, .prose, .reason, [hidden], [role=img], [translate=no], [lang]:not(html)";
  const found = [];
  const shadows = [...document.querySelectorAll("*")].map((one) => one.shadowRoot).filter(Boolean);
  for (const root of [document.body, ...shadows]) {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      if (!walker.currentNode.parentElement?.closest(data)) found.push(walker.currentNode.nodeValue.trim());
    }
    for (const one of root.querySelectorAll(".judging *")) {
      for (const name of ["aria-label", "placeholder", "alt", "title"]) found.push(one.getAttribute(name) ?? "");
    }
  }
  return [...new Set(found)];
}"""


# Buttons and headings whose text is cut off, or that reach beyond the window.
CLIPPED = """() => {
  const found = [];
  const shadows = [...document.querySelectorAll("*")].map((one) => one.shadowRoot).filter(Boolean);
  for (const root of [document.body, ...shadows]) {
    for (const one of root.querySelectorAll(".judging button, .judging h1, .judging h2, .judging .text")) {
      const { left, right, width } = one.getBoundingClientRect();
      const cut = one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).display !== "inline";
      if (width > 1 && (cut || right > innerWidth + 1 || left < -1)) found.push(one.textContent);
    }
  }
  return found;
}"""


def bracketed(folder: Path) -> None:
    """A catalogue whose translations are the English texts in brackets."""
    done, lines = (
        set(),
        ['msgid ""\nmsgstr "Content-Type: text/plain; charset=utf-8\\nPlural-Forms: nplurals=2; plural=(n > 1);"\n'],
    )

    def quoted(text: str) -> str:
        return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'

    for entry in entries():
        first, *others = [entry.source] if isinstance(entry.source, str) else entry.source
        if first in done:
            continue
        done.add(first)
        lines.append(f"msgid {quoted(first)}")
        if others:
            lines.append(f"msgid_plural {quoted(others[0])}")
            lines += [f"msgstr[{n}] {quoted(f'⟦{text}⟧')}" for n, text in enumerate((first, others[0]))]
        else:
            lines.append(f"msgstr {quoted(f'⟦{first}⟧')}")
        lines.append("")
    folder.mkdir()
    (folder / f"{BRACKETED}.po").write_text("\n".join(lines), encoding="utf-8")


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Annotator]:
    """A judged project with the bracketed language."""
    project = prepare(tmp_path_factory.mktemp("languages") / "shop")
    bracketed(project.root / "locale")
    settings = project.root / "eds.toml"
    settings.write_text(settings.read_text().replace('# locale = ""', 'locale = "locale"', 1))
    with running(project, "--no-prepare") as found:
        furnish(project, found.store)
        for name in ("ann", "bob", "cid"):
            found.invitation(name)
        yield found


def past_the_catalogues(page: Page) -> list[str]:
    """What is shown outside brackets, without names that people gave."""
    names = sorted([*PEOPLE, *SORTS, NAME, PAIRS, GRID, RANDOM, IN_GRID, "Drawn garments", "EDS"], key=len)
    found = []
    for text in page.evaluate(TEXTS):
        rest = text
        while (inner := re.sub(r"⟦[^⟦⟧]*⟧", "", rest)) != rest:
            rest = inner
        for name in reversed(names):
            rest = rest.replace(name, "")
        if re.search(r"[A-Za-z]{3}", rest):
            found.append(text)
    return found


def test_nothing_is_shown_past_the_catalogues(browser: Browser, shop: Annotator) -> None:
    for name in ("ann", "lea"):
        set_language(shop.store, name, BRACKETED)
    found: dict[str, list[str]] = {}
    with shop.page(browser, "ann") as page:
        page.goto(shop.url)
        settle(page)
        assert page.evaluate("document.documentElement.lang") == BRACKETED
        found["home"] = past_the_catalogues(page)
        watch(page)
        open_page(page, shop, NAME, "ann")
        found["pair"] = past_the_catalogues(page)
        page.keyboard.press("?")
        found["keys"] = past_the_catalogues(page)
        page.goto(f"{shop.url}/language")
        found["language"] = past_the_catalogues(page)
    with shop.page(browser, "lea", viewport={"width": 1440, "height": 900}) as page:
        for place in (f"campaign?{urlencode({'campaign': NAME})}", "new-campaign"):
            visit(page, f"{shop.url}/{place}")
            found[place] = past_the_catalogues(page)
            page.get_by_test_id("stDataFrame").first.hover() if "campaign?" in place else None
            tools = page.locator("[data-testid=stElementToolbar] button").evaluate_all(
                "all => all.map((one) => one.getAttribute('aria-label'))"
            )
            assert [name for name in tools if not name.startswith("⟦")] == []  # Streamlit's own words
            assert tools or "campaign?" not in place
    assert not {place: texts for place, texts in found.items() if texts}
    with shop.page(browser, "ann") as page:  # the test sees what is not in brackets
        page.goto(f"{shop.url}/sign-in")
        page.evaluate("document.body.append('Sign in')")
        assert "Sign in" in past_the_catalogues(page)


def test_german_fits_a_phone_and_is_chosen_on_the_account_page(browser: Browser, shop: Annotator) -> None:
    set_language(shop.store, "ann", "")
    with shop.page(browser, "ann", locale="de-DE", **PHONE) as page:
        watch(page)
        for campaign, view in ((NAME, "pair"), (IN_GRID, "grid")):
            open_page(page, shop, campaign, "ann", view)
            assert page.evaluate("document.documentElement.lang") == "de"
            expect(page.get_by_text("Gespeichert")).to_be_visible()
            wide = page.evaluate(CLIPPED)
            assert wide == []
            assert axe_faults(page) == []
        page.goto(f"{shop.url}/account")
        page.get_by_role("link", name="Sprache: wie im Browser").click()
        assert axe_faults(page) == []
        page.get_by_role("button", name="English").click()
        settle(page)
        expect(page.get_by_role("link", name="Language: English")).to_be_visible()
        assert page.evaluate("document.documentElement.lang") == "en"
