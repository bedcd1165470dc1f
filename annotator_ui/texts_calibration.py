"""Every text of an expert's calibration: plain text; words in {braces} are filled in."""


class CALIBRATE:
    """An expert's calibration round."""

    title = "Practice"
    about = (
        "{campaign}: some pairs whose answer is known. After each you see what was expected, and why. They are "
        "no votes."
    )
    guideline = "Read this first: guideline"
    count = "Pair {place} of {size}"
    question = "Do the two show similar things, as the guideline means it?"
    similar, different, unsure = "Similar", "Not similar", "Unsure"
    right, wrong, either = "Right.", "Expected was: {expected}.", "Either answer may stand here."
    yours = "You said: {given}."
    go_on = "Next pair"
    result = "See the result"
    passed_title = "That went well"
    failed_title = "One more round"
    share = "{right} of {counted} as expected; {needed} are needed."
    passed = "You are ready for the campaign's own pairs. From now on nobody tells you what was expected."
    failed = "Look through the pairs below, read the guideline again, then take another round: mostly other pairs."
    begin = "Begin judging"
    again = "Take another round"
    looked = "All pairs of this round"
    expected = "Expected"
    none_title = "No practice is asked of you"
    none = "Go on with the campaign from the first page."
    home = "To the first page"
