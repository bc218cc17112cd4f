"""Table Top.

- `position`: a round as one side knows it, in the form on which a search makes moves.
- `win`: the measured points of a round, and the probability of winning, at its end and within it.
- `win_table`: which of these tables values a view.
"""
