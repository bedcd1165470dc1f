"""What the lead's pages show, computed by the library and kept until a campaign has another act.

Every cached function takes the campaign and how many acts it has: what it gives holds as long as these stay. `place`
tells one store from another.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import streamlit as st

from annotator_ui.app_state import site
from eds.analysis import discovery_gain, p_lower_bound
from eds.analysis.missed_positives import CorrectedRate, corrected_rate
from eds.intervals import wilson_interval
from eds.labels.frames import control_pairs, labels_frame, panel_sizes
from eds.labels.lead_queries import acts_frame, acts_so_far, gold_answers
from eds.suspects import n_pairs, overlap, positive_rate, sources_frame
from eds.tables import LABELS
from eds.truth import PanelAgreement, decide, expert_profiles, panel_agreement
from eds.truth.gold_accuracy import known_called
from eds.truth.grid_vs_pair import ModesCompared, modes_compared
from eds.truth.rate_curve import rate_growth
from eds.truth.throughput import expert_pace

KEY = ["query_id", "candidate_id"]
GRID_AGREES = 0.9  # lower limit (95 %) of judgements alike in both modes from which on grid is preselected


@dataclass(frozen=True)
class Agreed:
    """Everything the page Agreement shows."""

    panel: PanelAgreement | None  # nothing where no pair of those that count is judged
    pairs: pd.DataFrame  # every two experts, with limits
    profiles: pd.DataFrame
    modes: ModesCompared
    control: int | None  # pairs that count, where asking stops early


@dataclass(frozen=True)
class Yield:
    """Everything the page Pool yield shows, but for single models."""

    growth: pd.DataFrame
    asked: int
    undecided: int
    random: CorrectedRate | None
    drawn: tuple[int, int]  # positive, decided of the random pairs
    known: tuple[int, int]  # found, known of the positives mixed in
    bound: float | None
    pairs: int  # all that could be asked
    gain: float


def version(campaign: str) -> tuple[str, int]:
    """What tells one state of a campaign's acts from another."""
    return site().store.place, acts_so_far(site().store, campaign)


@st.cache_data(max_entries=20, show_spinner=False)
def agreed(campaign: str, early_stop: bool, place: str, acts: int) -> Agreed:
    """Agreement of a campaign."""
    everything = acts_frame(site().store, campaign)
    labels = everything[LABELS.names]
    control = control_pairs(site().store, campaign) if early_stop else None
    judged = labels.loc[labels["kind"] == "normal", KEY].drop_duplicates()
    if control is not None:
        control = control.merge(judged, on=KEY)
    countable = len(judged) if control is None else len(control)
    panel = panel_agreement(labels, early_stop=early_stop, control=control) if countable else None
    pairs = pd.DataFrame() if panel is None else panel.pairs_of_experts
    if len(pairs):
        items = pairs["items"].to_numpy(np.int64)
        alike = (pairs["agreement"].fillna(0).to_numpy() * items).round().astype(np.int64)
        low, high = wilson_interval(alike, items)
        pairs = pairs.assign(low=np.where(items > 0, low, np.nan), high=np.where(items > 0, high, np.nan))
    profiles = expert_profiles(labels, gold=gold_answers(site().store))
    return Agreed(panel, pairs, profiles, modes_compared(everything), None if control is None else len(control))


@st.cache_data(max_entries=2, ttl=600, show_spinner=False)
def both_ways(place: str) -> ModesCompared:
    """Grid against pair over all campaigns; some minutes old at most."""
    return modes_compared(acts_frame(site().store))


def grid_agrees(found: ModesCompared) -> bool:
    """Whether what was judged both ways shows that grid says what pair says: then grid may be preselected."""
    return bool(found.low >= GRID_AGREES)


@st.cache_data(max_entries=20, show_spinner=False)
def paces(campaign: str, place: str, acts: int) -> pd.DataFrame:
    """How fast each expert works, with the median seconds of a judgement."""
    labels = labels_frame(site().store, campaign=campaign)
    medians = labels.groupby("expert_id")["seconds"].median()
    found = expert_pace(labels)
    return found.assign(median_seconds=found["expert_id"].map(medians))


