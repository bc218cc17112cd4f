"""What makes the tables and weights that the agents read.

`crib tables` makes all of them, each from those before it, in the order of `__main__`; `crib
tables NAME` makes one, with settings of its own (``--help``).

- `two_hand`: cribs, outcomes of deals, habits of discarding, the play of the cards.
- `table_top`: the value of lines and of rounds.
"""
