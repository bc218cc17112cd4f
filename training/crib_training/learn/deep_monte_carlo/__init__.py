"""The games of deep Monte Carlo, and who plays them; the method is `crib_training.methods`'.

- `self_play`: the interface of a game. `two_hand`, `many_hand`, `table_top`: the games.
- `actors`: self-play in other processes, and on a Ray cluster.
"""

from crib_env.registration import add_parts

add_parts(
    "deep_monte_carlo",
    two_hand="crib_training.learn.deep_monte_carlo.two_hand:TwoHandSelfPlay",
    table_top="crib_training.learn.deep_monte_carlo.table_top:TableTopSelfPlay",
    many_hand="crib_training.learn.deep_monte_carlo.many_hand:ManyHandSelfPlay",
)
