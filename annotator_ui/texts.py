"""Every text of the pages in English; the other languages are in locale/ (see translation.py). No logic.

Texts of the judging pages are in texts_judging.py, those of the lead's pages in texts_leads.py and
texts_campaigns.py.
"""

from typing import ClassVar

from annotator_ui.translation import Texts, plural

PRODUCT = "EDS"


class SIGNED_OUT(Texts):  # noqa: N801 - named like the others
    """What a page says whose session has ended."""

    title = "You are signed out"
    body = "Your session has ended. Your judgements are saved. Sign in again to continue where you stopped."
    button = "Sign in"
    dialog = "Reload this page to sign in again. Your judgements are saved."


class FAILED(Texts):
    """What a page says that failed."""

    unknown = "Something went wrong on this page. Reload it; if it happens again, tell your lead. Nothing is lost."

    known = "{what}. Reload the page; if it happens again, tell your lead. Nothing is lost."


class ACCOUNTS(Texts):
    """Signing in and out, invitations and passkeys."""

    in_title = "Sign in"
    in_button = "Sign in"
    name = "Name"
    password = "Password"  # noqa: S105 - a label
    forgotten = "Forgot your password? Ask your lead for a new link."
    refused = "The name or the password is wrong. Please try again."
    stale = "This page was open for too long. Please try again."
    unknown = "You have no account here. Please ask your lead for one."
    failed = "Signing in with the other service failed. Please try again, or use your password."

    new_password = "Choose a password"  # noqa: S105 - a label
    again = "Repeat password"
    choose = "Save"
    begin = "Begin"
    later = "You choose a password or a passkey afterwards, to come back on another day."
    replaces = "This link replaces your password and your passkeys. If you still have one, sign in instead."
    return_body = "With it you can come back on another day, or on another device."
    not_now = "Not now"
    differ = "The two passwords differ. Please type them again."
    gone_title = "This link has been used"
    gone_body = (
        "An invitation can be used once, within some days. If you already have a password, sign in; "
        "otherwise ask your lead for a new link."
    )

    out_title = "Sign out"
    out_here = "Sign out"
    out_everywhere = "Sign out on all devices"
    out_stay = "Stay signed in"
    out_lost = "You have no password yet. Once you sign out, you need a new link to come back."

    passkey_in = "Sign in with a passkey"
    passkey_instead = "Use a passkey instead of a password"
    passkey_refused = "The passkey could not be used. Please try again, or use your password."
    passkey_failed = "No passkey was made. Please try again."
    passkey_add = "Add a passkey"
    passkey_label = "Name of this device"
    passkey_remove = "Remove"
    passkey_unnamed = "Passkey"
    passkey_script = "Adding a passkey needs JavaScript."
    passkeys_title = "Passkeys"
    passkeys_none = "You have no passkey yet."
    back = "Back"
    language_title = "Language"
    language_body = "The language of your pages. Guidelines and questions stay as they were written."
    language_browser = "As in the browser"
    busy = "Many people are signing in right now. Please try again in a few seconds."

    passkeys_body = "{name} can sign in with a fingerprint, a face or a security key instead of a password."
    in_body = "to judge pictures in {project}."
    in_openid = "Sign in with {provider}"
    wait_seconds = plural(
        "Too many wrong attempts. Please wait {n} second, then try again; your account is safe.",
        "Too many wrong attempts. Please wait {n} seconds, then try again; your account is safe.",
    )
    wait_minutes = plural(
        "Too many wrong attempts. Please wait {n} minute, then try again; your account is safe.",
        "Too many wrong attempts. Please wait {n} minutes, then try again; your account is safe.",
    )
    welcome = "Welcome, {name}"
    invited_body = "You are invited to judge pictures in {project}."
    invited_campaigns = plural("{n} campaign is waiting for you.", "{n} campaigns are waiting for you.")
    rule = "At least {shortest} characters. A few unrelated words are easy to remember."
    unusable = (
        "Please choose at least {shortest} characters: not your name, and nothing that others choose, too, such as a "
        "word with some digits."
    )
    out_body = "You are signed in as {name}. All your judgements are saved."


class MENU(Texts):
    """The headings of the menu."""

    labels = "Labels"
    project = "Project"


