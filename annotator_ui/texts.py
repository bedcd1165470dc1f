"""Every text of the pages, to be translated here. No logic.

Texts of the judging pages are in texts_judging.py, those of the lead's pages in texts_leads.py and
texts_campaigns.py.
"""

from dataclasses import dataclass
from typing import ClassVar

PRODUCT = "EDS"


@dataclass(frozen=True)
class _SignedOut:
    title: str = "You are signed out"
    body: str = "Your session has ended. Your judgements are saved. Sign in again to continue where you stopped."
    button: str = "Sign in"
    dialog: str = "Reload this page to sign in again. Your judgements are saved."


SIGNED_OUT = _SignedOut()


@dataclass(frozen=True)
class _Failed:
    unknown: str = "Something went wrong on this page. Reload it; if it happens again, tell your lead. Nothing is lost."

    def known(self, what: str) -> str:
        return f"{what}. Reload the page; if it happens again, tell your lead. Nothing is lost."


FAILED = _Failed()


@dataclass(frozen=True)
class _Accounts:
    in_title: str = "Sign in"
    in_button: str = "Sign in"
    name: str = "Name"
    password: str = "Password"  # noqa: S105 - a label
    forgotten: str = "Forgot your password? Ask your lead for a new link."
    refused: str = "The name or the password is wrong. Please try again."
    stale: str = "This page was open for too long. Please try again."
    unknown: str = "You have no account here. Please ask your lead for one."
    failed: str = "Signing in with the other service failed. Please try again, or use your password."

    new_password: str = "Choose a password"  # noqa: S105 - a label
    again: str = "Repeat password"
    choose: str = "Save and start"
    differ: str = "The two passwords differ. Please type them again."
    gone_title: str = "This link has been used"
    gone_body: str = (
        "An invitation can be used once, within some days. If you already have a password, sign in; "
        "otherwise ask your lead for a new link."
    )

    out_title: str = "Sign out"
    out_here: str = "Sign out"
    out_everywhere: str = "Sign out on all devices"
    out_stay: str = "Stay signed in"

    passkey_in: str = "Sign in with a passkey"
    passkey_instead: str = "Use a passkey instead of a password"
    passkey_refused: str = "The passkey could not be used. Please try again, or use your password."
    passkey_failed: str = "No passkey was made. Please try again."
    passkey_add: str = "Add a passkey"
    passkey_label: str = "Name of this device"
    passkey_remove: str = "Remove"
    passkey_unnamed: str = "Passkey"
    passkey_script: str = "Adding a passkey needs JavaScript."
    passkeys_title: str = "Passkeys"
    passkeys_none: str = "You have no passkey yet."
    back: str = "Back"
    busy: str = "Many people are signing in right now. Please try again in a few seconds."

    def passkeys_body(self, name: str) -> str:
        return f"{name} can sign in with a fingerprint, a face or a security key instead of a password."

    def in_body(self, project: str) -> str:
        return f"to judge pictures in {project}."

    def in_openid(self, provider: str) -> str:
        return f"Sign in with {provider}"

    def wait(self, seconds: int) -> str:
        text = f"{seconds} seconds" if seconds < 90 else f"{-(-seconds // 60)} minutes"
        return f"Too many wrong attempts. Please wait {text}, then try again; your account is safe."

    def welcome(self, name: str) -> str:
        return f"Welcome, {name}"

    def invited_body(self, project: str) -> str:
        return f"You are invited to judge pictures in {project}. Choose a password to sign in with."

    def rule(self, shortest: int) -> str:
        return f"At least {shortest} characters. A few unrelated words are easy to remember."

    def unusable(self, shortest: int) -> str:
        return (
            f"Please choose at least {shortest} characters: not your name, and nothing that others choose, too, "
            "such as a word with some digits."
        )

    def out_body(self, name: str) -> str:
        return f"You are signed in as {name}. All your judgements are saved."


ACCOUNTS = _Accounts()


@dataclass(frozen=True)
class _Menu:
    labels: str = "Labels"
    project: str = "Project"


MENU = _Menu()


@dataclass(frozen=True)
class _Home:
    menu: str = "Home"
    title: str = "Your campaigns"
    go_on: str = "Continue"
    begin: str = "Begin"
    practice: str = "Practice first"
    practice_why: str = "A short practice round comes first: after each answer you see what the guideline says."
    nothing_title: str = "Nothing to do yet"
    nothing: str = "As soon as your lead adds you to a campaign, it appears here. You need not do anything."
    finished: str = "Finished. Thank you: all your judgements are saved."
    all_finished_title: str = "You have judged everything. Thank you!"
    all_finished: str = (
        "Your judgements are complete. Your lead now resolves where experts differ; the next campaign appears here."
    )
    closed_title: str = "Closed campaigns"
    closed: str = "Your lead has closed this campaign. Your judgements are saved."

    no_campaigns: str = "There is no campaign yet. Create one from the pool or from a random draw."
    make: str = "Create a campaign"
    no_suspects: str = "There are no pairs to judge yet. Import pictures and make the pool under Project, Catalogue."
    campaign: str = "Campaign"
    judged: str = "Judged"
    experts: str = "Experts"
    left: str = "Left"
    flagged: str = "Flagged"
    state: str = "State"
    open: str = "open"
    done: str = "all judged"
    closed_state: str = "closed"
    open_campaign: str = "Open"

    def mode(self, mode: str) -> str:
        return {"pair": "One pair at a time", "grid": "A query with all its candidates"}[mode]

    def left_of(self, left: int, total: int) -> str:
        return f"{left:,} left of {total:,}"

    def progress(self, done: int, total: int) -> str:
        return f"{done:,} of {total:,} judged ({100 * done / total:.0f} %)" if total else "no pairs yet"

    def time_left(self, hours: float) -> str:
        return f"about {format_hours(hours)} at your pace"

    def pictures(self, ready: int, total: int) -> str:
        return f"{ready:,} of {total:,} pictures are prepared. You can already judge; it gets faster."

    def unreadable(self, count: int) -> str:
        noun = "picture" if count == 1 else "pictures"
        return f"{count:,} {noun} cannot be read. Run eds images check in the project; those pairs show a notice."


