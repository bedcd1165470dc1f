"""The menu of a campaign's page that gives its judgements as files."""

from urllib.parse import urlencode

import streamlit as st

from annotator_ui import html
from annotator_ui.app_state import site, url
from annotator_ui.lead.campaign import Campaign
from annotator_ui.screen import put
from annotator_ui.texts_campaign import HEAD
from annotator_ui.texts_leads import EXPORT as SAYS


def export_menu(campaign: Campaign) -> None:
    """Every format, of this campaign or of all."""
    with st.popover(HEAD.export, icon=":material/download:"):
        every = st.checkbox(SAYS.all)
        kind = st.selectbox(SAYS.format, list(SAYS.formats), format_func=SAYS.formats.__getitem__)
        name = "" if every else campaign.name
        acts = site().project.labels.count(name) if name else len(site().project.read("labels"))
        st.caption(f"{SAYS.acts.format(acts=acts)} {SAYS.abouts[kind]} {SAYS.who_is_in_it}")
        target = f"{url('/export/')}{kind}"
        asked = f"{target}?{urlencode({'campaign': name})}" if name else target
        put(html.button(asked, SAYS.download.format(file=SAYS.formats[kind].partition(" (")[0])))
