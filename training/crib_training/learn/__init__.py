"""Agents that learn.

- `ppo`: MaskablePPO against an opponent, the command `crib train`.
- `networks`: what it makes of cards' bits and of the features of actions.
- `shaping`: rewards on the way for Table Top.
- `recipes`: a baseline for every environment, and the page that says how good each is.
- `demo`: the main job in one command, `make demo`.
"""
