"""How carefully a campaign asks: three sets of guards, and what judging in a mode takes."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from eds.choices import CampaignQuality
from eds.labels.frames import acts_frame
from eds.labels.gold import gold_to_hide, usual_share
from eds.labels.guidelines import guideline_named
from eds.labels.lead_queries import gold_answers
from eds.project.budget import seconds_per_label
from eds.project.label_store import opened
from eds.suspects.cost import Rate, label_rate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from eds.project import Project

GOLD = {"light": 0.4, "standard": 1.0, "strict": 2.0}  # times the usual share
REPEATS = {"light": 0.0, "standard": 0.05, "strict": 0.1}
LEAST_REPEATS = 0.02  # of a grid, which is always guarded
PRACTICE = {"light": 0, "standard": 8, "strict": 16}  # pairs of a round
NEEDED = {"light": 0.8, "standard": 0.8, "strict": 0.9}
RECENT = timedelta(days=7)


@dataclass(frozen=True)
class Guards:
    """What is mixed in, asked before, and left out."""

    gold_share: float
    repeat_share: float
    early_stop: bool
    practice: int  # pairs of a round before the first session; 0: none
    practice_needed: float  # share of them that must be right


def guards_of(
    project: "Project",
    quality: CampaignQuality,
    pairs: pd.DataFrame,
    *,
    mode: str = "pair",
    polarity: str | None = None,
    guideline: str = "",
) -> Guards:
    """The guards of a quality, as far as known pairs allow.

    Light: 40 % of the usual gold, no repeats (2 % in a grid), early stop, no practice. Standard: the usual gold, 5 %
    repeats, practice with 8 pairs, 80 % right. Strict: twice the usual gold, 10 % repeats, practice with 16 pairs, 90 %
    right.
    """
    with opened(project, create=True) as store:
        usual = usual_share(store, pairs, polarity) if len(pairs) else 0.0
        most = gold_to_hide(store, pairs, polarity) / len(pairs) if len(pairs) else 0.0
        known = len(gold_answers(store)) + (len(guideline_named(store, guideline).examples) if guideline else 0)
    repeats = max(REPEATS[quality], LEAST_REPEATS if mode == "grid" else 0.0)
    gold = min(GOLD[quality] * usual, most)
    return Guards(gold, repeats, quality == "light", min(PRACTICE[quality], known), NEEDED[quality])


def seconds_in_mode(project: "Project", mode: str) -> Rate:
    """Seconds of a judgement in a mode, measured where there are judgements in it; else those of all, else assumed."""
    with opened(project, create=True) as store:
        acts = acts_frame(store)
    seconds = acts.loc[acts["mode"] == mode, "seconds"].to_numpy(np.float64, na_value=np.nan)
    if np.isnan(seconds).all():
        return seconds_per_label(project)
    return label_rate(seconds, project.config.budget.seconds)


def judgements_a_day(project: "Project", experts: "Sequence[str]") -> "pd.Series[float]":
    """How many judgements each expert gave a day, in all campaigns of the last 7 days; NaN where none."""
    with opened(project, create=True) as store:
        acts = acts_frame(store)
    now = pd.Timestamp(datetime.now(UTC))
    recent = acts[acts["created_at"] > now - RECENT].groupby("expert_id")["created_at"]
    days = ((now - recent.min()).dt.total_seconds() / 86_400).clip(lower=1.0)
    result: pd.Series[float] = (recent.size() / days).reindex(list(experts)).astype(float)
    return result
