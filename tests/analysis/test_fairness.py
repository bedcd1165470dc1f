"""What is fair to a new model: intervals against all ways to complete the labels, verdicts against slow loops."""

import itertools
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eds.analysis import AnalysisInputs, bias, fair_to_new, fairness, reusability_table
from eds.analysis.fairness import FAIR, SELF_REMOVED, UNFAIR, UNKNOWN, intervals, judged_share, least_to_decide
from eds.metrics import Measure, ScoringInputs, evaluate, scores_frame
from eds.metrics.judged_lists import judge, read_rankings
from eds.pairs import LabelledPairs

P = 0.8
Lists = dict[str, list[str]]


def frame_of(lists: dict[str, Lists]) -> pd.DataFrame:
    rows = [
        (model, query, candidate, rank)
        for model, told in lists.items()
        for query, ranked in told.items()
        for rank, candidate in enumerate(ranked)
    ]
    return pd.DataFrame(rows, columns=["model", "query_id", "candidate_id", "rank"])


def labels_of(labels: dict[tuple[str, str], int]) -> pd.DataFrame:
    rows = [(*pair, value) for pair, value in labels.items()]
    return pd.DataFrame(rows, columns=["query_id", "candidate_id", "value"]).astype({"value": "int64"})


def slow_precision(lists: Lists, labels: dict[tuple[str, str], int], k: int, queries: set[str]) -> float:
    return float(np.mean([sum(labels.get((q, c), 0) for c in lists[q][:k]) / k for q in sorted(queries)]))


def slow_rbp(lists: Lists, labels: dict[tuple[str, str], int]) -> float:
    queries = sorted({query for query, _ in labels})
    return float(
        np.mean([(1 - P) * sum(P**n * labels.get((q, c), 0) for n, c in enumerate(lists[q])) for q in queries])
    )


@st.composite
def judged_lists(draw: st.DrawFn) -> tuple[Lists, dict[tuple[str, str], int]]:
    """Two queries with four candidates each, a positive of each among the labels, up to five places without one."""
    lists = {query: draw(st.permutations(["a", "b", "c", "d"])) for query in ("q", "r")}
    labels = {(query, "z"): 1 for query in lists}
    for query, candidate in itertools.product(lists, "abcd"):
        if (value := draw(st.sampled_from([None, 0, 1]))) is not None:
            labels[query, candidate] = value
    return lists, labels


@settings(max_examples=40, deadline=None)
@given(judged_lists(), st.integers(1, 4))
def test_intervals_are_what_every_way_to_complete_the_labels_gives(
    given_lists: tuple[Lists, dict[tuple[str, str], int]], k: int
) -> None:
    lists, labels = given_lists
    judged = judge(read_rankings(frame_of({"m": lists})), None, LabelledPairs.from_frame(labels_of(labels)))
    open_pairs = [(q, c) for q in lists for c in lists[q] if (q, c) not in labels]
    found: dict[str, list[float]] = {"P": [], "RBP": []}
    for values in itertools.product([0, 1], repeat=len(open_pairs)):
        full = labels | dict(zip(open_pairs, values, strict=True))
        found["P"].append(slow_precision(lists, full, k, {"q", "r"}))
        found["RBP"].append(slow_rbp(lists, full))
    for measure in (Measure("P", k=k), Measure("VSD-HR", k=k)):
        low, high = intervals(judged, measure)
        assert low["m"] == pytest.approx(min(found["P"]), abs=1e-12)
        assert high["m"] == pytest.approx(max(found["P"]), abs=1e-12)
    low, high = intervals(judged, Measure("RBP"))
    assert low["m"] == pytest.approx(min(found["RBP"]), abs=1e-12)
    assert high["m"] == pytest.approx(max(found["RBP"]) + P**4, abs=1e-12)  # what lies behind the list's end is open
    share = np.mean([sum((q, c) in labels for c in lists[q][:k]) / k for q in lists])
    assert judged_share(judged["m"], k) == pytest.approx(share, abs=1e-12)


@given(
    st.tuples(st.integers(0, 12), st.integers(0, 12)).map(sorted),
    st.tuples(st.integers(0, 12), st.integers(0, 12)).map(sorted),
)
def test_the_fewest_labels_that_could_decide(mine: list[int], other: list[int]) -> None:
    expected = next((n for n in range(mine[1] - mine[0] + 1) if mine[0] + n > other[1] or mine[1] - n < other[0]), None)
    tenth = [value / 12 for value in (*mine, *other)]
    assert least_to_decide((tenth[0], tenth[1]), (tenth[2], tenth[3]), 1 / 12) == expected


