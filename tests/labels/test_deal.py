"""Pages dealt to some of the experts: even loads, and every two experts meet."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from eds.labels.deal import PAGE, Pages, deal, page_size


@st.composite
def panels(draw: st.DrawFn) -> tuple[np.ndarray, int, int, int]:
    """Page sizes, experts, experts per pair, seed."""
    experts = draw(st.integers(1, 9))
    sizes = draw(st.lists(st.integers(1, PAGE), min_size=1, max_size=60))
    return np.array(sizes), experts, draw(st.integers(1, experts)), draw(st.integers(0, 2**63 - 1))


@given(panels())
def test_every_page_has_its_experts_and_loads_differ_by_a_page(panel: tuple[np.ndarray, int, int, int]) -> None:
    sizes, experts, per_pair, seed = panel
    held = np.zeros((len(sizes), experts), dtype=bool)
    pages = Pages(sizes, held, np.full(len(sizes), per_pair))
    dealt = deal(pages, np.zeros(experts, int), np.zeros((experts, experts)), seed)
    assert (dealt.sum(axis=1) == per_pair).all()
    load = sizes @ dealt
    assert load.max() - load.min() <= sizes.max()
    assert np.array_equal(deal(pages, np.zeros(experts, int), np.zeros((experts, experts)), seed), dealt)


@given(panels(), st.data())
def test_pages_that_lack_experts_get_others_than_they_have(
    panel: tuple[np.ndarray, int, int, int], data: st.DataObject
) -> None:
    sizes, experts, per_pair, seed = panel
    rows = st.lists(st.booleans(), min_size=experts, max_size=experts)
    held = np.array(data.draw(st.lists(rows, min_size=len(sizes), max_size=len(sizes))))
    need = np.maximum(per_pair - held.sum(axis=1), 0)
    dealt = deal(Pages(sizes, held, need), np.zeros(experts, int), np.zeros((experts, experts)), seed)
    assert not (dealt & held).any()
    assert (dealt.sum(axis=1) == need).all()


@given(st.integers(3, 12), st.integers(2, 4), st.integers(5, 200), st.integers(1, 70), st.integers(0, 2**63 - 1))
def test_every_two_experts_share_pages(experts: int, per_pair: int, queries: int, each: int, seed: int) -> None:
    per_pair = min(per_pair, experts)
    size = page_size(np.full(queries, each), experts, per_pair)
    sizes = np.tile([min(size, each - start) for start in range(0, each, size)], queries)
    pages = len(sizes)
    held = np.zeros((pages, experts), dtype=bool)
    dealt = deal(Pages(sizes, held, np.full(pages, per_pair)), np.zeros(experts, int), np.zeros((experts,) * 2), seed)
    together = dealt.T.astype(int) @ dealt
    if pages * per_pair * (per_pair - 1) >= 2 * experts * (experts - 1):  # pairs enough that each could meet twice
        assert together[np.triu_indices(experts, 1)].min() >= 1
