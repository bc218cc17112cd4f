"""What the agents know of the two-hand games.

- `crib_tables`: the mean crib of every pair laid away.
- `reflex`: what a card played leads to, and which hands are kept.
- `deal_outcomes`: what a deal brings, for the chance of winning.
- `kept_play`: what a kept hand pegs.
- `laid_away`: which pairs each role lays away.
- `dealing`, `schell`, `files`: what these share.
"""
