"""`python -m research.solve`: near-perfect play of a deal by counterfactual regret minimisation.

- `counts`: the states of a count, and how the pegging ends from each.
- `pegging`: walks of hands down the public tree (`crib_agents.equilibrium.public_tree`).
- `ranges`: the other seat's possible hands, with card removal, and how a card splits them.
- `solver`: values of splits, the iterations and their average. The command is in `__main__`.
"""
