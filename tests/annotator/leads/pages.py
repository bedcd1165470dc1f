"""The lead's pages in one process, without a browser."""

from pathlib import Path

from streamlit.testing.v1 import AppTest

from annotator_ui.lead import page

SCREENS = Path(page.__file__).parents[1] / "screens"
LEADS = ("campaigns", "coverage", "agreement", "pool_yield", "disputed", "experts", "export")


def run(screen: str, campaign: str | None = None) -> AppTest:
    """The screen as it stands after its first run; alone it knows no other page to point to."""
    app = AppTest.from_file(str(SCREENS / f"{screen}.py"), default_timeout=30)
    if campaign is not None:
        app.session_state[page.CHOSEN] = campaign
    found = app.run()
    assert all("Could not find page" in one.message for one in found.exception), found.exception
    return found


def page_html(app: AppTest) -> str:
    """All our HTML on the screen."""
    return "\n".join(str(one.proto.body) for one in app.get("html"))
