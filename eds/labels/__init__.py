"""The label store: every judgement is kept, for ever, under many hands at once. See README.md."""
