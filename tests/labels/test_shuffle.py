"""Orders, draws and the rule of early stop, against plain slow counterparts."""

from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eds.labels.early_stop import decided
from eds.labels.mix_gold import first_by_draw
from eds.labels.shuffle import END, item_words, positions
from eds.pairs import mix_bits

names = st.lists(st.text("abc", min_size=1, max_size=3), min_size=1, max_size=12)


@given(names, names, st.integers(0, 2**62), st.text(max_size=3))
def test_positions_group_queries_and_put_repeats_later(
    queries: list[str], others: list[str], seed: int, who: str
) -> None:
    pairs = sorted(set(product(queries, others)))
    q, c = pa.array([a for a, _ in pairs]), pa.array([b for _, b in pairs])
    no, yes = np.zeros(len(pairs), bool), np.ones(len(pairs), bool)
    first, second = positions(seed, who, q, c, no), positions(seed, who, q, c, yes)
    assert ((first >= 0) & (first < END) & (second < END) & (second > first)).all()
    groups = first >> 26
    assert all(len(set(groups[[a == query for a, _ in pairs]].tolist())) == 1 for query in queries)
    turned = positions(
        seed,
        who,
        q.take(pa.array(range(len(pairs) - 1, -1, -1))),
        c[::-1] if False else c.take(pa.array(range(len(pairs) - 1, -1, -1))),
        no,
    )
    assert turned[::-1].tolist() == first.tolist()


def test_scrambled_words_are_those_of_the_published_generator() -> None:
    def reference(state: int) -> int:
        """splitmix64's next number, by its definition, in whole numbers without end."""
        word = (state + 0x9E3779B97F4A7C15) % 2**64
        word = ((word ^ (word >> 30)) * 0xBF58476D1CE4E5B9) % 2**64
        word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) % 2**64
        return word ^ (word >> 31)

    states = [0, 1, 2**63, 2**64 - 1, 1234567]
    assert mix_bits(np.array(states, np.uint64)).tolist() == [reference(state) for state in states]
    assert reference(0) == 0xE220A8397B1DCDAF  # the first number from seed 0, as published


def test_draws_are_even() -> None:
    q, c = pa.array([f"q{i // 50}" for i in range(5000)]), pa.array([f"c{i}" for i in range(5000)])
    times = np.sum([first_by_draw(q, c, f"{seed}/x", 500) for seed in range(200)], axis=0)
    assert times.sum() == 200 * 500
    assert abs(np.var(times) - 200 * 0.1 * 0.9) < 2  # as 200 independent draws of a tenth have it
    uniform = (item_words(q, c, "x") >> np.uint64(11)).astype(float) / 2**53
    assert abs(uniform.mean() - 0.5) < 0.02


@pytest.mark.parametrize("panel", range(1, 6))
def test_decided_is_what_all_continuations_say(panel: int) -> None:
    """By enumeration of every further answer (yes, no, skip): the majority is the same in all of them."""

    def label(yes: int, no: int) -> int | None:
        return None if yes + no == 0 else int(yes > no)

    checked = 0
    for answered in range(panel + 1):
        for votes in product((1, 0, None), repeat=answered):
            yes, no, left = votes.count(1), votes.count(0), panel - answered
            ends = {label(yes + more.count(1), no + more.count(0)) for more in product((1, 0, None), repeat=left)}
            expected = len(ends) == 1 and ends != {None}
            assert decided(np.array([yes]), np.array([no]), np.array([left]))[0] == expected, votes
            checked += 1
    assert checked == sum(3**n for n in range(panel + 1))
