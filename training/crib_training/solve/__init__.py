"""`crib solve`: near-perfect play of a deal by counterfactual regret minimisation.

- `counts`: what the cards of a count still matter for, and how the play ends.
- `play`, `walks`: hands walked down the public tree (`crib_agents.equilibrium.tree`).
- `ranges`: what the other seat may hold, with card removal. `lay_away`: what splits are worth.
- `solver`: the iterations and their average. `run`: the command.
"""
