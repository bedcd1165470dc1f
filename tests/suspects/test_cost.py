import pytest

from eds.errors import InputError
from eds.suspects import expected_draws_for_positives, labelling_cost, n_pairs

SHOP = {"n_queries": 2000, "n_gallery": 52712, "n_queries_in_gallery": 2000, "n_models": 6, "k": 6}


def test_the_figures_of_the_specification() -> None:
    wild = labelling_cost(**{**SHOP, "n_queries_in_gallery": 0}, seconds_per_label=15, pool_size=64046)
    assert wild["n_pairs"] == 105_424_000
    assert wild["reduction_lower_bound"] == pytest.approx(1464.2222222222)
    assert wild["reduction_actual"] == pytest.approx(1646.0668894232)
    assert wild["duplication_rate"] == pytest.approx(0.1104722222)


@pytest.mark.parametrize(
    "wrong", [{"k": 0}, {"n_models": 0}, {"n_queries_in_gallery": 2001}, {"pool_size": 72001}, {"pool_size": 0}]
)
def test_impossible_counts_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(InputError):
        labelling_cost(**{**SHOP, "seconds_per_label": 15, **wrong})


def test_ids_that_stand_twice_are_refused() -> None:
    with pytest.raises(InputError, match="gallery hold an id twice"):
        n_pairs(["a"], ["b", "b"])


def test_more_positives_than_pairs_are_refused() -> None:
    with pytest.raises(InputError, match="3 positives among 2 pairs"):
        expected_draws_for_positives(2, 3, 1)
