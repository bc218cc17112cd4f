"""``master``: the equilibrium's habits and the expert's judgement, weighed against each other.

- `strategies`: the solved strategies by their rules, each read when it is first met.
- `choose`: kernels: what is chosen where both have their say.
- `agent`: the agent.
"""

from crib_agents.master.agent import Master

__all__ = ["Master"]
