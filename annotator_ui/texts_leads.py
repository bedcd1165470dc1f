"""Every text of the lead's pages except those on campaigns. Words in {braces} are filled in."""

from typing import ClassVar

from annotator_ui.translation import Texts, plural


class COMMON(Texts):
    """What several pages say."""

    refused_title = "This page is for leads"
    refused = "Your account may judge, but not see the work of others. The menu leads to your campaigns."
    campaign = "Campaign"
    none_title = "No campaign yet"
    none_body = "A campaign asks a panel of experts about pairs. This page shows how it goes."
    none_link = "Create the first campaign"
    nothing_judged_title = "No judgements yet"
    nothing_judged = "The figures appear as soon as experts judge pairs of this campaign."
    choose = "Choose"
    similar, different, unsure = "similar", "not similar", "unsure"
    open, closed, query, candidate = "open", "closed", "Query", "Candidate"


class AGREEMENT(Texts):
    """How far experts agree with each other, with gold, with themselves, and between the modes."""

    title = "Agreement"
    about = (
        "How far experts agree. Read the three together: where nearly all pairs are similar, Krippendorff's alpha "
        "falls though people agree."
    )
    names: ClassVar = {  # without Fleiss' kappa: alpha says the same, and allows for missing votes
        "percent_agreement": "Observed agreement",
        "krippendorff_alpha": "Krippendorff's alpha",
        "gwet_ac1": "Gwet's AC1",
    }
    heads = ("Coefficient", "Value", "From", "To")
    coefficients = "Coefficients, with 95 % intervals"
    base = "{pairable:,} of {items:,} pairs were judged by two or more experts; {unsure:,} answers were unsure."
    control = plural(
        "With early stopping only the {count:,} control pair counts, which every expert judges.",
        "With early stopping only the {count:,} control pairs count, which every expert judges.",
        by="count",
    )
    too_few_title = "No pair has two judgements yet"
    too_few = "Agreement needs pairs that at least two experts have judged."
    no_control = "None of the control pairs is judged yet."
    grades_alpha, grades_apart = "Agreement on grades (alpha)", "Grades apart"
    grades_about = plural("{n:,} pair with two grades or more", "{n:,} pairs with two grades or more")
    grades_within = "{share:.0%} by one at most"
    pairs = "Who differs from whom"
    pairs_about = "Only the first: pairs that are similar to the first expert alone. Select a row to see the pairs."
    pair_columns: ClassVar = {
        "expert_a": "Expert",
        "expert_b": "and",
        "items": "Pairs",
        "agreement": "Agreement",
        "low": "From",
        "high": "To",
        "kappa": "Cohen's kappa",
        "only_a": "Only the first",
        "only_b": "Only the second",
    }
    only = "Similar to {expert_a}, not to {expert_b}"
    only_none = "There are no such pairs."
    queries = "Most disputed queries"
    query_columns: ClassVar = {"group": "Query", "pairs": "Pairs", "disputed": "Disputed", "rate": "Share"}
    guidelines = "Before and after a version of the guideline"
    guideline_columns: ClassVar = {
        "guideline": "Version",
        "answers": "Answers",
        "positive_rate": "Similar",
        "low": "From",
        "high": "To",
        "unsure_rate": "Unsure",
        "with_others": "With others",
    }
    guidelines_none = "Every judgement was given without a guideline."
    charted = "Agreement coefficients with their 95 % intervals."
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


