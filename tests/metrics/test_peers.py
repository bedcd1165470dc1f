"""The same numbers as the field's tools where they compute the same; and where they do not, which convention is ours.

pytrec_eval (package pytrec-eval-terrier) and ir_measures take scores, not places, so they get minus the place: their
own order of equal scores never comes into play. scikit-learn's areas stand in test_auc.py, scipy's and statsmodels'
tests in tests/analysis/test_correlation.py, krippendorff's alpha in tests/truth/test_coefficients.py.
"""

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from eds.metrics import Measure, ScoringInputs, incomplete_metrics
from eds.metrics.judged_lists import judge, read_rankings
from eds.metrics.score import evaluate
from eds.neighbors.rules import top_k
from eds.pairs import KnownRanks, LabelledPairs
from eds.suspects import lists_frame
from tests.metrics.benchmarks import IDS, QUERIES, Bench, benches
from tests.metrics.ranx_peer import interpreted_ranx
from tests.reference import metrics as reference

DEPTH = 4
Runs = Mapping[str, Mapping[str, float]]

OURS_TO_TREC = {
    f"P@{DEPTH}": f"P_{DEPTH}",
    f"Recall@{DEPTH}": f"recall_{DEPTH}",
    f"Success@{DEPTH}": f"success_{DEPTH}",
    "RR@8": "recip_rank",
    f"AP@{DEPTH}(divide_by=relevant)": f"map_cut_{DEPTH}",
    f"nDCG@{DEPTH}": f"ndcg_cut_{DEPTH}",
    "bpref": "bpref",
    "infAP": "infAP",
}
OURS_TO_IR_MEASURES = {
    f"P@{DEPTH}": f"P@{DEPTH}",
    f"Recall@{DEPTH}": f"R@{DEPTH}",
    f"Success@{DEPTH}": f"Success@{DEPTH}",
    f"RR@{DEPTH}": f"RR@{DEPTH}",
    f"AP@{DEPTH}(divide_by=relevant)": f"AP@{DEPTH}",
    f"nDCG@{DEPTH}": f"nDCG@{DEPTH}",
    f"Judged@{DEPTH}": f"Judged@{DEPTH}",
    "CondensedAP": "AP(judged_only=True)",
    "CondensednDCG": "nDCG(judged_only=True)",
    "bpref": "Bpref",
    "infAP": "infAP",
}
OURS_TO_RANX = {
    f"P@{DEPTH}": f"precision@{DEPTH}",
    f"Recall@{DEPTH}": f"recall@{DEPTH}",
    f"Success@{DEPTH}": f"hit_rate@{DEPTH}",
    f"RR@{DEPTH}": f"mrr@{DEPTH}",
    f"AP@{DEPTH}(divide_by=relevant)": f"map@{DEPTH}",
    f"nDCG@{DEPTH}": f"ndcg@{DEPTH}",
    "RBP(p=0.8)": "rbp.80",
}


def runs(lists: Mapping[str, Sequence[str]]) -> dict[str, dict[str, float]]:
    """Minus the place as score."""
    return {query: {name: -float(place) for place, name in enumerate(told)} for query, told in lists.items()}


def judgements(bench: Bench) -> dict[str, dict[str, int]]:
    """Of the queries with a positive: what a peer says of others (0, or nothing) is none of our definitions."""
    told = {query: bench.judged(query) for query in QUERIES}
    return {query: judged for query, judged in told.items() if 1 in judged.values()}


