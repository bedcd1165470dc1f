"""How models compare when some of them built the pool and others came later.

A generator's lists chose the pairs that were judged; a newcomer's did not. The labels favour generators by measures
that count a place without a label as not similar, and handicap them by AUC on labelled negatives, which are their own
errors. So two models are compared on:

    all labels          both built the pool, or neither did
    reduced pools       AUC on labelled negatives, across sides: without the pairs that only these two proposed
    judged lists        measures on lists, if the first k places of both are judged
    no labels needed    measures that no label can change
    none                anything else: the labels cannot say which is better

`Comparison` is the source of every sentence, group, mark, order and colour that compares models.
"""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from eds.errors import InputError
from eds.metrics import Measure

Side = Literal["generator", "newcomer"]
Basis = Literal["all labels", "reduced pools", "judged lists", "no labels needed", "none"]
Verdict = Literal["different", "not distinguishable", "the labels cannot say"]


@dataclass(frozen=True)
class ComparedModel:
    """One model's value of a measure, and what it rests on."""

    model: str
    side: Side
    value: float  # on all labels
    low: float  # interval of `value` over queries; NaN where missing labels matter more: see `ceiling`
    high: float
    judged: float  # judged@k of a measure on lists; else NaN
    ceiling: float  # the value if every place without a label were similar; NaN: not known, or all are judged
    self_removed: float  # AUC on pools that the model had no part in; NaN for other measures
    self_removed_low: float
    self_removed_high: float
    ranked: bool  # whether the measure ranks it against the generators
    best: bool  # ranked, and no ranked model is better beyond sampling error
    trained_on: tuple[str, ...] = ()  # labels, products or categories of this project; with labels it is not ranked
    lower_bound: bool = False  # whether some of the first k places have no label, which count as not similar

    @property
    def filled(self) -> bool:
        """Whether charts show it with a filled mark; newcomers are hollow."""
        return self.side == "generator"


@dataclass(frozen=True)
class ComparedPair:
    """Two models by one measure: what they are compared on, and what that shows."""

    first: str
    second: str
    basis: Basis
    difference: float  # first - second on that basis; NaN for basis none
    low: float  # interval over queries, the same queries for both models
    high: float
    p: float
    p_adjusted: float  # by Holm over the measure's pairs
    n: int  # queries behind the difference
    decided_by_labels: bool | None  # whether no missing label could change the sign; None: not known
    beyond_sampling: bool  # whether the difference exceeds the sampling error of the queries
    to_judge: int | None  # of basis none: places whose judgement would make the models comparable; None: no number

    @property
    def better(self) -> str | None:
        """The model that is better beyond sampling error."""
        if not self.beyond_sampling:
            return None
        return self.first if self.difference > 0 else self.second

    @property
    def verdict(self) -> Verdict:
        """What can be said of the two models."""
        if self.basis == "none":
            return "the labels cannot say"
        return "different" if self.beyond_sampling else "not distinguishable"

    def turned(self) -> "ComparedPair":
        """The same comparison as second against first."""
        return ComparedPair(
            self.second,
            self.first,
            self.basis,
            -self.difference,
            -self.high,
            -self.low,
            self.p,
            self.p_adjusted,
            self.n,
            self.decided_by_labels,
            self.beyond_sampling,
            self.to_judge,
        )


@dataclass(frozen=True)
class Best:
    """The sentence on the best models of a measure: none of the ranked models is better than these."""

    measure: str
    models: tuple[str, ...]
    among: tuple[str, ...]  # the ranked models
    not_ranked: tuple[str, ...]  # the labels cannot say how these compare


@dataclass(frozen=True)
class Undecided:
    """The sentence on a model that the labels cannot compare with others, and what would."""

    measure: str
    model: str
    others: tuple[str, ...]
    to_judge: int | None  # fewest places whose judgement would make it comparable with one of them; None: no number


