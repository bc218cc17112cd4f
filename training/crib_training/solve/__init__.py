"""`crib solve`: near-perfect play of a deal by counterfactual regret minimisation.

- `counts`: the states of a count, and how the pegging ends from each.
- `play`, `walks`: walks of hands down the public tree (`crib_agents.equilibrium.tree`);
  `endings`: where a walk ends.
- `ranges`: the other seat's possible hands, with card removal, and how a card splits them.
  `discard`: values of splits.
- `solver`: the iterations and their average. `refine`: the pegging again, by discards; `blend`: the
  refined pegging as the opponent sees it.
- `settings`, `run`: the command.
"""