def ours(bench: Bench, measures: Mapping[str, str], queries: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """By query and peer's name: the measures of model A."""
    lists = lists_frame({"A": bench.lists["A"]})
    asked = [Measure.parse(text) for text in measures]
    found: dict[str, dict[str, float]] = {query: {} for query in queries}
    for result, peer in zip(
        evaluate(ScoringInputs(bench.labels_frame, rankings=lists), asked), measures.values(), strict=True
    ):
        assert result.values is not None
        for query, value in zip(result.values.queries.to_pylist(), result.values.by_query.tolist(), strict=True):
            if query in found:
                found[query][peer] = value
    return found


@settings(max_examples=60, deadline=None)
@given(benches())
def test_pytrec_eval(bench: Bench) -> None:
    peer = import_module("pytrec_eval")
    judged = judgements(bench)
    theirs = peer.RelevanceEvaluator(judged, set(OURS_TO_TREC.values())).evaluate(runs(bench.lists["A"]))
    found = ours(bench, OURS_TO_TREC, judged)
    for query in judged:
        expected = {name: theirs[query][name] for name in OURS_TO_TREC.values()}
        assert found[query] == pytest.approx(expected, abs=1e-9), query


@settings(max_examples=60, deadline=None)
@given(benches(), st.randoms())
def test_pytrec_eval_on_a_pool_that_is_judged_in_part(bench: Bench, chance: Any) -> None:
    """What was pooled and not judged is -1 there; the others were never pooled. By lists, and by ranks of pairs."""
    peer = import_module("pytrec_eval")
    judged = judgements(bench)
    rest = [(query, name) for query in QUERIES for name in IDS if name not in bench.judged(query)]
    waiting = chance.sample(rest, len(rest) // 2)
    qrels = {query: {**told, **{name: -1 for q, name in waiting if q == query}} for query, told in judged.items()}
    theirs = peer.RelevanceEvaluator(qrels, {"infAP"}).evaluate(runs(bench.lists["A"]))
    pooled = pd.DataFrame(waiting + [label[:2] for label in bench.labels], columns=["query_id", "candidate_id"])
    lists = lists_frame({"A": bench.lists["A"]})
    places = pd.DataFrame([(q, name) for q in QUERIES for name in IDS], columns=["query_id", "candidate_id"])
    places = places.assign(model="A").merge(lists, on=["model", "query_id", "candidate_id"], how="left")
    places["rank"] = places["rank"].fillna(-1).astype("int64")
    lengths = lists.groupby(["model", "query_id"]).size().rename("length").reset_index()
    for whole, placed in ((lists, None), (None, KnownRanks.from_frames(places, lengths))):
        labels = bench.labels_frame
        (result,) = evaluate(ScoringInputs(labels, rankings=whole, pooled=pooled, ranks=placed), [Measure("infAP")])
        assert result.values is not None
        found = dict(zip(result.values.queries.to_pylist(), result.values.by_query.tolist(), strict=True))
        for query in judged:
            assert found[query] == pytest.approx(theirs[query]["infAP"], abs=1e-9), query


@settings(max_examples=40, deadline=None)
@given(benches())
def test_ir_measures(bench: Bench) -> None:
    """Its Judged@k divides by the length of a shorter list; ours by k where the catalogue is not known."""
    peer = import_module("ir_measures")
    judged = judgements(bench)
    assume(judged)
    qrels = [peer.Qrel(query, name, value) for query, told in judged.items() for name, value in told.items()]
    scored = runs({query: bench.lists["A"][query] for query in judged})
    run = [peer.ScoredDoc(query, name, value) for query, told in scored.items() for name, value in told.items()]
    asked = {name: peer.parse_measure(name) for name in OURS_TO_IR_MEASURES.values()}
    theirs: dict[str, dict[str, float]] = {query: {} for query in judged}
    for name, measure in asked.items():
        for metric in peer.iter_calc([measure], qrels, run):
            theirs[metric.query_id][name] = metric.value
    found = ours(bench, OURS_TO_IR_MEASURES, judged)
    labelled = LabelledPairs.from_frame(bench.labels_frame)
    lists = judge(read_rankings(bench.rankings_frame), None, labelled, exhausted=True)["A"]
    exhausted = dict(zip(labelled.queries.to_pylist(), Measure("Judged", DEPTH).by_query(lists).tolist(), strict=True))
    for query in judged:
        if query in exhausted:
            assert exhausted[query] == pytest.approx(theirs[query][f"Judged@{DEPTH}"], abs=1e-12)
        theirs[query][f"Judged@{DEPTH}"] *= min(DEPTH, len(scored[query])) / DEPTH
        assert found[query] == pytest.approx(theirs[query], abs=1e-9), query


@settings(max_examples=25, deadline=None)
@given(bench=benches())
def test_ranx(bench: Bench) -> None:
    """It wants a judged positive in every query, and gives no residual."""
    judged = judgements(bench)
    assume(judged)
    lists = runs({query: bench.lists["A"][query] for query in judged})
    with interpreted_ranx() as ranx:
        run = ranx.Run(lists)
        ranx.evaluate(ranx.Qrels(judged), run, list(OURS_TO_RANX.values()))
    theirs = {query: {name: float(run.scores[name][query]) for name in OURS_TO_RANX.values()} for query in judged}
    found = ours(bench, OURS_TO_RANX, judged)
    for query in judged:
        assert found[query] == pytest.approx(theirs[query], abs=1e-9), query


@settings(max_examples=60, deadline=None)
@given(st.permutations(IDS), st.dictionaries(st.sampled_from(IDS), st.sampled_from([1, 0, -1]), min_size=1))
def test_inferred_ap_of_a_pool_judged_in_part_is_that_of_pytrec_eval(ranking: list[str], told: dict[str, int]) -> None:
    """-1 in its judgements is pooled, not judged."""
    peer = import_module("pytrec_eval")
    assume(1 in told.values())
    judged = {name: value for name, value in told.items() if value >= 0}
    theirs = peer.RelevanceEvaluator({"q": told}, {"infAP"}).evaluate(runs({"q": ranking}))["q"]["infAP"]
    assert incomplete_metrics(ranking, judged, 1, pool=told)["inf_ap"] == pytest.approx(theirs, abs=1e-9)


def test_equal_scores_go_to_the_smaller_id_here_and_to_the_larger_in_pytrec_eval() -> None:
    """It also keeps scores as 32-bit floats, so that what differs by 1e-9 ties for it, and not here."""
    peer = import_module("pytrec_eval")
    judge = peer.RelevanceEvaluator({"q": {"a": 1}}, {"recip_rank"})

    def theirs(a: float, b: float) -> float:
        return float(judge.evaluate({"q": {"a": a, "b": b}})["q"]["recip_rank"])

    def place(a: float, b: float) -> float:
        return reference.standard(top_k("q", ["a", "b"], [a, b], 2), {"a"}, 2)["RR"]

    assert (place(0.5, 0.5), theirs(0.5, 0.5)) == (1, 0.5)
    assert (place(0.5 + 1e-9, 0.5), theirs(0.5 + 1e-9, 0.5)) == (1, 0.5)
    assert (place(0.5, 0.5 + 1e-9), theirs(0.5, 0.5 + 1e-9)) == (0.5, 0.5)


def test_average_precision_has_three_denominators_and_peers_have_one() -> None:
    """One hit at place 1 of two places, three positives: 1/3 for trec_eval, ours says which."""
    peer = import_module("pytrec_eval")
    judged = {"q0": {"c0": 1, "c1": 1, "c2": 1}}
    bench = Bench({"A": {"q0": ["c0", "c7"]}}, [("q0", name, 1) for name in judged["q0"]], {"A": []})
    asked = {f"AP@2(divide_by={way})": way for way in ("relevant", "hits", "capped")}
    found = ours(bench, asked, judged)["q0"]
    theirs = peer.RelevanceEvaluator(judged, {"map_cut_2"}).evaluate(runs(bench.lists["A"]))["q0"]["map_cut_2"]
    assert found == pytest.approx({"relevant": theirs, "hits": 1.0, "capped": 0.5})
