"""Table Top.

- `position`: a round as one side knows it, in the form on which a search makes moves.
- `rounds`: the measured points of a round.
- `win`: the probability of winning, at the end of a round and within one.
- `win_table`: which of these tables values a view.
"""
