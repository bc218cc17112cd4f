"""The tables of the games for three and four.

- `cribs`: the mean crib with a card of each rank.
- `winning`: the chance of winning from a score.
"""
