"""New models: which measures are fair to a model that had no part in the pool, and what the labels do not decide."""

from collections.abc import Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from eds.project.ranks_and_scores import choose_models

if TYPE_CHECKING:
    import pandas as pd

    from eds import metrics
    from eds.metrics import Measure
    from eds.project.inputs import Inputs
    from eds.project.ranks_and_scores import Evidence
    from eds.project.score import ScoreOptions

SHOWN = ("verdict", "judged", "at_most", "change", "undecided_with", "why")


@dataclass(frozen=True)
class NewModels:
    """The new models, those whose lists the pool was made of (none where that is not known), and the verdicts.

    `verdicts` has a row for each new model and measure; its columns are those of `eds.analysis.Fairness`, and `why`.
    """

    names: tuple[str, ...]
    pool_models: tuple[str, ...]
    verdicts: "pd.DataFrame"

    @cached_property
    def rows(self) -> list[dict[str, Any]]:
        """The verdicts as records."""
        rows: list[Any] = self.verdicts.to_dict(orient="records")
        return rows

    def find(self, model: str, measure: str) -> dict[str, Any] | None:
        """Return the verdict on a model's measure, and between which values missing labels leave its RBP."""
        mine = {row["measure"]: row for row in self.rows if row["model"] == model}
        if measure not in mine:
            return None
        rbp = next((row for name, row in mine.items() if name.startswith("RBP")), None)
        bounds = rbp and {"low": rbp["value"], "high": rbp["at_most"], "undecided_with": rbp["undecided_with"]}
        return {**{name: mine[measure][name] for name in SHOWN}, "rbp": bounds}

    def summarize(self, measures: Set[str]) -> str:
        """Return one line: how many of these measures are fair to new models, and what is undecided."""
        parts = []
        for name in self.names:
            mine = sum(row["model"] == name and row["measure"] in measures for row in self.rows)
            others = self.undecided(name)
            unfair = measures & set(self.unfair(name))
            text = f"{name}: {len(unfair):,} of {mine:,} measures are not fair to it"
            if others:
                text += f", undecided against {', '.join(others)} (eds suspects add-model {name})"
            parts.append(text)
        shown = "; ".join(parts[:2]) + (f"; and {len(parts) - 2:,} more" if len(parts) > 2 else "")
        return f"New, not in the pool: {shown}. --explain shows why."

    def unfair(self, model: str) -> list[str]:
        """Return the measures that are not fair to a model, or not known to be."""
        from eds.analysis.fairness import FAIR

        return [row["measure"] for row in self.rows if row["model"] == model and row["verdict"] != FAIR]

    def undecided(self, model: str) -> list[str]:
        """Return the models between which and this one the labels do not decide, by some measure."""
        others = [row["undecided_with"] or () for row in self.rows if row["model"] == model]
        return sorted({name for names in others for name in names})


def find_new_models(inputs: "Inputs", models: Sequence[str], pool_models: Sequence[str]) -> list[str]:
    """Return the models that had no part in the pool; `pool_models` made it, else those that the suspects name."""
    from eds.analysis import newcomers

    known = set(pool_models) or set(inputs.proposals["model"])
    return newcomers.new_models(models, known, inputs.suspects["stratum"].unique())


def measures_for_new_models(
    inputs: "Inputs", measures: "Sequence[Measure]", options: "ScoreOptions"
) -> "list[Measure]":
    """Return rank-biased precision, whose interval shows what labels could change; nothing where no model is new."""
    from eds.metrics import Measure

    rbp = Measure("RBP")
    if rbp in measures or not any(map(_depends_on_labels, measures)):
        return []
    scored = choose_models(inputs.project, options.models, options.source)
    return [rbp] if find_new_models(inputs, list(scored), options.pool_models) else []


def judge_new_models(
    inputs: "Inputs", results: "Sequence[metrics.Result]", evidence: "Evidence", options: "ScoreOptions"
) -> NewModels | None:
    """Return the verdicts on the new models among those scored; None where there is none, or labels do not matter."""
    from eds.analysis import AnalysisInputs, fairness
    from eds.analysis.fairness_words import reason
    from eds.analysis.newcomers import UNMADE, chosen_for
    from eds.project.pool_models import read_pool_lists

    pool_models = options.pool_models
    new = find_new_models(inputs, list(evidence.sources), pool_models)
    if not new or not any(_depends_on_labels(result.measure) for result in results):
        return None
    lists = UNMADE
    if pool_models or len(inputs.proposals):
        later = [name for name in chosen_for(inputs.suspects["stratum"].unique()) if name in evidence.sources]
        named = [*pool_models, *later] if pool_models else []
        lists = read_pool_lists(inputs, named, None, allow_missing=options.allow_missing)
    known = AnalysisInputs(
        pool_lists=lists,
        labels=inputs.measured_pairs(with_random=options.with_random),
        rankings=evidence.rankings,
        ranks=evidence.placed,
        scores=evidence.scores,
        negatives=inputs.drawn_negatives([result.measure for result in results]),
        pooled=inputs.pooled_pairs,
    )
    fair = fairness(results, new, known)
    if not len(fair.verdicts):
        return None
    makers = tuple(sorted(set(lists["model"])))
    rows: list[Any] = fair.verdicts.to_dict(orient="records")
    why = [reason(row, makers, fair.reuse) for row in rows]
    return NewModels(tuple(new), makers, fair.verdicts.assign(why=why))


def _depends_on_labels(measure: "Measure") -> bool:
    return measure.definition.needs in ("lists", "official lists", "scores")
