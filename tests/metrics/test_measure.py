"""A measure is a value: it prints, parses, compares, travels, and refuses what it cannot be."""

import json
import pickle
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eds.errors import InputError, UnknownNameError
from eds.metrics import PRESETS, Measure, definitions, preset
from eds.metrics.definition import Definition
from eds.metrics.measure import definition_of
from tests import recipes

NAMES = sorted(definitions())


@st.composite
def measures(draw: st.DrawFn) -> Measure:
    definition = definition_of(draw(st.sampled_from(NAMES)))
    numbers = st.integers(1, 1000)
    cuts = {"required": numbers, "optional": st.none() | numbers, "never": st.none()}
    given: dict[str, Any] = {
        name: draw(st.sampled_from(told.options) if told.options else st.floats(0.001, 0.999))
        for name, told in definition.parameters.items()
        if draw(st.booleans())
    }
    return Measure(definition.name, draw(cuts[definition.cut]), **given)


@given(measures())
def test_print_and_parse_are_inverse(measure: Measure) -> None:
    again = Measure.parse(str(measure))
    assert again == measure
    assert (hash(again), str(again), again.parameters) == (hash(measure), str(measure), measure.parameters)
    assert pickle.loads(pickle.dumps(measure)) == measure
    assert set(measure.parameters) == set(measure.definition.parameters)


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("AP@10", "AP@10(divide_by=relevant)"),
        ("AP@10(divide_by=hits)", "AP@10(divide_by=hits)"),
        (" ROC-AUC ( negatives=sampled, average=micro ) ", "ROC-AUC(average=micro,negatives=sampled)"),
        ("RBP(p=0.80)", "RBP(p=0.8)"),
        ("VSD-MRR@9", "VSD-MRR@9"),
        ("bpref", "bpref"),
        ("bpref@100", "bpref@100"),
    ],
)
def test_texts_print_with_every_convention(text: str, printed: str) -> None:
    assert str(Measure.parse(text)) == printed


@pytest.mark.parametrize(
    "text",
    [
        "",
        "RR",
        "RR@0",
        "RR@",
        "RR@10(",
        "RR@10(p=1)",
        "AP@5(divide_by=all)",
        "RBP(p=1)",
        "RBP(p=0)",
        "RBP(p=x)",
        "RBP(p=nan)",
        "RR@1000000001",
        f"RR@{2**63}",
        "ROC-AUC@5",
        "ROC-AUC(average)",
        "AP@5(divide_by=hits,divide_by=hits)",
        "AP@5(name=x)",
        "RR@10 RR",
    ],
)
def test_what_is_no_measure_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        Measure.parse(text)


def test_all_faults_are_told_and_names_are_proposed() -> None:
    with pytest.raises(InputError) as told:
        Measure("AP", k=0, divide_by="all", p=0.5)
    assert [fault.partition(";")[0] for fault in told.value.faults] == [
        "k is 0",
        "it has no parameter p",
        "divide_by is 'all'",
    ]
    with pytest.raises(UnknownNameError, match="Did you mean bpref"):
        Measure.parse("bprefs")


def test_a_measure_cannot_be_changed() -> None:
    measure = Measure("RR", k=10)
    with pytest.raises(AttributeError):
        measure.k = 5
    measure.parameters["p"] = 1  # type: ignore[index]
    assert str(measure) == "RR@10"
    assert measure.parameters == {}


@pytest.mark.parametrize("name", NAMES)
def test_every_kind_is_described(name: str) -> None:
    definition = definition_of(name)
    assert isinstance(definition, Definition)
    assert definition.name == name
    assert min(map(len, (definition.meaning, definition.formula, definition.conventions))) > 3


def test_presets_hold_measures_that_parse() -> None:
    for name in PRESETS:
        assert [Measure.parse(str(measure)) for measure in preset(name).measures] == list(preset(name).measures)
    texts = {str(measure) for measure in preset("vsd").measures}
    assert {"VSD-HR@5", "VSD-HR@9", "VSD-MRR@5", "VSD-MRR@9", "PR-AUC(average=micro,negatives=annotated)"} <= texts
    with pytest.raises(UnknownNameError, match="Known: vsd, trec"):
        preset("vds")


def test_the_recipe_adds_a_measure_in_one_file(tmp_path: Path) -> None:
    copy = recipes.follow("Add a measure", tmp_path)
    listed = json.loads(copy.eds("metrics", "list", "--json"))
    assert "how deep the last positive is" in [row["meaning"] for row in listed["measures"] if row["name"] == "Last"]
    code = """
import json
from eds.metrics import Measure, ScoringInputs, definitions, score
from eds.suspects import labels_frame, lists_frame

lists, labels = lists_frame({"m": {"q": ["a", "b", "c"]}}), labels_frame([("q", "b", 1), ("q", "c", 0)])
table = score(ScoringInputs(labels, rankings=lists), [Measure("Last", 4)])
print(json.dumps([*table[["measure", "value"]].iloc[0], "Last" in definitions()]))
"""
    assert json.loads(copy.python(code)) == ["Last@4", 0.5, True]
