"""One pair after the other: query and candidate side by side, one key each."""

from annotator_ui.judging.screen import judge

judge("pair")
