"""Every text of the lead's pages except those on campaigns. Words in {braces} are filled in."""

from typing import ClassVar


class COMMON:
    """What several pages say."""

    refused_title = "This page is for leads"
    refused = "Your account may judge, but not see the work of others. The menu leads to your campaigns."
    campaign = "Campaign"
    none_title = "No campaign yet"
    none_body = "A campaign asks a panel of experts about pairs. This page shows how it goes."
    none_link = "Create the first campaign"
    nothing_judged_title = "No judgements yet"
    nothing_judged = "The figures appear as soon as experts judge pairs of this campaign."
    similar, different, unsure = "similar", "not similar", "unsure"
    open, closed, query, candidate = "open", "closed", "Query", "Candidate"


class COVERAGE:
    """Progress and speed of each expert."""

    title = "Coverage"
    about = "Progress and speed of each expert."
    judged, left, pace, ready = "Judged", "Left", "Pace", "Ready"
    judged_about = "of {total:,} asked"
    left_about = "{stopped:,} spared by early stop"
    pace_about = "pairs per hour, all experts together"
    ready_about = "of work, if all continue at their speed"
    ready_days = "in {hours:,} h"
    experts = "Experts"
    heads = (
        "Expert",
        "Judged",
        "Done",
        "Left",
        "Unsure",
        "Flagged",
        "Sessions",
        "Hours",
        "Per hour",
        "Seconds",
        "Last",
    )
    gone = "left the panel"
    calibration = "Calibration"
    calibration_heads = ("Expert", "Round", "Answered", "Right", "Needed", "Seconds", ".Result")
    passed, failed, going = "passed", "another round", "under way"
    calibration_none = "This campaign has no calibration."
    calibration_waiting = "Nobody has started calibration yet."


class AGREEMENT:
    """How far experts agree with each other, with gold, with themselves, and between the modes."""

    title = "Agreement"
    about = (
        "How far experts agree. Read the three together: where nearly all pairs are similar, Krippendorff's alpha "
        "falls though people agree."
    )
    names: ClassVar = {
        "percent_agreement": "Observed agreement",
        "krippendorff_alpha": "Krippendorff's alpha",
        "gwet_ac1": "Gwet's AC1",
        "fleiss_kappa": "Fleiss' kappa",
    }
    heads = ("Coefficient", "Value", "95 % interval", ".Drawn")
    coefficients = "Coefficients"
    base = "{pairable:,} of {items:,} pairs were judged by two or more experts; {unsure:,} answers were unsure."
    control = "With early stopping only the {count:,} control pairs count, which every expert judges."
    too_few_title = "No pair has two judgements yet"
    too_few = "Agreement needs pairs that at least two experts have judged."
    no_control = "None of the control pairs is judged yet."
    pairs = "Each pair of experts"
    pair_heads = ("Expert", "and", "Pairs", "Agreement", "95 % interval", ".Drawn", "Cohen's kappa")
    experts = "Each expert"
    expert_heads = (
        "Expert",
        "Judged",
        "Similar",
        "95 % interval",
        "With the others",
        "Drift",
        "Gold right",
        "Repeats alike",
    )
    drift_help = (
        "Drift: share of similar in the second half of an expert's judgements minus the first. With the others: "
        "agreement with the majority of the other experts."
    )
    modes = "Grid against pair"
    modes_about = "The same expert on the same pair, asked both ways."
    modes_none = (
        "Nothing was judged both ways yet. A grid campaign with repeats asks a share of its pairs a second time, one "
        "by one; pair stays preselected until this shows that grid agrees with it."
    )
    both, alike, faster = "Judged both ways", "Judged alike", "Median seconds"
    alike_about = "{limits}; kappa {kappa}"
    faster_about = "pair {pair} · grid {grid}"
    differ = "{grid:,} similar in the grid only, {pair:,} alone only"


