"""Table Top.

- `position`: a round as one side knows it, in the form on which a search makes moves.
- `rounds`: what a round brings, as measured.
- `win`: the chance of winning, at the end of a round and within one.
- `win_table`: which of these tables a view is judged by.
"""
