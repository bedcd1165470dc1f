"""Every text of the pages on campaigns, guidelines and known pairs. Words in {braces} are filled in."""

from typing import ClassVar

from annotator_ui.translation import Texts, plural


class CAMPAIGNS(Texts):
    """Making, changing and closing campaigns; guidelines."""

    title = "Campaigns"
    about = "Which pairs a panel judges, how, and under which guideline."
    list_columns: ClassVar = {
        "name": "Campaign",
        "state": "State",
        "mode": "Mode",
        "items": "Pairs",
        "panel": "Experts",
        "progress": "Judged",
        "left": "Left",
        "flagged": "Flagged",
        "guideline": "Guideline",
        "mixed": "Mixed in",
        "created_at": "Since",
    }
    open_about = "Select a campaign to open it."
    new_title, guideline_title = "New campaign", "Guidelines"
    new_about = "Which pairs, which people, how carefully: three steps."
    guideline_about = "What similar means, in versions; with example pairs and a reason for each."
    table = "All campaigns"
    empty_title = "No campaign yet"
    empty_body = "A campaign asks a panel of experts about pairs, which come from the project's suspects."
    modes: ClassVar = {"pair": "pair", "grid": "grid"}
    grid = "grid, untouched: {polarity}"
    some_experts = "{per_pair} of {experts}"
    early, gold, repeats = "early stop", "gold {share}", "repeats {share}"

    no_suspects_title = "There are no pairs to judge"
    no_suspects = "Import pictures and make the pool first, under Project, Catalogue."
    name = "Name"
    name_help = "Experts see it. Do not mention models or ranks."
    origins = "Pairs from"
    origin_names: ClassVar = {"pool": "pool", "random": "random draw", "negative": "negatives"}
    origin_label = plural("{origin}: {count:,} pair", "{origin}: {count:,} pairs", by="count")
    limit = "Only whole queries with so many pairs altogether (0: all)"
    undecided = plural(
        "Only the {pairs:,} pair without a label", "Only the {pairs:,} pairs without a label", by="pairs"
    )
    undecided_help = "Leaves out what is decided already. Judge it again to have more votes on each label."
    labelled = (
        "{labelled:,} of {pairs:,} pairs have a label already. They keep it until this campaign is complete for them."
    )
    judged = (
        "{judged:,} of {pairs:,} pairs are judged, but have no label yet. Decide labels first to ask only the others."
    )
    panel = "Panel"
    panel_help = "Type a name that is new to invite somebody; the links are shown once the campaign is made."
    new_person = "{name} (will be invited)"
    per_pair = "Experts who judge each pair"
    per_pair_help = (
        "With fewer than all, pairs are dealt evenly, a query's page at a time, and every two experts share pairs. Who "
        "leaves the panel hands over the rest."
    )
    per_pair_all = "Every expert judges every pair."
    per_pair_some = "Each expert judges about {share} of the pairs; every two experts share pairs."
    per_pair_one = "Nobody judges a pair a second time: agreement cannot be measured, and slips stay."
    mode = "Shown as"
    mode_labels: ClassVar = {"pair": "One pair at a time", "grid": "A query with its candidates (grid)"}
    mode_help = (
        "Pair is safe. Grid takes fewer actions, where most candidates of a page are alike; it keeps its guards: a "
        "candidate counts only if it was on screen, known pairs of the other kind are mixed in, and a share is asked "
        "again one by one."
    )
    mode_unknown = (
        "One pair at a time is the default: nothing was judged both ways yet, so nothing shows that grids agree."
    )
    mode_known = (
        "Judged both ways so far: {both:,}; alike {alike} ({limits}); seconds per judgement: pair {pair:.1f}, grid "
        "{grid:.1f}."
    )
    mode_open = "One pair at a time stays the default until agreement is at least 90 %, at its lower limit."
    mode_agrees = "So grids agree with single pairs, and are the default."
    polarity = "An untouched candidate is"
    polarity_labels: ClassVar = {
        "similar": "similar (experts mark what is not)",
        "different": "not similar (experts mark what is)",
    }
    polarity_help = "As most pairs are: a careless page then does the least harm, and the fewest marks are needed."
    polarity_measured = "{share} of the {count:,} decided pairs of these origins are similar."
    polarity_unknown = (
        "Too few pairs of these origins are decided to say which is rarer. Choose, or judge 50 pairs first."
    )
    form_title = "What the page asks"
    form_question = "Question"
    form_question_help = "Stands above every pair. Empty: “Are these two similar?”"
    form_sides = ("Name of the left side", "Name of the right side")
    form_aspects = "Aspects that experts may name with an answer"
    form_suggested = ("shape", "colour", "pattern", "material", "detail", "occasion")
    form_grades = "Grades from 0 to 3 instead of yes and no"
    form_similar_from = "Similar from grade"
    form_notes = "Experts may write a note with an answer"
    form_save = "Change the page"
    form_saved = "The page of {campaign} asks otherwise from now on."
    step_pairs, step_people, step_quality = "1 · Pairs", "2 · People", "3 · Quality"
    pairs_chosen = plural(
        "{pairs:,} pairs of {queries:,} query.", "{pairs:,} pairs of {queries:,} queries.", by="queries"
    )
    not_invited = "{name} (not invited)"
    quality = "How carefully"
    qualities: ClassVar = {"light": "Light", "standard": "Standard", "strict": "Strict"}
    quality_abouts: ClassVar = {
        "light": "Few known pairs; asking stops once a majority is certain; no practice.",
        "standard": "Known pairs are hidden, some pairs come twice, a short practice round comes first.",
        "strict": "Twice as many known pairs and repeats, and a longer practice round with 90 % right.",
    }
    none_known = "No pair is known yet: none is hidden, nobody practises. Add known pairs, or examples to a guideline."
    details = "Details"
    preview_page = "The first page"
    cost_days, cost_days_about = "Days", "at the panel's pace of the last 7 days"
    made_without_practice = "It begins without practice: no known pair is left for it."
    gold_share = "Known pairs (gold), % of the pairs"
    gold_help = (
        "5 % where so many are known. In a random session, 10 to 20 % known positives tell what is missed: 15 %."
    )
    gold_usable: ClassVar = {
        None: plural(
            "{known:,} known pair can be hidden here: such as is not asked anyway and no guideline shows.",
            "{known:,} known pairs can be hidden here: such as are not asked anyway and no guideline shows.",
            by="known",
        ),
        "similar": plural(
            "{known:,} known pair can be hidden in this grid: not similar, so that nobody may leave "
            "it untouched, and of a query that it asks.",
            "{known:,} known pairs can be hidden in this grid: not similar, so that nobody may leave "
            "them untouched, and of a query that it asks.",
            by="known",
        ),
        "different": plural(
            "{known:,} known pair can be hidden in this grid: similar, so that nobody may leave "
            "it untouched, and of a query that it asks.",
            "{known:,} known pairs can be hidden in this grid: similar, so that nobody may leave "
            "them untouched, and of a query that it asks.",
            by="known",
        ),
    }
    gold_short = (
        "{wanted:,} known pairs would be needed. {usable} Add some under “Known pairs”, or choose a smaller share."
    )
    repeat_share = "Asked a second time, %"
    repeat_help = "Of a grid the second time is one by one: that is how grid and pair are held against each other."
    grid_guard = "A grid is always guarded against skimming: let a share be asked a second time, one by one."
    grid_gold_needed = "A grid is always guarded by known pairs, once there are such: mix a share of them in."
    grid_gold: ClassVar = {
        "similar": "Known pairs that are not similar are the second guard: mix some in once there are any.",
        "different": "Known similar pairs are the second guard: mix some in once there are any.",
    }
    stop = "Stop early: ask no more experts once a pair's majority is certain"
    control = "Control pairs that are never stopped early, % (agreement is computed on these)"
    calibration = "Calibration before the first session, pairs (0: none)"
    needed = "Right answers needed, %"
    guideline = "Guideline"
    guideline_none = "no text"
    guideline_preview = "Read this guideline"
    seed = "Random seed of the order"
    cost = "What it costs"
    cost_measured = "Measured: {seconds:.1f} s per judgement."
    cost_assumed = "Assumed: {seconds:.3g} s per judgement (budget.seconds in eds.toml)."
    cost_pairs, cost_judgements, cost_hours, cost_money = "Pairs to judge", "Judgements", "Hours of judging", "Pay"
    cost_pairs_about = "of these, {extra:,} gold and repeats"
    cost_judgements_about = plural("{experts} expert", "{experts} experts", by="experts")
    cost_judgements_some = "{per_pair} of {experts} experts on each pair"
    cost_saved_about = "{saved} expected saving by early stop"
    cost_hours_about = "{each:.1f} per expert, at {seconds:.1f} s per pair"
    rate = "Expected share of similar pairs, % (for early stop)"
    make = "Create campaign"
    made = plural(
        "{name} is created: {pairs:,} pairs for {experts} expert.",
        "{name} is created: {pairs:,} pairs for {experts} experts.",
        by="experts",
    )

    pick_title = "Choose pairs by their pictures"
    pick_about = "Choose what each pair shows, and say why: practice shows the reason after the expert's answer."
    pick_from = "From"
    pick_sources: ClassVar = {
        "decided": "Decided by leads",
        "disputed": "Disputed",
        "similar": "Labelled similar",
        "different": "Labelled not similar",
        "pool": "The pool",
    }
    pick_category, pick_every, pick_search = "Category", "all categories", "Search"
    pick_search_help = "Part of an id, a title, a brand or a category of one of the pictures."
    pick_like, pick_none = "Similar to", "any picture"
    pick_page = "Page of {pages}"
    pick_empty = "There are no such pairs."
    pick_answer: ClassVar = {"": "–", "positive": "Similar", "negative": "Not similar", "border": "Borderline"}
    pick_answer_label, pick_reason = "Pair {number} shows", "Why"
    pick_gold, pick_examples = (
        plural("Add {count} as a known pair", "Add {count} as known pairs", by="count"),
        plural("Add {count} as an example", "Add {count} as examples", by="count"),
    )
    pick_added = plural(
        "{count} pair is among the examples of the new version below.",
        "{count} pairs are among the examples of the new version below.",
        by="count",
    )
    known_title = "Known pairs (gold)"
    known_about = (
        "Pairs whose answer is certain. They are hidden among others to measure attention, and asked in calibration. A "
        "grid hides only what must be marked in it."
    )
    known_none_title = "No known pairs yet"
    known_none = "Type or paste some below, or add what leads have decided."
    known_counts = ("Known to be similar", "Known not to be similar")
    known_queries = plural("of {queries:,} query", "of {queries:,} queries", by="queries")
    known_rows = "One pair per row: query, candidate, 1 (similar) or 0 (not)"
    known_example = "query_id,candidate_id,value"
    known_add = "Add these pairs"
    known_decided = plural("Add {count:,} decision of leads", "Add {count:,} decisions of leads", by="count")
    known_added = plural("{new:,} known pair is new.", "{new:,} known pairs are new.", by="new")
    known_unread = "Every row needs a query, a candidate and a value"

    versions = "Guidelines so far"
    version_columns: ClassVar = {
        "version": "Version",
        "created_at": "Made",
        "created_by": "By",
        "examples": "Examples",
        "campaigns": "Campaigns",
        "labels": "Judgements under it",
    }
    no_versions_title = "No guideline yet"
    no_versions = "Write below what similar means here, with examples. A saved version never changes."
    start_from = "Start from"
    blank = "an empty page"
    version = "Name of the new version"
    language = "Language of the text"
    content = "Text (headings #, lists -, **bold**, *italic*)"
    examples = "Example pairs"
    examples_help = (
        "An image's id as in the catalogue. Borderline, leave the answer empty where either is right. "
        "Examples also serve for calibration."
    )
    columns = ("Query", "Candidate", "Kind", "Answer", "Why")
    kinds: ClassVar = {"positive": "Similar", "negative": "Not similar", "border": "Borderline"}
    preview = "As experts see it"
    save = "Save this version"
    saved = "Guideline {version} is saved and final; put it in force under Settings of a campaign."

    change = "Guideline in force"
    enforce = "Put in force"
    enforced = "{campaign} now uses guideline {version}."
    more_experts = "Add experts to the panel"
    join = "Add to the panel"
    joined = "{names} now judge {campaign}, too."
    leaver = "Take an expert off the panel"
    leave_none = "Nobody is on the panel."
    leave_hands_over = plural(
        "The others get the {left:,} task that {name} has left; nobody is asked a pair twice. The votes stay.",
        "The others get the {left:,} tasks that {name} has left; nobody is asked a pair twice. The votes stay.",
        by="left",
    )
    leave_shrinks = plural(
        "{name} is asked no more; {left:,} pair is decided without. The votes stay.",
        "{name} is asked no more; {left:,} pairs are decided without. The votes stay.",
        by="left",
    )
    leave = "Take off the panel:"
    left_panel = "{name} is off the panel of {campaign}."
    set_calibration = "Set calibration"
    calibration_set = plural(
        "{campaign} now calibrates with {pairs} pair.", "{campaign} now calibrates with {pairs} pairs.", by="pairs"
    )
    closing = "A closed campaign hands out no more pairs; its judgements stay, also those still on their way."
    confirm = "Yes, close {campaign}"
    close = "Close the campaign"
    closed = "{campaign} is closed."
    is_closed = "This campaign is closed."
