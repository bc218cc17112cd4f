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
)
add_parts(
    "analysis",
    two_hand="crib_agents.analyze:two_hand_choices",
    table_top="crib_agents.analyze:table_top_choices",
    many_hand="crib_agents.analyze:many_hand_choices",
)
add_parts(
    "values",
    two_hand="crib_agents.analyze:two_hand_action_values",
    table_top="crib_agents.analyze:table_top_action_values",
    many_hand="crib_agents.analyze:many_hand_action_values",
)
