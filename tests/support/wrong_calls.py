"""Calls that mypy rejects, each for one mistake: `make typecheck` fails on an unused ignore."""

from crib_env import discard_v0, six_card_v0, table_top_v0

right = six_card_v0.gym_env(opponent=[("greedy", 1), ("random", 2.0)], reward="points", seat=0)

# By words of the error that each raises.
WRONG_CALLS = {
    "env takes no opponent": lambda: six_card_v0.env(opponent="greedy"),  # type: ignore[call-arg]
    "did you mean 'points'": lambda: six_card_v0.gym_env(reward="pionts"),  # type: ignore[arg-type]
    "did you mean 'threads'": lambda: six_card_v0.vector_env(4, theads=2),  # type: ignore[call-arg]
    "num_envs must be .*, got '4'": lambda: six_card_v0.sb3_env("4"),  # type: ignore[arg-type]
    "torch_env takes no copy": lambda: discard_v0.torch_env(8, copy=True),  # type: ignore[call-arg]
    "players, got players='4'": lambda: table_top_v0.raw_env(players="4", episode="round"),  # type: ignore[arg-type]
}
