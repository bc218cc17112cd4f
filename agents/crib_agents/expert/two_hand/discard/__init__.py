"""Discarding.

- `crib`: the mean crib of a pair, given what the other seat is likely to discard.
- `expected_win`: the value of a deal before its pegging, where a seat may go out soon.
- `expert`: the value of every pair, and `DiscardExpert`, which discards the best one.
"""
