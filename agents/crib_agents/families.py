"""The parts that these agents add to families of games; see `crib_env.registration`."""

from crib_env.registration import add_parts

add_parts(
    "learned",
    two_hand="crib_agents.learned.two_hand:FAMILY",
    table_top="crib_agents.learned.table_top:FAMILY",
    many_hand="crib_agents.learned.many_hand:FAMILY",
)
add_parts(
    "expert",
    two_hand="crib_agents.expert.pegging:make_expert",
    table_top="crib_agents.expert.table_top:TableTopExpert",
    many_hand="crib_agents.expert.many_hand:ManyHandExpert",
)
add_parts(
    "analysis",
    two_hand="crib_agents.analyze.choices:pairs_or_cards",
    table_top="crib_agents.analyze.choices:cells",
    many_hand="crib_agents.analyze.choices:cards_of_many",
)
add_parts(
    "values",
    two_hand="crib_agents.analyze.choices:values_two",
    table_top="crib_agents.analyze.choices:values_cells",
    many_hand="crib_agents.analyze.choices:values_many",
)
