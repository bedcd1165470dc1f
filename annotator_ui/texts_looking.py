"""Every text of Look around: search, map, near duplicates, pair. Words in {braces} are filled in."""

from typing import ClassVar

from annotator_ui.translation import Texts, plural


class LOOKING(Texts):
    """The page, and what its views share."""

    title = "Look around"
    about = "What the models find, where images lie, and which look alike. Experts do not see this page."
    view = "View"
    views: ClassVar = {"search": "Search", "map": "Map", "duplicates": "Near duplicates", "pair": "Who proposed a pair"}
    no_images_title = "No pictures yet"
    no_images = "Import pictures on the page Catalogue, or with eds images scan."
    no_models_title = "No model has vectors yet"
    no_models = "Compute them on the page Catalogue, or with eds embeddings compute -m MODEL."
    to_catalogue = "Open Catalogue"
    one_model = "One model only: add another to see where models differ."
    models, model, every = "Models", "Model", "All models"
    labels: ClassVar = {
        "similar": "similar",
        "different": "not similar",
        "not judged": "not judged",
        "same product": "same product",
    }


class SEARCH(Texts):
    """Search by picture or text."""

    by = "Search by"
    ways: ClassVar = {"catalogue": "A picture of the catalogue", "upload": "Your own picture", "text": "Words"}
    find = "Part of an image id, product or category"
    find_help = "Without words, a sample of the catalogue is shown."
    none_found = "No image has these words."
    choose = "Search by this one"
    text = "Describe what to find"
    text_example = "a red dress with long sleeves"
    go = "Search"
    k = "Images of each model"
    upload = "Choose a picture, or drop it here"
    upload_about = "Up to 10 MB and 40 million pixels. It is not added to the catalogue, and nobody else sees it."
    sending = "Sending …"
    large = "The picture has more than 10 MB. Choose a smaller one."
    unreadable = "This file is not a picture that can be read, or it has more than 40 million pixels."
    busy = "Too many pictures at once. Try again in a few seconds."
    failed = "The picture did not arrive. Check the connection, and try again."
    gone = "This picture is not here any more. Choose it again."
    query = "Query"
    rank = "{rank}. {score}"
    found_by = plural("found by {n:,} model", "found by {n:,} models")
    only_here = "only this model"
    why = "Who proposed it?"
    skipped = "Left out: {model}. {reason}"
    wait = "The models read the query. The first time this takes some seconds."
    strip = "What {model} finds"


class MAP(Texts):
    """The map of the catalogue."""

    method = "Layout"
    methods: ClassVar = {"pca": "PCA", "umap": "UMAP"}
    colour = "Colour"
    colours: ClassVar = {"category": "Category", "cluster": "Cluster", "label": "Label"}
    clusters = "Clusters"
    explained = "{images:,} images; the map shows {share:.0%} of their variance."
    images = "{images:,} images."
    umap_wait = "UMAP takes a minute or more for a large catalogue. The layout is kept."
    umap_start = "Compute the UMAP layout"
    umap_steps: ClassVar = {"map_images": "Laying out the images"}
    others = plural("{n:,} more group", "{n:,} more groups")
    no_category = "no category"
    cluster = "Cluster {n}"
    canvas = (
        "Map of the catalogue. Arrow keys move it, plus and minus enlarge and reduce it, 0 shows all. A group can also "
        "be chosen below, without the lasso."
    )
    loading = "Loading the map …"
    failed = "The map cannot be shown."
    move, lasso, closer, away, fit = "Move", "Lasso", "Closer", "Farther", "Show all"
    group = "Or choose a group"
    group_none = "None"
    how = "Draw around images with the lasso (or with the shift key held), or click a point."
    chosen = plural("{n:,} image chosen", "{n:,} images chosen")
    chosen_some = "The first {shown:,} are shown."
    search = "Search by it"
    pairs = "Pairs to judge"
    partners = "Compare the chosen images with"
    partner_names: ClassVar = {"lists": "what the models find for them", "each-other": "each other"}
    k = "Candidates of each model"
    price = "{added:,} of {pairs:,} pairs are new: {cost}."
    add = plural("Add {n:,} pair to the pool", "Add {n:,} pairs to the pool")
    added = plural("{n:,} pair was added to the pool.", "{n:,} pairs were added to the pool.")
    nothing_new = "All these pairs are in the pool already."
    campaign = "Or a new campaign with these pairs"
    campaign_name = "Name of the campaign"
    panel = "Experts"
    no_experts = "No expert has an account yet: invite one on the page Experts."
    campaign_price = "{judgements:,} judgements by {experts:,} experts, {hours:,.1f} hours ({seconds:.1f} s a pair)."
    create = plural("Create a campaign of {n:,} pair", "Create a campaign of {n:,} pairs")
    created = "{name} is created: {pairs:,} pairs for {experts:,} experts."


class DUPLICATES(Texts):
    """Near duplicates."""

    none_title = "No images look alike"
    none = "The last search found no near duplicates."
    not_searched = "This catalogue was not searched for near duplicates yet. It takes about a minute for 5,000 images."
    search = "Search near duplicates"
    steps: ClassVar = {"find_near_duplicates": "Search near duplicates"}
    counts = "{pairs:,} pairs look alike, {open:,} without a decision."
    about = (
        "Merge gives both images one product. Drop leaves one image out; its labels are kept. Later scans and imports "
        "obey, and the page Journal takes a decision back."
    )
    every = "Show decided pairs, too"
    all_decided = "Every pair has a decision."
    page = "Page of {pages:,}"
    bits = plural("{n} of 64 bits apart", "{n} of 64 bits apart")
    same_product = "one product already"
    left, right = "Left", "Right"
    decision = "Decision for pair {number}"
    decisions: ClassVar = {
        "": "No decision yet",
        "keep": "Keep both",
        "merge": "Merge: one product",
        "drop-right": "Drop the right one",
        "drop-left": "Drop the left one",
    }
    decided: ClassVar = {"keep": "Kept", "merge": "Merged", "drop": "Right one dropped"}
    decided_by = "{decision} by {name}"
    preview = (
        "{dropped:,} images will leave the catalogue, {merged:,} will have another product. Bring the lists up to date "
        "afterwards."
    )
    nothing_changes = "The catalogue stays as it is."
    apply = plural("Record {n:,} decision", "Record {n:,} decisions")
    recorded = plural("{n:,} decision is recorded.", "{n:,} decisions are recorded.")


class PAIR(Texts):
    """Who proposed a pair."""

    query, candidate = "Query", "Candidate"
    help = "An image id of the catalogue."
    none = "Name two images, or follow a link below a picture of a search."
    state = "{label}; {votes_for:,} for, {votes_against:,} against."
    chosen = "Among the suspects as: {origins}."
    not_chosen = "Not among the suspects: nobody is asked about this pair."
    origins: ClassVar = {
        "pool": "pool",
        "random": "random pair",
        "negative": "sampled negative",
        "gold": "known pair",
        "repeat": "repeat",
    }
    table = "What each model says of the pair"
    heads: ClassVar = {
        "model": "Model",
        "rank": "Rank",
        "score": "Score",
        "listed": "Candidates listed",
        "proposed": "Proposed it",
    }
    yes = "yes"
    not_listed = "Without a rank, the candidate is not in the model's list."
    no_lists = "No model has lists yet: eds neighbors mine."
