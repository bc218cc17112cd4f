"""The programs that compute the tables and weights of the agents.

`python -m research.tables` computes all of them in the order of `__main__`, each from those before
it; `python -m research.tables NAME` computes one, with its own settings (``--help``), which are the
arguments of the function of that name (`maker`).

With two hands: `discards` has cribs and the discards of each role, `rollouts` the points after a
card and the expert's choices, `deals` the points of a deal and of a hand, `reference_deals` deals
for AIVAT, `dealing` their shared code. `many_hand` and `table_top` have the tables of those games.
"""
