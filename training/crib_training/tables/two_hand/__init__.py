"""The tables of the two-hand games.

- `crib_tables`: the mean crib of every pair discarded.
- `rollout_policy`: the points after a card, and the hands that players keep.
- `deal_outcomes`: the points of a deal, for the probability of winning.
- `hand_pegging`: the pegging of a hand.
- `discarded`: the pairs that each role discards.
- `choices`: the expert's choices in the pegging. `reference_deals`: deals for AIVAT.
- `dealing`, `schell`: shared code.
"""
