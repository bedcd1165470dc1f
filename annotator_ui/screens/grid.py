"""A query with all its candidates at once: the exceptions are marked."""

from annotator_ui.app_state import Viewer
from annotator_ui.judging.screen import judge
from annotator_ui.screen import screen
from annotator_ui.texts_judging import SCREEN


@screen(title=SCREEN["grid"], position=60, in_menu=False, has_heading=False)
def show(who: Viewer) -> None:
    """Show the judging page."""
    judge(who, "grid")
