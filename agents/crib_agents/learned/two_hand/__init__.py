"""The learned agent at the two-hand games.

`discard_features` and `pegging_features` define the inputs of its networks, `act` how it plays and
its value of each card, and `judge` how it discards near the end.
"""

from crib_agents.learned.family import LearnedFamily, Net
from crib_agents.learned.two_hand import discard_features, pegging_features
from crib_agents.learned.two_hand.act import act, rules_key, write_values
from crib_agents.learned.two_hand.judge import probabilities_of

_DISCARD = Net(discard_features.NAME, discard_features.VERSION, discard_features.SIZE, outputs=3)

FAMILY = LearnedFamily(
    name="two_hand",
    nets={
        "discard_pone": _DISCARD,
        "discard_dealer": _DISCARD,
        "pegging": Net(
            pegging_features.NAME, pegging_features.VERSION, pegging_features.SIZE, outputs=2
        ),
    },
    fields=("dealt", "single_count", "flush_size", "crib_flush_size"),
    rules_key=rules_key,
    act=act,
    values=write_values,
    knows=probabilities_of,
)
"""What `crib_agents.learned.agent` needs to play these games."""
