"""Every text of the lead's pages: plain text; words in {braces} are filled in."""

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


class CAMPAIGNS:
    """Making, changing and closing campaigns; guidelines."""

    title = "Campaigns"
    about = "Which pairs a panel judges, how, and under which guideline."
    tabs = ("All campaigns", "New campaign", "Guidelines", "Change or close", "Known pairs")
    heads = ("Campaign", "State", "Mode", "Pairs", "Experts", "Judged", "Guideline", "Mixed in")
    table = "All campaigns"
    empty_title = "No campaign yet"
    empty_body = "Choose pairs and a panel under “New campaign”. Pairs come from the project's suspects."
    modes: ClassVar = {"pair": "pair", "grid": "grid"}
    grid = "grid, untouched: {polarity}"
    early, gold, repeats = "early stop", "gold {share}", "repeats {share}"

    no_suspects_title = "There are no pairs to judge"
    no_suspects = "Make the pool first (eds suspects pool), or draw random pairs (eds suspects random), then come back."
    no_experts_title = "There is nobody to judge"
    no_experts = "Invite experts on the page Experts, then come back."
    name = "Name"
    name_help = "What experts see. Say nothing of models or ranks in it."
    origins = "Pairs from"
    origin_label = "{origin}: {count:,} pairs"
    limit = "Only the first pairs, by their place (0: all)"
    panel = "Panel"
    mode = "Shown as"
    mode_labels: ClassVar = {"pair": "One pair at a time", "grid": "A query with its candidates (grid)"}
    mode_help = (
        "Pair is safe. Grid takes fewer actions, where most candidates of a page are alike; it keeps its guards: a "
        "candidate counts only if it was on screen, known pairs of the other kind are mixed in, and a share is asked "
        "again one by one."
    )
    mode_unknown = "Pair is preselected: nothing was judged both ways yet, so nobody knows whether grid agrees with it."
    mode_known = (
        "Judged both ways so far: {both:,}; alike {alike} ({limits}); seconds a judgement: pair {pair:.1f}, grid "
        "{grid:.1f}."
    )
    mode_open = "Pair stays preselected until at least 90 % alike are sure."
    mode_agrees = "So grid agrees with pair, and is preselected."
    polarity = "A candidate that nobody touches is"
    polarity_labels: ClassVar = {"similar": "similar (experts mark what is not)",
                       "different": "not similar (experts mark what is)"}  # fmt: skip
    polarity_help = "As most pairs are: of the pool most are similar, of random pairs and negatives hardly any."
    mixed = "Mixed in, unseen"
    gold_share = "Known pairs (gold), % of the pairs"
    gold_help = "In a random session, 10 to 20 % known positives tell what is missed."
    gold_usable: ClassVar = {
        None: "{known:,} known pairs can be hidden here: such as are not asked anyway and no guideline shows.",
        "similar": "{known:,} known pairs can be hidden in this grid: not similar, so that nobody may leave them "
        "untouched, and of a query that it asks.",
        "different": "{known:,} known pairs can be hidden in this grid: similar, so that nobody may leave them "
        "untouched, and of a query that it asks.",
    }
    gold_short = (
        "{wanted:,} known pairs would be needed. {usable} Add some under “Known pairs”, or choose a smaller share."
    )
    repeat_share = "Asked a second time, %"
    repeat_help = "Of a grid the second time is one by one: that is how grid and pair are held against each other."
    grid_guard = "A grid is always guarded against skimming: let a share be asked a second time, one by one."
    grid_gold: ClassVar = {
        "similar": "Known pairs that are not similar are the second guard: mix some in once there are any.",
        "different": "Known similar pairs are the second guard: mix some in once there are any.",
    }
    stop = "Stop early: ask no further when a pair's majority is certain"
    control = "Judged by everybody all the same, % (agreement counts on these only)"
    calibration = "Calibration before the first session, pairs (0: none)"
    needed = "Right answers needed, %"
    guideline = "Guideline"
    guideline_none = "no text"
    guideline_preview = "Read this guideline"
    seed = "Seed of the order"
    cost = "What it costs"
    cost_pairs, cost_judgements, cost_hours, cost_money = "Pairs to judge", "Judgements", "Hours of judging", "Pay"
    cost_pairs_about = "of these, {extra:,} gold and repeats"
    cost_judgements_about = "{experts} experts"
    cost_saved_about = "{saved} spared by early stop, expected"
    cost_hours_about = "{each:.1f} for each expert, at {seconds:g} s a pair"
    rate = "Expected share of similar pairs, % (for early stop)"
    make = "Make the campaign"
    made = "{name} is made: {pairs:,} pairs for {experts} experts."

    known_title = "Known pairs (gold)"
    known_about = (
        "Pairs whose answer is certain. They are hidden among others, to tell who looks, and asked in calibration. A "
        "grid hides only what must be marked in it."
    )
    known_none_title = "No known pairs yet"
    known_none = "Type or paste some below, or take over what leads have decided."
    known_counts = ("Known to be similar", "Known not to be similar")
    known_queries = "of {queries:,} queries"
    known_rows = "A pair a row: query, candidate, 1 (similar) or 0 (not)"
    known_example = "query_id,candidate_id,value"
    known_add = "Add these pairs"
    known_decided = "Take over {count:,} decisions of leads"
    known_added = "{new:,} known pairs are new."
    known_unread = "Every row needs a query, a candidate and a value"

    versions = "Guidelines so far"
    version_heads = ("Version", "Made", "By", "Examples", "Campaigns", "Judgements under it")
    no_versions_title = "No guideline yet"
    no_versions = "Write below what similar means here, with examples. Every version is kept for ever under its name."
    start_from = "Start from"
    blank = "an empty page"
    version = "Name of the new version"
    content = "Text (headings #, lists -, **bold**, *italic*)"
    examples = "Example pairs"
    examples_help = (
        "An image's id as in the catalogue. At the border, leave the answer empty where either may stand. "
        "Examples also serve for calibration."
    )
    columns = ("Query", "Candidate", "Kind", "Answer", "Why")
    kinds: ClassVar = {"positive": "Similar", "negative": "Not similar", "border": "At the border"}
    preview = "As experts see it"
    save = "Save this version"
    saved = "Guideline {version} is saved. It cannot be changed any more; put it in force under “Change or close”."

    change = "Guideline in force"
    enforce = "Put in force"
    enforced = "{campaign} now goes by guideline {version}."
    more_experts = "Further experts for the panel"
    join = "Add to the panel"
    joined = "{campaign} is now asked of {names}, too."
    set_calibration = "Set calibration"
    calibration_set = "{campaign} now calibrates with {pairs} pairs."
    closing = "Closing hands out no more pairs; what was judged stays, and what is on its way is kept."
    confirm = "Yes, close {campaign}"
    close = "Close the campaign"
    closed = "{campaign} is closed."
    is_closed = "This campaign is closed."


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
    axis = ("pairs decided", "share similar")
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
