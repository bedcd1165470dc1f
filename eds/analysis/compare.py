"""Compare models by measures, with the sides that they are on: see eds.analysis.comparison."""

import itertools
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import pandas as pd
import pyarrow as pa

from eds.analysis.comparison import Basis, ComparedModel, ComparedPair, Comparison, MeasureComparison, Side
from eds.analysis.inputs import AnalysisInputs
from eds.analysis.measure_data import MeasureData
from eds.analysis.newcomers import UNMADE as NO_LISTS
from eds.analysis.paired import column_interval, holm, paired_p, resampled_columns
from eds.analysis.reduced_pools import AREAS, ReducedPools, micro_pseudo_values
from eds.analysis.score_intervals import score_limits
from eds.intervals import (
    LARGE,
    NOT_REQUESTED,
    RESAMPLES,
    Interval,
    Multiplicity,
    Statistic,
    bootstrap_interval,
    draw_queries,
    percentile_interval,
)
from eds.metrics import Measure, Result, scores_table
from eds.metrics.definition import Values
from eds.metrics.judged_lists import JudgedLists
from eds.metrics.measures.incomplete import depth_of, judged
from eds.metrics.pair_scores import align_scores
from eds.metrics.single_list import mean
from eds.pairs import Reals, encode

NOT_QUALITY = "CodeUsage"  # no model is best by it, nor by measures that describe the labels
BY_LABELS = ("truth", "votes", "experts")  # grades of codes that depend on what is labelled
NO_LIMITS = (float("nan"), float("nan"))
SLACK = 1e-12  # of judged@k, and of values that count as equal


def has_best(measure: Measure) -> bool:
    """Whether a model can be best by the measure."""
    return measure.name != NOT_QUALITY and measure.definition.unlabelled != "described"


def compare(
    results: Sequence[Result],
    inputs: AnalysisInputs,
    *,
    newcomers: Collection[str] = (),
    trained: Mapping[str, tuple[str, ...]] | None = None,
    table: pd.DataFrame | None = None,
    level: float = 0.95,
    resamples: int = RESAMPLES,
) -> Comparison:
    """Compare every two models by every measure that has a best model.

    Formula: difference = mean over queries of first - second on the basis of the pair (eds.analysis.comparison), limits
    by the bootstrap over queries with the same draws for both, p by `paired_p`, adjusted by Holm over the measure's
    pairs; micro measures: differences of resampled values, p by Student's t of their spread. Self-removed value of a
    generator: on the pool without the pairs that only it proposed; of a newcomer: mean over the generators of its value
    on the same reduced pools.
    Source: specification 5.4, 6.1, 13.3, 18.2.
    Conventions: `table` has the intervals of the values on all labels (default: `score_limits`); `inputs.pool_lists`
    names the models that built the pool (none: all are newcomers); `newcomers` are
    those of them for which only selected pairs were added later; needs `labels`, and for AUC across sides `scores`, for
    measures on lists `rankings` or `ranks`; models that `trained` says learned from the labels are not ranked; models
    without a value are left out; without resamples no intervals.
    Example: see tests/analysis/test_comparison.py.
    """
    makers = set() if inputs.pool_lists is None else set(inputs.pool_lists["model"].unique())
    names = sorted({result.model for result in results})
    sides: dict[str, Side] = {
        name: "generator" if name in makers and name not in newcomers else "newcomer" for name in names
    }
    if table is None:
        table = score_limits(results, resamples, level, inputs.seed) if resamples else scores_table(results)
    rows = table[table["query_id"].isna()]
    limits = {
        (model, measure): (low, high)
        for model, measure, low, high in rows[["model", "measure", "low", "high"]].itertuples(index=False)
    }
    seen = {name: what for name, what in (trained or {}).items() if name in sides}
    setting = _Setting(inputs, sides, frozenset(makers), limits, level, resamples, seen)
    by_measure: dict[Measure, dict[str, Values]] = {}
    for result in results:
        if result.values is not None and not math.isnan(result.values.value) and has_best(result.measure):
            by_measure.setdefault(result.measure, {})[result.model] = result.values
    return Comparison(
        sides, bool(makers), tuple(_compare(measure, values, setting) for measure, values in by_measure.items()), seen
    )


