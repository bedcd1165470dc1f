"""What a report is made from: tables, labels, results and lists. Any of them may be missing.

`gaps` says why an input is missing and which command makes it. Each section requires what it needs.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from eds.analysis.known_truth import KnownTruth
from eds.io import Address
from eds.metrics import Result
from eds.pairs import KnownRanks
from eds.reports.document import Gap, Missing
from eds.suspects import benchmark_labels, usable_labels
from eds.truth import PanelAgreement
from eds.truth.grades import GradeAgreement
from eds.universe import Universe

PAIR = ["query_id", "candidate_id"]
LABEL_INPUTS = ("images", "suspects", "withdrawn", "truth")  # the inputs that `ReportInputs.labels` is made from
ALL_RANDOM = Gap("Only random pairs are labelled.", "eds suspects pool, have it judged, then eds truth decide")


@dataclass(frozen=True)
class ModelCard:
    """A model's spec and preprocessing as text, and a digest that identifies it."""

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
    search: str
    k: int | None = None
    recall: float | None = None
    compared: int | None = None  # queries behind the recall
    allowed: bool = False  # was a low recall accepted explicitly?


@dataclass(frozen=True)
class Judging:
    """The experts' judgements, from the label store."""

    acts: pd.DataFrame  # table labels
    agreement: PanelAgreement
    profiles: pd.DataFrame
    disputed: pd.DataFrame
    early_stop: bool = False
    guidelines: Mapping[str, str] = field(default_factory=dict)  # version -> text
    counts: Mapping[str, int] = field(default_factory=dict)  # `eds.truth.decide`: complete, decided early, open, ...
    aspects: pd.DataFrame = field(default_factory=pd.DataFrame)  # `eds.analysis.aspects.aspects_named`
    grades: GradeAgreement | None = None  # where experts give grades


@dataclass(frozen=True)
class CodeShape:
    """How a model of codes fills them, and what it finds nearest to some queries."""

    model: str
    bits: int
    fill: Sequence[int]  # candidates by code, in columns: `eds.reports.hash_charts.fill_of`
    distinct: int
    largest: int  # candidates with the fullest code
    nearest: Mapping[str, Sequence[tuple[str, int]]] = field(default_factory=dict)  # query -> candidates, distances


@dataclass(frozen=True)
class ReportInputs:
    """Everything that the sections are computed from; None where it is missing."""

    name: str
    k: int  # depth of the pool
    cut: int = 5  # cut-off of measures at k
    seed: int = 0
    confidence: float = 0.95
    resamples: int = 2000
    experts: int = 3
    seconds: float = 15.0  # of a judgement
    seconds_measured: bool = False
    hourly: float = 0.0
    currency: str = ""
    gallery: int = 3
    slices: tuple[str, ...] = ("category",)
    image_root: Address | None = None
    images: pd.DataFrame | None = None
    universe: Universe | None = None  # of pairs, as the project's rules decide it
    known_truth: KnownTruth | None = None  # of a drawn catalogue
    suspects: pd.DataFrame | None = None
    withdrawn: pd.DataFrame | None = None  # suspects that were taken back after they had been judged
    truth: pd.DataFrame | None = None
    with_random: bool = False  # do the labels of random pairs count in models' scores, too?
    judging: Judging | None = None
    models: Sequence[ModelCard] | None = None
    searches: Sequence[Search] = ()
    pool_lists: pd.DataFrame | None = None  # lists that the pool was built from: model, query_id, candidate_id, rank
    rankings: pd.DataFrame | None = None  # final lists of models without vectors
    placed: KnownRanks | None = None  # of the other models the ranks of the labelled pairs
    results: Sequence[Result] | None = None  # every model's measures
    table: pd.DataFrame | None = None  # table scores, where its intervals are those of the report
    scores: pd.DataFrame | None = None  # of labelled and sampled pairs: model, query_id, candidate_id, score
    label_scores: pd.DataFrame | None = None  # of all labelled pairs, random ones too, as `scores`
    negatives: pd.DataFrame | None = None  # sampled pairs that count as negative
    negatives_without: Mapping[str, pd.DataFrame] | None = None  # by pool model: those drawn without its lists
    codes: Sequence[Result] = ()  # measures on binary codes, of the models that have codes
    code_shapes: Sequence[CodeShape] = ()  # of the models that have codes
    tables: Sequence[Mapping[str, Any]] = ()  # path, rows, made by, condition, digest
    gaps: Mapping[str, Gap] = field(default_factory=dict)
    newcomers: Sequence[str] | None = None  # models that are new, by role and by what is judged; None: by pool_lists
    trained: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # what of this project a model learned
    learned: Mapping[str, frozenset[str]] = field(default_factory=dict)  # the images that a model was trained on here
    cache: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)  # what several sections share

    def require(self, name: str) -> Any:
        """The input of that name; raises Missing, with the reason and the command that makes it."""
        value = getattr(self, name)
        if value is None:
            raise Missing(self.gaps.get(name, Gap(f"{name} is missing")))
        return value

    def cached(self, name: str, compute: Callable[[], Any]) -> Any:
        """What `compute` returns, computed for the first section that asks."""
        if name not in self.cache:
            self.cache[name] = compute()
        return self.cache[name]

    @property
    def labels(self) -> pd.DataFrame:
        """The labels that models are measured on: query_id, candidate_id, value; see `benchmark_labels`.

        Labels of pictures that the catalogue lacks are left out, unless all are.
        """
        truth, images = self.require("truth")[[*PAIR, "value"]], self.images
        suspects = None if self.with_random else self.suspects
        if suspects is not None and self.withdrawn is not None:
            suspects = pd.concat([suspects, self.withdrawn], ignore_index=True)

        def measured() -> pd.DataFrame:
            kept = benchmark_labels(truth, suspects)
            fits = None if images is None else usable_labels(images, kept)
            return kept if fits is None or not fits.any() else kept[fits].reset_index(drop=True)

        labels: pd.DataFrame = self.cached("labels", measured)
        if not len(labels):
            raise Missing(ALL_RANDOM)
        return labels

    @property
    def pool_models(self) -> list[str]:
        """The models that built the pool, ascending; empty where that is unknown."""
        return [] if self.pool_lists is None else sorted(map(str, self.pool_lists["model"].unique()))

    @property
    def pooled_pairs(self) -> pd.DataFrame | None:
        """The pool's pairs, judged or not; None where there are no suspects."""
        suspects = self.suspects
        return None if suspects is None else suspects.loc[suspects["origin"] == "pool", PAIR].drop_duplicates()
