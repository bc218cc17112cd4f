"""The learned agent at Table Top.

`line_features` and `crib_features` define the inputs of its networks, `act` how it plays and its
value of each place.
"""

from crib_agents.learned.family import LearnedFamily, Net
from crib_agents.learned.table_top import crib_features, line_features
from crib_agents.learned.table_top.act import OWING, act, rules_key, write_values

FAMILY = LearnedFamily(
    name="table_top",
    nets={
        "line": Net(line_features.NAME, line_features.VERSION, line_features.SIZE, outputs=1),
        "crib": Net(crib_features.NAME, crib_features.VERSION, crib_features.SIZE, outputs=1),
    },
    # The side to move changes with every card and each side owes the crib two, whether two play or
    # four: the same nets serve both.
    fields=("flush_size", "crib_flush_size", "adjacency"),
    rules_key=rules_key,
    act=act,
    values=write_values,
    tables={"owing": OWING},
)
"""What `crib_agents.learned.agent` needs to play this game."""
