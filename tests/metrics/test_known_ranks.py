"""Ranks of labelled pairs give what whole lists give, to the last counted place."""

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eds.errors import InputError
from eds.metrics import Measure, ScoringInputs, preset, score
from eds.pairs import KnownRanks
from tests.metrics.benchmarks import Bench, benches, shuffled

ON_LISTS = [
    *preset("trec").measures,
    *map(Measure.parse, ("P@3", "bpref@2", "infAP@4", "RBP@3", "RBP-residual@2", "AP@3(divide_by=hits)")),
]


def placed(bench: Bench, seed: int) -> KnownRanks:
    """What the bench's labels know of its lists; pairs in no list at rank -1."""
    lists = bench.rankings_frame
    labels = bench.labels_frame[["query_id", "candidate_id"]].drop_duplicates()
    every = labels.merge(pd.DataFrame({"model": list(bench.lists)}), how="cross")
    told = every.merge(lists, on=["model", "query_id", "candidate_id"], how="left")
    told["rank"] = told["rank"].fillna(-1).astype("int64")
    lengths = lists.groupby(["model", "query_id"]).size().rename("length").reset_index()
    return KnownRanks.from_frames(shuffled(told, seed), shuffled(lengths, seed))


@settings(max_examples=60)
@given(benches(), st.integers(0, 99))
def test_places_give_what_lists_give(bench: Bench, seed: int) -> None:
    whole = score(ScoringInputs(bench.labels_frame, rankings=bench.rankings_frame), ON_LISTS, by_query=True)
    part = score(ScoringInputs(bench.labels_frame, ranks=placed(bench, seed)), ON_LISTS, by_query=True)
    keys = ["model", "measure", "query_id"]
    columns = [*keys, "n", "note"]
    passed_over = r"lists of unlabelled queries ignored: \d+; "  # places are of labelled queries only
    whole = whole.assign(note=whole["note"].str.replace(passed_over, "", regex=True))
    pd.testing.assert_frame_equal(part[columns], whole[columns])
    assert part["value"].tolist() == pytest.approx(whole["value"].tolist(), abs=1e-12, nan_ok=True)


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([("m", "q", "a", 0), ("m", "q", "b", 0)], "two candidates at one rank for queries 'q'"),
        ([("m", "q", "a", 3)], "a rank behind the list's end for queries 'q'"),
        ([("m", "q", "a", 0), ("m", "q", "a", 1)], "must be unique"),
        ([("m", "q", "a", -2)], "must be at least -1"),
    ],
)
def test_impossible_places_are_refused(rows: list[tuple[str, str, str, int]], told: str) -> None:
    places = pd.DataFrame(rows, columns=["model", "query_id", "candidate_id", "rank"])
    lengths = pd.DataFrame({"model": ["m"], "query_id": ["q"], "length": [3]})
    with pytest.raises(InputError, match=told):
        KnownRanks.from_frames(places, lengths)


def test_places_that_break_the_official_rules_are_refused() -> None:
    images = pd.DataFrame({"image_id": list("qabc"), "product_id": list("xxyy"), "role": "both"})
    labels = pd.DataFrame({"query_id": "q", "candidate_id": list("abc"), "value": 1})
    places = labels[["query_id", "candidate_id"]].assign(model="m", rank=[0, 1, 2])
    given = KnownRanks.from_frames(places, pd.DataFrame({"model": ["m"], "query_id": ["q"], "length": [3]}))
    with pytest.raises(InputError) as caught:
        score(ScoringInputs(labels, images=images, ranks=given), [Measure.parse("VSD-HR@5")])
    assert "own product in the lists of 'q'" in str(caught.value)
    assert "two images of one product in a list of 'q'" in str(caught.value)
    assert score(ScoringInputs(labels, images=images, ranks=given), [Measure.parse("P@3")])["value"].tolist() == [1.0]
    with pytest.raises(InputError, match="both of model m"):
        score(ScoringInputs(labels, rankings=places, images=images, ranks=given), [Measure.parse("P@3")])
