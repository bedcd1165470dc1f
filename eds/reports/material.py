"""What a report is made from: tables, labels, results and lists, gathered by whoever asks for it.

Anything may be missing; `gaps` says why, and which command makes it. The sections ask for what they need.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from eds.metrics import Result
from eds.pairs import KnownRanks
from eds.reports.document import Gap, Missing
from eds.storage import Address
from eds.suspects import benchmark_labels
from eds.truth import PanelAgreement

PAIR = ["query_id", "candidate_id"]
ALL_RANDOM = Gap("Only random pairs are labelled.", "eds suspects pool, have it judged, then eds truth decide")


@dataclass(frozen=True)
class ModelCard:
    """Who a model is: its spec and preprocessing in words, and digests that tell it from others."""

    name: str
    source: str  # embeddings or neighbors
    loader: str = ""
    spec: str = ""
    dimension: int | None = None
    similarity: str = ""
    preprocessing: str = ""
    digest: str = ""


@dataclass(frozen=True)
class Search:
    """How a model's lists were searched; recall is against the exact lists, None where the search was exact."""

    name: str
    engine: str
    k: int | None = None
    recall: float | None = None
    compared: int | None = None  # queries behind the recall
    allowed: bool = False  # was a low recall accepted on purpose?


@dataclass(frozen=True)
class Judging:
    """What the label store says."""

    acts: pd.DataFrame  # table labels
    agreement: PanelAgreement
    profiles: pd.DataFrame
    disputed: pd.DataFrame
    early_stop: bool = False
    guidelines: Mapping[str, str] = field(default_factory=dict)  # version -> text
    counts: Mapping[str, int] = field(default_factory=dict)  # `eds.truth.decide`: complete, decided early, open, ...


@dataclass(frozen=True)
class Material:
    """All that the sections are computed from; None where it is missing."""

    name: str
    k: int  # depth of the pool
    cut: int = 5  # cut-off of measures at k
    seed: int = 0
    level: float = 0.95
    resamples: int = 2000
    experts: int = 3
    seconds: float = 15.0
    hourly: float = 0.0
    currency: str = ""
    gallery: int = 8
    slices: tuple[str, ...] = ("category",)
    image_root: Address | None = None
    images: pd.DataFrame | None = None
    suspects: pd.DataFrame | None = None
    truth: pd.DataFrame | None = None
    with_random: bool = False  # are models measured on the labels of random pairs, too?
    judging: Judging | None = None
    models: Sequence[ModelCard] | None = None
    searches: Sequence[Search] = ()  # of the lists that there are
    generators: pd.DataFrame | None = None  # lists that the pool was made of: model, query_id, candidate_id, rank
    rankings: pd.DataFrame | None = None  # final lists of models that have no vectors
    placed: KnownRanks | None = None  # of the others the ranks of the labelled pairs
    results: Sequence[Result] | None = None  # every model's measures
    scores: pd.DataFrame | None = None  # of labelled and drawn pairs: model, query_id, candidate_id, score
    negatives: pd.DataFrame | None = None  # drawn pairs that count as negative
    codes: Sequence[Result] = ()  # what measures on binary codes give, of the models that have codes
    tables: Sequence[Mapping[str, Any]] = ()  # path, rows, made by, condition, digest
    gaps: Mapping[str, Gap] = field(default_factory=dict)
    kept: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)  # what several sections share

    def need(self, name: str) -> Any:
        """What is called so; Missing, with why and what to do, where it is not there."""
        found = getattr(self, name)
        if found is None:
            raise Missing(self.gaps.get(name, Gap(f"{name} is missing")))
        return found

    def once(self, name: str, compute: Callable[[], Any]) -> Any:
        """What `compute` gives, computed for the first section that asks."""
        if name not in self.kept:
            self.kept[name] = compute()
        return self.kept[name]

    @property
    def labels(self) -> pd.DataFrame:
        """The labels that models are measured on: query_id, candidate_id, value; see `benchmark_labels`."""
        truth = self.need("truth")[[*PAIR, "value"]]
        suspects = None if self.with_random else self.suspects
        kept: pd.DataFrame = self.once("labels", lambda: benchmark_labels(truth, suspects))
        if not len(kept):
            raise Missing(ALL_RANDOM)
        return kept

    @property
    def makers(self) -> list[str]:
        """The models that made the pool, ascending; none where that is not known."""
        return [] if self.generators is None else sorted(map(str, self.generators["model"].unique()))
