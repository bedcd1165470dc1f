"""The lead's pages in one process, without a browser."""

from typing import Any

from streamlit.testing.v1 import AppTest

from annotator_ui.lead.campaign import CHOSEN
from annotator_ui.tab import TAB, tabs

LEADS = (
    "campaign",
    "campaigns",
    "standing",
    "new_campaign",
    "guidelines",
    "known_pairs",
    "experts",
    "catalogue",
    "look_around",
    "journal",
)
TABS = ("overview", "experts", "agreement", "disputes", "pool_yield", "settings")


def alone(screen: str) -> AppTest:
    """The screen without the menu around it."""
    return AppTest.from_string(f"from annotator_ui.screen import screens; screens()[{screen!r}]()", default_timeout=30)


def run(screen: str, campaign: str | None = None, *, tab: str = "") -> AppTest:
    """The screen after its first run."""
    app = alone(screen)
    if campaign is not None:
        app.session_state[CHOSEN] = campaign
    if tab:
        app.session_state[TAB] = tabs()[tab].title
    found = app.run()
    assert not found.exception, found.exception
    return found


def page_html(app: AppTest) -> str:
    """All our HTML on the screen."""
    return "\n".join(str(one.proto.body) for one in app.get("html"))


def page_text(app: AppTest) -> str:
    """All text of Streamlit's own parts on the screen, as Markdown."""
    parts: list[Any] = [*app.header, *app.subheader, *app.markdown, *app.caption, *app.warning, *app.success, *app.info]
    return "\n".join(str(part.value) for part in parts)


def metrics(app: AppTest) -> dict[str, tuple[str, str]]:
    """The value of every metric, and what is said about it, by its label."""
    return {one.label: (one.value, one.delta) for one in app.metric}
