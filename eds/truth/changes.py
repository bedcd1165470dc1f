"""What a new truth would change of the stored one: labels lost, labels turned, and why."""

from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from eds.tables import TRUTH
from eds.truth.decision import Decision, compare
from eds.truth.overrides import ADJUDICATION, IMPORTED

MOST = 0.01  # share of the labels that may change unasked
WORDS = {1: "similar", 0: "not similar"}
COUNTS = ["votes_for", "votes_against", "unsure"]


@dataclass(frozen=True)
class TruthChange:
    """How the labels of a stored truth differ from those of a new decision."""

    stored: int  # labels before
    added: int  # pairs that get a first label
    lost: int  # pairs that would have none
    turned: int  # pairs that would have the other label
    directions: dict[str, int]  # from -> to, in words: pairs
    reasons: dict[str, int]  # in words: pairs
    pairs: pd.DataFrame = field(repr=False)  # ids, value, rule, value_second, rule_second, direction, reason

    @property
    def needs_consent(self) -> bool:
        """Whether a label is lost, or more than 1 % of the labels change."""
        return self.lost > 0 or self.lost + self.turned > MOST * self.stored


def truth_change(stored: pd.DataFrame, decision: Decision, *, restricted: str = "") -> TruthChange:
    """Compare a stored truth with a decision.

    `restricted` says what the decision was restricted to that the stored truth was not, as "campaign pool alone".

    >>> rows = {"query_id": "q", "candidate_id": ["a", "b"], "value": [1, 0], "votes_for": [2, 0],
    ...         "votes_against": [0, 1], "unsure": 0, "tie": False, "rule": "majority"}
    >>> before = pd.DataFrame(rows)
    >>> left = before.head(1)[["query_id", "candidate_id"]].assign(
    ...     status="open", votes_for=2, votes_against=0, unsure=0, panel=5)
    >>> change = truth_change(before, Decision(before.tail(1), left, {}))
    >>> change.lost, change.turned, change.directions, change.reasons
    (1, 0, {'similar -> no label': 1}, {'more experts are waited for': 1})
    """
    key = list(TRUTH.key)
    pairs = compare(stored, decision.truth)
    added = pairs["value"].isna()
    pairs = pairs[~added].reset_index(drop=True)
    lost = pairs["value_second"].isna()
    words = [pairs[name].map(WORDS).astype(object).fillna("no label") for name in ("value", "value_second")]
    direction = words[0] + " -> " + words[1]
    before = pairs[key].merge(stored[[*key, *COUNTS]], how="left", on=key)[COUNTS]
    now = pd.concat([decision.truth[[*key, *COUNTS]], decision.undecided[[*key, *COUNTS]]])
    after = pairs[key].merge(now, how="left", on=key)[COUNTS]
    same = (before.to_numpy(float) == after.to_numpy(float)).all(axis=1)
    rules = [pairs[name].astype(object).fillna("") for name in ("rule", "rule_second")]
    cases = {
        "decided by a lead": rules[1] == ADJUDICATION,
        "decided by a lead before, which does not count now": rules[0] == ADJUDICATION,
        f"restricted to {restricted}": pd.Series(bool(restricted), pairs.index),
        "imported before, now decided by the votes": rules[0].str.startswith(IMPORTED),
        "no campaign asks the pair": after["votes_for"].isna(),
        "further or revised votes": pd.Series(~same, pairs.index),
    }
    reason = np.select([case.to_numpy(np.bool_) for case in cases.values()], list(cases), "more experts are waited for")
    pairs = pairs.assign(direction=direction, reason=pd.Series(reason, pairs.index, dtype=object))
    return TruthChange(
        stored=len(stored),
        added=int(added.sum()),
        lost=int(lost.sum()),
        turned=int((~lost).sum()),
        directions=_counted(pairs["direction"]),
        reasons=_counted(pairs["reason"]),
        pairs=pairs,
    )


def _counted(texts: "pd.Series[str]") -> dict[str, int]:
    return {str(text): int(count) for text, count in texts.value_counts().sort_index().items()}
