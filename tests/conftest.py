"""What all tests share: the same random examples on every machine, and no time limit on one of them."""

from hypothesis import settings

settings.register_profile("eds", deadline=None, max_examples=40, derandomize=True)
settings.load_profile("eds")
