"""What may be hidden: of the polarity that somebody has to touch, beside other candidates, and known to nobody."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from eds.errors import InputError
from eds.labels.calibration import answer, begin_round, next_task, plan_calibration
from eds.labels.campaigns import Plan, add_pairs, add_to_panel, create_campaign
from eds.labels.experts import add_expert
from eds.labels.gold import add_gold, gold_to_hide, usual_share
from eds.labels.guidelines import Example, put_in_force, save_guideline
from eds.labels.progress import expert_progress
from eds.labels.queue import next_batch, next_pages, progress
from eds.labels.store import Store
from tests.labels.stores import BACKENDS, begin, fresh_store, pairs

SIMILAR = Plan("grid", "grid", "similar", gold_share=0.25, repeat_share=0.05)


@pytest.fixture(params=BACKENDS)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    with fresh_store(request.param, tmp_path) as made:
        for name in ("ann", "bob"):
            add_expert(made, name)
        yield made


def known(queries: int = 3, each: int = 4) -> pd.DataFrame:
    """Gold of the queries q0, q1, ...: half similar (s), half not (d)."""
    rows = [(f"q{q}", f"{'ds'[value]}{q}-{n}", value) for q in range(queries) for n in range(each) for value in (0, 1)]
    return pd.DataFrame(rows, columns=["query_id", "candidate_id", "value"])


def planted(store: Store, campaign: str, expert: str = "ann") -> list[str]:
    """The candidates of gold that an expert is asked about."""
    asked = next_batch(store, campaign, expert, 10_000)
    return sorted(task.candidate_id for task in asked if task.candidate_id[0] in "sdx")


@pytest.mark.parametrize(("polarity", "sign"), [("similar", "d"), ("different", "s")])
def test_a_grid_hides_what_must_not_stand_untouched(store: Store, polarity: str, sign: str) -> None:
    add_gold(store, known())
    add_gold(store, known(9).query("query_id == 'q8'"))  # of a query that the grid does not ask
    assert gold_to_hide(store, pairs(), polarity) == 12
    assert gold_to_hide(store, pairs(), None) == 24 + 8
    create_campaign(store, Plan("grid", "grid", polarity, gold_share=0.5, repeat_share=0.05), pairs(), ["ann"])
    hidden = planted(store, "grid")
    assert len(hidden) == 6
    assert {name[0] for name in hidden} == {sign}
    pages = next_pages(store, "grid", "ann", 9)
    assert all(any(task.candidate_id.startswith("c") for task in page) for page in pages)  # never alone on a page
    add_pairs(store, "grid", pairs(3, 8))
    assert {name[0] for name in planted(store, "grid")} == {sign}
    assert len(planted(store, "grid")) == 12


def test_a_grid_without_its_guards_is_refused(store: Store) -> None:
    with pytest.raises(InputError, match="guarded against skimming by pairs that are asked again"):
        create_campaign(store, Plan("grid", "grid", "similar"), pairs(), ["ann"])
    unguarded = Plan("grid", "grid", "similar", repeat_share=0.01)
    add_gold(store, known().query("value == 1"))
    assert usual_share(store, pairs(), "similar") == 0
    create_campaign(store, unguarded, pairs(), ["ann"])  # there is no gold that it could hide
    assert len(next_batch(store, "grid", "ann", 99)) == 12 + 1  # a share of it is one pair at least
    add_gold(store, known().query("value == 0"))
    assert usual_share(store, pairs(), "similar") == 0.05
    with pytest.raises(InputError, match="12 are known that are not similar, of a query that it asks") as told:
        create_campaign(store, replace(unguarded, name="next"), pairs(), ["ann"])
    assert "gold_share 0.05" in str(told.value)
    assert progress(store)["campaign"].unique().tolist() == ["grid"]
    create_campaign(store, replace(unguarded, name="next", gold_share=0.001), pairs(), ["ann"])
    assert len(planted(store, "next")) == 1
    again = pd.concat([pairs(), pairs(1).assign(origin="repeat"), known(1).query("value == 0").assign(origin="gold")])
    create_campaign(store, Plan("named", "grid", "similar"), again, ["ann"])  # both are named outright


def test_pairs_that_come_later_bring_guards_by_their_share_only(store: Store) -> None:
    add_gold(store, known(9))
    create_campaign(store, replace(SIMILAR, gold_share=0.05), pairs(), ["ann"])
    assert len(next_batch(store, "grid", "ann", 99)) == 12 + 1 + 1
    for query in range(3, 6):
        more = pairs(6).query(f"query_id == 'q{query}'")
        add_pairs(store, "grid", more.head(1))
    assert len(next_batch(store, "grid", "ann", 99)) == 12 + 1 + 1 + 3


def test_the_share_that_is_suggested_can_be_had(store: Store) -> None:
    add_gold(store, known(1, 1).query("value == 0"))
    with pytest.raises(InputError) as told:
        create_campaign(store, Plan("grid", "grid", "similar", repeat_share=0.05), pairs(1, 90), ["ann"])
    share = float(str(told.value).split("gold_share ")[-1].split(",")[0])
    assert 0 < share <= 1 / 90
    create_campaign(store, Plan("grid", "grid", "similar", gold_share=share, repeat_share=0.05), pairs(1, 90), ["ann"])


def test_the_usual_share_of_gold_is_no_more_than_is_known(store: Store) -> None:
    assert usual_share(store, pairs(), None) == 0
    add_gold(store, known(3, 1))
    assert usual_share(store, pairs(), None) == 0.05
    assert usual_share(store, pairs(origin="random"), None) == 0.15
    assert usual_share(store, pairs(3, 9, origin="random"), None) == 3 / 27
    assert usual_share(store, pairs(3, 80), "different") == 3 / 240
    assert usual_share(store, pd.concat([pairs(), known(1).assign(origin="gold")]), None) == 0


def test_among_random_pairs_only_similar_ones_are_hidden(store: Store) -> None:
    add_gold(store, known())
    random = pairs().assign(origin="random")
    assert gold_to_hide(store, random, None) == 12
    create_campaign(store, Plan("p", gold_share=0.5), random, ["ann"])
    assert {name[0] for name in planted(store, "p")} == {"s"}
    with pytest.raises(InputError, match="are similar, as gold among random pairs must be"):
        create_campaign(store, Plan("q", gold_share=2 / 3), pairs(9).assign(origin="random"), ["ann"])


def test_a_pair_campaign_takes_gold_of_both_kinds(store: Store) -> None:
    add_gold(store, known())
    create_campaign(store, Plan("pair", gold_share=1.0), pairs(), ["ann"])
    assert {name[0] for name in planted(store, "pair")} == {"s", "d"}


@pytest.mark.parametrize(("polarity", "value", "words"), [("similar", 1, "not similar"), ("different", 0, "similar")])
def test_the_lead_is_told_where_there_is_none_of_that_kind(store: Store, polarity: str, value: int, words: str) -> None:
    add_gold(store, known().query(f"value == {value}"))
    with pytest.raises(InputError, match=f"3 gold .* 0 are known that are {words}, of a query that this grid asks"):
        create_campaign(store, Plan("grid", "grid", polarity, gold_share=0.25, repeat_share=0.05), pairs(), ["ann"])
    assert progress(store).empty


def test_gold_that_is_named_outright_must_be_of_that_kind_too(store: Store) -> None:
    add_gold(store, known())
    named = known().head(2).assign(origin="gold")
    with pytest.raises(InputError, match="is similar, as untouched means") as told:
        create_campaign(store, Plan("grid", "grid", "similar", repeat_share=0.05), pd.concat([pairs(), named]), ["ann"])
    assert "q0 s0-0" in str(told.value)
    assert "q0 d0-0" not in str(told.value)
    named = named[named["value"] == 0]
    create_campaign(store, Plan("grid", "grid", "similar", repeat_share=0.05), pd.concat([pairs(), named]), ["ann"])
    assert planted(store, "grid") == ["d0-0"]


def test_what_calibration_told_is_not_planted_for_that_expert(store: Store) -> None:
    first = begin(store, panel=("eve", "max"))
    gold = pd.DataFrame({"query_id": "q0", "candidate_id": [f"x{n}" for n in range(6)], "value": 0})
    add_gold(store, gold)
    plan_calibration(store, first, 2)
    made = begin_round(store, first, "eve")
    told = set()
    while (task := next_task(store, made.round, "eve")) is not None:
        told.add(task.candidate_id)
        answer(store, "eve", task.task, 0, f"t{task.task}")
    assert len(told) == 2
    create_campaign(store, Plan("grid", "grid", "similar", gold_share=0.5, repeat_share=0.05), pairs(), ["eve", "max"])
    everything = {f"x{n}" for n in range(6)}
    assert set(planted(store, "grid", "max")) == everything
    assert set(planted(store, "grid", "eve")) == everything - told
    add_to_panel(store, "grid", ["eve"])  # nor when the panel is gone through again
    assert set(planted(store, "grid", "eve")) == everything - told
    for expert, total in (("eve", 12 + 1 + 4), ("max", 12 + 1 + 6)):
        found = expert_progress(store, "grid", expert)
        assert (found.left, found.total, found.done) == (total, total, 0)
        assert progress(store, "grid").set_index("expert").loc[expert, "total"] == total
    # And the other way round: what is planted for somebody is not told in a later calibration.
    assert len(everything & {task.candidate_id for task in _round(store, first, "max")}) == 0


def _round(store: Store, campaign: str, expert: str) -> list[Example]:
    """The pairs of an expert's round; none where nothing is left to calibrate with."""
    try:
        made = begin_round(store, campaign, expert)
    except InputError:
        return []
    found = []
    while (task := next_task(store, made.round, expert)) is not None:
        found.append(Example(task.query_id, task.candidate_id, "positive"))
        answer(store, expert, task.task, 0, f"r{task.task}")
    return found


def test_what_a_guideline_shows_is_never_hidden(store: Store) -> None:
    add_gold(store, known(1))
    save_guideline(store, "1", "words", [Example("q0", f"d0-{n}", "negative") for n in range(3)])
    assert gold_to_hide(store, pairs(), "similar") == 1
    with pytest.raises(InputError, match="1 are known that are not similar"):
        create_campaign(store, SIMILAR, pairs(), ["ann"])
    create_campaign(store, Plan("grid", "grid", "similar", gold_share=1 / 12, repeat_share=0.05), pairs(), ["ann"])
    assert planted(store, "grid") == ["d0-3"]
    put_in_force(store, "grid", "1")
    save_guideline(store, "2", "words", [Example("q0", "d0-3", "negative")])
    with pytest.raises(InputError, match="hidden gold"):
        put_in_force(store, "grid", "2")
