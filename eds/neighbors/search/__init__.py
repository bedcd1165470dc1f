"""Search engines, one file each: every module's class `Search` finds the candidates of some queries.

The constructor takes (vectors, sides, rules, similarity, blocking), and, where `approximate` is true, an effort;
`search(first, last, advance)` returns a shortlist whose `settle()` gives the lists of the queries first..last-1. An
engine only proposes candidates: rules, exact scores and order are those of every engine (`eds.neighbors.shortlist`).
"""