class POOL(Texts):
    """The yield of the pool, and what random pairs say of all pairs."""

    title = "Yield"
    about = "How many of the judged pairs are similar, and what that says of all pairs."
    rate, rate_about = "Similar among decided pool pairs (p_k)", "{limits}; {positive:,} of {labelled:,}"
    undecided, undecided_about = "Not decided yet", "of {asked:,} pairs asked"
    outside = plural(
        "{outside:,} decided pair is outside the universe (of the query's own product, say) and counts in no rate.",
        "{outside:,} decided pairs are outside the universe (of the query's own product, say) and count in no rate.",
        by="outside",
    )
    gain, gain_about = "Times more than by chance", "{low} to {high}; p_k of the pool over p"
    growing = "Growth of p_k"
    chart = "The share of similar pairs among the decided ones of the pool: {rate} after {labelled:,} pairs, {limits}."
    axis = "pairs decided"
    nothing_title = "No pair of the pool is decided yet"
    nothing = "A pair is decided when its panel has answered, or when further answers cannot change the majority."
    models = "By model"
    models_open = "Shown when the campaign is closed: knowing which models do well could bias the judgements."
    models_none = "The pairs of this campaign are in no model's list."
    model_columns: ClassVar = {
        "model": "Model",
        "proposed": "Proposed",
        "labelled": "Decided",
        "positive": "Similar",
        "rate": "Share",
        "low": "From",
        "high": "To",
        "alone": "Only this model",
    }
    random = "All pairs (p)"
    random_none = "No random pairs are decided. Draw some for a new campaign: they tell the share p among all pairs."
    random_part = "These figures are of the whole project: the votes of all campaigns."
    missing = "{missing:,} of {drawn:,} random pairs have no label: the interval of p is widened by them."
    left_out = plural(
        "{left_out:,} random pair of an earlier universe is left out.",
        "{left_out:,} random pairs of an earlier universe are left out.",
        by="left_out",
    )
    p = ("p, the share of similar pairs", "{limits}")
    found = ("Found so far", "of all similar pairs; {limits}")
    held = ("The pool holds", "of all similar pairs, judged or not; {limits}")
    raw, raw_about = "p as counted", "{positive:,} of {labelled:,} random pairs; {limits}"
    sensitivity, sensitivity_about = "Known positives found", "{found:,} of {known:,}; {limits}"
    corrected, corrected_about = "p corrected", "{limits}"
    no_known = "mix in known positives to estimate it"
    bound, bound_about = "p at least (p_LB)", "{positive:,} known among {universe}"
    checked = "Beside the known truth of the drawn catalogue"
    units: ClassVar = {
        "image": plural("{n:,} pair of a query and a candidate image", "{n:,} pairs of a query and a candidate image"),
        "product": plural(
            "{n:,} pair of a query and a candidate product", "{n:,} pairs of a query and a candidate product"
        ),
    }
    check_names: ClassVar = {
        "p_k": "p_k: the pool's pairs that are similar",
        "p": "p: all pairs that are similar",
        "pool recall": "Pool recall: similar pairs that are in the pool",
    }
    checked_heads = ("Share", "Estimate", "95 % interval", "In truth", "In the interval")
    contained: ClassVar = {True: "yes", False: "no", None: "–"}
    missed = (
        "People miss 30 to 40 % of rare targets. Hidden known positives measure how many; the corrected p "
        "accounts for them, and for known negatives called similar."
    )


class DISPUTED(Texts):
    """Pairs that deserve another look."""

    why_title = "Why experts differ"
    why_heads = ("Aspect", "Named", "Of disputed answers", "Of the others", "With similar", "With not similar")
    title = "Disputes"
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
    category, every = "Category", "all categories"
    order = "Order"
    orders: ClassVar = {"closest": "Closest votes first", "query": "By query"}
    vote = "{sign} {expert}"
    tie = "A tie counts as not similar."
    tally = "{yes} similar, {no} not, {unsure} unsure"
    flag = "{expert} flagged it: {reason}"
    decided = "Decided by {expert}: {value}"
    adjudicate = "Decide one by one"


class JOBS(Texts):
    """Long work that a lead started."""

    by = "Started by {name} at {at:time} UTC. It goes on if you leave this page."


