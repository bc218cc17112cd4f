"""``learned``: nets trained by self-play (`crib train`), which expect the points still to come.

- `agent`: the agent. `weights`: the files it reads. `network`: a small net inside kernels.
- `two_hand`: what its nets see of those games, and how it plays.
"""

from crib_agents.learned.agent import MonteCarloAgent
from crib_agents.learned.weights import Weights

__all__ = ["MonteCarloAgent", "Weights"]
