"""What the page shows is what JSON and CSV hold; anybody's text stays text; what is missing is told."""

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
        told = dict(attrs)
        self.tags.append(tag)
        self.attributes.append((tag, told))
        if tag == "section":
            self.section = told["id"] or ""
        names = ["data-value", "data-low", "data-high"] + (["value"] if tag == "data" else [])
        self.numbers += [(self.section, told[name]) for name in names if told.get(name) is not None]


def read(text: str) -> Reader:
    reader = Reader()
    reader.feed(text)
    return reader


def values(told: Any) -> set[str]:
    """Every plain value within a JSON document, as JSON text."""
    if isinstance(told, dict):
        return {json.dumps(told, ensure_ascii=False)} | {one for part in told.values() for one in values(part)}
    if isinstance(told, list):
        return {json.dumps(told, ensure_ascii=False)} | {one for part in told for one in values(part)}
    return {json.dumps(told, ensure_ascii=False)}


@pytest.fixture(scope="module")
def whole() -> Report:
    return build(example_inputs(), {"when": "2026-01-01"})


def test_complete_inputs_leave_nothing_missing_but_random_pairs(whole: Report) -> None:
    gaps = {(part.key, block.what) for part in whole.sections for block in part.blocks if isinstance(block, Gap)}
    assert gaps == {("pool", "No random pairs are judged, so prevalence and the pool's recall are unknown.")}
    assert [part.key for part in whole.sections] == [*load_sections()]


def test_every_number_of_the_page_stands_in_the_json(whole: Report) -> None:
    told = json.loads(json.dumps(document(whole), allow_nan=False))
    known = {part["key"]: values(part) | {"null"} for part in told["sections"]}
    numbers = read(page(whole)).numbers
    assert len(numbers) > 500
    assert [one for one in numbers if one[1] not in known[one[0]]] == []


def test_every_row_of_the_json_stands_in_the_page_and_in_the_csv(whole: Report) -> None:
    told = document(whole)
    shown = read(page(whole)).numbers
    cells = [
        (row["section"], row["block"], row["row"], row["field"]) for row in csv.DictReader(io.StringIO(table(told)))
    ]
    assert len(cells) == len(set(cells))
    for part in told["sections"]:
        for block in part["blocks"]:
            if block["kind"] == "table":
                for at, row in enumerate(block["rows"]):
                    assert {(part["key"], block["key"], str(at), key) for key in row} <= set(cells)
                    for key in block["columns"]:
                        assert (part["key"], json.dumps(row[key], ensure_ascii=False)) in shown, (block["key"], key)


def test_the_page_asks_for_nothing_and_its_links_lead_somewhere(whole: Report) -> None:
    found = read(page(whole)).attributes
    ids = [told["id"] for _, told in found if "id" in told]
    assert len(ids) == len(set(ids))
    links = [told["href"] or "" for tag, told in found if tag == "a"]
    assert {link[1:] for link in links} <= set(ids)
    assert all(link.startswith("#") for link in links)
    sources = [told.get("src") or "" for tag, told in found if tag in ("img", "script", "link", "iframe")]
    assert all(not source or source.startswith("data:") for source in sources)
    named = {told["aria-labelledby"] for _, told in found if told.get("aria-labelledby")}
    assert named <= set(ids)


def test_hostile_texts_stay_texts() -> None:
    whole = example_inputs(category=EVIL, expert=EVIL[:90])
    cards = [ModelCard(EVIL, "embeddings", spec=EVIL, preprocessing=EVIL)]
    nasty = replace(whole, name=EVIL, models=cards, cache={}, gaps={"judging": Gap(EVIL, EVIL)})
    report = build(nasty, {"when": EVIL, "seed": EVIL})
    text = page(report)
    reader = read(text)
    assert reader.tags.count("script") == 1
    assert [told for tag, told in reader.attributes if any(name.startswith("on") for name in told)] == []
    assert "onerror" not in {name for _, told in reader.attributes for name in told}
    assert "<img src=x" not in text
    assert text.count(EVIL) == 0
    json.loads(json.dumps(document(report)))
    broken = build(replace(nasty, name="a\x00b\u202ec\ud800"), {})
    page(broken).encode("utf-8")


@pytest.mark.parametrize(
    "name",
    ["images", "suspects", "truth", "judging", "models", "pool_lists", "rankings", "results", "scores", "negatives"],
)
def test_what_is_missing_is_told_and_the_rest_stays(name: str) -> None:
    gap = Gap(f"no {name} here", f"eds make {name}")
    emptied: dict[str, Any] = {name: None}
    report = build(replace(example_inputs(), gaps={name: gap}, **emptied), {})
    gaps = [block for part in report.sections for block in part.blocks if isinstance(block, Gap)]
    told = page(report)
    assert gaps
    if name != "negatives":
        assert gap in gaps
        assert f"eds make {name}" in told
    assert len(report.sections) == len(load_sections())


def test_nothing_at_all_is_still_a_report() -> None:
    report = build(ReportInputs("Empty", 6), {})
    assert all(part.blocks for part in report.sections)
    assert "Empty" in page(report)
    assert re.search("is missing", page(report))
