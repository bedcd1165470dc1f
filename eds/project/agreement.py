"""How far the experts agree: one computation for the command line, the pages and the report."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eds.project.decide import Votes, read_votes
from eds.project.label_store import parse_time
from eds.project.results import Result

if TYPE_CHECKING:
    from collections.abc import Mapping

    import altair as alt
    import pandas as pd

    from eds.project import Project

PAIR = ["query_id", "candidate_id"]
COEFFICIENTS = {  # in words
    "percent_agreement": "Observed agreement",
    "krippendorff_alpha": "Krippendorff's alpha",
    "gwet_ac1": "Gwet's AC1",
    "fleiss_kappa": "Fleiss' kappa",
}


@dataclass(frozen=True)
class AgreementResult(Result):
    """Agreement of a panel, each pair of experts, each expert, and the disputed pairs, the closest votes first."""

    items: int  # pairs judged
    pairable: int  # by two experts or more
    complete: int  # by every expert
    unsure: int  # answers
    control: bool  # only the control pairs count, as asking stops early
    coefficients: "pd.DataFrame"  # coefficient, value, low, high, no_interval
    pairs_of_experts: "pd.DataFrame"  # expert_a, expert_b, items, agreement, low, high, kappa
    experts: "pd.DataFrame"
    disputed_pairs: "pd.DataFrame"

    def to_dict(self) -> dict[str, Any]:
        """The values as JSON has them."""
        return {**super().to_dict(), "disputed": len(self.disputed_pairs)}

    def charts(self, names: "Mapping[str, str] | None" = None) -> "Mapping[str, alt.LayerChart]":
        """The coefficients with their confidence intervals; `names`: only these, and what to call them."""
        from eds.reports.charts import interval_chart

        known = self.coefficients.dropna(subset="value")
        if names is not None:
            known = known[known["coefficient"].isin(list(names))]
        values, low, high = (known[name].tolist() for name in ("value", "low", "high"))
        shown = [(names or {}).get(str(name), str(name).replace("_", " ")) for name in known["coefficient"]]
        return {"Agreement": interval_chart(shown, values, low, high, lowest=0.0, highest=1.0)}


def measure_agreement(
    project: "Project",
    *,
    campaign: str | None = None,
    as_of: str | datetime | None = None,
    control: str | Path | None = None,
    gold: str | Path | None = None,
    resamples: int = 2000,
    confidence: float = 0.95,
) -> AgreementResult:
    """Measure how far the experts agree; see `Project.agreement`."""
    from eds.project.draw import read_pairs

    votes = read_votes(project, campaign, parse_time(as_of))
    return agreement_of(
        votes,
        control=read_pairs(Path(control)) if control else votes.control,
        gold=read_pairs(Path(gold)) if gold else votes.gold,
        as_of=parse_time(as_of),
        resamples=resamples,
        confidence=confidence,
        seed=project.config.project.seed,
    )


def agreement_of(
    votes: Votes,
    *,
    control: "pd.DataFrame | None",
    gold: "pd.DataFrame",
    as_of: datetime | None = None,
    resamples: int = 2000,
    confidence: float = 0.95,
    seed: int = 0,
) -> AgreementResult:
    """The same from votes that were read already. Without resamples the coefficients have no intervals."""
    from eds.truth import disputed_pairs, expert_profiles, panel_agreement

    panel = panel_agreement(
        votes.labels,
        early_stop=votes.early_stop,
        control=control,
        as_of=as_of,
        resamples=resamples,
        level=confidence,
        seed=seed,
    )
    return AgreementResult(
        panel.items,
        panel.pairable,
        panel.complete,
        panel.unsure,
        panel.control,
        panel.coefficients,
        panel.pairs_of_experts,
        expert_profiles(votes.labels, gold=gold, as_of=as_of, level=confidence),
        disputed_pairs(votes.labels, as_of=as_of),
    )