class EXPERTS(Texts):
    """Accounts."""

    title = "Experts"
    about = "Who may sign in. Leads invite experts; administrators also set roles and lock accounts."
    columns: ClassVar = {
        "name": "Name",
        "role": "Role",
        "state": "State",
        "labels": "Judgements",
        "seen_at": "Last seen",
        "created_at": "Since",
    }
    roles: ClassVar = {"expert": "expert", "lead": "lead", "administrator": "administrator"}
    states: ClassVar = {"new": "not invited", "invited": "invited", "active": "active", "disabled": "locked"}
    table = "All accounts"
    empty_title = "Nobody yet"
    empty_body = "Invite the first expert below."
    invite = "Invite"
    names, names_help = "Names", "One a line or with commas. Each gets an account and a link."
    known = "There are accounts already: {names}"
    known_hint = "Use New link for them, or Invite on a campaign's page."
    campaigns = "They judge"
    role, hours = "Role", "The links work for (hours)"
    send = "Create accounts and links"
    again = "New link"
    again_about = "For a forgotten password or a lost link. Once it is used, it replaces password and passkeys."
    whom = "Account"
    make_link = "Create a new link"
    lock = "Lock or unlock"
    lock_about = "A locked account is signed out everywhere at once. Its judgements stay."
    lock_it, unlock_it = "Lock", "Unlock"
    locked, unlocked = "{name} is locked out.", "{name} may sign in again."
    set_role = "Role"
    set_it = "Set the role"
    was_set = "{name} is {role} now."
    administrators = "Roles and locks are for administrators."


class EXPORT(Texts):
    """Judgements as files."""

    all = "Judgements of all campaigns"
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
    acts = plural("{acts:,} act, as of now.", "{acts:,} acts, as of now.", by="acts")
    download = "Download {file}"
    who_is_in_it = "The file contains the names of experts. Decide who may read it."


class CATALOGUE(Texts):
    """Pictures, models and pairs: what a campaign is made of."""

    title = "Catalogue"
    about = "From pictures to pairs that experts judge: import, vectors and lists, pool."
    images, products, categories = "Pictures", "Products", "Categories"
    models, pool, random = "Models", "Pairs in the pool", "Random pairs"
    states_title = "Tables"
    conditions: ClassVar = {
        "fresh": "up to date",
        "stale": "out of date",
        "absent": "not made yet",
        "damaged": "damaged",
    }
    state_columns: ClassVar = {
        "table": "Table",
        "model": "Model",
        "condition": "State",
        "rows": "Rows",
        "reasons": "Why",
    }
    import_title = "Import pictures"
    import_about = "Subfolders may be categories or products. A second import reads what has changed."
    source = "Where the pictures are"
    sources: ClassVar = {"device": "On this device", "server": "On the server"}
    place = "Folder or file on the server"
    place_help = "A folder, or a list of pictures (CSV, Parquet, JSON), as the server sees it, such as /data/photos."
    ready = plural("{n:,} picture has arrived.", "{n:,} pictures have arrived.")
    layout = "Subfolders are"
    layouts: ClassVar = {
        "auto": "recognised",
        "category": "categories",
        "product": "products",
        "tree": "categories, then products",
        "flat": "nothing",
    }
    start_import = "Import"
    replace = "Replace the pictures there are"
    replace_help = "Needed where they came in another way. Judgements stay, also of pictures that are gone."
    no_place = "There is no {place} on the server."
    pool_title = "Make pairs"
    pool_about = "Vectors and lists are made where they are missing, then the pool of the models' best candidates."
    choose, depth = "Models", "Candidates per model and query (k)"
    random_pairs = "Random pairs, too, to estimate the share among all pairs"
    start_pool = "Make the pool"
    run_title = "Bring everything up to date"
    run_about = "Makes every table that is missing or stale, then scores and the report."
    start_run = "Run"
    steps: ClassVar = {
        "scan": "Reading pictures",
        "import_images": "Reading the list",
        "embed": "Making vectors",
        "mine": "Making lists",
        "pool": "Making the pool",
        "draw_random": "Drawing random pairs",
        "run": "Running",
    }
    done: ClassVar = {
        "catalogue-import": "The pictures are imported.",
        "catalogue-pool": "The pairs are made. A campaign can ask experts about them.",
        "catalogue-run": "Everything is up to date.",
    }
    failed = "Not finished: {error}"
    dismiss = "Close"
    no_images_title = "No pictures yet"
    no_images = "Import a folder or a list first."


