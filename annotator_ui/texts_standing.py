"""Texts of the page that says where the work stands, of draws by a design, and of the promise of recall."""

from typing import ClassVar

from annotator_ui.translation import Texts


class STANDING(Texts):
    """What is known, how surely, and what more work would show."""

    title = "Where do we stand?"
    about = "What the labels so far say, how surely, and what more of them would show."
    none_title = "Nothing is decided yet"
    none = "Have pairs judged and decided first; then this page says what is known."
    p = "p, similar pairs of all"
    p_by_draws = "p, by random pairs alone"
    differ = (
        "Similar pairs in all are estimated from the pool's labels and the random pairs outside it, p from random "
        "pairs alone: the two can differ."
    )
    pool_rate = "p_k of the judged pool"
    positives = "Similar pairs in all"
    recall = "The pool holds"
    not_known = "not known"
    at_every_look = "{limits}; at every look {always}"
    labels = "{labels:,} pairs are decided. Universe: {universe}."
    models = "Models"
    model_columns: ClassVar = {
        "model": "Model",
        "proposed": "Proposed",
        "judged": "Judged",
        "precision": "P@k",
        "precision_low": "P@k from",
        "precision_high": "P@k to",
        "auc": "ROC-AUC",
        "auc_low": "AUC from",
        "auc_high": "AUC to",
    }
    models_hidden = "Models are hidden while you judge: knowing which do well could bias your judgements."
    differences = "What tells models apart"
    more = "What more random pairs would show"
    more_columns: ClassVar = {
        "further": "Further pairs",
        "hours": "Hours",
        "p_width": "Width of p",
        "recall_width": "Width of the pool's recall",
    }
    width = "Width of the interval of the pool's recall"
    width_alt = "The interval of the pool's recall against hours: from {first} now to {last} after {hours:,.1f} hours."
    hours = "hours"


class PROMISE(Texts):
    """How deep a pool must be judged."""

    title = "A promise of recall"
    about = (
        "How deep to judge so that the pool surely holds a share of all similar pairs, and its price. "
        "The confidence is that of one look."
    )
    share = "Share of the similar pairs, %"
    confidence = "Confidence, %"
    depth = "Depth of the pool"
    depth_about = "now {now}"
    none = "none"
    needs = "Nothing is decided yet; a promise rests on decided labels."
    recall, recall_about = "Holds, estimated", "surely {low}"
    price, price_about = "Price, hours", "{pairs:,} pairs, {judgements:,} judgements"
    kept = "all of it is judged"


class DRAWS(Texts):
    """Random pairs by a design."""

    title = "Draw random pairs"
    about = "Random pairs say how many similar pairs there are in all, and how many of them the pool holds."
    count = "Pairs"
    design = "Design"
    design_help = "By default weighted once 200 labels are decided: each then tells as much as several uniform ones."
    usual = "what serves best now"
    designs: ClassVar = {
        "weighted": "weighted: where a label tells most",
        "strata": "strata: near the pool, and the rest",
        "uniform": "uniform: all alike",
    }
    price = (
        "At most {judgements:,} judgements of {experts:,} experts, {hours:,.1f} hours; labelled pairs are not asked."
    )
    draw = "Draw"
    drawn = "{n:,} random pairs are drawn, {design}: {price}. Choose origin random to have them judged."


class VOTES(Texts):
    """Adaptive campaigns."""

    adaptive = "Adaptive: ask further experts only where the label is unsure"
    adaptive_help = (
        "Two experts until something is known of a pair, one where labels so far and the answer leave no doubt, all "
        "where answers differ. Control pairs are judged by all."
    )
    saved = "{saved} expected saving by adaptive asking"
    short = "adaptive"
    title = "Votes"
    about = "How many experts each pair needs follows from the labels that are decided. Learn it again now and then."
    again = "Learn again"
