"""Knowledge about cribbage that agents, solver, exploiter and evaluation share.

- `two_hand`: hands by rank, the rules of pegging for search, points of a deal, probability of
  winning.
- `many_hand`: probability of winning from the scores.
- `table_top`: a round in the form for search, points of a round, probability of winning.
"""