class SENDING(Texts):
    """A folder of pictures, sent from the browser; the script fills in the numbers."""

    choose = "Folder of pictures on this device"
    about = "Pictures of up to 10 MB. A broken upload goes on where it stopped: choose the same folder again."
    looking = "Looking what has arrived already …"
    sending = "{done} of {count} pictures"
    arrived = "All {count} pictures have arrived."
    refused = "{count} pictures have arrived, {faults} have not:"
    large = "larger than 10 MB"
    failed = "The server did not answer. Choose the folder again to go on."
    nothing = "There are no pictures in this folder."


class STREAMLIT(Texts):
    """What Streamlit says in English, word for word as it says it: streamlit_words.py replaces it in the browser."""

    words: ClassVar = (
        "Skip to main content",
        "Show/hide columns",
        "Download as CSV",
        "Search",
        "Fullscreen",
        "Close fullscreen",
        "Type to search",
        "Sort ascending",
        "Sort descending",
        "Autosize",
        "Pin column",
        "Unpin column",
        "Hide column",
        "Statistics",
        "Format",
        "Add row",
        "Delete row(s)",
        "No results",
        "Choose an option",
        "Choose options",
        "Select all",
        "Clear all",
        "Copy to clipboard",
        "Copied",
        "Running...",
        "Add",
        "Press Enter to apply",
        "Press Ctrl+Enter to apply",
        "Press \u2318+Enter to apply",
        "Press Enter to add",
        "Press Enter to submit form",
        "Press Ctrl+Enter to submit form",
        "Press \u2318+Enter to submit form",
        "Open sidebar",
        "Close sidebar",
        "Show data",
        "Show chart",
        "Download as PNG",
        "Download as SVG",
        "Copy Vega-Lite spec",
        "Open",
        "Increment",
        "Decrement",
        "Help for {name}",
        "Remove {name}",
        "{count} more",
    )


class JOURNAL(Texts):
    """What was drawn, asked and imported, and undo."""

    title = "Journal"
    about = "Pools, draws, campaigns and imported votes; what nobody has judged can be taken back."
    table = "The journal, newest first"
    columns: ClassVar = {
        "what": "What",
        "command": "Command",
        "by": "By",
        "at": "When (UTC)",
        "pairs": "Pairs or votes",
        "state": "State",
    }
    undone = "undone"
    empty_title = "Nothing to undo"
    empty_body = "Pools, draws, campaigns and imports of votes appear here."
    kinds: ClassVar = {
        "suspects.pool": "Pool",
        "suspects.add": "Pairs of a file",
        "suspects.add-images": "Pairs of new pictures",
        "suspects.add-model": "Pairs of a new model",
        "suspects.draw": "Pairs drawn where they tell most",
        "suspects.gold": "Known pairs",
        "suspects.negatives": "Negative pairs",
        "suspects.random": "Random pairs",
        "suspects.reorder": "Another order",
        "suspects.repeats": "Repeated pairs",
        "campaign": "Campaign",
        "votes": "Imported votes",
        "duplicates": "Near duplicates",
    }
    which = "Entry"
    undo = "Undo: {name}"
    done = "{name} is undone."
    taken = plural(
        "{n} pair that nobody has judged leaves the queues.",
        "{n} pairs that nobody has judged leave the queues.",
        by="n",
    )
    judged = plural(
        "{n} pair is judged: its votes and labels stay.", "{n} pairs are judged: their votes and labels stay.", by="n"
    )
    votes = plural("{n} vote counts no more; it is kept.", "{n} votes count no more; they are kept.", by="n")
    duplicates = plural(
        "{n:,} decision about near duplicates holds no more.", "{n:,} decisions about near duplicates hold no more."
    )
