"""What all tests share: the same random examples on every machine, no time limit on one of them, and no questions."""

import os

from hypothesis import settings

settings.register_profile("eds", deadline=None, max_examples=40, derandomize=True)
settings.register_profile("few", deadline=None, max_examples=10, derandomize=True)  # a second run, on pandas 2
settings.load_profile("eds")
os.environ["EDS_YES"] = "1"  # commands add judgements without asking; tests of the question take it away
