"""Analyses are files; their options and missing inputs are checked by name."""

import json
from pathlib import Path

import pandas as pd
import pytest

from eds.analysis import AnalysisInputs, analyse
from eds.errors import InputError, UnknownNameError
from eds.registry import ANALYSES
from tests import recipes


def test_the_recipe_adds_an_analysis_in_one_file(tmp_path: Path) -> None:
    copy = recipes.follow("Add an analysis", tmp_path)
    code = """
import json
import pandas as pd
from eds.analysis import AnalysisInputs, analyse
from eds.project.analyse import analysis_options
from eds.registry import ANALYSES

truth = pd.DataFrame({"votes_for": [3, 2, 1], "votes_against": [0, 1, 3]})
name = "votes-needed"
print(json.dumps([analyse(name, AnalysisInputs(truth=truth), margin=2), ANALYSES.help(name), name in ANALYSES]))
assert [option.name for option in analysis_options(name)] == ["margin"]
"""
    assert json.loads(copy.python(code)) == [{"pairs": 3, "close": 2}, "How many pairs were close votes.", True]


@pytest.mark.parametrize("name", ANALYSES.names())
def test_an_analysis_declares_inputs_that_there_are_and_refuses_to_lack_them(name: str) -> None:
    needed = ANALYSES.load(name).INPUTS
    fields = AnalysisInputs.__dataclass_fields__
    assert set(needed) <= set(fields)
    with pytest.raises(InputError, match="missing"):
        analyse(name, AnalysisInputs())


def test_unknown_names_and_options_are_refused() -> None:
    with pytest.raises(UnknownNameError, match="unknown analysis 'baias'"):
        analyse("baias", AnalysisInputs())
    with pytest.raises(InputError, match="unknown option depth"):
        analyse("bias", AnalysisInputs(truth=pd.DataFrame()), depth=3)
