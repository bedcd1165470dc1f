"""Known simulated experts: who answers without looking, drifts or fails gold is called, who works honestly is not."""

from functools import cache

import numpy as np
import pandas as pd

from eds.tables import LABELS
from eds.truth.disagreement import by_guideline, disputed_by_group, pairs_that_differ, who_differs
from eds.truth.error_drift import error_drift
from eds.truth.expert_signs import GOLD_LINE, expert_signs
from eds.truth.throughput import seconds_histogram

START = pd.Timestamp("2026-03-02T08:00:00Z")
QUERIES, EACH = 120, 8
CHANGE = 0.6  # of an expert's work, from which on the drifter errs


@cache
def panel(seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The acts of an honest, a slow, a speeding, a drifting and a guessing expert on 960 pairs, and the gold."""
    rng = np.random.default_rng(seed)
    pairs = [(f"q{query:03}", f"c{query:03}-{place}") for query in range(QUERIES) for place in range(EACH)]
    truth = dict(zip(pairs, rng.random(len(pairs)) < 0.4, strict=True))
    hard = {f"q{query:03}": 0.03 + 0.25 * (rng.random() < 0.12) for query in range(QUERIES)}  # errors come together
    gold = pairs[:: len(pairs) // 60]
    rows = []
    for number, expert in enumerate(("honest", "slow", "speeder", "drifter", "guesser")):
        order = rng.permutation(QUERIES)
        asked = [pair for query in order for pair in pairs[query * EACH : query * EACH + EACH]]
        for place, pair in enumerate(asked):
            error = hard[pair[0]]
            if expert == "drifter" and place > CHANGE * len(asked):
                error = 0.3
            if expert == "guesser":
                error = 0.4
            seconds = float(rng.lognormal(np.log(8.0 if expert == "slow" else 2.5), 0.5))
            if expert == "speeder" and rng.random() < 0.25:
                seconds = float(rng.uniform(0.2, 0.7))
            kind = "gold" if pair in gold else "normal"
            value = int(truth[pair] ^ (rng.random() < error))
            rows.append((expert, *pair, value, seconds, START + pd.Timedelta(seconds=10 * place + number), kind))
    names = ["expert_id", "query_id", "candidate_id", "value", "seconds", "created_at", "kind"]
    frame = pd.DataFrame(rows, columns=names)
    frame["label_id"] = [f"act-{number}" for number in range(len(frame))]
    frame = frame.assign(session_id=None, supersedes=None, guideline=None)
    empty = LABELS.empty()
    labels = pd.DataFrame({name: frame[name].astype(empty[name].dtype) for name in LABELS.names})
    known = pd.DataFrame([(*pair, int(truth[pair])) for pair in gold], columns=["query_id", "candidate_id", "value"])
    return labels, known


def test_a_speeder_a_drifter_and_a_guesser_are_called_and_honest_experts_are_not() -> None:
    called = [(sign.kind, sign.expert) for seed in range(5) for sign in expert_signs(*panel(seed))]
    assert {name for _, name in called} == {"speeder", "drifter", "guesser"}
    assert {("speed", "speeder"), ("drift", "drifter"), ("gold", "guesser")} <= set(called)
    assert called.count(("speed", "speeder")) == called.count(("drift", "drifter")) == 5
    assert called.count(("gold", "guesser")) == 5
    assert {name for kind, name in called if kind == "speed"} == {"speeder"}


def test_what_a_sign_says_is_counted_from_the_acts() -> None:
    labels, gold = panel(1)
    found = {(sign.kind, sign.expert): sign for sign in expert_signs(labels, gold)}
    speed, drift, failing = (found[key] for key in (("speed", "speeder"), ("drift", "drifter"), ("gold", "guesser")))
    mine = labels[labels["expert_id"] == "speeder"]
    assert (speed.count, speed.of) == (int((mine["seconds"] < 1).sum()), len(mine))
    assert speed.low < speed.share < speed.high
    fastest = mine.nsmallest(12, "seconds")
    assert set(speed.pairs) == set(zip(fastest["query_id"], fastest["candidate_id"], strict=True))
    own = labels[(labels["expert_id"] == "guesser") & (labels["kind"] == "gold")].merge(
        gold, on=["query_id", "candidate_id"]
    )
    assert (failing.count, failing.of) == (int((own["value_x"] == own["value_y"]).sum()), len(own))
    assert failing.high < GOLD_LINE
    began = labels[labels["expert_id"] == "drifter"]["created_at"].min()
    at = (drift.since - began).total_seconds() / (10 * QUERIES * EACH) if drift.since is not None else 0
    assert abs(at - CHANGE) < 0.12
    assert drift.line < 0.2 < drift.share


def test_a_rise_of_errors_is_found_and_constant_errors_that_come_together_are_not() -> None:
    """Of 400 experts whose errors come together by query, about one in a hundred is called at p < 0.01, at most."""
    rng = np.random.default_rng(7)
    called = found = 0
    block = np.repeat(np.arange(60), 8)
    for _ in range(400):
        rate = np.where(rng.random(60) < 0.2, 0.4, 0.03)
        error = rng.random(480) < np.repeat(rate, 8)
        drift = error_drift(error, block)
        called += drift is not None and drift.p < 0.01
        late = error | ((np.arange(480) > 300) & (rng.random(480) < 0.35))
        drift = error_drift(late, block)
        found += drift is not None and drift.p < 0.01
    assert called <= 8
    assert found >= 360
    assert error_drift(np.zeros(100, dtype=bool), np.arange(100)) is None
    fallen = np.arange(200) < 80
    drift = error_drift(fallen, np.arange(200))
    assert drift is None or drift.p > 0.5  # errors that become rarer are no drift


def test_nobody_is_called_where_nothing_is_judged() -> None:
    labels, gold = panel(0)
    assert expert_signs(labels.iloc[:0], gold) == []
    few = labels.groupby("expert_id").head(5)
    assert expert_signs(few, gold.iloc[:0]) == []


def test_disagreement_is_counted_by_group_and_between_experts() -> None:
    labels, _ = panel(2)
    normal = labels[labels["kind"] == "normal"].astype({"value": int})
    table = normal.pivot(index=["query_id", "candidate_id"], columns="expert_id", values="value")
    category = pd.Series({f"q{number:03}": "even" if number % 2 == 0 else "odd" for number in range(QUERIES)})
    shown = disputed_by_group(labels, category).set_index("group")
    split = ~table.mean(axis=1).isin([0.0, 1.0])
    expected = split.groupby(category.reindex(table.index.get_level_values(0)).to_numpy()).agg(["size", "sum"])
    for name in ("even", "odd"):
        assert shown.loc[[name], ["pairs", "disputed"]].to_numpy().tolist() == expected.loc[[name]].to_numpy().tolist()
        assert shown["low"][name] < shown["rate"][name] < shown["high"][name]
    single = disputed_by_group(labels)
    assert len(single) == QUERIES
    assert single["disputed"].sum() == split.sum()
    differs = who_differs(labels).set_index(["expert_a", "expert_b"])
    for one in table.columns:
        for other in table.columns.drop(one):
            only = table[(table[one] == 1) & (table[other] == 0)]
            assert differs.loc[[(one, other)]].to_numpy().ravel().tolist() == [len(table), len(only)]
            if (one, other) == ("drifter", "honest"):
                assert list(pairs_that_differ(labels, one, other).itertuples(index=False, name=None)) == list(
                    only.index
                )


def test_versions_of_a_guideline_are_told_apart() -> None:
    labels, _ = panel(3)
    cut = START + pd.Timedelta(seconds=10 * QUERIES * EACH * CHANGE)
    early = labels["created_at"] < cut
    labels = labels.assign(guideline=np.where(early, "1", "2"))
    found = by_guideline(labels).set_index("guideline")
    assert found.index.tolist() == ["1", "2"]
    normal = labels["kind"] == "normal"
    for name, part in (("1", early), ("2", ~early)):
        assert found["answers"][name] == int((normal & part).sum())
        assert found["positive_rate"][name] == labels.loc[normal & part, "value"].mean()
    assert found["with_others"]["2"] < found["with_others"]["1"]  # the drifter


def test_seconds_are_shared_among_bins() -> None:
    labels, _ = panel(0)
    found = seconds_histogram(labels)
    assert np.allclose(found.groupby("expert_id")["share"].sum(), 1.0)
    fast = found[found["seconds"] < 1].groupby("expert_id")["share"].sum()
    assert fast["speeder"] > 0.15 > fast["honest"]
