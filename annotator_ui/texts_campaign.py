"""Every text of a campaign's page: its head, and the tabs Overview, Experts and Settings. {Braces} are filled in."""

from typing import ClassVar

from annotator_ui.translation import Texts, plural


class HEAD(Texts):
    """The head of the page: state and actions."""

    title = "Overview"
    states: ClassVar = {"open": "open", "closed": "closed"}
    pair = "pair by pair"
    grid = "grid, untouched: {polarity}"
    some_experts = plural("{per_pair} expert a pair", "{per_pair} experts a pair", by="per_pair")
    guideline = "guideline {version}"
    no_guideline = "no guideline"
    invite, export, decide = "Invite", "Export", "Decide and report"
    adjudicate = "Decide pairs"


class OVERVIEW(Texts):
    """Progress, pace, agreement and yield at a glance; what needs the lead."""

    title = "Overview"
    judged, judged_about = "Judged", "{done:,} of {total:,} judgements"
    spared = "; {stopped:,} spared by early stop"
    pace, pace_about = "Judgements a day", "in the last 7 days"
    none_recent = "none in the last 7 days"
    ready, ready_about = "Expected end", "{left:,} left, about {hours}"
    ready_left = "{left:,} left"
    finished, closed = "finished", "closed"
    unknown_ready = "not at this pace"
    hours, minutes = "{n:,.1f} h of judging", "{n:,.0f} min of judging"
    agreement, agreement_about = "Agreement (alpha)", "{limits}"
    agreement_none, agreement_alike = "no pair has two votes yet", "all answers are alike"
    rate, rate_about = "Similar in the pool (p_k)", "{limits}"
    rate_gain = "{limits} · {gain:,.1f} × a random pair"
    rate_none = "no pair of the pool is decided yet"
    experts = "Experts"
    experts_open = "Select an expert to see their answers."
    categories = "Where experts disagree"
    categories_about = (
        "Share of pairs with votes for and against, by category of the query; 95 % intervals where there are enough "
        "queries."
    )
    categories_none = "Shown when two experts have judged pairs of a category."
    days = "Judgements a day"


class NEEDS(Texts):
    """What needs the lead: a heading, a line about it, and one action each."""

    title = "Needs you"
    none_title = "Nothing needs you"
    none = "Nobody judges too fast, drifts or is missing, and no pair waits for a decision."
    heads: ClassVar = {
        "speed": "{expert} answers {share} of pairs very fast",
        "gold": "{expert} is right on {count} of {of} known pairs",
        "drift": "{expert} errs more than before",
        "uninvited": "{expert} has no invitation yet",
        "absent": "{expert} has not judged since {since}",
        "absent_never": "{expert} has not begun",
        "flags": plural("{count:,} pair is flagged", "{count:,} pairs are flagged", by="count"),
        "split": plural("{count:,} pair is split", "{count:,} pairs are split", by="count"),
        "truth": "The labels are out of date",
        "truth_absent": "Nothing is decided yet",
        "report": "The report is out of date",
        "report_absent": "There is no report yet",
    }
    abouts: ClassVar = {
        "speed": "Under {seconds:g} s: {limits}. The limit is {line}.",
        "gold": "{limits}; at least {line} is expected.",
        "drift": "{series}: {share} ({limits}) since {since}, {line} before.",
        "uninvited": "Waiting pairs: {count:,}.",
        "absent": "Waiting pairs: {count:,}.",
        "flags": "Experts set them aside with a reason.",
        "split": "Votes for and against. Ties, which count as not similar: {of:,}.{most}{minutes}",
        "truth": "Votes or decisions came since the labels were stored.",
        "truth_absent": "Votes become labels when you decide.",
        "report": "Labels, models or settings have changed since it was written.",
        "report_absent": "Labels are decided; the report shows what they say of the models.",
    }
    series: ClassVar = {
        "gold": "Known pairs answered wrongly",
        "repeats": "Pairs answered differently the second time",
        "others": "Against the majority of the others",
    }
    most = " Most in {names}."
    minutes = " About {n:,.0f} min."
    actions: ClassVar = {
        "look": "See {n}",
        "practice": "Another practice round",
        "invite": "Invite",
        "remind": "New link",
        "hand over": "Hand over the rest",
        "decide pairs": "Decide",
        "decide": "Decide and report",
        "report": "Decide and report",
    }
    asked_again = "{expert} begins with another practice round."
    handed_over = "The others get {moved:,} of {left:,} tasks that {expert} had left."
    handed_some = "Everybody else judges the other pairs already: fewer experts decide them."


