"""What holds for every page of leads: refusals, empty states, escaped text."""

from copy import copy

import pytest
from markupsafe import escape

from annotator_ui.app_state import Site, install
from annotator_ui.screen import screens
from annotator_ui.texts_campaigns import CAMPAIGNS
from annotator_ui.texts_leads import CATALOGUE, COMMON, EXPERTS, JOURNAL
from annotator_ui.texts_looking import LOOKING
from annotator_ui.texts_standing import STANDING
from eds.config import Config
from eds.errors import ProjectError
from eds.project import Project
from tests.annotator.judged import NAME
from tests.annotator.leads.pages import LEADS, TABS, metrics, page_html, page_text, run

EMPTY = {
    "campaigns": CAMPAIGNS.empty_title,
    "standing": STANDING.none_title,
    "new_campaign": CAMPAIGNS.no_suspects_title,
    "guidelines": CAMPAIGNS.no_versions_title,
    "known_pairs": CAMPAIGNS.known_none_title,
    "experts": EXPERTS.invite,
    "journal": JOURNAL.empty_title,
    "catalogue": CATALOGUE.states_title,
    "look_around": LOOKING.no_models_title,
}


@pytest.mark.parametrize("screen", [*LEADS, "adjudicate", "report"])
def test_experts_see_nothing_of_a_leads_page(screen: str, judged: Site, viewer: dict[str, str]) -> None:
    viewer["role"] = "expert"
    app = run(screen)
    assert [one.value for one in (*app.header, *app.markdown)] == [COMMON.refused_title, COMMON.refused]
    assert not app.get("html")
    assert not app.button
    assert not app.dataframe


@pytest.mark.parametrize("screen", LEADS)
def test_empty_states(screen: str, site: Site, viewer: dict[str, str]) -> None:
    app = run(screen)  # everything before a link to another screen is there
    assert EMPTY.get(screen, COMMON.none_title) in page_html(app) + page_text(app)


@pytest.mark.parametrize("tab", TABS)
def test_all_text_of_others_is_escaped_in_a_campaigns_tabs(tab: str, judged: Site, viewer: dict[str, str]) -> None:
    app = run("campaign", NAME, tab=tab)
    shown, text = page_html(app), page_text(app)
    assert f'<h2 class="eds-unseen">{escape(NAME)}</h2>' in shown
    for part in (shown, text):
        assert "<script>alert" not in part
        assert "<b>1</b>" not in part
    assert "[x](javascript" not in text


@pytest.mark.parametrize("screen", LEADS[1:])
def test_all_text_of_others_is_escaped(screen: str, judged: Site, viewer: dict[str, str]) -> None:
    app = run(screen, NAME)
    assert "<script>alert" not in page_html(app) + page_text(app)
    assert "<b>1</b>" not in page_html(app) + page_text(app)


def test_a_projects_own_module_adds_screens(judged: Site, viewer: dict[str, str]) -> None:
    root = judged.owner.root
    (root / "hats_and_shoes.py").write_text(
        "import streamlit as st\n"
        "from annotator_ui.app_state import site\n"
        "from annotator_ui.screen import screen\n\n\n"
        '@screen(title="Hats", role="lead", section="Project")\n'
        "def hats(who):\n"
        '    st.metric("Images", len(site().project.read("images")))\n'
    )
    settings = judged.owner.config.model_copy(
        update={"annotator": judged.owner.config.annotator.model_copy(update={"screens": "hats_and_shoes"})}
    )
    site = Site(_with(judged.owner, settings))
    install(site)
    assert screens()["hats"].title == "Hats"
    assert metrics(run("hats"))["Images"][0] == str(len(judged.project.read("images")))
    for module, fault in (("no_such_module", "cannot be loaded"), ("eds.config", "has no screen")):
        broken = settings.annotator.model_copy(update={"screens": module})
        install(Site(_with(judged.owner, settings.model_copy(update={"annotator": broken}))))
        with pytest.raises(ProjectError, match=fault):
            screens()


def _with(project: Project, settings: Config) -> Project:
    changed = copy(project)
    changed.config = settings
    return changed
