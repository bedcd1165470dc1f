"""Gold pairs as the panel called them."""

import pandas as pd

from eds.truth.gold_accuracy import KnownCalled, known_called
from tests.truth.acts import act, frame


def test_the_majority_counts_ties_are_negative_and_unsure_is_nothing() -> None:
    said = {"yes": (1, 1, 0), "tie": (1, 0), "missed": (0, None), "alarm": (1,), "right": (0, 0, 1), "silent": (None,)}
    acts = [
        {"candidate_id": candidate, "expert_id": f"e{place}", "value": value, "kind": "gold"}
        for candidate, values in said.items()
        for place, value in enumerate(values)
    ]
    acts.append({"candidate_id": "missed", "expert_id": "e0", "value": 1, "kind": "normal"})  # no gold act
    acts.append({"candidate_id": "unknown", "expert_id": "e0", "value": 1, "kind": "gold"})
    labels = frame([act(number, **one) for number, one in enumerate(acts)])
    known = {"yes": 1, "tie": 1, "missed": 1, "alarm": 0, "right": 0, "silent": 1, "never": 1}
    gold = pd.DataFrame({"query_id": "q1", "candidate_id": list(known), "value": list(known.values())})
    assert known_called(labels, gold) == KnownCalled(known=3, found=1, negatives=2, alarms=1)
    assert known_called(labels.iloc[::-1], gold) == known_called(labels, gold)
    assert known_called(labels.iloc[:0], gold) == KnownCalled(0, 0, 0, 0)
