"""The programs that make the tables and weights of the agents.

`crib tables` makes all of them, each from those before it, in the order of `__main__`; `crib tables
NAME` makes one, with its own settings (``--help``).

- `two_hand`: cribs, outcomes of deals, discard rates, pegging.
- `table_top`: the value of lines and of rounds.
"""
