"""Where do we stand? All that the labels so far say, how surely, and what more work would show."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from eds.errors import InputError
from eds.project.inputs import PAIR, Inputs
from eds.project.models import marked
from eds.project.pool import pool_depth
from eds.project.prevalence import project_prevalence
from eds.project.price import price_of
from eds.project.ranks_and_scores import Needs, choose_models, gather
from eds.project.results import Result

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import altair as alt
    import pandas as pd

    from eds.analysis.analyses.prevalence import Prevalence
    from eds.analysis.standing import Difference
    from eds.analysis.standing import ModelStanding as ModelStanding  # under this name for the doors
    from eds.analysis.totals import Estimate
    from eds.pairs import Flags, Integers, Reals
    from eds.project import Project
    from eds.suspects.positive_rates import Rate

LOOKING = (
    "Limits marked 'at every look' hold however often you look and whenever you stop; the others hold for one look. "
    "If you stop once p is known to a relative precision, the usual limits are enough."
)


@dataclass(frozen=True)
class PlannedDifference(Result):
    """Two models, and the work that tells them apart."""

    difference: "Difference"
    hours: float | None  # of all experts, for `needed` pairs; None where these do not tell them apart

    @property
    def text(self) -> str:
        """The answer in one line."""
        one = self.difference
        names = f"{one.first} and {one.second}"
        if one.told_apart:
            return f"{names} are distinguishable."
        if one.queries is not None:
            return f"{names}: labels of these queries cannot separate them; {one.queries:,} such queries would."
        if one.needed is None:
            return f"{names}: nothing is known of their difference yet."
        return f"To tell {one.first} from {one.second}: {one.needed:,} pairs, {self.hours:,.1f} hours, 80 % power."


@dataclass(frozen=True)
class StandingResult(Result):
    """What is known, how surely, and what more would show; None: not known yet, `missing` says why."""

    universe: str
    labels: int  # decided pairs
    p: "Estimate | None"
    p_at_every_look: "Estimate | None"
    p_by_draws: bool  # p is by random pairs alone; otherwise it is `positives` over all pairs
    pool_rate: "Rate"  # p_k of the judged pairs
    pool_rate_of_all: "Estimate"  # p_k of the whole pool
    positives: "Estimate | None"  # in the universe, by the pool's labels and the random pairs outside it
    recall: "Estimate | None"  # share of them that the pool holds
    recall_at_every_look: "Estimate | None"
    k: int | None
    models: "list[ModelStanding]"
    plans: list[PlannedDifference]
    growth: "pd.DataFrame"  # draws, further, hours, p_width, recall_width
    missing: list[str]
    looking: str = field(default=LOOKING)

    def charts(self) -> "Mapping[str, alt.LayerChart]":
        """How narrow the interval of the pool's recall becomes with the experts' hours."""
        from eds.reports.charts import line_chart

        if self.growth.empty:
            return {}
        hours, width = self.growth["hours"].tolist(), self.growth["recall_width"].tolist()
        return {"Width of the interval of recall": line_chart(hours, width, x_label="further hours")}


def standing(project: "Project", *, confidence: float = 0.95) -> StandingResult:
    """What is known, how surely, and what more would show; see Project.standing."""
    from eds.analysis.comparison_words import trained_notes

    inputs = Inputs(project)
    inputs.decided_pairs()
    facts = project_prevalence(inputs, image_pairs=False)
    if facts is None or not facts.pool.image_pairs:
        raise InputError("there is no pool yet", where=str(project.root), hint="Make it: eds suspects pool.")
    missing = []
    if not facts.strata:
        missing.append("no random draw is labelled, so p, the positives and recall are not known: eds suspects draw")
    if not facts.known:
        missing.append("no label is similar yet, so models cannot be distinguished: go on judging the pool")
    models, differences = model_standings(inputs, confidence)
    if len(models) == 1:
        missing.append("one model alone: there is none to compare it with")
    hours = price_of(project, 1000).hours / 1000  # of a pair; reading the experts' pace takes long
    p_always, recall_always, growth = _outlook(facts, hours, confidence)
    return StandingResult(
        universe=facts.universe.text,
        labels=len(inputs.decided_pairs()),
        p=facts.p,
        p_at_every_look=p_always,
        p_by_draws=facts.p_by_draws,
        pool_rate=facts.pool.rate,
        pool_rate_of_all=facts.pool.whole_rate,
        positives=facts.total,
        recall=facts.recall,
        recall_at_every_look=recall_always,
        k=pool_depth(project),
        models=models,
        plans=[PlannedDifference(one, None if one.needed is None else one.needed * hours) for one in differences],
        growth=growth,
        missing=missing,
        looking=" ".join([LOOKING, *trained_notes(marked(project, [one.model for one in models]))]),
    )


def _outlook(
    facts: "Prevalence", hours: float, level: float
) -> "tuple[Estimate | None, Estimate | None, pd.DataFrame]":
    """P and recall with limits for every look, and how narrow the intervals become with more draws."""
    import pandas as pd

    from eds.analysis.standing import Step, anytime_of_draws, anytime_outside, widths
    from eds.analysis.totals import Estimate, share_of, sum_of

    columns = [*Step.__dataclass_fields__, "hours"]
    if not facts.strata or any(not part.labelled for part in facts.strata):
        return None, None, pd.DataFrame(columns=columns)
    outside, pool = anytime_outside(facts.strata, level), facts.pool.positives_at_every_look
    total, size = sum_of(pool, outside), facts.universe.size
    p = Estimate(*(part / size for part in vars(total).values()))
    uniform = facts.random if facts.p_by_draws else None
    if uniform is not None and facts.p is not None:  # the pool says nothing of it
        p = anytime_of_draws(uniform, facts.p.value, facts.p_lower_bound, level)
    drawn = sum(part.drawn for part in facts.strata)
    rows = widths(facts.pool.positives, facts.strata, size, drawn, level, uniform=uniform, least=facts.p_lower_bound)
    growth = pd.DataFrame([{**vars(row), "hours": row.further * hours} for row in rows])
    return p, share_of(pool, outside), growth


def model_standings(inputs: Inputs, level: float) -> "tuple[list[ModelStanding], Sequence[Difference]]":
    """Each model's P@k and AUC by the judged pairs of the pool, and how every two differ."""
    import numpy as np

    from eds.analysis.analyses.prevalence import unit_lists
    from eds.analysis.standing import ModelStanding, differences, macro_auc, model_rate

    universe, suspects = inputs.universe, inputs.suspects
    pooled = suspects[suspects["origin"] == "pool"].drop_duplicates(PAIR)
    lists = unit_lists(universe, pooled)
    if not len(lists):
        return [], []
    names = sorted(lists["model"].unique())
    units, at = np.unique(lists["unit"].to_numpy(np.int64), return_inverse=True)
    proposed: Flags = np.zeros((len(units), len(names)), np.bool_)
    proposed[at, np.searchsorted(names, lists["model"].to_numpy(str))] = True
    value, weight, pairs = _weights(inputs, pooled, units)
    query = universe.query_of(units)
    areas = {
        name: macro_auc(of, label, score, weights, level, every)
        for name, (of, label, score, weights, every) in _scored(inputs, pairs, names).items()
    }
    models = []
    for number, name in enumerate(names):
        mine = proposed[:, number]
        rate, limits = model_rate(query[mine], value[mine], weight[mine], level)
        auc, auc_limits = areas.get(name, (float("nan"), None))
        models.append(
            ModelStanding(
                name,
                int(mine.sum()),
                int((value[mine] >= 0).sum()),
                _known(rate),
                _known(limits.low),
                _known(limits.high),
                _known(auc),
                _known(auc_limits.low) if auc_limits else None,
                _known(auc_limits.high) if auc_limits else None,
                limits.no_interval,
            )
        )
    return models, differences(names, proposed, query, value, weight, int(proposed.sum(axis=0).max()), level=level)


