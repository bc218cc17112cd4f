"""`crib solve`: near-perfect play of a deal by counterfactual regret minimisation.

- `counts`: what the cards of a count still matter for, and how the play ends.
- `play`, `walks`: hands walked down the public tree (`crib_agents.equilibrium.tree`); `parts`,
  `endings`: what a card makes of a range, and where the walk ends.
- `ranges`: what the other seat may hold, with card removal. `discard`: what splits are worth.
- `solver`: the iterations and their average. `refine`: the play again, by what was discarded;
  `blend`: what that looks like to who does not know it. `starters`: a refinement's checkpoint.
- `settings`, `run`: the command.
"""
