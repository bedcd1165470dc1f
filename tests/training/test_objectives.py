"""The relaxed objectives against exact measures, against their closed-form gradient, and as something to descend."""

from collections.abc import Callable
from typing import Any, get_args

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from eds.choices import HashObjective
from eds.errors import InputError
from eds.hashing.ties import TiedLists, ap, dcg
from eds.training import hash_objective
from eds.training.benchmark import Method
from eds.training.hash_objective import Design
from eds.training.objectives.dsh import dispersed_dsh_loss, dsh_loss, hierarchical_dsh_loss
from eds.training.objectives.soft_histogram import soft_counts
from eds.training.objectives.talr import OBJECTIVES, talr, talr_minibatch
from eds.training.objectives.talr_ap import ap_relaxed, harmonic_log_error
from eds.training.objectives.talr_ndcg import dcg_relaxed, ideal_dcg
from eds.training.plan import Plan
from eds.training.supervision import Supervision
from tests.reference.talr import value_and_gradient


def batch(seed: int, bits: int = 4, items: int = 9, levels: int = 3) -> tuple[torch.Tensor, torch.Tensor]:
    rng = np.random.default_rng(seed)
    grades = np.triu(rng.integers(0, levels, (items, items)), 1)
    return torch.tensor(rng.uniform(-0.95, 0.95, (bits, items))), torch.tensor(grades + grades.T)


@pytest.mark.parametrize("objective", ["ap_simplified", "dcg_simplified"])
@pytest.mark.parametrize("seed", range(5))
def test_autograd_is_the_closed_form(objective: str, seed: int) -> None:
    phi, affinity = batch(seed)
    value, gradient = talr_minibatch(phi, affinity, objective)
    expected, slopes = value_and_gradient(phi.numpy(), affinity.numpy(), objective)
    assert value.item() == pytest.approx(expected, abs=1e-12)
    np.testing.assert_allclose(gradient.numpy(), slopes, atol=1e-13)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_gradients_follow_the_columns_and_the_signs_of_bits(objective: str) -> None:
    phi, affinity = batch(11)
    value, gradient = talr_minibatch(phi, affinity, objective)
    order = torch.tensor([4, 2, 0, 8, 6, 1, 3, 5, 7])
    moved, slopes = talr_minibatch(phi[:, order], affinity[order][:, order], objective)
    assert moved.item() == pytest.approx(value.item(), abs=1e-12)
    np.testing.assert_allclose(slopes.numpy(), gradient[:, order].numpy(), atol=1e-9)
    flip = torch.tensor([1.0, -1.0, 1.0, 1.0])[:, None]
    same, slopes = talr_minibatch(phi * flip, affinity, objective)
    assert same.item() == pytest.approx(value.item(), abs=1e-12)
    np.testing.assert_allclose(slopes.numpy(), (gradient * flip).numpy(), atol=1e-9)


COUNTS = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=6)


@settings(deadline=None)
@given(COUNTS)
def test_on_whole_numbers_the_exact_forms_are_the_tie_aware_measures(bins: list[tuple[int, int]]) -> None:
    counts = np.array([[list(pair) for pair in bins]], np.int64)
    lists, real = TiedLists(counts, (0, 1)), torch.tensor(counts, dtype=torch.float64)
    exact = ap_relaxed(real.sum(dim=2), real[:, :, 1]).item()
    assert exact == pytest.approx(ap(lists)[0], abs=1e-11)
    linear = dcg_relaxed(real, torch.tensor([0, 1]), "linear").item()
    assert linear == pytest.approx(dcg(lists)[0], abs=1e-11)
    log = ap_relaxed(real.sum(dim=2), real[:, :, 1], "log").item()
    assert np.isfinite(log)


@given(st.lists(st.sampled_from([(0, 0), (1, 0), (0, 1)]), min_size=1, max_size=8))
def test_without_ties_the_simplified_form_is_exact(bins: list[tuple[int, int]]) -> None:
    counts = np.array([[list(pair) for pair in bins]], np.int64)
    real = torch.tensor(counts, dtype=torch.float64)
    found = ap_relaxed(real.sum(dim=2), real[:, :, 1], "simplified").item()
    assert found == pytest.approx(ap(TiedLists(counts, (0, 1)))[0], abs=1e-12)