HOME = _Home()


@dataclass(frozen=True)
class _Progress:
    title: str = "My progress"
    left: str = "Left"
    done: str = "Judged"
    pace: str = "Pairs per hour"
    time_left: str = "Time left"
    unknown: str = "not yet known"
    none: str = "none"
    nothing_title: str = "No judgement yet"
    nothing: str = "Once you have judged some pairs, your speed and the time left appear here."
    per_day: str = "Judgements per day"
    by_campaign: str = "By campaign"
    unsure: str = "unsure"

    def rest(self, minutes: int) -> str:
        return (
            f"You have judged for {minutes} minutes without a break. "
            "A few minutes away from the screen keep judgements even."
        )

    def pace_help(self, pause: int) -> str:
        return f"From your last judgements; breaks of {pause} minutes and more do not count."


PROGRESS = _Progress()
REST_AFTER = 45  # minutes


@dataclass(frozen=True)
class _Guide:
    title: str = "Guide"
    choose: str = "Campaign"
    none_title: str = "No guideline yet"
    none: str = "Your lead has not written one for your campaigns. If in doubt, ask; and press U for unsure."
    keys_title: str = "Keys"
    positive: str = "Similar"
    negative: str = "Not similar"
    border: str = "Borderline"
    keys_pair: tuple[tuple[str, str], ...] = (
        ("S or →", "similar"),
        ("D or ←", "not similar"),
        ("U", "unsure"),
        ("Z or Backspace", "undo, as far as you like"),
        ("F", "flag, with a reason"),
        ("hold L", "magnify the same place in both pictures"),
        ("hold B", "flicker between the two"),
        ("G", "this guide"),
        ("?", "all keys"),
    )
    keys_grid: tuple[tuple[str, str], ...] = (
        ("arrows, then space", "mark or unmark a candidate"),
        ("1 to 9", "mark or unmark by number"),
        ("A", "mark all"),
        ("I", "invert"),
        ("Enter", "save the page and go on"),
        ("Shift and click", "mark the last one, save and go on"),
        ("U, F", "unsure; flag"),
        ("Z or Backspace", "back to the page before"),
    )
    pair_mode: str = "One pair at a time"
    grid_mode: str = "A query with all its candidates"

    def version(self, version: str) -> str:
        return f"Version {version}. Every judgement keeps the version it was given under."


GUIDE = _Guide()


@dataclass(frozen=True)
class _Report:
    title: str = "Report"
    about: str = "What the decided labels say of the models, with the limits of every figure."
    none_title: str = "There is no report yet"
    none: str = (
        "Once the labels are decided, eds reports write puts one page with every figure, its interval and how it "
        "was computed into the project. It is shown here then."
    )
    open: str = "Open in a new tab"


REPORT = _Report()


@dataclass(frozen=True)
class _Account:
    title: str = "Account"
    name: str = "Name"
    role: str = "Role"
    change: str = "To change your password, ask your lead for a new link. It ends your other sessions."
    out: str = "Sign out"

    def may(self, role: str) -> str:
        return {
            "expert": "Expert: judges pairs and sees their own work.",
            "lead": "Lead: makes campaigns, invites experts, and sees every label.",
            "administrator": "Administrator: everything a lead may, and who has which role.",
        }[role]


ACCOUNT = _Account()


def format_hours(hours: float) -> str:
    """Return a duration as text.

    >>> format_hours(0.2), format_hours(1.6), format_hours(226)
    ('12 min', '1 h 36 min', '226 h')
    """
    minutes = round(hours * 60)
    if minutes < 60:
        return f"{max(minutes, 1)} min"
    if minutes < 600:
        return f"{minutes // 60} h {minutes % 60} min" if minutes % 60 else f"{minutes // 60} h"
    return f"{round(hours):,} h"


class MINE:
    """What one has judged."""

    title = "My judgements"
    about = "Your answers as they now count. Click a pair to look again, and to answer otherwise."
    campaign, answer, day, every_day = "Campaign", "Answer", "Day", "Every day"
    answers: ClassVar = {"all": "All", "similar": "Similar", "different": "Not similar", "unsure": "Unsure"}
    words: ClassVar = {1: "Similar", 0: "Not similar", None: "Unsure"}
    signs: ClassVar = {1: "✓", 0: "✕", None: "?"}
    page = "Page (of {pages:,})"
    none_title = "Nothing here yet"
    none = "What you judge appears here. Choose another answer, campaign or day."

    @staticmethod
    def count(number: int) -> str:
        """How many answers are shown."""
        return f"{number:,} answer{'' if number == 1 else 's'}, the latest first"
