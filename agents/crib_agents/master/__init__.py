"""``master``: combines the expert's value with the equilibrium's probability.

- `strategies`: the solved strategies by their rules, each loaded at its first use.
- `choose`: kernels: the choice by both.
- `agent`: the agent.
"""

from crib_agents.master.agent import Master

__all__ = ["Master"]
