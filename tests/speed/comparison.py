"""What sentences say of newcomers of known quality, in 60 simulated worlds of each kind; and 60 models at once.

Goals: an equal newcomer is called different from at most 5 % of the generators, a much worse one is never best, a
better one is never hidden; every pair of 60 models over 500 queries in seconds, their groups in less than one.

Run: python -m tests.speed.comparison
"""

import time
from dataclasses import replace
from typing import NoReturn

import numpy as np

from eds.analysis import Comparison, compare, grade_fairness
from eds.metrics import Measure
from tests.analysis.worlds import AUC, HR, NEW, NEWCOMERS, Size, draw_world

WORLDS = 60
MICRO = Measure("ROC-AUC", average="micro")
PRECISION = Measure("PR-AUC")
MANY = Size(queries=500, generators=57, depth=5)


def sentences() -> None:
    print(f"{WORLDS} worlds of each kind: 150 queries, six generators of one skill, a newcomer; macro ROC-AUC")
    print("newcomer        called different  best  gap self-removed  gap on all labels   by HR")
    for kind in NEWCOMERS:
        worlds: list[Comparison] = []
        for number in range(WORLDS):
            world = draw_world(number, kind)
            worlds.append(compare(world.results([AUC, MICRO, PRECISION, HR]), world.inputs, resamples=200))
        different = {
            measure: np.mean([p.beyond_sampling for w in worlds for p in w[measure].pairs if p.second == NEW])
            for measure in (AUC, MICRO, PRECISION)
        }
        best = np.mean([NEW in (w[AUC].best or missing()).models for w in worlds])
        gaps = [
            [w[AUC][NEW].self_removed - np.mean([m.self_removed for m in w[AUC].models if m.filled]) for w in worlds],
            [w[AUC][NEW].value - np.mean([m.value for m in w[AUC].models if m.filled]) for w in worlds],
        ]
        said = {(w[HR].best or missing()).not_ranked for w in worlds}
        print(
            f"{kind:<15} {different[AUC]:>15.1%} {best:>5.0%} {np.mean(gaps[0]):>+10.3f} ±{np.std(gaps[0]):.3f}"
            f" {np.mean(gaps[1]):>+11.3f} ±{np.std(gaps[1]):.3f}   not ranked: {said == {(NEW,)}}"
            f"   (micro {different[MICRO]:.1%}, PR {different[PRECISION]:.1%})"
        )
        if kind == "equal":
            assert max(different.values()) <= 0.05
        if kind == "much worse":
            assert best == 0
        if kind == "better":
            assert best == 1


def missing() -> NoReturn:
    raise AssertionError("no best model")


def grades() -> None:
    counts: dict[str, dict[str, int]] = {}
    for number in range(10):
        world = draw_world(number, "equal")
        comparison = compare(world.results([AUC, HR, Measure("bpref")]), world.inputs, resamples=200)
        for item in grade_fairness(comparison, world.inputs, resamples=200):
            grade = counts.setdefault(item.measure, {})
            grade[item.grade] = grade.get(item.grade, 0) + 1
    print(f"fairness of measures in ten worlds: {counts}")


def many_models() -> None:
    world = draw_world(0, "equal", MANY)
    rng = np.random.default_rng(0)
    names = rng.permutation([name for name in world.names if name != NEW])[:2]
    results = world.results([AUC, HR])
    lists = world.inputs.require("pool_lists")
    inputs = replace(world.inputs, pool_lists=lists[~lists["model"].isin(names)])
    start = time.perf_counter()
    comparison = compare(results, inputs)
    middle = time.perf_counter()
    groups = {str(part.measure): len(part.groups) for part in comparison}
    end = time.perf_counter()
    n = sum(len(part.pairs) for part in comparison)
    print(
        f"{len(comparison.sides)} models, {n:,} pairs, two measures: {middle - start:.1f} s; groups {groups}:"
        f" {end - middle:.2f} s (goal 1 s)"
    )


if __name__ == "__main__":
    sentences()
    grades()
    many_models()
