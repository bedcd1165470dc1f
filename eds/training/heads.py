"""New hash heads, with random weights."""

import torch

from eds import choices
from eds.backbones.hash_head import HIDDEN, Head
from eds.errors import InputError
from eds.hashing.codes import MOST_BITS


def create_head(dimension: int, bits: int, kind: str, seed: int, hidden: int = HIDDEN) -> Head:
    """Create a head with random weights; the caller's random state does not change."""
    check_bits(bits)
    choices.check(choices.HashHead, kind, "head")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return Head(dimension, bits, kind, hidden)


def check_bits(bits: int) -> None:
    """Raise InputError for codes that do not fit one number each."""
    if not 1 <= bits <= MOST_BITS:
        raise InputError(f"codes of {bits} bits", where="head", hint=f"Codes may have 1 to {MOST_BITS} bits.")
