"""Shared parts of the learning methods (`crib_training.methods`).

- `train`: the command `crib train`. `run`: a run of any method, from its folder to its signals.
- `deal_batch`, `deal_learners`: deals in which both seats learn, and the methods' shared parts.
- `deep_monte_carlo`: the games as deep Monte Carlo learns them.
- `curve`: strength during training, its table and picture, and several runs in one picture.
- `demo`: `make demo`.
"""
