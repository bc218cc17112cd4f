"""``learned``: networks trained by self-play (`crib train`) that predict points still to come.

- `agent`: the agent. `weights`: the files it reads. `network`: a small network inside kernels.
- `two_hand`, `table_top`: the inputs of its networks in those games, and how it plays.
"""

from crib_agents.learned.agent import MonteCarloAgent
from crib_agents.learned.weights import Weights

__all__ = ["MonteCarloAgent", "Weights"]
