"""A query with all its candidates at once: the exceptions are marked."""

from annotator_ui.judging.screen import judge

judge("grid")