class PANEL(Texts):
    """Each expert's work: progress, quality, calibration, and the panel."""

    title = "Experts"
    columns: ClassVar = {
        "expert": "Expert",
        "progress": "Judged",
        "left": "Left",
        "seconds": "Median s",
        "under_1_s": "Under 1 s",
        "similar": "Similar",
        "similar_over_time": "Similar over time",
        "unsure": "Unsure",
        "flagged": "Flagged",
        "with_others": "With others",
        "gold": "Gold right",
        "repeats": "Repeats alike",
        "drift": "Drift, points",
        "hours": "Hours",
        "per_hour": "Per hour",
        "last_at": "Last",
        "state": "Panel",
    }
    about = (
        "With others: agreement with the majority of the other experts. Drift: share of similar in the second half "
        "of an expert's judgements minus the first, in percentage points."
    )
    counted = "{part:,} of {whole:,}"
    on, gone = "judges", "left"
    none = "Nobody is on the panel."
    look = "Answers of"
    look_nobody = "nobody"
    kinds: ClassVar = {
        "latest": "Latest",
        "fastest": "Fastest",
        "apart": "Against the others",
        "gold": "Wrong on known pairs",
    }
    look_none = "There are no such answers."
    seconds = "{n:.1f} s"
    seconds_tips = ("Expert", "Seconds", "Share")
    seconds_title = "Seconds of a judgement"
    seconds_about = "How each expert's judgements are spread over their duration, on a logarithmic scale."
    calibration = "Practice"
    calibration_columns = ("Expert", "Round", "Answered", "Of", "Right", "Needed", "Median s", "Result")
    passed, failed, going = "passed", "another round", "under way"
    calibration_none = "This campaign begins without practice; see Settings."
    calibration_waiting = "Nobody has started yet."


class SETTINGS(Texts):
    """What can be changed of a campaign."""

    title = "Settings"
    guideline_title = "Guideline"
    panel_title = "Panel"
    practice_title = "Practice before the first pair"
    form_title = "What the page asks"
    end_title = "End of the campaign"
    reopen_about = "A reopened campaign hands out what nobody has judged."
    reopen, reopened = "Reopen the campaign", "{campaign} is open again."
    closed_note = "This campaign is closed; it can be reopened below."


class INVITE(Texts):
    """Inviting experts to a campaign: several at once, with a link each."""

    title = "Invite to {campaign}"
    links = "Invitations"
    names = "Names"
    names_help = "One a line or with commas. New names get an account; experts with one only join the campaign."
    hours = "The links work for (hours)"
    send = "Invite"
    nobody = "Write a name."
    made = plural(
        "Each link works once, within {hours:g} hour, and is shown only now. Copy and send it:",
        "Each link works once, within {hours:g} hours, and is shown only now. Copy and send it:",
        by="hours",
    )
    joined = "{names} found an account already and now judge this campaign, too."
    gone = "Links are not stored: if one is lost, create another one."


class CONCLUDE(Texts):
    """Deciding the labels and writing the report, as one job."""

    title = "Decide and report"
    none = "Nothing is decided yet."
    stored = plural(
        "{labels:,} label is stored, {similar:,} of them similar; {by_lead:,} decided by leads. Rule: {rule}.",
        "{labels:,} labels are stored, {similar:,} of them similar; {by_lead:,} decided by leads. Rule: {rule}.",
        by="labels",
    )
    fresh, stale = "They are up to date.", "They are out of date: {reasons}."
    report_kept = "The report is written again; the earlier one is kept beside it."
    campaign, every = "Votes of", "all campaigns"
    all = (
        "The panels of all campaigns that are complete for a pair vote on it. A campaign that is not complete for a "
        "pair changes nothing."
    )
    one = "Only the votes of this campaign count. Pairs that it does not ask lose their labels, if you agree."
    adjudication = "Leads' decisions replace votes"
    start = "Decide and report"
    steps: ClassVar = {"decide": "Deciding", "report": "Writing the report"}
    done = plural(
        "{pairs:,} pair has a label. The report is written.",
        "{pairs:,} pairs have a label. The report is written.",
        by="pairs",
    )
    other_rule = "The labels follow the rule {rule} and were kept; to replace them: eds truth decide --replace."
    open_report = "Open the report"
    dismiss = "Close"
    failed = "Nothing was finished: {error}"
    refused = (
        "Nothing is stored yet: of {stored:,} labels, {lost:,} would be lost and {turned:,} would become the other one."
    )
    directions, direction_heads = "What would change", ("From -> to", "Pairs")
    reasons, reason_heads = "Why", ("Reason", "Pairs")
    replace = "Store the new labels"