class POOL:
    """The yield of the pool, and what random pairs say of all pairs."""

    title = "Pool yield"
    about = "How many of the judged pairs are similar, and what that says of all pairs."
    rate, rate_about = "Similar among decided pool pairs (p_k)", "{limits}; {positive:,} of {labelled:,}"
    undecided, undecided_about = "Not decided yet", "of {asked:,} pairs asked"
    gain, gain_about = "Times more than by chance", "{low} to {high}; p_k of the pool over p"
    growing = "Growth of p_k"
    chart = "The share of similar pairs among the decided ones of the pool: {rate} after {labelled:,} pairs, {limits}."
    axis = "pairs decided"
    nothing_title = "No pair of the pool is decided yet"
    nothing = "A pair is decided when its panel has answered, or when further answers cannot change the majority."
    models = "By model"
    models_open = "Shown when the campaign is closed: knowing which models do well could bias the judgements."
    models_none = "The pairs of this campaign are in no model's list."
    model_heads = ("Model", "Proposed", "Decided", "Similar", "Share", "95 % interval", ".Drawn", "Only this model")
    random = "All pairs (p)"
    random_none = "No random pairs are decided. Draw some (eds suspects random) and judge them to estimate p."
    random_part = "These figures are of the whole project: the votes of all campaigns."
    missing = "{missing:,} of {drawn:,} random pairs have no label: the interval of p is widened by them."
    left_out = "{left_out:,} random pairs of an earlier universe are left out."
    p = ("p, the share of similar pairs", "{limits}")
    found = ("Found so far", "of all similar pairs; {limits}")
    held = ("The pool holds", "of all similar pairs, judged or not; {limits}")
    raw, raw_about = "p as counted", "{positive:,} of {labelled:,} random pairs; {limits}"
    sensitivity, sensitivity_about = "Known positives found", "{found:,} of {known:,}; {limits}"
    corrected, corrected_about = "p corrected", "{limits}"
    no_known = "mix in known positives to estimate it"
    bound, bound_about = "p at least (p_LB)", "{positive:,} known among {universe}"
    checked = "Beside the known truth of the drawn catalogue"
    checked_heads = ("Share", "Estimate", "95 % interval", "In truth", "In the interval")
    contained: ClassVar = {True: "yes", False: "no", None: "–"}
    missed = (
        "People miss 30 to 40 % of rare targets. Hidden known positives measure how many; the corrected p "
        "accounts for them, and for known negatives called similar."
    )


class DISPUTED:
    """Pairs that deserve another look."""

    why_title = "Why experts differ"
    why_heads = ("Aspect", "Named", "Of disputed answers", "Of the others", "With similar", "With not similar")
    title = "Disputed"
    about = "Pairs on which experts differ, were unsure, or that they flagged. Raw votes; nothing is changed here."
    kinds: ClassVar = {"votes": "Votes differ", "flagged": "Flagged", "unsure": "Somebody unsure"}
    show = "Show"
    none_title = "None"
    none: ClassVar = {
        "votes": "No pair has votes for and against.",
        "flagged": "Every flag is resolved.",
        "unsure": "Nobody was unsure of a pair in the end.",
    }
    page = "Page of {pages}"
    votes = "Votes on pair {number}"
    vote_heads = ("Expert", "Said", "Seconds", "Mode")
    tie = "A tie counts as not similar."
    tally = "{yes} similar, {no} not, {unsure} unsure"
    flag = "{expert} flagged it: {reason}"
    adjudicate = "Decide on the page Adjudicate"


