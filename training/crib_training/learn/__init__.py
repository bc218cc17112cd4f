"""Agents that learn.

- `train`: the command `crib train`, by one method or another.
- `deep_monte_carlo`: self-play, and regression on what followed; every game by one loop.
- `teach`, `labels`, `imitation`: a net taught what the expert, or search, expects of every card.
- `ppo`: MaskablePPO against an opponent.
- `curve`, `picture`, `display`, `watch`: strength while it is learned, and what people watch.
- `curves`: the command `crib curves`, several runs in one picture.
- `networks`: what it makes of cards' bits and of the features of actions.
- `shaping`: rewards on the way for Table Top.
- `recipes`: a baseline for every environment, and the page that says how good each is.
- `demo`: the main job in one command, `make demo`.
"""