@st.cache_data(max_entries=20, show_spinner=False)
def decided(campaign: str, place: str, acts: int) -> tuple[pd.DataFrame, int]:
    """The decided pairs of a campaign (table truth), and how many it asks."""
    labels = labels_frame(site().store, campaign=campaign)
    sizes = panel_sizes(site().store, campaign)
    return decide(labels, sizes[sizes["panel"] > 0]).truth, len(sizes)


@st.cache_data(max_entries=20, show_spinner=False)
def yielded(campaign: str, place: str, acts: int, catalogue: str) -> Yield:
    """What a campaign's pairs yield, and what its random ones say of all pairs."""
    labels = labels_frame(site().store, campaign=campaign)
    truth, asked = decided(campaign, place, acts)
    known = known_called(labels, gold_answers(site().store))
    drawn = truth.merge(_random(), on=KEY)
    positive = int(drawn["value"].sum())
    rate = None
    if len(drawn):
        rate = corrected_rate(positive, len(drawn), known.found, known.known, known.alarms, known.negatives)
    total = _all_pairs()
    pool = truth.merge(drawn[KEY], on=KEY, how="left", indicator=True)
    pool = pool[pool["_merge"] == "left_only"] if len(drawn) < len(truth) else truth
    p_k = float(pool["value"].mean()) if len(pool) else float("nan")
    gain = discovery_gain(p_k, rate.raw) if rate is not None and len(pool) and len(drawn) < len(truth) else float("nan")
    return Yield(
        rate_growth(labels, truth),
        asked,
        asked - len(truth),
        rate,
        (positive, len(drawn)),
        (known.found, known.known),
        p_lower_bound(int(truth["value"].sum()), total) if total else None,
        total,
        gain,
    )


@st.cache_data(max_entries=20, show_spinner=False)
def by_model(campaign: str, place: str, acts: int, catalogue: str) -> pd.DataFrame:
    """Each model's part of a pool: proposed, labelled, positive, rate, low, high, alone (no other model has it)."""
    truth, _ = decided(campaign, place, acts)
    asked = panel_sizes(site().store, campaign)[KEY]
    suspects = site().project.read("suspects")
    proposed = sources_frame(suspects.merge(asked, on=KEY))
    if proposed.empty:
        return pd.DataFrame()
    found = positive_rate(proposed, truth)["by_model"]
    alone = overlap(proposed, int(proposed["rank"].max()) + 1)["unique_by_model"]
    rows = [(name, one["size"], one["labelled"], one["positive"], alone[name]) for name, one in found.items()]
    table = pd.DataFrame(rows, columns=["model", "proposed", "labelled", "positive", "alone"])
    low, high = wilson_interval(table["positive"].to_numpy(), table["labelled"].to_numpy())
    rate = np.where(table["labelled"] > 0, table["positive"] / table["labelled"].clip(lower=1), np.nan)
    return table.assign(rate=rate, low=low, high=high).sort_values(["rate", "model"], ascending=[False, True])


def catalogue() -> str:
    """What tells one state of the project's pairs from another."""
    stats = [site().project.path(name) for name in ("images", "suspects")]
    return " ".join(f"{one.stat().st_mtime_ns}" if one.exists() else "-" for one in stats)


def _random() -> pd.DataFrame:
    """The project's uniform draws from all pairs."""
    if not site().project.path("suspects").exists():
        return pd.DataFrame({name: pd.Series(dtype=object) for name in KEY})
    rows = site().project.read("suspects")
    return rows.loc[(rows["origin"] == "random") & (rows["stratum"] == "all"), KEY].drop_duplicates()


def _all_pairs() -> int:
    if not site().project.path("images").exists():
        return 0
    images = site().project.read("images")
    queries = images.loc[images["role"] != "candidate", "image_id"].tolist()
    gallery = images.loc[images["role"] != "query", "image_id"].tolist()
    return n_pairs(queries, gallery)