@dataclass(frozen=True, eq=False)
class _Setting:
    """What all measures are compared with."""

    inputs: AnalysisInputs
    sides: Mapping[str, Side]
    makers: frozenset[str]  # models that proposed judged pairs, newcomers' own later ones included
    limits: Mapping[tuple[str, str], tuple[float, float]]  # of the values on all labels, by model and measure
    level: float
    resamples: int
    trained: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    areas: dict[tuple[Measure, str, frozenset[str]], Reals] = field(default_factory=dict)

    @cached_property
    def pools(self) -> ReducedPools | None:
        """The pools without some models; None where scores or the pool's lists are not known."""
        pool_lists, labels, scores = self.inputs.pool_lists, self.inputs.labels, self.inputs.scores
        if pool_lists is None or labels is None or scores is None or not self.makers:
            return None
        return ReducedPools.of(pool_lists, labels, scores)

    @cached_property
    def lists(self) -> dict[str, JudgedLists]:
        """Every model's lists with their labels."""
        inputs = self.inputs
        if inputs.labels is None or (inputs.rankings is None and inputs.ranks is None):
            return {}
        return inputs.judged_lists()

    @cached_property
    def complete(self) -> bool | None:
        """Whether every pair of the pool has a label; None: the pool is not known."""
        inputs = self.inputs
        if inputs.pooled is None or inputs.labels is None:
            return None
        pair = ["query_id", "candidate_id"]
        return len(inputs.pooled[pair].drop_duplicates().merge(inputs.labels[pair])) == len(
            inputs.pooled[pair].drop_duplicates()
        )

    def full_area(self, measure: Measure, model: str) -> Reals:
        """A micro measure of a model on all labels, as pseudo-values by query."""
        key = measure, model, frozenset[str]()
        if key not in self.areas:
            inputs = replace(self.inputs, pool_lists=NO_LISTS)
            self.areas[key] = pseudo_values(MeasureData.of(inputs, measure), model)
        return self.areas[key]

    def interval(self, statistic: Statistic, n: int) -> Interval:
        """The interval of a statistic of n queries; none without resamples."""
        if not self.resamples:
            return Interval.none(NOT_REQUESTED)
        return bootstrap_interval(statistic, n, self.level, self.resamples, self.inputs.seed)

    def area(self, measure: Measure, model: str, *removed: str) -> Reals:
        """A model's AUC by query on the pool without the pairs that only the removed models proposed."""
        if self.pools is None:
            raise TypeError("no pool is known")
        key = measure, model, frozenset(removed) & self.makers
        if key not in self.areas:
            self.areas[key] = self.pools.areas(measure, model, self.pools.without(*removed))
        return self.areas[key]

    def generators(self) -> list[str]:
        """The generators, ascending."""
        return [name for name, side in self.sides.items() if side == "generator"]


@dataclass(frozen=True, eq=False)
class _Judged:
    """How far a model's lists are judged: what a measure on lists can be used for."""

    share: float  # judged@k
    open: int  # places among the first k without a label, of labelled queries
    ceiling: float  # the value if all these were similar; NaN: not known
    high: Reals | None  # the same by query

    @property
    def whole(self) -> bool:
        return self.share >= 1 - SLACK


def _judged(measure: Measure, lists: JudgedLists | None) -> _Judged | None:
    k = depth_of(measure)
    if lists is None or measure.definition.on_lists is None:
        return None
    known = lists.positives + lists.negatives > 0
    lengths = lists.lengths if k is None else np.minimum(lists.lengths, k)
    seen = (lists.label >= 0) & (known[lists.query])
    if k is not None:
        seen &= lists.place <= k
    open_places = int(lengths[known].sum()) - int(seen.sum())
    if k is not None:
        share = mean(judged(lists, k))
    else:
        share = float(seen.sum() / lengths[known].sum()) if lengths[known].sum() else float("nan")
    high = None if measure.definition.most is None else measure.most_by_query(lists)
    return _Judged(share, open_places, float("nan") if high is None else mean(high), high)


