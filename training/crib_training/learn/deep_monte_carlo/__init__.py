"""Deep Monte Carlo: agents learned by self-play and regression on what followed each choice.

- `algorithm`: one iteration, the same for every game, and what a game has to know (`SelfPlay`).
- `two_hand`, `table_top`: the games; their kernels are in `two_hand_play` and `table_top_play`.
- `games`: which game settings name. `settings`: those of a run.
- `training`: the algorithm with workers, evaluations and checkpoints; `checkpoint` is the file.
- `actors`, `cluster`: self-play in other processes, and on a Ray cluster.
- `loop`: the command.
"""
