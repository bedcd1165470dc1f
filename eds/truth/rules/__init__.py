"""Voting rules, one file each: how the votes of a panel become a label.

A rule is a function `decide(votes, panel)`: it gets the votes and the panel size of each pair, and returns the status
and the label of each pair (two int8 arrays, as `eds.truth.majority.tally`). `majority` is the benchmark's rule, the
others are second opinions.
"""
