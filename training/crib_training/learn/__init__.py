"""Agents that learn.

- `train`: the command `crib train`, by one method or another.
- `deep_monte_carlo`: self-play, and regression on returns; one algorithm for every game.
- `distill`, `labels`, `imitation`: what the expert, or search, expects of every card, as a net.
- `ppo`: MaskablePPO against an opponent.
- `learner`: nets, their optimizer, and the average of their weights.
- `curve`, `picture`, `training_progress`, `callback`: strength while it is learned, and progress.
- `curves`: the command `crib curves`, several runs in one picture.
- `networks`: what it makes of cards' bits and of the features of actions.
- `shaping`: rewards on the way for Table Top.
- `recipes`: a baseline for every environment, and the page that says how good each is.
- `demo`: the main job in one command, `make demo`.
"""