@dataclass(frozen=True, eq=False)
class _Column:
    """A model's values by query on some labels, (queries,), NaN where undefined; `micro`: its value in resamples."""

    by_query: Reals
    weight: Reals | None = None
    micro: Reals | None = None
    whole: float | None = None


def _compare(measure: Measure, values: Mapping[str, Values], setting: _Setting) -> MeasureComparison:
    names = list(values)
    on_lists = {name: _judged(measure, setting.lists.get(name)) for name in names}
    pairs = [
        (first, second, _basis(measure, first, second, on_lists, setting))
        for first, second in itertools.combinations(names, 2)
    ]
    columns = _Columns(measure, values, setting)
    compared = _test(measure, pairs, columns, on_lists, setting)
    ranked = _ranked(names, compared, setting)
    beaten = {
        pair.second if pair.difference > 0 else pair.first
        for pair in compared
        if pair.beyond_sampling and {pair.first, pair.second} <= ranked
    }
    mixed = any(basis == "reduced pools" for *_, basis in pairs)
    models = []
    for name in names:
        side, state = setting.sides[name], on_lists[name]
        bound = state is not None and not state.whole and measure.definition.unlabelled in ("negative", "interval")
        low, high = setting.limits.get((name, str(measure)), NO_LIMITS) if not bound else NO_LIMITS
        removed = columns.self_removed(name)
        models.append(
            ComparedModel(
                name,
                side,
                values[name].value,
                low,
                high,
                float("nan") if state is None else state.share,
                float("nan") if state is None or not bound else state.ceiling,
                *removed,
                ranked=name in ranked,
                best=name in ranked and name not in beaten,
                trained_on=setting.trained.get(name, ()),
                lower_bound=bound,
            )
        )

    def order(item: ComparedModel) -> tuple[bool, float, str]:
        shown = item.self_removed if mixed and not math.isnan(item.self_removed) else item.value
        return (not item.ranked, -shown, item.model)

    return MeasureComparison(measure, tuple(sorted(models, key=order)), tuple(compared), setting.level)


def _basis(
    measure: Measure, first: str, second: str, on_lists: Mapping[str, _Judged | None], setting: _Setting
) -> Basis:
    """What two models can be compared on by the measure."""
    definition = measure.definition
    if definition.unlabelled == "unused" or (
        definition.needs in ("codes", "graded") and measure.parameters.get("grades") not in BY_LABELS
    ):
        return "no labels needed"
    sides = {setting.sides[first], setting.sides[second]}
    own = [name for name in (first, second) if name in setting.makers]
    alike = len(sides) == 1 and (sides == {"generator"} or not own)
    if definition.on_lists is not None and definition.unlabelled in ("negative", "interval", "skipped"):
        states = [on_lists[name] for name in (first, second)]
        if sides == {"generator"}:
            return "all labels"
        if all(state is not None and state.whole for state in states):
            return "judged lists"
        return "all labels" if alike and definition.unlabelled == "skipped" else "none"
    if alike:
        return "all labels"
    pools = setting.pools
    known = pools is not None and pools.has_others(first, second) and {first, second} <= set(pools.scores)
    return "reduced pools" if known and is_annotated_auc(measure) else "none"


def _ranked(names: Sequence[str], pairs: Sequence[ComparedPair], setting: _Setting) -> set[str]:
    """The models that are ordered with each other: generators, and newcomers that are compared with every one of them.

    Models that were trained on the labels are not ordered with others.
    Without generators, newcomers that are compared with each other, those first that are compared with most.
    """
    names = [name for name in names if "labels" not in setting.trained.get(name, ())]
    compared: dict[str, set[str]] = {name: set() for name in names}
    for pair in pairs:
        if pair.basis != "none" and pair.first in compared and pair.second in compared:
            compared[pair.first].add(pair.second)
            compared[pair.second].add(pair.first)
    core = [name for name in names if setting.sides[name] == "generator"]
    for name in sorted(names, key=lambda name: (-len(compared[name]), name)):
        if name not in core and compared[name] >= set(core) and (core or compared[name]):
            core.append(name)
    return set(core)


