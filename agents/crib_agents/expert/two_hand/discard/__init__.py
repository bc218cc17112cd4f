"""Discarding.

- `crib`: what a pair brings in the crib, given what the other seat is likely to lay there.
- `ahead`: the value of a deal before its play, where a seat may go out soon.
- `keep`: every pair with what it brings, and `DiscardExpert`, which lays the best away.
"""
