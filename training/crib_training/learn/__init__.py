"""Agents that learn.

- `train`: the command `crib train`, with one of several methods.
- `deep_monte_carlo`: self-play, and regression on returns; one algorithm for every game.
- `distill`, `labels`, `imitation`: networks that imitate the values of the expert.
- `ppo`: MaskablePPO against an opponent.
- `learner`: networks, their optimizer, and the average of their weights.
- `curve`, `picture`, `training_progress`, `callback`: strength during training, and progress.
- `curves`: the command `crib curves`, several runs in one picture.
- `networks`: the networks of MaskablePPO.
- `shaping`: shaped rewards for Table Top.
- `recipes`: a baseline for every environment, and the page of their strength.
- `demo`: training and evaluation in one command, `make demo`.
"""