@dataclass(eq=False)
class _Columns:
    """Models' values by query on the labels that pairs are compared on; of a micro measure pseudo-values."""

    measure: Measure
    values: Mapping[str, Values]
    setting: _Setting

    @cached_property
    def queries(self) -> pa.Array:
        """The queries of every column."""
        return next(iter(self.values.values())).queries

    @cached_property
    def weight(self) -> Reals | None:
        """The weight of each query, the same for all models; None: a plain mean."""
        return next(iter(self.values.values())).weight

    def full(self, name: str) -> Reals:
        """On all labels."""
        values = self.values[name]
        if values.whole is not None:
            return self.setting.full_area(self.measure, name)
        if values.queries is self.queries or values.queries.equals(self.queries):
            return values.by_query
        row = encode(self.queries, values.queries)
        return np.where(row >= 0, values.by_query[row], np.nan)

    def of(self, first: str, second: str, basis: Basis) -> tuple[Reals, Reals]:
        """Both models' values on the basis of the pair."""
        if basis == "reduced pools":
            area = self.setting.area
            return area(self.measure, first, first, second), area(self.measure, second, first, second)
        return self.full(first), self.full(second)

    def self_removed(self, name: str) -> tuple[float, float, float]:
        """The AUC on pools that the model had no part in, and its interval; NaN for other measures."""
        setting, measure = self.setting, self.measure
        pools = setting.pools
        if not is_annotated_auc(measure) or pools is None or name not in pools.scores:
            return (float("nan"),) * 3
        removals = pools.removals(name, setting.generators())
        if not removals:
            return (float("nan"),) * 3
        columns = np.stack([setting.area(measure, name, *names) for names in removals], axis=1)
        value = float(np.mean([mean(column) for column in columns.T]))
        interval = column_interval(columns, setting.level, setting.resamples, setting.inputs.seed)
        return value, interval.low, interval.high


def pseudo_values(data: MeasureData, model: str) -> Reals:
    """A micro AUC of a model as pseudo-values by query: see `micro_pseudo_values`."""
    labelled = data.pairs
    score = align_scores(labelled, data.scores)[model] if data.scores is not None else np.full(0, np.nan)
    scored = np.isfinite(score)
    parts = labelled.query[scored], labelled.value[scored], score[scored]
    return micro_pseudo_values(*parts, len(labelled.queries))[AREAS.index(data.measure.name)]


def is_annotated_auc(measure: Measure) -> bool:
    """Whether the measure is an area under a curve on labelled negatives."""
    return measure.name in AREAS and measure.parameters.get("negatives") == "annotated"


def _test(
    measure: Measure,
    pairs: Sequence[tuple[str, str, Basis]],
    columns: _Columns,
    on_lists: Mapping[str, _Judged | None],
    setting: _Setting,
) -> list[ComparedPair]:
    """The differences of all pairs, their intervals and adjusted p."""
    plain: list[ComparedPair] = []
    sides = _Sides(columns.weight)
    for first, second, basis in pairs:
        empty = ComparedPair(first, second, basis, *(float("nan"),) * 5, 0, None, False, None)
        if basis == "none":
            plain.append(replace(empty, decided_by_labels=False, to_judge=_to_judge(measure, first, second, on_lists)))
            continue
        difference, p, n = sides.add(*columns.of(first, second, basis))
        decided = _decided(measure, first, second, basis, columns, on_lists, setting)
        plain.append(replace(empty, difference=difference, p=p, n=n, decided_by_labels=decided))
    if setting.resamples:
        limits = iter(sides.limits(setting))
        plain = [item if item.basis == "none" else _with_limits(item, next(limits)) for item in plain]
    adjusted = iter(holm([item.p for item in plain if not math.isnan(item.p)]))
    result = []
    for item in plain:
        p = float("nan") if math.isnan(item.p) else next(adjusted)
        result.append(replace(item, p_adjusted=p, beyond_sampling=bool(p <= 1 - setting.level and item.difference)))
    return result


def _with_limits(item: ComparedPair, limits: tuple[float, float]) -> ComparedPair:
    return replace(item, low=limits[0], high=limits[1])


