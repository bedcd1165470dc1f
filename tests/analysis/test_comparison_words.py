"""The sentences of a comparison: what they say follows from its values."""

from dataclasses import replace

from eds.analysis import compare, comparison_words
from eds.metrics import Measure
from tests.analysis.worlds import AUC, HR, NEW, Size, draw_world

SMALL = Size(queries=40, candidates=120, generators=3)


def test_a_newcomer_is_said_to_be_unranked_with_what_would_rank_it() -> None:
    world = draw_world(0, "equal", SMALL)
    comparison = compare(world.results([AUC, HR, Measure("P", 3)]), world.inputs, resamples=0)
    said = comparison_words.notes(comparison)
    assert len(said) == 2
    (item,) = comparison[Measure("P", 3)].undecided  # the cheapest
    assert f"before {item.to_judge:,} more places are judged: eds suspects add-model {NEW} -k 3" in said[1]
    assert "P@5" in said[1]


def test_nothing_is_said_of_sides_where_all_models_built_the_pool() -> None:
    world = draw_world(1, "equal", SMALL)
    results = [result for result in world.results([AUC, HR]) if result.model != NEW]
    comparison = compare(results, world.inputs, resamples=0)
    assert comparison_words.notes(comparison) == []
    assert comparison_words.legend(comparison).startswith("* best")
    assert comparison_words.legend(compare([], world.inputs)) == ""


def test_where_nobody_knows_who_built_the_pool_that_is_all_that_is_said() -> None:
    world = draw_world(2, "equal", SMALL)
    comparison = compare(world.results([AUC, HR]), replace(world.inputs, pool_lists=None), resamples=0)
    (said,) = comparison_words.notes(comparison)
    assert "--pool-model" in said
