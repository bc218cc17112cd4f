"""Tables at which people play and watch, and replays of games.

`crib_env.render` draws positions, and `crib_agents` chooses actions; nothing here trains.
"""

from crib_env.registration import add_parts

add_parts(
    "table",
    two_hand="crib_play.table.hands:TWO_HAND",
    many_hand="crib_play.table.hands:MANY_HAND",
    table_top="crib_play.table.table_top:FAMILY",
)
add_parts(
    "terminal",
    two_hand="crib_play.terminal.boards:HANDS",
    many_hand="crib_play.terminal.boards:HANDS",
    table_top="crib_play.terminal.boards:TABLE_TOP",
)
