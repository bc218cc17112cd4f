"""``learned``: networks trained by self-play (`crib train`) that predict points still to come.

- `agent`: the agents. `network`: a small network inside kernels, and the files of its weights.
- `two_hand`, `many_hand`, `table_top`: the inputs of the networks in those games, and how it plays.
"""

from crib_agents.learned.agent import MixedAgent, MonteCarloAgent
from crib_agents.learned.network import Weights

__all__ = ["MixedAgent", "MonteCarloAgent", "Weights"]