@dataclass(frozen=True)
class MeasureComparison:
    """All models by one measure; `models` are in the order in which they are shown, `pairs` are every two of them."""

    measure: Measure
    models: tuple[ComparedModel, ...]
    pairs: tuple[ComparedPair, ...]
    level: float

    def __getitem__(self, model: str) -> ComparedModel:
        return next(item for item in self.models if item.model == model)

    def __contains__(self, model: object) -> bool:
        return any(item.model == model for item in self.models)

    def pair(self, first: str, second: str) -> ComparedPair:
        """The comparison of two models, as first against second."""
        for item in self.pairs:
            if (item.first, item.second) == (first, second):
                return item
            if (item.first, item.second) == (second, first):
                return item.turned()
        raise InputError(f"{first} and {second} are not compared by {self.measure}", where="comparison")

    @property
    def on_reduced_pools(self) -> bool:
        """Whether models are ordered by `self_removed`, the value that compares generators with newcomers."""
        return any(pair.basis == "reduced pools" for pair in self.pairs)

    @property
    def best(self) -> Best | None:
        """The best of the ranked models; None where fewer than two are ranked."""
        ranked = tuple(item.model for item in self.models if item.ranked)
        if len(ranked) < 2:
            return None
        others = tuple(item.model for item in self.models if not item.ranked)
        return Best(str(self.measure), tuple(item.model for item in self.models if item.best), ranked, others)

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """Runs of models, in their order, of which no two differ; the longest ones, and models that are alone.

        Formula: maximal runs i..j of the ranked models in which every pair is not distinguishable.
        Source: specification 18.2, intervals on a line.
        Conventions: models of different groups need not differ.
        """
        names = [item.model for item in self.models if item.ranked]
        alike = {frozenset((pair.first, pair.second)) for pair in self.pairs if pair.verdict == "not distinguishable"}
        starts: list[int] = []  # of the longest run that ends at each model; they never decrease
        for end, name in enumerate(names):
            start = starts[-1] if starts else 0
            differ = [at for at in range(start, end) if frozenset((names[at], name)) not in alike]
            starts.append(differ[-1] + 1 if differ else start)
        ends = [at for at in range(len(names)) if at + 1 == len(names) or starts[at + 1] > starts[at]]
        return tuple(tuple(names[starts[end] : end + 1]) for end in ends)

    @property
    def undecided(self) -> tuple[Undecided, ...]:
        """For each model that is not ranked, the ranked models that the labels cannot compare it with.

        A model that was trained on the labels is not among them: no further label would rank it.
        """
        result = []
        ranked = {item.model for item in self.models if item.ranked}
        for item in self.models:
            if item.ranked or "labels" in item.trained_on:
                continue
            pairs = [pair for pair in self.pairs if pair.basis == "none" and item.model in (pair.first, pair.second)]
            others = {pair.second if pair.first == item.model else pair.first: pair for pair in pairs}
            others = {name: pair for name, pair in others.items() if name in ranked}
            if others:
                counts = [pair.to_judge for pair in others.values() if pair.to_judge is not None]
                names = tuple(other.model for other in self.models if other.model in others)
                result.append(Undecided(str(self.measure), item.model, names, min(counts) if counts else None))
        return tuple(result)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, what follows from the pairs included."""
        return {
            "measure": str(self.measure),
            "on_reduced_pools": self.on_reduced_pools,
            "models": [asdict(item) for item in self.models],
            "best": None if self.best is None else asdict(self.best),
            "groups": [list(group) for group in self.groups],
            "undecided": [asdict(item) for item in self.undecided],
            "pairs": [{**asdict(pair), "verdict": pair.verdict, "better": pair.better} for pair in self.pairs],
        }


@dataclass(frozen=True)
class Comparison:
    """Models on their sides, compared by each measure that has a best model."""

    sides: Mapping[str, Side]
    makers_known: bool  # whether it is known which models built the pool; if not, all count as newcomers
    measures: tuple[MeasureComparison, ...]
    trained: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # models that learned from this project's data

    def get(self, measure: Measure | str) -> MeasureComparison | None:
        """The comparison by a measure; None where no model can be best by it."""
        wanted = Measure.parse(str(measure))
        return next((item for item in self.measures if item.measure == wanted), None)

    def __getitem__(self, measure: Measure | str) -> MeasureComparison:
        found = self.get(measure)
        if found is None:
            known = ", ".join(str(item.measure) for item in self.measures) or "none"
            raise InputError(f"no comparison by {measure}", where="comparison", hint=f"Compared by: {known}.")
        return found

    def __contains__(self, measure: object) -> bool:
        return isinstance(measure, (Measure, str)) and self.get(measure) is not None

    def __iter__(self) -> Iterator[MeasureComparison]:
        return iter(self.measures)

    @property
    def mixed(self) -> bool:
        """Whether generators and newcomers are both there."""
        return len(set(self.sides.values())) > 1

    @property
    def generators(self) -> tuple[str, ...]:
        """The models whose lists made the pool."""
        return tuple(name for name, side in self.sides.items() if side == "generator")

    @property
    def newcomers(self) -> tuple[str, ...]:
        """The models that had no part in the pool."""
        return tuple(name for name, side in self.sides.items() if side == "newcomer")

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values."""
        return {
            "generators": list(self.generators),
            "newcomers": list(self.newcomers),
            "makers_known": self.makers_known,
            "trained_on": {name: list(seen) for name, seen in self.trained.items()},
            "measures": [item.to_dict() for item in self.measures],
        }
