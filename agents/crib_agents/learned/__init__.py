"""``learned``: networks trained by self-play (`crib train`) that predict points still to come.

- `agent`: the agents. `network`: a small network inside kernels. `weights`: the files of weights.
- `two_hand`, `many_hand`, `table_top`: the networks' inputs and the play in those games.
"""

from crib_agents.learned.agent import MixedAgent, MonteCarloAgent
from crib_agents.learned.weights import Weights

__all__ = ["MixedAgent", "MonteCarloAgent", "Weights"]
