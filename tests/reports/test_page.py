"""The page shows what JSON and CSV contain; anybody's text stays text; what is missing is reported."""

import csv
import io
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest

from eds.reports import Gap, ModelCard, Report, ReportInputs, build
from eds.reports.build import load_sections
from eds.reports.document import Section, Sentence, note, say, warn
from eds.reports.files import document, table
from eds.reports.page import page
from tests.reports.example import example_inputs

EVIL = "<script>alert('x')</script>\"'&<img src=x onerror=alert(1)>"


class Reader(HTMLParser):
    """Every number of a page by section: cells with their limits, numbers in sentences; and every element."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.section = ""
        self.numbers: list[tuple[str, str | None]] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        self.tags.append(tag)
        self.attributes.append((tag, attributes))
        if tag == "section":
            self.section = attributes["id"] or ""
        names = ["data-value", "data-low", "data-high"] + (["value"] if tag == "data" else [])
        self.numbers += [(self.section, attributes[name]) for name in names if attributes.get(name) is not None]


def read(text: str) -> Reader:
    reader = Reader()
    reader.feed(text)
    return reader


def values(document: Any) -> set[str]:
    """Every plain value within a JSON document, as JSON text."""
    if isinstance(document, dict):
        return {json.dumps(document, ensure_ascii=False)} | {
            value for part in document.values() for value in values(part)
        }
    if isinstance(document, list):
        return {json.dumps(document, ensure_ascii=False)} | {value for part in document for value in values(part)}
    return {json.dumps(document, ensure_ascii=False)}


@pytest.fixture(scope="module")
def whole() -> Report:
    return build(example_inputs(), {"when": "2026-01-01"})


def wanted_sections() -> list[str]:
    """The sections of a project like the example, which has no pictures of codes."""
    return [name for name, spec in load_sections().items() if spec.wanted(example_inputs())]


def test_complete_inputs_leave_nothing_missing_but_random_pairs(whole: Report) -> None:
    gaps = {(part.key, block.what) for part in whole.sections for block in part.blocks if isinstance(block, Gap)}
    assert gaps == {("pool", "No random pairs are judged, so prevalence and the pool's recall are unknown.")}
    assert [part.key for part in whole.sections] == wanted_sections()


def test_every_number_of_the_page_is_in_the_json(whole: Report) -> None:
    content = json.loads(json.dumps(document(whole), allow_nan=False))
    known = {part["key"]: values(part) | {"null"} for part in content["sections"]}
    numbers = read(page(whole)).numbers
    assert len(numbers) > 500
    assert [number for number in numbers if number[1] not in known[number[0]]] == []


def test_every_row_of_the_json_is_in_the_csv_and_details_apart_in_the_page(whole: Report) -> None:
    content = document(whole)
    shown = read(page(whole)).numbers
    cells = [
        (row["section"], row["block"], row["row"], row["field"]) for row in csv.DictReader(io.StringIO(table(content)))
    ]
    assert len(cells) == len(set(cells))
    for part in content["sections"]:
        for block in part["blocks"]:
            if block["kind"] == "table":
                for index, row in enumerate(block["rows"]):
                    assert {(part["key"], block["key"], str(index), key) for key in row} <= set(cells)
                    for key in () if block["detail"] else block["columns"]:
                        assert (part["key"], json.dumps(row[key], ensure_ascii=False)) in shown, (block["key"], key)


def test_the_page_requests_nothing_and_its_links_resolve(whole: Report) -> None:
    elements = read(page(whole)).attributes
    ids = [values["id"] for _, values in elements if "id" in values]
    assert len(ids) == len(set(ids))
    links = [values["href"] or "" for tag, values in elements if tag == "a"]
    assert {link[1:] for link in links} <= set(ids)
    assert all(link.startswith("#") for link in links)
    sources = [values.get("src") or "" for tag, values in elements if tag in ("img", "script", "link", "iframe")]
    assert all(not source or source.startswith("data:") for source in sources)
    named = {values["aria-labelledby"] for _, values in elements if values.get("aria-labelledby")}
    assert named <= set(ids)


def test_hostile_texts_stay_texts() -> None:
    whole = example_inputs(category=EVIL, expert=EVIL[:90])
    cards = [ModelCard(EVIL, "embeddings", spec=EVIL, preprocessing=EVIL)]
    nasty = replace(whole, name=EVIL, models=cards, cache={}, gaps={"judging": Gap(EVIL, EVIL)})
    report = build(nasty, {"when": EVIL, "seed": EVIL})
    text = page(report)
    reader = read(text)
    assert reader.tags.count("script") == 1
    assert [values for tag, values in reader.attributes if any(name.startswith("on") for name in values)] == []
    assert "onerror" not in {name for _, values in reader.attributes for name in values}
    assert "<img src=x" not in text
    assert text.count(EVIL) == 0
    json.loads(json.dumps(document(report)))
    broken = build(ReportInputs("a\x00b\u202ec\ud800", 6), {})
    page(broken).encode("utf-8")


@pytest.mark.parametrize(
    "name",
    ["images", "suspects", "truth", "judging", "models", "pool_lists", "rankings", "results", "scores", "negatives"],
)
def test_a_missing_input_is_reported_and_the_rest_stays(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eds.reports.page.chart_svg", lambda chart, label: "")  # drawn by the other tests
    gap = Gap(f"no {name} here", f"eds make {name}")
    emptied: dict[str, Any] = {name: None}
    report = build(replace(example_inputs(), gaps={name: gap}, **emptied), {})
    gaps = [block for part in report.sections for block in part.blocks if isinstance(block, Gap)]
    html = page(report)
    assert gaps
    if name != "negatives":
        assert gap in gaps
        assert f"eds make {name}" in html
    assert [part.key for part in report.sections] == wanted_sections()


def test_a_report_without_any_input_is_still_a_report() -> None:
    report = build(ReportInputs("Empty", 6), {})
    assert all(part.blocks for part in report.sections)
    assert "Empty" in page(report)
    assert re.search("is missing", page(report))


def test_sentences_that_follow_each_other_are_one_paragraph_and_none_is_lost(whole: Report) -> None:
    section = Section("s", "Title", "?", (say("One."), say("Two."), note("Three."), warn("Four."), warn("Five.")))
    text = page(Report("r", {}, (section, section)))
    folded = text[text.index("<details") : text.index("</details>")]
    paragraphs = re.findall(r'<p(?: class="(\w+)")?>([^<]*)</p>', folded[folded.index('<div class="blocks">') :])
    assert paragraphs == [("", "One. Two."), ("note", "Three."), ("warn", "Four."), ("warn", "Five.")]
    html = page(whole)
    words = {block.template for part in whole.sections for block in part.blocks if isinstance(block, Sentence)}
    assert words
    assert all(words_of in html for words_of in words if "{" not in words_of and "'" not in words_of)