class DECIDE:
    """The stored labels, and deciding the votes again."""

    title = "Decide labels"
    about = "From the experts' votes to the labels that models are scored on."
    none_title = "Nothing is decided yet"
    none_body = "Decide once the experts have judged pairs; you can decide again at any time."
    labels, rule = "Labels", "rule {rule}"
    similar = "Similar"
    by_lead, by_lead_about = "Decided by leads", "instead of the votes"
    state, fresh, stale = "State", "up to date", "out of date"
    campaign = "Votes of"
    every = "all campaigns"
    all = (
        "The panels of all campaigns that are complete for a pair vote on it. A campaign that is not complete for a "
        "pair changes nothing."
    )
    one = "Only the votes of this campaign count. Pairs that it does not ask lose their labels, if you agree."
    adjudication = "Leads' decisions replace votes"
    decide = "Decide"
    done = "{pairs:,} pairs have a label, {positive:,} of them similar; {undecided:,} pairs wait for votes."
    other_rule = "Nothing is stored: the labels follow the rule {rule}. To replace them: eds truth decide --replace."
    refused = (
        "Nothing is stored yet: of {stored:,} labels, {lost:,} would be lost and {turned:,} would become the other one."
    )
    directions, direction_heads = "What would change", ("From -> to", "Pairs")
    reasons, reason_heads = "Why", ("Reason", "Pairs")
    replace = "Store the new labels"


class EXPERTS:
    """Accounts."""

    title = "Experts"
    about = "Who may sign in. Leads invite experts; administrators also set roles and lock accounts."
    heads = ("Name", "Role", "State", "Judgements", "Since")
    roles: ClassVar = {"expert": "expert", "lead": "lead", "administrator": "administrator"}
    states: ClassVar = {"new": "not invited", "invited": "invited", "active": "active", "disabled": "locked"}
    table = "All accounts"
    empty_title = "Nobody yet"
    empty_body = "Invite the first expert below."
    invite = "Invite an expert"
    name, role, hours = "Name", "Role", "The link works for (hours)"
    send = "Create account and link"
    again = "New link"
    again_about = (
        "For a forgotten password or a lost link. Earlier links end; the old password works until a new one is chosen."
    )
    whom = "Account"
    link_made = (
        "This link is for {name} and is shown only now. It can be used once, within {hours:g} hours. Copy it and "
        "send it:"
    )
    link_gone = "It is not stored: if it is lost, create another one."
    make_link = "Create a new link"
    lock = "Lock or unlock"
    lock_about = "A locked account is signed out everywhere at once. Its judgements stay."
    lock_it, unlock_it = "Lock", "Unlock"
    locked, unlocked = "{name} is locked out.", "{name} may sign in again."
    set_role = "Role"
    set_it = "Set the role"
    was_set = "{name} is {role} now."
    administrators = "Roles and locks are for administrators."


class EXPORT:
    """Judgements as files."""

    title = "Export"
    about = "Every judgement as a file, as of now."
    all = "All campaigns"
    format = "Format"
    formats: ClassVar = {
        "csv": "CSV",
        "jsonl": "JSON Lines",
        "parquet": "Parquet",
        "crowdkit": "crowd-kit (task, worker, label)",
    }
    abouts: ClassVar = {
        "csv": "Every act, one a row; a correction names the act it supersedes.",
        "jsonl": "Every act, one JSON object a line.",
        "parquet": "Every act with exact kinds and times; the format for further computing.",
        "crowdkit": "Only the answers in force to normal questions, as crowd-kit reads them.",
    }
    acts = "Acts"
    download = "Download {file}"
    empty_title = "No judgements yet"
    empty_body = "The file would have a header and no rows."
    who_is_in_it = "The file contains the names of experts. Decide who may read it."


class JOURNAL:
    """What was drawn, asked and imported, and undo."""

    title = "Journal"
    about = "Pools, draws, campaigns and imported votes; what nobody has judged can be taken back."
    table = "The journal, newest first"
    heads = ("What", "By", "When (UTC)", "Pairs or votes", "State")
    undone = "undone"
    empty_title = "Nothing to undo"
    empty_body = "Pools, draws, campaigns and imports of votes appear here."
    which = "Entry"
    undo = "Undo"
    done = "{name} is undone."
    taken = "{n} pairs that nobody has judged leave the queues."
    judged = "{n} pairs are judged: their votes and labels stay."
    votes = "{n} votes count no more; they are kept."
