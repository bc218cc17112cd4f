"""Plays a named agent in the compiled batch and alone; prints its actions and compilations."""

import hashlib
import json
import sys

import gymnasium
import numpy as np
from numba.core import event

import crib_env
from crib_env.batch import GameBatch

(name,) = sys.argv[1:]
digest = hashlib.sha256()
with event.install_recorder("numba:compile") as recorder:
    envs = gymnasium.make_vec("crib_env/SixCard-v0", num_envs=32, opponent=name)
    assert envs.unwrapped.batch.compiled, "the agent is asked in Python"
    observations, info = envs.reset(seed=1)
    for _ in range(200):
        digest.update(observations.tobytes())
        observations, *_, info = envs.step(info["action_mask"].argmax(axis=1))
    games = GameBatch(crib_env.Rules.preset("hoyle"), 8, seed=1)
    games.reset()
    views = games.views(games.running())
    chosen = crib_env.find_agent(name).act(views, np.random.default_rng(1))
    digest.update(chosen.tobytes())
print(
    json.dumps(
        {
            "played": digest.hexdigest(),
            "chosen": chosen.tolist(),
            "lowest": views["hand"].min(axis=1).tolist(),
            "highest": views["hand"].max(axis=1).tolist(),
            "compiled": len(recorder.buffer),
        }
    )
)