@given(st.floats(0, 8), st.integers(8, 8))
def test_a_distance_is_counted_once_in_all(distance: float, bits: int) -> None:
    assert soft_counts(torch.tensor([distance], dtype=torch.float64), bits).sum().item() == pytest.approx(1)


@given(st.integers(1, 80), st.integers(1, 120))
def test_the_logarithm_lies_above_by_less_than_the_bound(n_prev: int, n: int) -> None:
    found = harmonic_log_error(n_prev, n)
    assert 0 < found["error"] < found["bound"]


def codes_and_classes(seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    torch.manual_seed(seed)
    classes = torch.arange(24) % 4
    return torch.randn(24, 8, dtype=torch.float64) * 0.3, classes


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_raising_an_objective_raises_the_measure_of_the_codes(objective: str) -> None:
    """Six items of each of four classes, free embeddings: the signs of what was learnt rank better than before."""
    raw, classes = codes_and_classes()
    affinity = (classes[:, None] == classes[None]).long()
    raw.requires_grad_(True)
    optimiser = torch.optim.Adam([raw], lr=0.05)

    def measure() -> float:
        corners = torch.sign(raw.detach())
        apart = ((8 - corners @ corners.T) / 2).round().long().numpy()
        others = ~np.eye(24, dtype=bool)
        counts = np.zeros((24, 9, 2), np.int64)
        for query, item in zip(*np.nonzero(others), strict=True):
            counts[query, apart[query, item], affinity[query, item]] += 1
        return float(ap(TiedLists(counts, (0, 1))).mean())

    before, first = measure(), talr(torch.tanh(raw), affinity, objective).item()
    for _ in range(60):
        optimiser.zero_grad()
        loss = -talr(torch.tanh(raw), affinity, objective)
        torch.autograd.backward(loss)
        optimiser.step()
    assert talr(torch.tanh(raw), affinity, objective).item() > first + 0.1
    assert measure() > before + 0.2


@pytest.mark.parametrize("bins", [3, 4, 8, 16])
def test_distances_are_counted_in_fewer_bins_by_the_definition(bins: int) -> None:
    """Each distance goes to the two centres beside it, a bin's width apart; as many bins as bits is the default."""
    distances = torch.rand(5, 7, dtype=torch.float64) * 16
    width = 16 / bins
    slow = np.zeros((5, 7, bins + 1))
    for place, value in np.ndenumerate(distances.numpy()):
        for number in range(bins + 1):
            slow[place][number] = max(0.0, 1 - abs(value - number * width) / width)
    found = soft_counts(distances, 16, bins)
    assert np.allclose(found.numpy(), slow)
    assert np.allclose(found.sum(dim=-1).numpy(), 1)
    if bins == 16:
        assert torch.equal(found, soft_counts(distances, 16))


def test_codes_are_learned_with_half_as_many_bins() -> None:
    raw, classes = codes_and_classes()
    affinity = (classes[:, None] == classes[None]).long()
    raw.requires_grad_(True)
    optimiser = torch.optim.Adam([raw], lr=0.05)
    first = talr(torch.tanh(raw), affinity).item()
    assert talr(torch.tanh(raw), affinity, bins=4).item() != first
    for _ in range(60):
        optimiser.zero_grad()
        torch.autograd.backward(-talr(torch.tanh(raw), affinity, bins=4))
        optimiser.step()
    assert talr(torch.tanh(raw), affinity).item() > first + 0.1
    assert Method.parse("talr-ap?bins=4").design(8).bins == 4
    assert "bins" not in Design(8).identity(), "runs of before go on"
    for refused in (lambda: Design(8, "dsh", bins=4), lambda: Design(8, bins=9), lambda: Method.parse("lsh?bins=4")):
        with pytest.raises(InputError, match="bins"):
            refused()


LOSSES: dict[str, Callable[..., torch.Tensor]] = {
    "dsh": lambda u, v, y: dsh_loss(u, v, y, 16.0, 0.01),
    "dispersed": lambda u, v, y: dispersed_dsh_loss(u, v, y, (8 / 6, 8 / 3), 8.0, 0.01),
    "two-level": lambda u, v, y: hierarchical_dsh_loss(u, v, y, y, (8 / 12, 8 / 6), (8 / 6, 8 / 3), 8.0, 0.01),
}


@pytest.mark.parametrize("name", LOSSES)
def test_descending_a_pair_loss_separates_classes(name: str) -> None:
    raw, classes = codes_and_classes()
    left, right = torch.triu_indices(24, 24, 1)
    different = (classes[left] != classes[right]).long()
    raw.requires_grad_(True)
    optimiser = torch.optim.Adam([raw], lr=0.05)
    losses = []
    for _ in range(60):
        optimiser.zero_grad()
        loss = LOSSES[name](raw[left], raw[right], different)
        torch.autograd.backward(loss)
        losses.append(loss.item())
        optimiser.step()
    apart = (raw[left] - raw[right]).abs().sum(dim=1).detach()
    assert losses[-1] < losses[0] / 2
    assert apart[different == 1].mean() > 2 * apart[different == 0].mean()


def test_the_band_keeps_a_class_from_becoming_one_code() -> None:
    """Same class, same code: the plain loss is content, the dispersed one pushes apart."""
    torch.manual_seed(3)
    pair = (
        torch.ones(1, 6, dtype=torch.float64) * 0.9 + torch.randn(2, 6, dtype=torch.float64) * 1e-3
    ).requires_grad_()
    same = torch.tensor([0])
    plain = dsh_loss(pair[:1], pair[1:], same, 12.0, 0.0)
    band = dispersed_dsh_loss(pair[:1], pair[1:], same, (1.0, 2.0), 6.0, 0.0)
    assert plain.item() < 1e-4
    assert band.item() == pytest.approx(0.5, abs=0.02)


@pytest.mark.parametrize(
    ("act", "says"),
    [
        (lambda: talr(torch.ones(1, 2), torch.zeros(1, 1), "ap_simplified"), "at least two items"),
        (lambda: talr(torch.ones(2, 2), torch.tensor([[0, 1], [0, 0]]), "ap_simplified"), "not symmetric"),
        (lambda: talr(torch.ones(2, 2), torch.zeros(3, 3), "ap_simplified"), "for 2 items"),
        (lambda: talr(torch.ones(2, 2), torch.full((2, 2), -1), "ap_simplified"), "below 0"),
        (lambda: talr(torch.ones(2, 2), torch.zeros(2, 2), "ap"), "unknown objective"),
        (lambda: ap_relaxed(torch.ones(1, 1), torch.ones(1, 1), "exact"), "unknown form"),
        (lambda: dcg_relaxed(torch.ones(1, 1, 1), torch.ones(1), "exact"), "unknown form"),
        (lambda: dsh_loss(torch.ones(1, 2), torch.ones(1, 3), torch.tensor([0]), 1, 0), "shapes"),
        (lambda: dsh_loss(torch.ones(1, 2), torch.ones(1, 2), torch.tensor([2]), 1, 0), "0 or 1"),
        (lambda: harmonic_log_error(0, 1), "at least 1"),
    ],
)
def test_bad_input_is_told(act: Any, says: str) -> None:
    with pytest.raises(InputError, match=says):
        act()


def test_nothing_is_made_on_another_device() -> None:
    """On device meta every mixed operation raises, as it would between a processor and a graphics card."""
    counts, levels = torch.empty(6, 9, 2, device="meta"), torch.empty(2, device="meta")
    found = (
        dcg_relaxed(counts, levels),
        ideal_dcg(torch.empty(6, 5, device="meta")),
        ap_relaxed(counts[..., 0], counts[..., 1]),
    )
    assert {tensor.device.type for tensor in found} == {"meta"}


@pytest.mark.parametrize("objective", get_args(HashObjective))
def test_a_loss_makes_no_tensor_on_the_default_device(objective: str) -> None:
    """With meta as the default device a tensor that is made without its input's device cannot meet it."""
    labels = Supervision("both", list("abcdefgh"), np.arange(8) // 2, np.arange(8) // 4)
    plan = Plan(epochs=2)
    built = hash_objective.HashObjective(Design(6, objective), plan, labels)
    values = torch.randn(8, 6, generator=torch.Generator().manual_seed(0), requires_grad=True)
    wanted = built.loss(values, np.arange(8), 1)
    with torch.device("meta"):
        found = built.loss(values, np.arange(8), 1)
        found.backward()  # type: ignore[no-untyped-call]
    assert found.item() == wanted.item()
    assert values.grad is not None
    assert values.grad.device.type == "cpu"
