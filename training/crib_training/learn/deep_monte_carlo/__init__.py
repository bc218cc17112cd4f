"""Deep Monte Carlo: self-play, and regression on the return of each choice.

- `algorithm`: one iteration, the same for every game, and the interface of a game (`SelfPlay`).
- `two_hand`, `table_top`: the games; their kernels are in `two_hand_play` and `table_top_play`.
- `games`: games by the names in the settings. `settings`: the settings of a run.
- `training`: the algorithm with workers, evaluations and checkpoints; `checkpoint` is the file.
- `actors`, `cluster`: self-play in other processes, and on a Ray cluster.
- `loop`: the command.
"""

from crib_env.registration import add_parts

add_parts(
    "deep_monte_carlo",
    two_hand="crib_training.learn.deep_monte_carlo.two_hand:TwoHandSelfPlay",
    table_top="crib_training.learn.deep_monte_carlo.table_top:TableTopSelfPlay",
    many_hand="crib_training.learn.deep_monte_carlo.many_hand:ManyHandSelfPlay",
)
