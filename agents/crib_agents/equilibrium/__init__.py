"""``equilibrium``: plays the mixed strategy that solves a deal as a zero-sum game.

- `classes`: hands up to the names of the suits. `tree`: the public tree of the pegging.
- `strategy`: the tables. `files`: their files. `packed`, `act`: how kernels play them.
- `agent`: the agent.
"""

from crib_agents.equilibrium.agent import Equilibrium
from crib_agents.equilibrium.files import Solved

__all__ = ["Equilibrium", "Solved"]
