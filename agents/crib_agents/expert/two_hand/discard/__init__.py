"""Discarding.

- `crib`: what a pair brings in the crib, given what the other seat is likely to discard.
- `expected_win`: the value of a deal before its pegging, where a seat may go out soon.
- `expert`: every pair with what it brings, and `DiscardExpert`, which discards the best.
"""
