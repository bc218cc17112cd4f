"""Single deals of six cards: an environment as another package registers its own."""

from __future__ import annotations

from crib_env.engine.two_hand import FAMILY
from crib_env.envs.makers import EnvMaker

maker = EnvMaker("short_card_v0", FAMILY, "hoyle", episodes={"deal": "deal"})

env, raw_env, gym_env = maker.env, maker.raw_env, maker.gym_env
vector_env, torch_env, sb3_env = maker.vector_env, maker.torch_env, maker.sb3_env
