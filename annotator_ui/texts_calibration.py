"""Every text of an expert's calibration. Words in {braces} are filled in."""


class CALIBRATE:
    """An expert's calibration round."""

    title = "Practice"
    about = (
        "{campaign}: some pairs whose answer is known. After each you see what was expected, and why. They are "
        "not votes."
    )
    guideline = "Read this first: guideline"
    count = "Pair {place} of {size}"
    question = "Do the two show similar things, as the guideline means it?"
    similar, different, unsure = "Similar", "Not similar", "Unsure"
    right, wrong, either = "Right.", "Expected: {expected}.", "Either answer is right."
    yours = "You said: {given}."
    go_on = "Next pair"
    result = "See the result"
    passed_title = "That went well"
    failed_title = "One more round"
    share = "{right} of {counted} as expected; {needed} are needed."
    passed = "You are ready for the campaign's own pairs. From now on there is no feedback."
    failed = "Review the pairs below, read the guideline again, then take another round with mostly new pairs."
    begin = "Begin judging"
    again = "Take another round"
    looked = "All pairs of this round"
    none_title = "No practice needed"
    none = "Continue with the campaign from the first page."
    home = "To the first page"
