"""What a campaign costs before it begins, with all that is mixed in, and what early stop would save."""

from dataclasses import dataclass

from eds.errors import InputError
from eds.suspects.budget import Judging
from eds.truth import expected_votes_early_stop


@dataclass(frozen=True)
class CampaignCost:
    """Judgements of all experts together, their hours, and their pay (None where none is known)."""

    items: int  # pairs, gold and repeats: what one expert sees at most (all of them, if every expert is asked)
    judgements: float
    hours: float
    hours_each: float
    money: float | None
    saved: float  # share of the judgements that early or adaptive stopping spares, expected


def campaign_cost(
    pairs: int,
    judging: Judging,
    *,
    panel: int | None = None,
    gold_share: float = 0.0,
    repeat_share: float = 0.0,
    early_stop: bool = False,
    control_share: float = 0.1,
    positive_rate: float = 0.5,
    votes: float | None = None,
) -> CampaignCost:
    """The cost of a campaign in which `judging.experts` experts judge each pair, gold and repeat.

    Formula: items = N + round(gN) + round(rN); judgements = E items without early stop; with it
    E (items - N + C) + (N - C) v(E, q), C = max(1, round(cN)) control pairs, v the expected votes of a pair.
    With `votes`, of a pair of an adaptive campaign, control pairs included: E (items - N) + N votes.
    Source: specification 2.2 for v.
    Conventions: judging alone, without pauses; q = `positive_rate`; nobody is unsure; hours_each is an even share of
    the `panel` from which the experts of a pair are taken (by default no more than these).
    Example, run by doctest:
    >>> cost = campaign_cost(1000, Judging(3, 15), early_stop=True, positive_rate=0.85)
    >>> round(cost.judgements, 1), round(cost.hours, 2), round(cost.saved, 3)
    (2329.5, 9.71, 0.224)
    """
    faults = [] if pairs >= 0 else [f"pairs is {pairs}; give 0 or more"]
    faults += judging.faults()
    shares = {
        "gold_share": gold_share,
        "repeat_share": repeat_share,
        "control_share": control_share,
        "positive_rate": positive_rate,
    }
    faults += [f"{name} is {share}; give a share from 0 to 1" for name, share in shares.items() if not 0 <= share <= 1]
    if faults:
        raise InputError("invalid campaign", where="campaign", hint="Correct:", faults=faults)
    items = pairs + round(gold_share * pairs) + round(repeat_share * pairs)
    experts, hourly = judging.experts, judging.hourly
    everything = float(items * experts)
    judgements = everything
    if votes is not None:
        judgements = experts * (items - pairs) + pairs * votes
    elif early_stop and pairs:
        control = min(max(1, round(control_share * pairs)), pairs)
        judgements = experts * (items - pairs + control) + (pairs - control) * expected_votes_early_stop(
            experts, positive_rate
        )
    hours = judgements * judging.seconds / 3600
    return CampaignCost(
        items,
        judgements,
        hours,
        hours / (panel or experts),
        hours * hourly if hourly else None,
        1 - judgements / everything if everything else 0.0,
    )
