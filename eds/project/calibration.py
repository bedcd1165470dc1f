"""Calibration: an expert answers some known pairs and sees what was expected, before a campaign begins."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from eds.labels import calibration, lead_queries
from eds.labels.calibration import CalibrationTask, Feedback, Round
from eds.project.label_store import opened

if TYPE_CHECKING:
    import pandas as pd

    from eds.project import Project

__all__ = ["Calibration", "CalibrationTask", "Feedback", "Round"]


@dataclass(frozen=True)
class Calibration:
    """The calibration of a project's experts."""

    project: "Project"

    def plan(self, campaign: str, pairs: int, needed: float = 0.8) -> None:
        """Let each expert start with rounds of known pairs until a share `needed` of one is right; 0 pairs: none."""
        with opened(self.project) as store:
            calibration.plan_calibration(store, campaign, pairs, needed, by=self.project.actor)

    def planned(self, campaign: str) -> tuple[int, float] | None:
        """The pairs of a round and the share of right answers it needs, None for a campaign without calibration."""
        with opened(self.project) as store:
            return calibration.planned(store, campaign)

    def results(self, campaign: str) -> "pd.DataFrame":
        """Every round of every expert, and how much was right."""
        with opened(self.project) as store:
            return lead_queries.calibration_results(store, campaign)

    def is_due(self, campaign: str, expert: str) -> bool:
        """Whether the expert has to calibrate before judging."""
        with opened(self.project) as store:
            return calibration.due(store, campaign, expert)

    def rounds(self, campaign: str, expert: str) -> Sequence[Round]:
        """The rounds of an expert, oldest first."""
        with opened(self.project) as store:
            return calibration.rounds_of(store, campaign, expert)

    def begin(self, campaign: str, expert: str) -> Round:
        """The expert's open round; a new one where there is none."""
        with opened(self.project) as store:
            return calibration.begin_round(store, campaign, expert)

    def ask_again(self, campaign: str, expert: str) -> Round:
        """Begin another round for an expert, who must pass it before going on; an open round stays as it is."""
        with opened(self.project) as store:
            return calibration.ask_again(store, campaign, expert, by=self.project.actor)

    def tasks(self, round_number: int, expert: str) -> Sequence[CalibrationTask]:
        """The pairs of a round that are not answered."""
        with opened(self.project) as store:
            return calibration.open_tasks(store, round_number, expert)

    def next_task(self, round_number: int, expert: str) -> CalibrationTask | None:
        """The next pair of a round, None after the last one."""
        with opened(self.project) as store:
            return calibration.next_task(store, round_number, expert)

    def answer(
        self, expert: str, task: int, value: int | None, token: str, *, seconds: float | None = None
    ) -> Feedback:
        """Record an answer; what was expected."""
        with opened(self.project) as store:
            return calibration.answer(store, expert, task, value, token, seconds=seconds)

    def feedback(self, round_number: int, expert: str) -> Sequence[Feedback]:
        """The answers of a round, each with what was expected."""
        with opened(self.project) as store:
            return calibration.feedback(store, round_number, expert)
