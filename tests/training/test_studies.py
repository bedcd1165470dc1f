"""The studies' numbers against the measures called one by one."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from eds.errors import InputError
from eds.hashing.ties import tie_metrics
from eds.training.hash_objective import Design
from eds.training.plan import Plan
from eds.training.studies import compare_heads, measure_codes, recognition_and_discovery, spread
from eds.training.supervision import Supervision, supervise
from tests.training.test_hash_head import catalogue, vectors


def test_heads_are_compared_by_design_and_seed_in_order(tmp_path: Path) -> None:
    designs = {"sign": Design(4, "pca-sign"), "turned": Design(4, "itq")}
    plan = Plan(validation_share=0.2)
    rows = compare_heads(vectors(), supervise("category", catalogue()), designs, plan, (0, 1), tmp_path)
    assert rows[["design", "seed"]].to_numpy().tolist() == [["sign", 0], ["sign", 1], ["turned", 0], ["turned", 1]]
    table = spread(rows)
    assert table.index.tolist() == ["sign", "turned"]
    assert table.loc["sign", ("ap", "mean")] == pytest.approx(rows["ap"][:2].mean())
    assert table.loc["sign", ("ap", "std")] == pytest.approx(rows["ap"][:2].std())


def test_codes_are_measured_as_list_by_list() -> None:
    rng = np.random.default_rng(2)
    codes = rng.choice([-1, 1], (14, 3)).astype(np.int8)
    labels = Supervision("category", [f"{row:02d}" for row in range(14)], np.arange(14), np.arange(14) % 3)
    held, others = np.array([1, 4, 6, 9]), np.setdiff1d(np.arange(14), [1, 4, 6, 9])
    found = measure_codes(codes, labels, held, others)
    for rows, name in ((held, "ap"), (others, "ap_others")):
        values = []
        for query in held:
            groups: list[list[int]] = [[] for _ in range(4)]
            for row in rows[rows != query]:
                groups[int((codes[row] != codes[query]).sum())].append(int(row % 3 == query % 3))
            if any(map(any, groups)):
                values.append(tie_metrics(groups)["ap_total"])
        assert found[name] == pytest.approx(np.mean(values))
    assert found["ap_worst"] <= found["ap"] <= found["ap_best"]
    similar = [(a, b) for a in others for b in others if a != b and a % 3 == b % 3]
    assert found["one_code"] == pytest.approx(np.mean([(codes[a] == codes[b]).all() for a, b in similar]))
    assert found["distinct"] == len(np.unique(codes[others], axis=0))


def test_recognition_and_discovery_are_two_things() -> None:
    """Vectors that know products, and nothing of which products are alike."""
    ids, products = list("abcdef"), ["p", "p", "q", "q", "r", "r"]
    unit = np.kron(np.eye(3), np.ones((2, 1))).astype(np.float32)
    pairs = [(a, b) for i, a in enumerate(ids) for j, b in enumerate(ids) if products[i] != products[j]]
    truth = pd.DataFrame(pairs, columns=["query_id", "candidate_id"])
    truth = truth.assign(value=[int({a, b} <= set("abcd")) for a, b in pairs])
    found = recognition_and_discovery(unit, ids, products, truth, k=1)
    assert found["recognition"] == 1.0
    assert found["discovery"] == 0.5
    tilted = unit + np.array([[0, 0, 0]] * 4 + [[0, 0, 0.0]] * 2, np.float32)
    tilted[:4, :2] += 0.3
    assert recognition_and_discovery(tilted, ids, products, truth, k=1)["discovery"] == 1.0
    with pytest.raises(InputError, match="other images"):
        recognition_and_discovery(unit, ids, products, truth.assign(query_id="z"), k=1)
    with pytest.raises(InputError, match="5 ids"):
        recognition_and_discovery(unit, ids[:5], products, truth)
