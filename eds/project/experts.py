"""The accounts of those who judge."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from eds.project.label_store import opened
from eds.project.results import Result

if TYPE_CHECKING:
    import pandas as pd

    from eds.project import Project

HOURS = 72.0  # that an invitation holds


@dataclass(frozen=True)
class Invitation(Result):
    """What an expert needs to choose a password, once; it cannot be shown again."""

    expert: str
    invitation: str
    hours: float


@dataclass(frozen=True)
class Experts:
    """The experts, leads and administrators of a project."""

    project: "Project"

    def add(self, name: str, role: str = "expert", *, hours: float = HOURS) -> Invitation:
        """Add an account and invite its owner."""
        from eds.labels.experts import add_expert

        with opened(self.project, create=True) as store:
            add_expert(store, name, role, by=self.project.actor)
        return self.invite(name, hours=hours)

    def invite(self, name: str, *, hours: float = HOURS) -> Invitation:
        """Invite again, after a forgotten password; earlier invitations end."""
        from eds.labels.experts import invite

        with opened(self.project) as store:
            return Invitation(name, invite(store, name, hours=hours, by=self.project.actor), hours)

    def list(self) -> "pd.DataFrame":
        """Every account: role, state, number of judgements."""
        from eds.labels.experts import list_experts

        with opened(self.project) as store:
            return list_experts(store)

    def disable(self, name: str) -> None:
        """Sign an expert out everywhere and refuse new sessions; the labels stay."""
        from eds.labels.experts import disable

        with opened(self.project) as store:
            disable(store, name, by=self.project.actor)

    def enable(self, name: str) -> None:
        """Let a disabled expert sign in again."""
        from eds.labels.experts import enable

        with opened(self.project) as store:
            enable(store, name, by=self.project.actor)
