"""Lead's page: p_k as it grows, p from random pairs, each model's part once the campaign is closed."""

import pandas as pd
import streamlit as st

from annotator_ui.leading import figures, show
from annotator_ui.leading.figures import Yield
from annotator_ui.leading.page import Campaign, begin, choose_campaign, is_dark, needing, put
from annotator_ui.texts_leads import POOL as SAYS


def main() -> None:
    """The page."""
    begin(SAYS.title, SAYS.about)
    with needing():
        campaign = choose_campaign()
        found = figures.yielded(campaign.name, *figures.version(campaign.name), figures.catalogue())
        if found.growth.empty:
            put(show.empty(SAYS.nothing_title, SAYS.nothing))
        else:
            _growth(found)
        st.subheader(SAYS.random, anchor=False)
        _random(found)
        st.subheader(SAYS.models, anchor=False)
        _models(campaign)


def _growth(found: Yield) -> None:
    last = found.growth.iloc[-1]
    limits = show.limits(last["low"], last["high"])
    counts = SAYS.rate_about.format(limits=limits, positive=int(last["positive"]), labelled=int(last["labelled"]))
    gain = "–" if pd.isna(found.gain) else f"{found.gain:,.0f}"
    put(
        show.figures(
            (SAYS.rate, show.percent(last["rate"]), counts),
            (SAYS.undecided, found.undecided, SAYS.undecided_about.format(asked=found.asked)),
            (SAYS.gain, gain, SAYS.gain_about),
        )
    )
    words = SAYS.chart.format(rate=show.percent(last["rate"]), labelled=int(last["labelled"]), limits=limits)
    st.subheader(SAYS.growing, anchor=False)
    put(show.growth(found.growth, words, SAYS.axis, dark=is_dark()))


def _random(found: Yield) -> None:
    bound = None
    if found.bound is not None:
        about = SAYS.bound_about.format(positive=round(found.bound * found.pairs), pairs=found.pairs)
        bound = (SAYS.bound, show.percent(found.bound, 3), about)
    if found.random is None:
        put(*([show.figures(bound)] if bound else []), show.note(SAYS.random_none))
        return
    rate = found.random
    known = SAYS.no_known
    if found.known[1]:
        limits = show.limits(rate.sensitivity_low, rate.sensitivity_high, 0)
        known = SAYS.sensitivity_about.format(found=found.known[0], known=found.known[1], limits=limits)
    raw = SAYS.raw_about.format(positive=found.drawn[0], labelled=found.drawn[1],
                                limits=show.limits(rate.raw_low, rate.raw_high, 2))  # fmt: skip
    corrected = SAYS.corrected_about.format(limits=show.limits(rate.low, rate.high, 2))
    put(
        show.figures(
            (SAYS.raw, show.percent(rate.raw, 2), raw),
            (SAYS.sensitivity, show.percent(rate.sensitivity, 0), known),
            (SAYS.corrected, show.percent(rate.corrected, 2), corrected),
            *([bound] if bound else []),
        ),
        show.note(f"{SAYS.missed} {SAYS.random_part}"),
    )


def _models(campaign: Campaign) -> None:
    if not campaign.closed:
        put(show.note(SAYS.models_open))
        return
    rows = figures.by_model(campaign.name, *figures.version(campaign.name), figures.catalogue())
    if rows.empty:
        put(show.note(SAYS.models_none))
        return
    cells = [
        [one["model"], int(one["proposed"]), int(one["labelled"]), int(one["positive"]), show.percent(one["rate"]),
         show.limits(one["low"], one["high"]), show.whisker(one["rate"], one["low"], one["high"]), int(one["alone"])]
        for _, one in rows.iterrows()
    ]  # fmt: skip
    put(show.table(SAYS.models, SAYS.model_heads, cells, numbers=(1, 2, 3, 4, 5, 7), narrow=True))


main()
