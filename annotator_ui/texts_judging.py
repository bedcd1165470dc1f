"""Every text of the judging pages, passed to the page as data. Words in {braces} are filled in."""

from typing import Any

Texts = dict[str, Any]

ACTIONS: Texts = {
    "similar": "Similar",
    "different": "Not similar",
    "unsure": "Unsure",
    "undo": "Undo",
    "keep": "Keep the answer and go on",
    "flag": "Flag",
    "loupe": "Magnify",
    "flicker": "Alternate",
    "guide": "Guideline",
    "help": "Keys",
    "toggle": "Mark or unmark",
    "all": "Mark all",
    "invert": "Invert",
    "save": "Save and go on",
}
STATUS: Texts = {
    "saved": "All saved",
    "waiting": "{count} being saved",
    "unkept": "{count} being saved; this browser keeps nothing, so stay until all is saved",
    "offline": "{count} waiting, offline since {time}",
    "offlineEmpty": "Offline since {time}",
    "signedOut": "{count} waiting, signed out",
    "refused": "{count} not accepted",
}
PAGE: Texts = {
    "back": "Campaigns",
    "left": "{left} left of {total}",
    "pace": "{pace} per hour",
    "remaining": "{time} left",
    "moment": "under a minute",
    "minutes": "{minutes} min",
    "hours": "{hours} h {minutes} min",
    "progress": "Judged so far",
    "query": "Query",
    "candidate": "Candidate",
    "candidateNumber": "Candidate {number}",
    "question": "Are these two similar?",
    "returned": "Shown again: you were unsure or flagged it",
    "before": "You said: {answer}. Answer again, or",
    "keep": "keep it ({key})",
    "loading": "Loading the pictures",
    "broken": "This picture cannot be shown",
    "brokenBody": "It is not counted. Try again, or flag it and go on.",
    "retry": "Try again",
    "skip": "Leave it for later",
    "answered": "{answer}. {left} left.",
    "next": "Next pair. {left} left.",
    "nextPage": "Next page, {count} candidates. {left} left.",
    "undone": "Back to the pair before.",
    "nothingToUndo": "There is nothing before this.",
    "flagged": "Flagged. It comes back once, at the end.",
    "guidelineChanged": "The guideline has changed. Reload the page to continue with the new one; nothing is lost.",
    "rest": "You have judged for a while. Look at something far away for a minute; nothing is lost.",
    "restOk": "Go on",
    "close": "Close",
}
GRID: Texts = {
    "similar": "Untouched means similar. Mark those that are not similar.",
    "different": "Untouched means not similar. Mark those that are similar.",
    "last": "Shift and click: mark the last one and go on.",
    "marks": "{count} of {total} marked",
    "below": "{count} more below: they count only when you have seen them",
    "state": "{name}: {answer}",
    "columns": "Candidates",
}
DIALOGS: Texts = {
    "helpTitle": "Keys",
    "helpBody": "Choose a line, then press the new key. Your choice is kept in this browser.",
    "helpPress": "Press a key",
    "helpTaken": "This key is already used or not allowed.",
    "helpHeld": ["loupe", "flicker"],
    "helpHold": "{action}, while it is held",
    "helpReset": "Reset keys",
    "helpGrid": "Arrows move, Space marks, numbers mark the candidate of that number. "
    "With Shift, Space or a click marks the last one and saves the page.",
    "helpTouch": "With a finger: swipe right for similar, left for not similar.",
    "guideTitle": "Guideline",
    "guideVersion": "Version {version}",
    "guideNone": "The lead has not written a guideline yet.",
    "positive": "Similar",
    "negative": "Not similar",
    "border": "Borderline",
    "flagTitle": "Flag this pair",
    "flagTitleGrid": "Flag candidate {number}",
    "flagBody": "Say what is wrong. The pair is set aside and comes back once, at the end.",
    "flagReasons": ["A picture is broken or empty", "Several objects: which one is meant?", "The same picture twice"],
    "flagReason": "Reason",
    "flagSend": "Flag and go on",
}
STATES: Texts = {
    "loadingTitle": "One moment",
    "loadingBody": "Loading the next pairs.",
    "aheadTitle": "You are ahead of the network",
    "aheadBody": "All loaded pairs are judged and kept in this browser. It continues by itself.",
    "unreachedTitle": "The server cannot be reached",
    "unreachedBody": "Nothing is loaded yet. It continues by itself once the network is back; what you "
    "judged before is kept in this browser.",
    "finishedTitle": "All done. Thank you!",
    "finishedBody": "You have judged all pairs of this campaign. The next one appears in your list of campaigns.",
    "emptyTitle": "Nothing to judge here yet",
    "emptyBody": "The lead has not added pairs to this campaign.",
    "closedTitle": "This campaign is closed",
    "closedBody": "The lead has closed it. Your judgements are saved. Thank you!",
    "again": "Check again",
    "home": "To the campaigns",
    "signedOutTitle": "You are signed out",
    "signedOutBody": "Sign in again to continue. Your judgements are kept in this browser: {count} waiting.",
    "signIn": "Sign in",
    "standbyTitle": "Active in another tab or on another device",
    "standbyBody": "Only one of them shows pairs at a time. What you judged here is saved and sent.",
    "standbyButton": "Continue here",
    "deniedTitle": "This campaign is not open to you",
    "deniedBody": "You are not, or no longer, on its panel. Your judgements are saved.",
    "asideTitle": "{count} could not be shown",
    "asideBody": "Everything else is judged. Try those again, or tell your lead.",
    "errorTitle": "The page cannot be shown",
    "errorBody": "A part of this page failed to load. Your judgements are kept in this browser. Reload it to continue.",
    "reload": "Reload",
    "refusedTitle": "{count} not accepted",
    "refusedBody": "The server rejected them, so they stay in this browser. Tell your lead its reason:",
}

SCREEN = {
    "pair": "Judge pairs",
    "grid": "Judge a grid",
    "none": "This campaign is not open to you",
    "home": "To your campaigns",
}

ALL: Texts = {
    "actions": ACTIONS,
    "status": STATUS,
    "page": PAGE,
    "grid": GRID,
    "dialogs": DIALOGS,
    "states": STATES,
}


class ADJUDICATE:
    """The lead's decisions."""

    title = "Adjudicate"
    about = "Your decision is kept beside the experts' votes, which do not change. The last decision counts."
    undecided = "Only undecided pairs"
    none_title = "Nothing left"
    none_body = "Every pair of this kind is decided. Choose another kind, or show the decided pairs."
    place = "Pair {place} of {count}"
    back, forward = "Back", "Next"
    similar, different, open = "Similar", "Not similar", "Withdraw the decision"
    note = "Note on the decision"
    decided = "{expert} decided: {answer}. {note}"
    done = "Decided: {answer}."
    taken_back = "The decision was withdrawn."
    resolve, again = "Mark as resolved", "Ask the expert again"
    resolved = "The flag is resolved."
    flagged = "{expert} flagged it: {reason}"
    votes = "Votes"
