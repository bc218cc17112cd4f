"""Deep RL for the benchmark: self-play in a deal, measured by exact exploitability.

Each method is one file that reads top to bottom; they share games, network, logging and evaluation.

- `ppo`: proximal policy optimisation with entropy.
- `mmd`: magnetic mirror descent, PPO with a reverse KL to a magnet.
- `vrpo`: expected-SARSA advantages of a critic of actions in place of GAE.
- `nfsp`: neural fictitious self-play.
- `escher`: counterfactual regrets from a critic of histories.
- `games`: a batch of deals in which both seats learn. `policy`: the network that acts.
- `rollout`: what a policy did in both seats. `memory`: decisions of long ago.
- `run`: the folder of a run: checkpoints, the curve, what TensorBoard reads. `tensors`: of a
  checkpoint.
"""
