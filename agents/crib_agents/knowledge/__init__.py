"""Knowledge about cribbage that agents, solver, exploiter and evaluation share.

- `pegging`: hands by rank, the rules of pegging for search.
- `measured`: points of a two-hand deal, and all that `expert` knows by measurement.
- `winning`: the probability of winning from a score with two hands.
- `table_top`: a round in the form for search, points of a round, the probability of winning.
"""
