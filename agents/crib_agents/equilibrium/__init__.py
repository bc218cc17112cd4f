"""``equilibrium``: plays a strategy solved as a zero-sum game, in which chance is part of playing.

- `classes`: hands up to the names of the suits. `tree`: the play as both seats see it.
- `strategy`: the tables, and what they say of a position.
"""
