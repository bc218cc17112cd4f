"""The programs that compute the tables and weights of the agents.

`python -m research.tables` computes all of them in the order of `__main__`, each from those before
it; `python -m research.tables NAME` computes one, with the arguments of the function of that name
as settings (``--help``, `maker`).

For two hands: `discards` makes cribs and the discards of each role, `rollouts` the rollout policy
and players' choices, `deals` the points of a deal and of a hand, `endgame*` the end of a game,
`reference_deals` deals for AIVAT; `dealing` is their shared code. `many_hand` and `table_top` make
the tables of those games.
"""
