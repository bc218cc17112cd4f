"""Knowledge about cribbage that agents, solver, exploiter and evaluation share.

- `two_hand.pegging`: hands by rank, the rules of pegging for search.
- `two_hand.measured`: points of a deal, and all that `expert` knows by measurement.
- `two_hand.winning`, `many_hand`: the probability of winning from a score.
- `table_top`: a round in the form for search, points of a round, the probability of winning.
"""