def _weights(inputs: Inputs, pooled: "pd.DataFrame", units: "Integers") -> "tuple[Integers, Reals, pd.DataFrame]":
    """Of each unit the label (-1: none) and the weight, and the judged pairs of the pool with value and weight."""
    import numpy as np

    from eds.analysis.unit_labels import UnitLabels
    from eds.pairs import find_sorted
    from eds.suspects import prefix_weights

    truth = inputs.decided_pairs()
    weight = prefix_weights(pooled, truth[PAIR])
    in_all = pooled.groupby("query_id")["query_id"].transform("size")
    rows = pooled[PAIR].assign(weight=weight, in_all=in_all).merge(truth, on=PAIR, how="left")
    judged = rows["value"].notna().to_numpy()
    weight = rows["weight"].to_numpy()
    if judged.any() and not weight[judged].any():  # chosen or imported pairs, which no batch drew: as they are
        weight = judged.astype(np.float64)
    place = find_sorted(inputs.universe.numbers(pooled), units)
    result = np.zeros(len(units))
    kept = judged & (place >= 0)
    np.maximum.at(result, place[kept], weight[kept])
    pairs = rows[judged].assign(weight=weight[judged])
    return UnitLabels.of(inputs.universe, truth).of_units(units), result, pairs


def _scored(
    inputs: Inputs, pairs: "pd.DataFrame", names: "Sequence[str]"
) -> "dict[str, tuple[Integers, Integers, Reals, Reals, Reals]]":
    """By model the query, value, score and weight of each judged pair, and the pairs of its query in the pool."""
    import numpy as np
    import pandas as pd

    project = inputs.project
    there = [name for name in names if name in {*project.models("embeddings"), *project.models("neighbors")}]
    if not there or not len(pairs):
        return {}
    sources = choose_models(project, there)
    scores = gather(inputs, sources, inputs.images(), pairs[PAIR], Needs(lists=False), allow_missing=True).scores
    if scores is None:
        return {}
    known = scores.merge(pairs, on=PAIR)
    query = pd.factorize(known["query_id"])[0].astype(np.int64)
    result = {}
    for name in there:
        mine = (known["model"] == name).to_numpy()
        columns = (known[column].to_numpy(np.float64)[mine] for column in ("value", "score", "weight", "in_all"))
        value, score, weight, every = columns
        result[name] = (query[mine], value.astype(np.int64), score, weight, every)
    return result


def _known(value: float) -> float | None:
    return None if value != value else value