@dataclass(eq=False)
class _Sides:
    """The columns of all pairs' models over the queries that both are defined on, each once."""

    weight: Reals | None
    columns: dict[tuple[int, bytes], int] = field(default_factory=dict)
    values: list[Reals] = field(default_factory=list)
    shares: list[Reals] = field(default_factory=list)
    pairs: list[tuple[int, int]] = field(default_factory=list)

    def add(self, first: Reals, second: Reals) -> tuple[float, float, int]:
        """Difference, p and number of queries of a pair."""
        difference = first - second
        defined = ~np.isnan(difference)
        share = defined * (1.0 if self.weight is None else self.weight)
        mask = defined.tobytes()
        self.pairs.append((self._column(first, share, mask), self._column(second, share, mask)))
        weight = None if self.weight is None else self.weight[defined]
        total = share.sum()
        value = float((np.where(defined, difference, 0.0) * share).sum() / total) if total else float("nan")
        return value, paired_p(difference[defined], weight), int(defined.sum())

    def _column(self, values: Reals, share: Reals, mask: bytes) -> int:
        key = id(values), mask
        if key not in self.columns:
            self.columns[key] = len(self.values)
            self.values.append(values)  # holds the array, so that no other gets its id
            self.shares.append(share)
        return self.columns[key]

    def limits(self, setting: _Setting) -> list[tuple[float, float]]:
        """The interval of every pair's difference."""
        if not self.pairs:
            return []
        values, shares = np.stack(self.values, axis=1), np.stack(self.shares, axis=1)
        first, second = np.array(self.pairs).T
        if min(int((share > 0).sum()) for share in self.shares) < LARGE:
            return [self._limits_of_few(values[:, pair], shares[:, pair], setting) for pair in self.pairs]
        drawn = draw_queries(len(values), setting.resamples, setting.inputs.seed)
        means = np.ascontiguousarray(resampled_columns(values, shares, drawn).T)
        differences = means[first] - means[second]
        if np.isnan(differences).any():
            return [percentile_interval(row, setting.level) for row in differences]
        tail = (1 - setting.level) / 2
        low, high = _quantiles(differences, (tail, 1 - tail))
        return list(zip(low.tolist(), high.tolist(), strict=True))

    def _limits_of_few(self, values: Reals, shares: Reals, setting: _Setting) -> tuple[float, float]:
        used = shares[:, 0] > 0
        known, share = values[used], shares[used]

        def difference(times: Multiplicity) -> Reals:
            means = resampled_columns(known, share, times)
            return np.asarray(means[:, 0] - means[:, 1])

        interval = setting.interval(difference, len(known))
        return interval.low, interval.high


def _quantiles(rows: Reals, shares: Sequence[float]) -> list[Reals]:
    """Quantiles of every row, interpolated linearly as by `percentile_interval`; the rows' order is lost."""
    last = rows.shape[1] - 1
    places = [share * last for share in shares]
    ends = [(int(place), min(int(place) + 1, last)) for place in places]
    rows.partition(sorted({end for both in ends for end in both}), axis=1)
    return [
        rows[:, below] + (place - below) * (rows[:, above] - rows[:, below])
        for place, (below, above) in zip(places, ends, strict=True)
    ]


def _decided(
    measure: Measure,
    first: str,
    second: str,
    basis: Basis,
    columns: _Columns,
    on_lists: Mapping[str, _Judged | None],
    setting: _Setting,
) -> bool | None:
    """Whether no missing label could change the sign of the difference; None: not known."""
    a, b = on_lists[first], on_lists[second]
    low_a, low_b = (columns.values[name].value for name in (first, second))
    if basis == "no labels needed":
        return True
    if a is not None and b is not None:
        if a.whole and b.whole:
            return abs(low_a - low_b) > SLACK
        high_a, high_b = (low if item.whole else item.ceiling for item, low in ((a, low_a), (b, low_b)))
        if math.isnan(high_a) or math.isnan(high_b):
            return None
        return low_a > high_b + SLACK or low_b > high_a + SLACK
    return setting.complete if is_annotated_auc(measure) and setting.complete else None


def _to_judge(measure: Measure, first: str, second: str, on_lists: Mapping[str, _Judged | None]) -> int | None:
    """Places without a label among the first k of both models."""
    states = [on_lists[name] for name in (first, second)]
    if depth_of(measure) is None or any(state is None for state in states):
        return None
    return sum(state.open for state in states if state is not None)
