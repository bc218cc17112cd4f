"""Deep RL for the benchmark: self-play in a deal, measured by exact exploitability.

Each method is one file that reads from top to bottom. The methods share games, network, logging and
evaluation.

- `ppo`: proximal policy optimisation with entropy.
- `mmd`: magnetic mirror descent, PPO with a reverse KL to a magnet.
- `mmd_tree`: `mmd` with exact values of every action. `trees`: these values.
- `vrpo`: PPO with expected-SARSA advantages of an action critic instead of GAE.
- `nfsp`: neural fictitious self-play.
- `r_nad`: regularised Nash dynamics, by NeuRD towards a regularising policy.
- `deep_cfr`: counterfactual regrets from traversals of every action of a seat.
- `escher`: counterfactual regrets from a critic of histories.
- `monte_carlo_q`: the observation's values of actions by Monte Carlo returns, and their softmax.
- `monte_carlo`: values by deep Monte Carlo, greedy or by their softmax.
- `games`: a batch of deals in which both seats learn. `policy`: the network that acts.
- `rollout`: a policy's decisions in both seats. `memory`: stored older decisions.
- `settings`, `learner`: what all methods share. `actor_critic`: what those by gradients share.
- `run`: the folder of a run: checkpoints, the curve, TensorBoard events.
"""
