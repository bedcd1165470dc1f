"""Simulated experts, who judge pairs by the known similarity.

An expert sees S_e, the similarity under the expert's own weights, and answers similar if S_e + noise >= threshold.
Everything follows from seeds, so the complete truth can be computed: see panel.py.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
import pandas as pd

from eds.errors import InputError
from eds.pairs import Hashes, hash_id, hash_ids, mix_bits
from eds.synthetic.attributes import WEIGHTS, Floats, combine, compare, encode, select
from eds.synthetic.products import stream

# In a drawn catalogue (see products.py) a panel of three around this threshold calls two thirds of the pairs of a
# collection similar and hardly any others: below 1 % of all pairs of 1200 products, as real catalogues have it.
DEFAULT_THRESHOLD = 0.80
GUIDELINE = "Would a customer who likes the one look at the other as a likely replacement?"
_DRAW_EXPERTS = 6  # the job of the random stream
_NOISE, _SECOND, _UNSURE, _SECONDS, _LABEL = range(1, 6)  # what a keyed random number is for


@dataclass(frozen=True)
class Expert:
    """One simulated expert.

    `noise` is the standard deviation of the noise at the start of a session; after n pairs it is
    noise + fatigue * n / 1000. A share `unsure_rate` of all pairs is answered with unsure.
    """

    expert_id: str
    weights: tuple[float, ...]  # of the terms of `WEIGHTS`, in its order
    threshold: float
    noise: float
    fatigue: float
    unsure_rate: float
    seconds_per_pair: float
    seed: int

    @property
    def named_weights(self) -> dict[str, float]:
        """The weights by name of the term."""
        return dict(zip(WEIGHTS, self.weights, strict=True))


def draw_experts(count: int, seed: int = 0) -> tuple[Expert, ...]:
    """Draw a panel of experts with different weights, thresholds, noise, fatigue and speed."""
    if count < 1:
        raise InputError(f"the panel's size is {count}", where="simulated experts", hint="Use at least 1.")
    panel = []
    for number in range(count):
        rng = stream(seed, _DRAW_EXPERTS, number)
        tastes = [weight * (0.5 + float(rng.random())) for weight in WEIGHTS.values()]
        strictness, care, endurance, doubt, pace = (float(x) for x in rng.random(5))
        panel.append(
            Expert(
                expert_id=f"expert-{number + 1:02d}",
                weights=tuple(round(taste / sum(tastes), 6) for taste in tastes),
                threshold=round(DEFAULT_THRESHOLD + 0.06 * (strictness - 0.5), 4),
                noise=round(0.015 + 0.03 * care, 4),
                fatigue=round(0.01 + 0.02 * endurance, 4),
                unsure_rate=round(0.01 + 0.04 * doubt, 4),
                seconds_per_pair=round(1.5 + 3.0 * pace, 2),
                seed=int(rng.integers(2**31)),
            )
        )
    return tuple(panel)


def _key(pair_key: Hashes, expert: Expert, purpose: int, more: str = "") -> Hashes:
    return mix_bits(pair_key ^ np.uint64(hash_id(f"{expert.seed}/{expert.expert_id}/{purpose}/{more}")))


def _uniform(drawn: Hashes) -> Floats:
    """Return numbers in (0, 1)."""
    return ((drawn >> np.uint64(11)).astype(np.float64) + 0.5) / 2**53


def _normal(first: Hashes, second: Hashes) -> Floats:
    """Return standard normal numbers (Box and Muller)."""
    return np.asarray(np.sqrt(-2 * np.log(_uniform(first))) * np.cos(2 * np.pi * _uniform(second)), dtype=np.float64)


def seen_similarity(pairs: pd.DataFrame, images: pd.DataFrame, experts: Sequence[Expert]) -> list[Floats]:
    """Return each expert's noise-free similarity of the pairs, row by row."""
    known = pd.Index(images["image_id"])
    sides = {}
    for column in ("query_id", "candidate_id"):
        rows = known.get_indexer(pd.Index(pairs[column]))
        lost = pairs[column][rows < 0].unique()
        if len(lost):
            raise InputError(
                f"{len(lost)} images are unknown, first {lost[0]!r}",
                where=f"pairs.{column}",
                hint="Use pairs of images of the drawn catalogue.",
            )
        sides[column] = rows
    encoded = encode(images)
    terms = compare(select(encoded, sides["query_id"]), select(encoded, sides["candidate_id"]))
    return [combine(terms, expert.named_weights) for expert in experts]


def judge(
    pairs: pd.DataFrame,
    images: pd.DataFrame,
    experts: Sequence[Expert],
    *,
    started_at: datetime,
    session_id: str | None = None,
) -> pd.DataFrame:
    """Let every expert judge every pair in the order of the table, in one session; return the labels table.

    A judgement is keyed by (expert's seed and id, query, candidate): except for fatigue, it does not depend on
    the other rows. A repeated pair gets new noise, like a repeated question.
    """
    if not experts:
        raise InputError("the panel is empty", where="simulated experts", hint="Draw at least one expert.")
    if started_at.tzinfo is None:
        raise InputError(f"{started_at} has no time zone", where="started_at", hint="Use a time in UTC.")
    similarities = seen_similarity(pairs, images, experts)
    again = pairs.groupby(["query_id", "candidate_id"], sort=False).cumcount().to_numpy().astype(np.uint64)
    pair_key: Hashes = mix_bits(mix_bits(hash_ids(pairs["query_id"])) + hash_ids(pairs["candidate_id"])) + again
    start = pd.Timestamp(started_at.astimezone(UTC))
    asked = pairs[["query_id", "candidate_id"]].reset_index(drop=True)
    parts = []
    for expert, similarity in zip(experts, similarities, strict=True):
        session = session_id or f"{expert.expert_id}@{start.isoformat()}"
        noise = _normal(_key(pair_key, expert, _NOISE), _key(pair_key, expert, _SECOND))
        spread = expert.noise + expert.fatigue * np.arange(len(pairs)) / 1000
        similar = similarity + noise * spread >= expert.threshold
        unsure = _uniform(_key(pair_key, expert, _UNSURE)) < expert.unsure_rate
        value = pd.array(similar.astype(np.int8), dtype="Int8")
        value[np.asarray(unsure, dtype=np.bool_)] = pd.NA
        # Times of people's answers are skewed: most are quick, some take long.
        seconds = np.round(
            expert.seconds_per_pair * (0.35 - 0.65 * np.log(_uniform(_key(pair_key, expert, _SECONDS)))), 3
        )
        labels = _key(pair_key, expert, _LABEL, session)
        created = start + pd.to_timedelta(np.round(np.cumsum(seconds) * 1e6).astype(np.int64), unit="us")
        parts.append(
            pd.DataFrame(
                {
                    "label_id": pd.Series([f"{word:016x}" for word in labels.tolist()], dtype="str"),
                    "query_id": asked["query_id"],
                    "candidate_id": asked["candidate_id"],
                    "expert_id": expert.expert_id,
                    "value": value,
                    "seconds": seconds,
                    "created_at": created,
                    "session_id": session,
                    "kind": "normal",
                    "supersedes": None,
                    "guideline": GUIDELINE,
                }
            ).astype(dict.fromkeys(("expert_id", "session_id", "kind", "guideline"), "str"))
        )
    return pd.concat(parts, ignore_index=True)
