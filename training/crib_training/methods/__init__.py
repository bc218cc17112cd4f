"""The methods of `crib train`: a file each, which reads from top to bottom.

A method is a module with ``Settings``, a checked dataclass whose documentation is its help, and
``Learner``, a `crib_training.learn.run.Learner`. Its name is that of the file.

- `deep_monte_carlo`: the values of actions by Monte Carlo, in every game; plays the best action.
  `monte_carlo`: the same by the benchmark's protocol. `monte_carlo_q`: on the observation.
- `ppo`: Stable-Baselines3's MaskablePPO against an opponent: its own loop and files, no `Learner`.
- `selfplay_ppo`, `vrpo`: PPO in both seats, by GAE or an action critic.
- `mmd`: magnetic mirror descent.
- `r_nad`: regularised Nash dynamics. `nfsp`: neural fictitious self-play.
- `deep_cfr`, `escher`: counterfactual regrets, from traversals or a critic of histories.
"""

from pkgutil import iter_modules

# The modules of the methods by name, found by their files: a new file is a new method.
METHODS = {name: f"{__name__}.{name}" for _, name, _ in iter_modules(__path__)}
