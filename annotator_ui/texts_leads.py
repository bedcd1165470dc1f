"""Every text of the lead's pages but those about campaigns: plain text; words in {braces} are filled in."""

from typing import ClassVar


class COMMON:
    """What several pages say."""

    refused_title = "This page is for leads"
    refused = "Your account may judge, not look at others' work. Go back to your own campaigns by the menu."
    campaign = "Campaign"
    none_title = "No campaign yet"
    none_body = "A campaign asks a panel of experts about pairs. Once there is one, this page tells how it goes."
    none_link = "Make the first campaign"
    nothing_judged_title = "Nothing is judged yet"
    nothing_judged = "As soon as experts judge pairs of this campaign, the figures stand here."
    similar, different, unsure = "similar", "not similar", "unsure"
    open, closed, query, candidate = "open", "closed", "Query", "Candidate"


class COVERAGE:
    """How far each expert is, and how fast."""

    title = "Coverage"
    about = "How far each expert is, and at which pace."
    judged, left, pace, ready = "Judged", "Left", "Pace", "Ready"
    judged_about = "of {total:,} asked"
    left_about = "{stopped:,} spared by early stop"
    pace_about = "pairs an hour, all experts together"
    ready_about = "of work, if all go on at their pace"
    ready_days = "in {hours:,} h"
    experts = "Experts"
    heads = ("Expert", "Judged", "Done", "Left", "Unsure", "Flagged", "Sittings", "Hours", "An hour", "Seconds", "Last")
    gone = "left the panel"
    calibration = "Calibration"
    calibration_heads = ("Expert", "Round", "Answered", "Right", "Needed", "Seconds", ".Result")
    passed, failed, going = "passed", "another round", "under way"
    calibration_none = "This campaign has no calibration."
    calibration_waiting = "Nobody has begun calibration yet."


class AGREEMENT:
    """How far experts agree with each other, with gold, with themselves, and between the modes."""

    title = "Agreement"
    about = (
        "How far experts agree. Read the three together: where nearly all pairs are similar, Krippendorff's alpha "
        "falls though people agree."
    )
    names: ClassVar = {"percent_agreement": "Raw agreement", "krippendorff_alpha": "Krippendorff's alpha",
             "gwet_ac1": "Gwet's AC1", "fleiss_kappa": "Fleiss' kappa"}  # fmt: skip
    heads = ("Coefficient", "Value", "95 % limits", ".Drawn")
    coefficients = "Coefficients"
    base = "{pairable:,} of {items:,} pairs were judged by two or more experts; {unsure:,} answers were unsure."
    control = "Asking stops early here, so only the {count:,} pairs count that everybody judges in any case."
    too_few_title = "No pair has two judgements yet"
    too_few = "Agreement needs pairs that at least two experts have judged."
    no_control = "Of the pairs that everybody judges in any case none is judged yet."
    pairs = "Every two experts"
    pair_heads = ("Expert", "and", "Pairs", "Agreement", "95 % limits", ".Drawn", "Cohen's kappa")
    experts = "Each expert"
    expert_heads = (
        "Expert",
        "Judged",
        "Similar",
        "95 % limits",
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
    """What the pool yields, and what random pairs say of all pairs."""

    title = "Pool yield"
    about = "How many of the judged pairs are similar, and what that says of all pairs."
    rate, rate_about = "Similar among the decided (p_k)", "{limits}; {positive:,} of {labelled:,}"
    undecided, undecided_about = "Not decided yet", "of {asked:,} pairs asked"
    gain, gain_about = "Times more than by chance", "p_k over p of random pairs"
    growing = "p_k as it grew"
    chart = "The share of similar pairs among those decided so far: {rate} after {labelled:,} pairs, limits {limits}."
    axis = "pairs decided"
    nothing_title = "No pair is decided yet"
    nothing = "A pair is decided when its panel has answered, or when the rest could not change the majority."
    models = "By model"
    models_open = (
        "Shown when the campaign is closed: who knew which models do well would judge their pairs with other eyes."
    )
    models_none = "The pairs of this campaign are in no model's list."
    model_heads = ("Model", "Proposed", "Decided", "Similar", "Share", "95 % limits", ".Drawn", "Only this model")
    random = "All pairs (p)"
    random_none = (
        "No random pairs of this campaign are decided. Draw some (eds suspects random) and judge them: they tell p."
    )
    random_part = "Only uniform draws from all pairs (stratum all) count here."
    raw, raw_about = "p as counted", "{positive:,} of {labelled:,} random pairs; {limits}"
    sensitivity, sensitivity_about = "Known positives found", "{found:,} of {known:,}; {limits}"
    corrected, corrected_about = "p corrected", "{limits}"
    no_known = "mix known positives in to tell"
    bound, bound_about = "p at least", "{positive:,} similar pairs are known among {pairs:,}"
    missed = (
        "People miss 30 to 40 % of rare targets. Known positives, mixed in unseen, tell how many; the corrected p "
        "allows for them, and for known negatives called similar."
    )


class DISPUTED:
    """Pairs that deserve another look."""

    title = "Disputed"
    about = "Pairs on which experts differ, could not tell, or that they flagged. Raw votes; nothing is changed here."
    kinds: ClassVar = {"votes": "Votes differ", "flagged": "Flagged", "unsure": "Somebody unsure"}
    show = "Show"
    none_title = "None"
    none: ClassVar = {
        "votes": "No pair has votes for and against.",
        "flagged": "Nobody has flagged a pair that is not dealt with.",
        "unsure": "Nobody was unsure of a pair in the end.",
    }
    page = "Page of {pages}"
    votes = "Votes on pair {number}"
    vote_heads = ("Expert", "Said", "Seconds", "Mode")
    tie = "A tie counts as not similar."
    tally = "{yes} similar, {no} not, {unsure} unsure"
    flag = "{expert} flagged it: {reason}"
    adjudicate = "Decide on the page Adjudicate"


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
    invite = "Invite somebody"
    name, role, hours = "Name", "Role", "The link works for (hours)"
    send = "Make the account and the link"
    again = "New link"
    again_about = (
        "For a forgotten password, or a link that was lost. Earlier links end; the password of before works until "
        "a new one is chosen."
    )
    whom = "Account"
    link_made = (
        "This link is for {name} and is shown only now. It opens once, within {hours:g} hours. Copy it and "
        "hand it over:"
    )
    link_gone = "It is kept nowhere: if it is lost, make another."
    make_link = "Make a new link"
    lock = "Lock or unlock"
    lock_about = "A locked account is out at once, everywhere. Its judgements stay."
    lock_it, unlock_it = "Lock", "Unlock"
    locked, unlocked = "{name} is locked out.", "{name} may sign in again."
    set_role = "Role"
    set_it = "Set the role"
    was_set = "{name} is {role} now."
    administrators = "Roles and locks are for administrators."


class EXPORT:
    """Judgements as files."""

    title = "Export"
    about = "Every judgement as a file, from the store as it is at this moment."
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
        "parquet": "Every act with exact kinds and times; the file to go on computing with.",
        "crowdkit": "Only the answers in force to normal questions, as crowd-kit reads them.",
    }
    acts = "Acts"
    download = "Download {file}"
    empty_title = "Nothing is judged yet"
    empty_body = "A file would have its heads and no row."
    who_is_in_it = "Names of experts stand in the file. Who may read it is up to you."
