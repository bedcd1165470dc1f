"""A section is one file: found by its name, in the order it asks for, reading only the inputs that it declares."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from eds.registry import SECTIONS
from eds.reports.build import load_sections
from eds.reports.document import Missing
from eds.reports.inputs import ReportInputs
from tests import recipes
from tests.reports.example import example_inputs

BUILT = """
import json
import pandas as pd
from eds.registry import SECTIONS
from eds.reports import ReportInputs, build
from eds.reports.files import document
from eds.reports.page import page

images = pd.DataFrame({"image_id": ["q1", "q2", "q3", "c"], "category": ["bag", "hat", "hat", "hat"]})
truth = pd.DataFrame({"query_id": ["q1", "q2", "q3"], "candidate_id": ["c", "c", "c"], "value": [0, 0, 1]})
truth = truth.assign(votes_for=3 * truth["value"], votes_against=3 - 3 * truth["value"], unsure=0, tie=False)
report = build(ReportInputs("toy", 4, images=images.assign(role="both", product_id="p"), truth=truth), {})
section = next(part for part in document(report)["sections"] if part["key"] == "unmatched")
print(json.dumps([section, [part.key for part in report.sections], page(report)]))
"""


def test_the_recipe_adds_a_section_in_one_file(tmp_path: Path) -> None:
    copy = recipes.follow("Add a report section", tmp_path)
    assert copy.added == ("eds/reports/sections/unmatched.py",)
    section, names, page = json.loads(copy.python(BUILT))
    assert section["title"] == "Queries without a match"
    sentence, figure = section["blocks"]
    assert sentence["numbers"] == {"n": 2, "all": 3}
    assert figure["data"] == {"labels": ["bag", "hat"], "values": [1, 1]}
    assert names.index("judged") < names.index("unmatched") < names.index("limits")
    assert '<section id="unmatched"' in page
    assert "hat: 1" in page


def test_the_summary_comes_first_and_the_limits_last() -> None:
    sections = load_sections()
    assert set(sections) == set(SECTIONS.names())
    assert (next(iter(sections)), next(reversed(sections))) == ("summary", "limits")
    assert len({section.order for section in sections.values()}) == len(sections)


@pytest.mark.parametrize("name", SECTIONS.names())
def test_a_section_reads_only_the_inputs_that_it_declares(name: str) -> None:
    section, read = load_sections()[name], set()
    fields = set(ReportInputs.__dataclass_fields__)

    class Watched(ReportInputs):
        def __getattribute__(self, field: str) -> Any:
            if field in fields:
                read.add(field)
            return super().__getattribute__(field)

    whole = example_inputs()
    inputs = Watched(**{field: getattr(whole, field) for field in fields})
    for part in section.parts:
        with suppress(Missing):  # a gap is as good as blocks here
            part(inputs)
    tables = {field for field in read if getattr(ReportInputs.__dataclass_fields__[field], "default", 0) in (None, ())}
    assert tables - {"image_root", "gaps"} <= set(section.inputs)
