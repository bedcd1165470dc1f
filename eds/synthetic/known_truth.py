"""Catalogues with a completely known truth, without images: models are noisy views of a latent similarity.

Every estimator can be compared with the exact value, thousands of times. Not here: the estimators
(eds.analysis.interval_coverage), drawn images (catalogue.py).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import numpy.typing as npt
import pandas as pd

from eds.errors import InputError

Reals = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Design:
    """The parameters of a catalogue. Outsiders are drawn like pool models, but do not contribute to the pool."""

    queries: int = 120
    candidates: int = 400
    generators: int = 4
    outsiders: int = 1
    prevalence: float = 0.03  # of similar pairs, at a query of middle difficulty
    signal: float = 0.75  # correlation of a model's score with the latent similarity
    shared: float = 0.3  # part of the models' noise variance that all of them have in common
    difficulty: float = 0.3  # spread, over queries, of the threshold above which a pair is similar
    offset: float = 0.5  # spread of a model's score level over queries: what separates micro from macro

    def __post_init__(self) -> None:
        faults = [
            f"{name} is {value}"
            for name, value, least in (
                ("queries", self.queries, 1),
                ("candidates", self.candidates, 1),
                ("generators", self.generators, 1),
                ("outsiders", self.outsiders, 0),
            )
            if value < least
        ]
        faults += [f"{name} is {getattr(self, name)}" for name in ("difficulty", "offset") if getattr(self, name) < 0]
        faults += [f"{name} is {value}" for name, value in self._shares() if not 0 <= value <= 1]
        faults += [f"prevalence is {self.prevalence}"] if self.prevalence in (0, 1) else []
        if faults:
            hint = "Use counts from 1 (outsiders from 0), spreads from 0, shares from 0 to 1, prevalence in between:"
            raise InputError("invalid design", where="Design", hint=hint, faults=faults)

    def _shares(self) -> Sequence[tuple[str, float]]:
        return [(name, getattr(self, name)) for name in ("prevalence", "signal", "shared")]

    @property
    def models(self) -> list[str]:
        """Names of all models, pool models first."""
        generators = [f"generator-{number}" for number in range(self.generators)]
        return generators + [f"outsider-{number}" for number in range(self.outsiders)]


@dataclass(frozen=True, eq=False)
class KnownTruth:
    """A drawn catalogue: the truth of every pair and every model's score of it. Queries are not candidates (wild)."""

    design: Design
    similar: Flags  # queries x candidates
    score: Reals  # models x queries x candidates, float64

    @property
    def prevalence(self) -> float:
        """The exact p: similar pairs over all pairs."""
        return float(self.similar.mean())

    def top(self, k: int) -> Integers:
        """The first k candidates of every list: models x queries x k, int64, best first."""
        if not 1 <= k <= self.design.candidates:
            raise InputError(f"k is {k}", hint=f"Use 1 to {self.design.candidates}, the number of candidates.")
        head = np.argpartition(-self.score, k - 1, axis=2)[:, :, :k]
        order = np.argsort(-np.take_along_axis(self.score, head, axis=2), axis=2)
        return np.take_along_axis(head, order, axis=2)

    def proposed(self, k: int) -> Flags:
        """The pairs among the first k of some pool model: queries x candidates."""
        found = np.zeros(self.similar.shape, np.bool_)
        for heads in self.top(k)[: self.design.generators]:
            np.put_along_axis(found, heads, True, axis=1)
        return found

    def neighbors(self, k: int) -> pd.DataFrame:
        """The lists of all models: the table neighbors."""
        heads = self.top(k)
        model, query, rank = (part.ravel() for part in np.indices(heads.shape))
        return pd.DataFrame(
            {
                "model": _taken(self.design.models, model),
                "query_id": _taken(self.query_ids, query),
                "candidate_id": _taken(self.candidate_ids, heads.ravel()),
                "rank": rank,
                "score": np.take_along_axis(self.score, heads, axis=2).ravel(),
            }
        )

    def truth(self, pairs: Flags | None = None) -> pd.DataFrame:
        """The flagged pairs (queries x candidates; default: all) with their truth: query_id, candidate_id, value."""
        query, candidate = np.nonzero(np.ones_like(self.similar) if pairs is None else pairs)
        return self._pairs(query, candidate).assign(value=self.similar[query, candidate].astype(np.int64))

    def scores(self, pairs: Flags | None = None) -> pd.DataFrame:
        """Every model's score of the flagged pairs: model, query_id, candidate_id, score."""
        query, candidate = np.nonzero(np.ones_like(self.similar) if pairs is None else pairs)
        frame, models = self._pairs(query, candidate), self.design.models
        parts = [frame.assign(score=score[query, candidate]) for score in self.score]
        found = pd.concat(parts, ignore_index=True)
        found.insert(0, "model", _taken(models, np.repeat(np.arange(len(models)), len(query))))
        return found

    @property
    def query_ids(self) -> list[str]:
        """Names of the queries."""
        return [f"q{number:05d}" for number in range(self.design.queries)]

    @property
    def candidate_ids(self) -> list[str]:
        """Names of the candidates."""
        return [f"c{number:05d}" for number in range(self.design.candidates)]

    def _pairs(self, query: Integers, candidate: Integers) -> pd.DataFrame:
        columns = {"query_id": (self.query_ids, query), "candidate_id": (self.candidate_ids, candidate)}
        return pd.DataFrame({name: _taken(ids, numbers) for name, (ids, numbers) in columns.items()})


def draw_known_truth(design: Design, seed: int | Sequence[int] = 0) -> KnownTruth:
    """Draw a catalogue from the design; the same seed gives the same catalogue.

    Formula: latent t ~ N(0, 1) for each pair; similar where t > z(1 - prevalence) + difficulty d_q; score of a model =
    signal t + sqrt(1 - signal^2) (sqrt(shared) c + sqrt(1 - shared) e) + offset o_q, with c the same for all models,
    and e and o_q a model's own; c, d, e, o ~ N(0, 1).
    Source: the check of specification 5.4 (pool models and one statistically identical outsider).
    Conventions: models are exchangeable, so any difference between an outsider and a pool model is due to pooling.
    Example, run by doctest:
    >>> known = draw_known_truth(Design(queries=3, candidates=50), seed=1)
    >>> known.score.shape, known.similar.shape, int(known.proposed(1).sum(axis=1).max()) <= 4
    ((5, 3, 50), (3, 50), True)
    """
    rng = np.random.Generator(np.random.PCG64(seed))
    shape = (design.queries, design.candidates)
    latent = rng.standard_normal(shape)
    threshold = NormalDist().inv_cdf(1 - design.prevalence)
    similar = latent > threshold + design.difficulty * rng.standard_normal((design.queries, 1))
    noise = np.sqrt(1 - design.signal**2)
    seen = design.signal * latent + noise * np.sqrt(design.shared) * rng.standard_normal(shape)
    score = rng.standard_normal((len(design.models), *shape))
    score *= noise * np.sqrt(1 - design.shared)
    score += seen
    score += design.offset * rng.standard_normal((len(design.models), design.queries, 1))
    return KnownTruth(design, similar, score)


def _taken(names: list[str], numbers: Integers) -> "pd.Series[str]":
    found: pd.Series[str] = pd.Series(names, dtype="str").take(numbers).reset_index(drop=True)
    return found
