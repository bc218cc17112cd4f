"""Knowledge about cribbage that agents, solver, exploiter and evaluation share.

- `pegging`: hands by rank, the rules of pegging for search.
- `deal_points`: points of a two-hand deal, and the measured tables of `expert`.
- `winning`: the probability of winning from a score with two hands.
- `rounds`: a Table Top round as a record for search, its points, the probability of winning.
"""
