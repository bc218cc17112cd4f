"""What the agents know of the two-hand games.

- `crib_tables`: the mean crib of every pair discarded.
- `rollout_policy`: what a card played leads to, and which hands are kept.
- `deal_outcomes`: what a deal brings, for the chance of winning.
- `hand_pegging`: what a hand pegs.
- `discarded`: which pairs each role discards.
- `dealing`, `schell`, `files`: what these share.
"""
