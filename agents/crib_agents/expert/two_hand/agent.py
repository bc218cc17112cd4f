"""`expert` at the two-hand games: `DiscardExpert` discards, `PeggingExpert` pegs."""

from crib_agents.adapters.wrappers import PhasedAgent
from crib_agents.expert.two_hand.discard.expert import DiscardExpert
from crib_agents.expert.two_hand.pegging.expert import PeggingExpert


def make_expert() -> PhasedAgent:
    """Return the expert of these games."""
    return PhasedAgent(DiscardExpert(), PeggingExpert())
