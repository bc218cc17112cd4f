"""Pegging.

- `rollout_policy`: the value of a card by tables, without search.
- `belief`: what the other seat may hold, and how likely each holding is.
- `show`: what the counts after the pegging will bring.
- `search`: the value of a card over all the other seat may hold.
- `expert`: `PeggingExpert`, which plays the best.
"""
