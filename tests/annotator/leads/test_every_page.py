"""What holds for every page of leads: refusals, empty states, escaped text."""

import pytest
from markupsafe import escape

from annotator_ui.app_state import Site
from annotator_ui.texts_leads import COMMON, EXPERTS, JOURNAL
from tests.annotator.judged import NAME
from tests.annotator.leads.pages import LEADS, page_html, run


@pytest.mark.parametrize("screen", [*LEADS, "adjudicate", "report"])
def test_experts_see_nothing_of_a_leads_page(screen: str, judged: Site, viewer: dict[str, str]) -> None:
    viewer["role"] = "expert"
    app = run(screen)
    assert [one.value for one in (*app.header, *app.markdown)] == [COMMON.refused_title, COMMON.refused]
    assert not app.get("html")
    assert not app.button


@pytest.mark.parametrize("screen", LEADS)
def test_empty_states(screen: str, site: Site, viewer: dict[str, str]) -> None:
    app = run(screen)  # everything before a link to another screen is there
    assert {"experts": EXPERTS.table, "journal": JOURNAL.empty_title}.get(screen, COMMON.none_title) in page_html(app)


@pytest.mark.parametrize("screen", LEADS)
def test_all_text_of_others_is_escaped(screen: str, judged: Site, viewer: dict[str, str]) -> None:
    shown = page_html(run(screen, NAME))
    assert "<script>alert" not in shown
    assert "<b>1</b>" not in shown
    if screen == "campaigns":
        assert f"<bdi>{escape(NAME)}</bdi>" in shown
    if screen == "disputed":
        assert NAME not in shown
