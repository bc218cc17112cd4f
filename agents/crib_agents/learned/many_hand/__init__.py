"""The learned agent at the games for three and four.

`features` defines the inputs of its one network, `act` how it plays and its value of each card.
"""

from crib_agents.learned.family import LearnedFamily, Net
from crib_agents.learned.many_hand import features
from crib_agents.learned.many_hand.act import act, rules_key, write_values

FAMILY = LearnedFamily(
    name="many_hand",
    nets={"card": Net(features.NAME, features.VERSION, features.SIZE, outputs=1)},
    fields=("players", "flush_size", "crib_flush_size"),
    rules_key=rules_key,
    act=act,
    values=write_values,
)
"""What `crib_agents.learned.agent` needs to play these games."""