@pytest.mark.parametrize(
    ("drops", "taus", "fair"),
    [
        ([0.02, -0.02], [1.0, 0.9], True),
        ([0.021], [1.0], False),
        ([-0.03], [1.0], False),
        ([0.0], [0.89], False),
        ([0.01, np.nan], [np.nan, np.nan], True),
        ([np.nan], [np.nan], False),
    ],
)
def test_the_rule(drops: list[float], taus: list[float], fair: bool) -> None:
    assert fair_to_new(pd.DataFrame({"drop": drops, "kendall_tau_b": taus})) is fair


def pooled_by_two(seed: int) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Makers a and b whose first 3 are judged, a model that came later; every score is known."""
    rng = np.random.default_rng(seed)
    names = [f"c{number:02}" for number in range(14)]
    lists: dict[str, Lists] = {}
    scores: dict[str, Iterable[tuple[str, str, float]]] = {}
    for model in ("a", "b", "new"):
        lists[model] = {f"q{number}": [names[n] for n in rng.permutation(14)] for number in range(12)}
        scores[model] = [(q, c, -float(rank)) for q, ranked in lists[model].items() for rank, c in enumerate(ranked)]
    pool = {(q, c) for model in ("a", "b") for q, ranked in lists[model].items() for c in ranked[:3]}
    labels = {pair: int(rng.random() < 0.5) for pair in sorted(pool)}
    rankings = frame_of(lists)
    makers = rankings[rankings["model"].isin(["a", "b"]) & (rankings["rank"] < 3)]
    scored = scores_frame(scores).merge(labels_of(labels)[["query_id", "candidate_id"]])
    return makers, labels_of(labels), rankings, scored


def shown(rankings: pd.DataFrame) -> pd.DataFrame:
    """Every id as an image of a product of its own."""
    names = sorted({*rankings["query_id"], *rankings["candidate_id"]})
    return pd.DataFrame({"image_id": names, "product_id": names, "role": "both"})


ASKED = [Measure.parse(text) for text in ("VSD-HR@3", "RR@3", "P@3", "RBP", "bpref", "ROC-AUC", "PR-AUC", "Judged@3")]


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_list_that_ends_cannot_gain_behind_its_end(seed: int) -> None:
    makers, labels, rankings, scores = pooled_by_two(seed)
    uneven = rankings["query_id"] == rankings["query_id"].min()  # lists that all end at one place would be refused
    rankings = rankings[~uneven | (rankings["rank"] < rankings["rank"].max())]
    deep = Measure.parse("VSD-HR@50")
    results = evaluate(ScoringInputs(labels, rankings=rankings, scores=scores, images=shown(rankings)), [deep])
    row = fairness(
        results, ["new"], AnalysisInputs(pool_lists=makers, labels=labels, rankings=rankings, scores=scores)
    ).verdicts.iloc[0]
    some = set(labels.loc[labels["value"] == 1, "query_id"])
    lengths = rankings[rankings["model"] == "new"].groupby("query_id").size().reindex(sorted(some)).fillna(0)
    known = rankings[rankings["model"] == "new"].merge(labels, on=["query_id", "candidate_id"])
    against = known[(known["value"] == 0) & known["query_id"].isin(some)]
    assert row["at_most"] == pytest.approx((lengths.sum() - len(against)) / 50 / len(some), abs=1e-12)
    values = next(result.values for result in results if result.model == "new")
    assert values is not None
    assert values.counts["lists that end before the cut-off"] == (lengths > 0).sum()


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_verdicts_say_what_decides(seed: int) -> None:
    makers, labels, rankings, scores = pooled_by_two(seed)
    results = evaluate(ScoringInputs(labels, rankings=rankings, scores=scores, images=shown(rankings)), ASKED)
    found = fairness(
        results, ["new"], AnalysisInputs(pool_lists=makers, labels=labels, rankings=rankings, scores=scores)
    )
    rows = found.verdicts.set_index("measure")
    assert list(rows.index) == [str(measure) for measure in ASKED if measure.name != "Judged"]
    truth = {(query, candidate): value for query, candidate, value in labels.to_numpy().tolist()}
    some = {query for (query, _), value in truth.items() if value}
    mine = {
        str(q): part.sort_values("rank")["candidate_id"].tolist()
        for q, part in rankings[rankings["model"] == "new"].groupby("query_id")
    }
    judged = np.mean([sum((q, c) in truth for c in mine[q][:3]) / 3 for q in sorted(some)])
    value = slow_precision(mine, truth, 3, some)
    for name in ("VSD-HR@3", "P@3"):
        row = rows.loc[name]
        assert (row["verdict"], row["kind"]) == (UNFAIR, "ceiling")
        assert row["judged"] == pytest.approx(judged, abs=1e-12)
        assert row["value"] == pytest.approx(value, abs=1e-12)
        assert row["at_most"] == pytest.approx(value + 1 - judged, abs=1e-12)
    assert rows.loc["RR@3", "judged"] == pytest.approx(judged, abs=1e-12)
    by_bias: Any = (
        bias(AnalysisInputs(pool_lists=makers, labels=labels, rankings=rankings, scores=scores), 3)
        .models.set_index("model")
        .to_dict(orient="index")
    )
    assert rows.loc["RBP(p=0.8)", "at_most"] == pytest.approx(by_bias["new"]["rbp_at_most"], abs=1e-12)
    for name, low, high in (("VSD-HR@3", "hr", "hr_at_most"), ("RBP(p=0.8)", "rbp", "rbp_at_most")):
        overlap = [
            other
            for other in ("a", "b")
            if by_bias["new"][low] <= by_bias[other][high] and by_bias[other][low] <= by_bias["new"][high]
        ]
        assert rows.loc[name, "undecided_with"] == overlap
    table = reusability_table(
        AnalysisInputs(pool_lists=makers, labels=labels, rankings=rankings, scores=scores),
        [Measure("bpref"), Measure("ROC-AUC", average="macro")],
    )
    for measure, unfair in ((Measure("bpref"), UNFAIR), (Measure("ROC-AUC"), SELF_REMOVED)):
        part = reusability_table(
            AnalysisInputs(pool_lists=makers, labels=labels, rankings=rankings, scores=scores), [measure]
        )
        assert rows.loc[str(measure), "change"] == pytest.approx(part["drop"].abs().max(), abs=1e-12)
        assert rows.loc[str(measure), "verdict"] == (FAIR if fair_to_new(part) else unfair)
    assert set(found.reuse["model"]) == set(table["model"])


def test_inferred_ap_counts_the_pool_that_is_not_judged() -> None:
    makers, labels, rankings, _ = pooled_by_two(3)
    some, asked = labels.iloc[::2].reset_index(drop=True), labels[["query_id", "candidate_id"]]
    results = evaluate(ScoringInputs(some, rankings=rankings, pooled=asked), [Measure("infAP")])
    value = {one.model: one.values.value for one in results if one.values}
    found = fairness(results, ["new"], AnalysisInputs(pool_lists=makers, labels=some, rankings=rankings, pooled=asked))
    told = dict(zip(found.reuse["model"], found.reuse["full"], strict=True))
    assert told == {name: pytest.approx(value[name], abs=1e-12) for name in ("a", "b")}


def test_a_model_whose_places_are_all_judged_is_as_fair_as_its_makers_and_rows_may_come_in_any_order() -> None:
    makers, labels, rankings, _ = pooled_by_two(4)
    mine = rankings[(rankings["model"] == "new") & (rankings["rank"] < 3)]
    more = mine.merge(labels, how="left", on=["query_id", "candidate_id"])
    more = more[more["value"].isna()].assign(value=0)[["query_id", "candidate_id", "value"]].astype({"value": "int64"})
    full = pd.concat([labels, more], ignore_index=True)
    asked = [Measure("VSD-HR", k=3), Measure("RR", k=3)]
    told = []
    for turn in (slice(None), slice(None, None, -1)):
        results = evaluate(ScoringInputs(full[turn], rankings=rankings[turn], images=shown(rankings)), asked)
        found = fairness(
            results, ["new"], AnalysisInputs(pool_lists=makers[turn], labels=full[turn], rankings=rankings[turn])
        )
        told.append(found.verdicts.to_dict(orient="list"))
    assert str(told[0]) == str(told[1])
    assert told[0]["verdict"] == [FAIR, FAIR]
    assert told[0]["at_most"][0] == pytest.approx(told[0]["value"][0], abs=1e-12)


def test_without_makers_nothing_is_claimed_of_what_hangs_on_them() -> None:
    makers, labels, rankings, scores = pooled_by_two(5)
    results = evaluate(ScoringInputs(labels, rankings=rankings, scores=scores, images=shown(rankings)), ASKED)
    for known in (makers[:0], makers[makers["model"] == "a"]):
        rows = fairness(
            results, ["new"], AnalysisInputs(pool_lists=known, labels=labels, rankings=rankings, scores=scores)
        ).verdicts.set_index("measure")
        assert set(rows.loc[["bpref", str(Measure("ROC-AUC")), str(Measure("PR-AUC"))], "verdict"]) == {UNKNOWN}
        assert rows.loc["VSD-HR@3", "verdict"] == UNFAIR


def test_measures_that_need_no_label_are_fair() -> None:
    makers, labels, rankings, scores = pooled_by_two(6)
    images = shown(rankings)
    products = images.assign(product_id=images["image_id"].str[-1])
    results = evaluate(
        ScoringInputs(labels, rankings=rankings, scores=scores, images=products), [Measure("Product-HR", k=3)]
    )
    rows = fairness(
        results, ["new"], AnalysisInputs(pool_lists=makers, labels=labels, rankings=rankings, scores=scores)
    ).verdicts
    assert rows[["verdict", "kind"]].to_numpy().tolist() == [[FAIR, "no labels"]]
