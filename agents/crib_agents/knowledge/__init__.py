"""Knowledge about cribbage that agents, solver, exploiter and evaluation share.

- `pegging`: hands by rank, the rules of pegging for search.
- `deal_points`: points of a two-hand deal, and all that `expert` knows by measurement.
- `winning`: the probability of winning from a score with two hands.
- `rounds`: of Table Top, a round in the form for search, its points, the probability of winning.
"""
