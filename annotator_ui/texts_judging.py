"""Every text of the judging pages, passed to the page as data. Words in {braces} are filled in."""

from annotator_ui.translation import Messages, Texts, plural

ACTIONS = Messages("ACTIONS") | {
    "similar": "Similar",
    "different": "Not similar",
    "unsure": "Unsure",
    "undo": "Undo",
    "keep": "Keep the answer and go on",
    "flag": "Flag",
    "loupe": "Magnify",
    "flicker": "Alternate",
    "peek": "Closer",
    "zoomIn": "Zoom in",
    "zoomOut": "Zoom out",
    "zoomWhole": "Show the whole picture",
    "guide": "Guideline",
    "help": "Keys",
    "toggle": "Mark or unmark",
    "all": "Mark all",
    "invert": "Invert",
    "save": "Save and go on",
}
STATUS = Messages("STATUS") | {
    "saved": "All saved",
    "waiting": plural("{count} being saved", "{count} being saved", by="count"),
    "unkept": plural(
        "{count} being saved; this browser keeps nothing, so stay until all is saved",
        "{count} being saved; this browser keeps nothing, so stay until all is saved",
        by="count",
    ),
    "offline": plural("{count} waiting, offline since {time}", "{count} waiting, offline since {time}", by="count"),
    "offlineEmpty": "Offline since {time}",
    "signedOut": plural("{count} waiting, signed out", "{count} waiting, signed out", by="count"),
    "refused": "{count} not accepted",
}
PAGE = Messages("PAGE") | {
    "back": "Campaigns",
    "left": "{left} left of {total}",
    "remaining": "{time} left",
    "moment": "under a minute",
    "minutes": "{minutes} min",
    "hours": "{hours} h {minutes} min",
    "progress": "Judged so far",
    "query": "Reference",
    "candidate": "Candidate",
    "candidateNumber": "Candidate {number}",
    "question": "Are these two similar?",
    "questions": {"pair": "Are these two similar?", "grid": "Which of these are similar to the reference?"},
    "others": "Further pictures of {side}",
    "other": "Further picture {number} of {side}",
    "last": "Your last answers",
    "goTo": "Back to an answer: {answer}",
    "pageSaid": "{similar} of {count} similar",
    "queryPlace": "Query {place} of {count}",
    "pairPlace": "pair {pair} of {pairs}",
    "partPlace": "part {part} of {parts}",
    "oneByOne": "Now one by one: {at} of {count} pairs",
    "again": "Judged before",
    "aspects": "Why: aspects that count here",
    "note": "A note on this pair",
    "grades": ["Different", "Related", "Alike", "Nearly the same"],
    "quick": "That was quick: {count} in {seconds} s. Look again?",
    "password": "Choose a password to come back on another day; your link works only once.",
    "choosePassword": "Choose a password",
    "later": "Later",
    "lookAgain": "Look again",
    "allRight": "It is right as it is",
    "returnedPlace": "Shown again",
    "previousCandidate": "The candidate before",
    "nextCandidate": "The next candidate",
    "closePeek": "All candidates",
    "returned": "Shown again: you were unsure or flagged it",
    "before": "You said: {answer}. Answer again, or",
    "keep": "keep it",
    "loading": "Loading the pictures",
    "broken": "This picture cannot be shown",
    "brokenBody": "It is not counted. Try again, or flag it and go on.",
    "retry": "Try again",
    "skip": "Leave it for later",
    "answered": "{answer}. {left} left.",
    "next": "Next pair. {left} left.",
    "nextPage": plural(
        "Next page, {count} candidate. {left} left.", "Next page, {count} candidates. {left} left.", by="count"
    ),
    "undone": "Back to the pair before.",
    "nothingToUndo": "There is nothing before this.",
    "flagged": "Flagged. It comes back once, at the end.",
    "guidelineChanged": "The guideline has changed. Reload the page to continue with the new one; nothing is lost.",
    "rest": "You have judged for a while. Look at something far away for a minute; nothing is lost.",
    "restOk": "Go on",
    "close": "Close",
}
GRID = Messages("GRID") | {
    "similar": "Untouched means similar. Mark those that are not similar.",
    "different": "Untouched means not similar. Mark those that are similar.",
    "last": "Shift and click: mark the last one and go on.",
    "marks": "{count} of {total} marked",
    "below": plural(
        "{count} more below: it counts only when you have seen it",
        "{count} more below: they count only when you have seen them",
        by="count",
    ),
    "state": "{name}: {answer}",
    "columns": "Candidates",
}
DIALOGS = Messages("DIALOGS") | {
    "helpTitle": "Keys",
    "helpBody": "Choose a line, then press the new key. Your choice is kept in this browser.",
    "helpPress": "Press a key",
    "helpTaken": "This key is already used or not allowed.",
    "helpHold": "{action}, while it is held",
    "helpReset": "Reset keys",
    "helpGrid": "Arrows move, Space marks, numbers mark the candidate of that number. With Shift, Space or a click "
    "marks the last one and saves the page. Hold Space, the mouse or a finger on a candidate to see it large; wheel or "
    "pinch to zoom both pictures, Alt for one alone.",
    "helpPair": "One pair at a time",
    "helpPage": "A query with all its candidates",
    "helpChange": "Other keys can be chosen on the judging page: press {key} there.",
    "helpTouch": "Wheel, pinch or double click zooms both pictures, Alt one alone; drag, or Shift with an arrow, moves "
    "them. 1 to 4 show further pictures of the products. With a finger: swipe right for similar, left for not similar.",
    "guideTitle": "Guideline",
    "guideVersion": "Version {version}",
    "guideNew": "New",
    "guideSince": "Changed since version {since}: what is new is marked.",
    "guideGone": "No longer in it (version {version})",
    "noReason": "No reason is given.",
    "begin": "Begin",
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
STATES = Messages("STATES") | {
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
    "asideTitle": plural("{count} could not be shown", "{count} could not be shown", by="count"),
    "asideBody": "Everything else is judged. Try those again, or tell your lead.",
    "errorTitle": "The page cannot be shown",
    "errorBody": "A part of this page failed to load. Your judgements are kept in this browser. Reload it to continue.",
    "reload": "Reload",
    "refusedTitle": "{count} not accepted",
    "refusedBody": "The server rejected them, so they stay in this browser. Tell your lead its reason:",
}


class REFUSALS(Texts):
    """What the judging page's routes answer when they refuse; the page shows it as the server's reason."""

    unknown = "This campaign does not exist."
    panel = "You are not on the panel of this campaign."
    practice = "This campaign asks for no practice."
    other = "Another account is signed in in this browser now."
    large = "That was too much at once."
    pictures = "These pictures are not of this page."
    lead = "Only leads decide."


SCREEN = Messages("SCREEN") | {
    "pair": "Judge pairs",
    "grid": "Judge a grid",
    "practice": "Practice",
    "adjudicate": "Adjudicate",
    "none": "This campaign is not open to you",
    "home": "To your campaigns",
}

PRACTICE = Messages("PRACTICE") | {
    "title": "Practice · {campaign}",
    "place": "Practice pair {place} of {count}",
    "right": "Right: {given}.",
    "wrong": "You said {given}; expected: {expected}.",
    "either": "You said {given}; either answer is right.",
    "noReason": "No reason is noted for this pair; the guideline says what counts.",
    "next": "Next pair",
    "toResult": "See the result",
    "passedTitle": "That went well",
    "failedTitle": "One more round",
    "score": "{right} of {counted} as expected; {needed} % are needed.",
    "passed": "You are ready for the campaign's own pairs. From now on there is no feedback.",
    "failed": "Read the guideline again, then take another round with mostly new pairs.",
    "begin": "Begin judging",
    "again": "Take another round",
    "noneTitle": "No practice needed",
    "none": "Continue with the campaign from the first page.",
    "signedOut": "Sign in again to continue; what you answered is kept.",
}
ADJUDICATE = Messages("ADJUDICATE") | {
    "title": "Adjudicate · {campaign}",
    "campaign": "Campaign",
    "place": "{place} of {count} · {left} undecided",
    "kinds": {"all": "All", "votes": "Votes differ", "flagged": "Flagged", "unsure": "Unsure"},
    "undecided": "Only undecided",
    "votes": "Votes",
    "seconds": "{seconds} s",
    "decided": "Decided by {expert}: {answer}",
    "flagged": "{expert} flagged it: {reason}",
    "resolve": "Resolved",
    "askAgain": "Ask the expert again",
    "note": "Note on the decision",
    "open": "Leave open",
    "back": "Back",
    "forward": "Next",
    "noneTitle": "Nothing to decide",
    "none": "Experts agree so far, or every pair is decided. Choose another kind or campaign, or show the decided "
    "pairs.",
    "toCampaign": "To the campaign",
    "last": "Your last decisions",
}

ALL = (ACTIONS, STATUS, PAGE, GRID, DIALOGS, STATES, PRACTICE, ADJUDICATE)
