"""The learned agent at the two-hand games.

`lay_away_features` and `play_features` are what its nets see, `act` is how it plays, `judge` by
what it lays away near the end, `values` what it thinks of each card.
"""

from crib_agents.learned.family import LearnedFamily, Net
from crib_agents.learned.two_hand import discard_features, pegging_features
from crib_agents.learned.two_hand.act import act, rules_key
from crib_agents.learned.two_hand.judge import chances_of
from crib_agents.learned.two_hand.values import write_values

_LAY_AWAY = Net(
    discard_features.NAME, discard_features.VERSION, discard_features.SIZE, outputs=3
)

FAMILY = LearnedFamily(
    name="two_hand",
    nets={
        "lay_away_pone": _LAY_AWAY,
        "lay_away_dealer": _LAY_AWAY,
        "play": Net(pegging_features.NAME, pegging_features.VERSION, pegging_features.SIZE, outputs=2),
    },
    fields=("dealt", "single_count", "flush_size", "crib_flush_size"),
    rules_key=rules_key,
    act=act,
    values=write_values,
    knows=chances_of,
)
"""What `crib_agents.learned.agent` needs to play these games."""
