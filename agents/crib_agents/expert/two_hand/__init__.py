"""`expert` at six-card and five-card cribbage.

- `discard`: discarding, by mean hand, mean crib and expected pegging.
- `pegging`: pegging, by search over what the other seat may hold.
- `belief`: how likely each holding is, and what the counts after the pegging will bring.
- `rollout_policy`: the value of a card by tables, without search.
"""

from crib_agents.adapters.wrappers import PhasedAgent
from crib_agents.expert.two_hand.discard import DiscardExpert
from crib_agents.expert.two_hand.pegging import PeggingExpert


def make_expert() -> PhasedAgent:
    """Return the expert of these games."""
    return PhasedAgent(DiscardExpert(), PeggingExpert())
