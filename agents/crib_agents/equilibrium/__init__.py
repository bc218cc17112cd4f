"""``equilibrium``: plays the mixed strategy that solves a deal as a zero-sum game.

- `classes`: hands up to the names of the suits. `tree`: the public tree of the pegging.
- `strategy`: the tables and their files. `agent`: how kernels play them, and the agent.
"""

from crib_agents.equilibrium.agent import Equilibrium
from crib_agents.equilibrium.strategy import Solved

__all__ = ["Equilibrium", "Solved"]
