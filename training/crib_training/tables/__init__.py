"""The programs that compute the tables and weights of the agents.

`crib tables` computes all of them in the order of `__main__`, each from those before it; `crib
tables NAME` computes one, with its own settings (``--help``).

- `two_hand`: cribs, outcomes of deals, discard rates, pegging.
- `table_top`: the value of lines and of rounds.
"""
