"""``equilibrium``: plays a strategy solved as a zero-sum game, in which chance is part of playing.

- `classes`: hands up to the names of the suits. `tree`: the play as both seats see it.
- `strategy`: the tables. `files`: how they are kept. `packed`, `act`: how they are played.
- `agent`: the agent.
"""

from crib_agents.equilibrium.agent import Equilibrium
from crib_agents.equilibrium.files import Solved

__all__ = ["Equilibrium", "Solved"]
