"""The quantities of sections 9 and 11, relaxed objectives, and the functions that compute them; they need torch."""

from collections.abc import Callable, Mapping
from typing import Any

import torch

from eds.training.objectives import dsh, soft_histogram, talr, talr_ap, talr_ndcg

BANDS = {"band": ("r1", "r2"), "super_band": ("r3", "r4")}
NAMES = {"b1": "first", "b2": "second", "y": "different", "y_super": "different_super", "m": "margin"}


def _real(values: Any) -> torch.Tensor:
    return torch.as_tensor(values, dtype=torch.float64)


def _pairs(loss: Callable[..., torch.Tensor]) -> Callable[..., float]:
    """A loss on pairs, called with the specification's names."""

    def call(**inputs: Any) -> float:
        given: dict[str, Any] = {
            name: tuple(inputs.pop(end) for end in ends) for name, ends in BANDS.items() if ends[0] in inputs
        }
        plain = {NAMES.get(name, name): value for name, value in inputs.items()}
        return loss(**given, **{n: _real(v) if isinstance(v, list) else v for n, v in plain.items()}).item()

    return call


def _minibatch(inputs: Mapping[str, Any]) -> dict[str, Any]:
    value, gradient = talr.talr_minibatch(_real(inputs["Phi"]), torch.tensor(inputs["A"]), inputs["objective"])
    return {"value": value.item(), "gradient": gradient.tolist()}


QUANTITIES: dict[str, Callable[..., Any]] = {
    "soft_histogram": lambda distances, n_bits: soft_histogram.soft_histogram(_real(distances), n_bits).tolist(),
    "ap_relaxed": lambda c, c_pos, kind: talr_ap.ap_relaxed(_real([c]), _real([c_pos]), kind).item(),
    "dcg_relaxed": lambda c, levels, kind: talr_ndcg.dcg_relaxed(_real([c]), _real(levels), kind).item(),
    "harmonic_log_error": talr_ap.harmonic_log_error,
    "talr_minibatch": lambda **inputs: _minibatch(inputs),
    "dsh_loss": _pairs(dsh.dsh_loss),
    "dispersed_dsh_loss": _pairs(dsh.dispersed_dsh_loss),
    "hierarchical_dsh_loss": _pairs(dsh.hierarchical_dsh_loss),
}