class HOME(Texts):
    """The first page."""

    menu = "Home"
    title = "Your campaigns"
    go_on = "Continue"
    begin = "Begin"
    practice = "Practice first"
    practice_why = "A short practice round comes first: after each answer you see what the guideline says."
    nothing_title = "Nothing to do yet"
    nothing = "As soon as your lead adds you to a campaign, it appears here. You need not do anything."
    finished = "Finished. Thank you: all your judgements are saved."
    all_finished_title = "You have judged everything. Thank you!"
    all_finished = (
        "Your judgements are complete. Your lead now resolves where experts differ; the next campaign appears here."
    )
    closed_title = "Closed campaigns"
    closed = "Your lead has closed this campaign. Your judgements are saved."

    today = "Today"
    week = "Last 7 days"
    days = "Judgements a day"
    last = "Judged last"
    guideline = "Guideline"
    no_needs = "Nothing needs you"
    more_needs = "and {count} more"
    no_campaigns_title = "No campaign yet"
    no_campaigns = "Create one from the pool or from a random draw."
    make = "New campaign"
    catalogue = "Open the catalogue"
    no_suspects = "There are no pairs to judge yet. Import pictures and make the pool under Project, Catalogue."
    campaign = "Campaign"
    judged = "Judged"
    experts = "Experts"
    left = "Left"
    flagged = "Flagged"
    state = "State"
    open = "open"
    done = "all judged"
    closed_state = "closed"
    open_campaign = "Open"

    modes: ClassVar = {"pair": "One pair at a time", "grid": "A query with all its candidates"}
    left_of = "{left:,} left of {total:,}"
    progress = "{done:,} of {total:,} judged ({share:.0%})"
    no_pairs = "no pairs yet"
    time_left = "about {duration} at your pace"
    time_expected = "about {duration}"
    pictures = "{ready:,} of {total:,} pictures are prepared. You can already judge; it gets faster."
    unreadable = plural(
        "{n:,} picture cannot be read. Run eds images check in the project; its pairs show a notice.",
        "{n:,} pictures cannot be read. Run eds images check in the project; their pairs show a notice.",
    )


class PROGRESS(Texts):
    """An expert's own pace and progress."""

    title = "My progress"
    left = "Left"
    done = "Judged"
    pace = "Pairs per hour"
    time_left = "Time left"
    unknown = "not yet known"
    none = "none"
    nothing_title = "No judgement yet"
    nothing = "Once you have judged some pairs, your speed and the time left appear here."
    per_day = "Answers per day"
    by_campaign = "By campaign"
    unsure = "unsure"

    rest = plural(
        "You have judged for {n} minute without a break. A few minutes away from the screen keep judgements even.",
        "You have judged for {n} minutes without a break. A few minutes away from the screen keep judgements even.",
    )
    pace_help = plural(
        "From your last judgements; breaks of {n} minute and more do not count.",
        "From your last judgements; breaks of {n} minutes and more do not count.",
    )


REST_AFTER = 45  # minutes


class GUIDE(Texts):
    """Guidelines and keys."""

    title = "Guide"
    choose = "Campaign"
    none_title = "No guideline yet"
    none = "Your lead has not written one for your campaigns. If in doubt, ask; and press U for unsure."
    keys_title = "Keys"
    positive = "Similar"
    negative = "Not similar"
    border = "Borderline"
    version = "Version {version}. Every judgement keeps the version it was given under."


class REPORT(Texts):
    """The project's report."""

    title = "Report"
    about = "What the decided labels say of the models, with the limits of every figure."
    none_title = "There is no report yet"
    none = "One page with every figure, its interval and how it was computed. It is written once labels are decided."
    begin = "Decide labels and write the report on the page of a campaign."
    open = "Open in a new tab"
    english = "The report is in English."


class ACCOUNT(Texts):
    """One's own account."""

    title = "Account"
    name = "Name"
    role = "Role"
    first_time = "Your link signed you in, and works once. Choose a password or a passkey to come back."
    choose_password = "Choose a password"  # noqa: S105 - a label
    passkeys = "Passkeys"
    out = "Sign out"
    language = "Language: {name}"
    browser = "as in the browser"

    roles: ClassVar = {
        "expert": "Expert: judges pairs and sees their own work.",
        "lead": "Lead: makes campaigns, invites experts, and sees every label.",
        "administrator": "Administrator: everything a lead may, and who has which role.",
    }
    changes: ClassVar = {  # of the password
        "expert": "To change your password, ask your lead for a new link. It ends your other sessions.",
        "lead": "To change your password, ask an administrator for a new link. It ends your other sessions.",
        "administrator": (
            "To change your password, make a new link: eds labels experts invite {name}. It ends your other sessions."
        ),
    }


class FORMATS(Texts):
    """Durations and limits."""

    minutes = "{n:,} min"
    hours = "{n:,} h"
    hours_minutes = "{hours:,} h {minutes:,} min"
    seconds = "{n} s"
    limits = "{low} to {high} %"
    between = "{low} to {high}"
    no_interval = "no interval: {reason}"


class MINE(Texts):
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

    count = plural("{n:,} answer, the latest first", "{n:,} answers, the latest first")
