"""The lead's pages in one process, without a browser."""

from streamlit.testing.v1 import AppTest

from annotator_ui.lead.campaign import CHOSEN

LEADS = ("campaigns", "coverage", "agreement", "pool_yield", "disputed", "decide", "experts", "export", "journal")


def alone(screen: str) -> AppTest:
    """The screen without the menu around it."""
    return AppTest.from_string(f"from annotator_ui.screen import screens; screens()[{screen!r}]()", default_timeout=30)


def run(screen: str, campaign: str | None = None) -> AppTest:
    """The screen after its first run."""
    app = alone(screen)
    if campaign is not None:
        app.session_state[CHOSEN] = campaign
    found = app.run()
    assert not found.exception, found.exception
    return found


def page_html(app: AppTest) -> str:
    """All our HTML on the screen."""
    return "\n".join(str(one.proto.body) for one in app.get("html"))
