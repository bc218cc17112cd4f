"""Self-play baselines of the benchmark: five-card deals for points, measured by exploitability.

Each method is one file that reads from top to bottom: settings, networks, a rollout of whole deals,
the loss. They share `run`: what is written down, resumed and measured.

- `ppo`: PPO with entropy.
- `mmd`: magnetic mirror descent: the loss of `ppo` with a reverse KL to a magnet.
"""
