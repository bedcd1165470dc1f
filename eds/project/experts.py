"""The accounts of those who judge."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from eds.errors import InputError
from eds.labels import api_tokens, expert_activity, experts, guessing, passkeys, queue, sessions
from eds.labels.campaigns import add_to_panel
from eds.labels.expert_activity import PAUSE
from eds.labels.experts import SHORTEST_PASSWORD
from eds.labels.guessing import Origin
from eds.labels.passkeys import NewPasskey, Passkey
from eds.labels.password_hashing import HashingBusyError
from eds.labels.schema import ROLES
from eds.labels.sessions import INVITED, Session, SignInError
from eds.project.label_store import opened
from eds.project.results import Result

if TYPE_CHECKING:
    import altair as alt

    from eds.project import Project

__all__ = [
    "INVITED",
    "PAUSE",
    "ROLES",
    "SHORTEST_PASSWORD",
    "Activity",
    "Experts",
    "HashingBusyError",
    "Invitation",
    "NewApiToken",
    "NewPasskey",
    "Origin",
    "Passkey",
    "Session",
    "SignInError",
]

HOURS = 72.0  # that an invitation holds


@dataclass(frozen=True)
class Invitation(Result):
    """What signs an expert in, once; it cannot be shown again."""

    expert: str
    invitation: str
    hours: float
    link: str  # what the expert opens; without a host while the annotator's address is not set


@dataclass(frozen=True)
class NewApiToken(Result):
    """A token for a program, which acts as this account; it cannot be shown again."""

    expert: str
    label: str
    token: str
    days: float


@dataclass(frozen=True)
class Activity(Result):
    """What an expert did, and how fast."""

    acts: pd.DataFrame  # campaign, created_at, seconds, value, first (not a revision); oldest first
    per_hour: float | None  # judgements an hour of work, None until there are enough
    stretch_minutes: float  # of work since the last break

    def last_days(self, count: int) -> pd.DataFrame:
        """Return the last days (UTC), today included, and how many pairs were judged for the first time."""
        days = [day.date() for day in pd.date_range(end=pd.Timestamp.now("UTC").normalize(), periods=count)]
        found = self.acts[self.acts["first"]].groupby(self.acts["created_at"].dt.date).size()
        return pd.DataFrame({"day": days, "judgements": found.reindex(days, fill_value=0).to_numpy()})

    def days_chart(self, count: int) -> "alt.Chart":
        """Draw the last days, a bar each."""
        from eds.reports.campaign_charts import days_chart

        return days_chart(self.last_days(count), height=110)


@dataclass(frozen=True)
class Experts:
    """The experts, leads and administrators of a project."""

    project: "Project"

    def add(
        self, name: str, role: str = "expert", *, hours: float = HOURS, campaigns: Sequence[str] = ()
    ) -> Invitation:
        """Add an account and invite its owner, who finds work at once: a place on the panels of these campaigns."""
        with opened(self.project, create=True) as store:
            known = set(queue.list_campaigns(store)["name"])
            if unknown := [campaign for campaign in campaigns if campaign not in known]:
                raise InputError(
                    f"unknown campaign {', '.join(unknown)}", where="--campaign", hint="See eds labels campaigns list."
                )
            experts.add_expert(store, name, role, by=self.project.actor)
            for campaign in campaigns:
                add_to_panel(store, campaign, [name], by=self.project.actor)
        self.project.end_rehearsal()  # nobody could use the invitation
        return self.invite(name, hours=hours)

    def invite(self, name: str, *, hours: float = HOURS) -> Invitation:
        """Invite again, after a forgotten password; earlier invitations end."""
        with opened(self.project) as store:
            token = experts.invite(store, name, hours=hours, by=self.project.actor)
        self.project.end_rehearsal()
        link = f"{self.project.config.annotator.url.rstrip('/')}/invitation/{token}"
        return Invitation(name, token, hours, link)

    def list(self) -> pd.DataFrame:
        """Every account: role, state, number of judgements, when it was last seen."""
        with opened(self.project) as store:
            return experts.list_experts(store)

    def disable(self, name: str) -> None:
        """Sign an expert out everywhere and refuse new sessions; the labels stay."""
        with opened(self.project) as store:
            experts.disable(store, name, by=self.project.actor)

    def enable(self, name: str) -> None:
        """Let a disabled expert sign in again."""
        with opened(self.project) as store:
            experts.enable(store, name, by=self.project.actor)

    def set_role(self, name: str, role: str) -> None:
        """Give an account another role."""
        with opened(self.project) as store:
            experts.set_role(store, name, role, by=self.project.actor)

    def set_language(self, name: str, language: str) -> None:
        """Show an account's pages in this language (de, pt-BR), "" for the browser's."""
        with opened(self.project) as store:
            experts.set_language(store, name, language)

    def invited(self, invitation: str) -> str | None:
        """The account that an invitation is for, None if it is not valid."""
        with opened(self.project) as store:
            return experts.invited(store, invitation)

    def accept(self, invitation: str, password: str) -> str:
        """Choose a password by an invitation; the account's name."""
        with opened(self.project) as store:
            return experts.accept(store, invitation, password)

    def activity(self, name: str) -> Activity:
        """What an expert did so far, and how fast."""
        with opened(self.project) as store:
            acts = expert_activity.expert_acts(store, name)
        pace = expert_activity.pace(acts, pd.Timestamp.now("UTC"))
        return Activity(acts, pace.per_hour, pace.stretch_minutes)

    def sign_in(self, name: str, password: str, origin: Origin = Origin()) -> str:  # noqa: B008 - frozen
        """The token of a new session; SignInError if name and password do not match."""
        with opened(self.project) as store:
            return sessions.sign_in(store, name, password, origin)

    def sign_in_vouched(self, name: str, *, by: str, way: str = "vouched") -> str:
        """The token of a new session of an account that a proxy or provider vouches for."""
        with opened(self.project) as store:
            return sessions.sign_in_vouched(store, name, by=by, way=way)

    def session(self, token: str) -> Session | None:
        """The open session of this token."""
        with opened(self.project) as store:
            return sessions.session_of(store, token)

    def session_numbered(self, number: int) -> Session | None:
        """The open session of this number."""
        with opened(self.project) as store:
            return sessions.session_numbered(store, number)

    def renew_session(self, token: str, *, after: float) -> str | None:
        """A new token for a session whose token is older than `after` seconds, else None; the old one ends soon."""
        with opened(self.project) as store:
            session = sessions.session_of(store, token)
            if session is None or session.rotated_at >= store.now() - round(1e6 * after):
                return None
            return sessions.rotate(store, token)

    def passkeys(self, name: str) -> "list[Passkey]":  # type: ignore[valid-type]  # `list` is a method here
        """The passkeys of an account, oldest first."""
        with opened(self.project) as store:
            return passkeys.passkeys_of(store, name)

    def find_passkey(self, credential: str) -> Passkey | None:
        """The passkey with this id, None if there is none of an account that may sign in."""
        with opened(self.project) as store:
            return passkeys.find_passkey(store, credential)

    def add_passkey(self, name: str, key: NewPasskey) -> None:
        """Let an account sign in with another passkey."""
        with opened(self.project) as store:
            passkeys.add_passkey(store, name, key)

    def remove_passkey(self, name: str, number: int) -> None:
        """Remove one of an account's passkeys."""
        with opened(self.project) as store:
            passkeys.remove_passkey(store, name, number)

    def make_token(self, name: str, label: str, *, days: float = api_tokens.DAYS) -> NewApiToken:
        """Make a token with which a program acts as this account, through the API of the annotator."""
        with opened(self.project) as store:
            token = api_tokens.make_token(store, name, label, days=days)
        self.project.end_rehearsal()  # nobody could use the token
        return NewApiToken(name, label, token, days)

    def tokens(self, name: str) -> pd.DataFrame:
        """The valid tokens of an account, oldest first: number, label, created_at, expires_at."""
        with opened(self.project) as store:
            return api_tokens.tokens_of(store, name)

    def revoke_token(self, name: str, number: int) -> None:
        """End one of an account's tokens."""
        with opened(self.project) as store:
            api_tokens.revoke_token(store, name, number)

    def account_of_token(self, token: str) -> Session | None:
        """The account that a token stands for, None if it does not count."""
        with opened(self.project) as store:
            return api_tokens.account_of(store, token)

    def sign_in_invited(self, invitation: str) -> tuple[str, str]:
        """Use an invitation: the account's name and the token of its new session."""
        with opened(self.project) as store:
            return sessions.sign_in_invited(store, invitation)

    def set_password(self, name: str, password: str) -> None:
        """Give an account that has none a password."""
        with opened(self.project) as store:
            experts.set_password(store, name, password)

    def can_return(self, name: str) -> bool:
        """Return whether an account has a password or a passkey to sign in with again."""
        with opened(self.project) as store:
            return experts.can_return(store, name)

    def sign_in_with_passkey(self, key: Passkey, sign_count: int) -> str:
        """The token of a new session, after the passkey's signature was verified with this counter."""
        with opened(self.project) as store:
            return passkeys.sign_in_with(store, key, sign_count)

    def write_last_seen(self) -> int:
        """Write when sessions were last used, which is kept in memory until then; how many."""
        with opened(self.project) as store:
            return sessions.write_last_seen(store)

    def forget_old(self) -> None:
        """Delete failed sign-ins that count no more, and sessions that ended long ago."""
        with opened(self.project) as store:
            guessing.forget_old(store)
            sessions.forget_ended(store)

    def sign_out(self, token: str) -> None:
        """End a session."""
        with opened(self.project) as store:
            sessions.sign_out(store, token)

    def sign_out_everywhere(self, name: str) -> int:
        """End every session of an account; how many there were."""
        with opened(self.project) as store:
            return sessions.sign_out_everywhere(store, name, by=self.project.actor)
