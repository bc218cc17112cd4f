"""The toy game for two or three: the highest of the cards laid scores; see `toy.transitions`."""

from __future__ import annotations

from crib_env.envs.makers import EnvMaker
from toy import FAMILY

maker = EnvMaker("toy_v0", FAMILY, "toy", episodes={"game": "game", "deal": "deal"})

env = maker.env
raw_env = maker.raw_env
gym_env = maker.gym_env
vector_env = maker.vector_env
sb3_env = maker.sb3_env
