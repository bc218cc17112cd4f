"""SB3 on a PettingZoo environment: both seats learn one policy, as PettingZoo's tutorial has it.

    python examples/libraries/sb3_pettingzoo.py

PettingZoo's tutorial "SB3: action masked PPO for Connect Four" wraps an AEC environment so that a
learner acts for the seat to move. Written for Connect Four, its wrapper pays a step with the
reward of the seat that moves *next*, which is right there only because the game ends with a move
and its rewards are zero-sum and turns alternate. In cribbage a seat may act twice running, so this
one pays each action with the acting seat's points from it.
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
import torch
import tyro
from gymnasium import spaces
from pettingzoo import AECEnv
from sb3_contrib import MaskablePPO

from crib_env import six_card_v0

Array = npt.NDArray[Any]


class SelfPlay(gymnasium.Env[Array, int]):
    """An AEC environment in which one learner acts for every seat.

    Args:
        games: the environment; its rewards must be paid when they are made (``reward="points"``).
    """

    def __init__(self, games: AECEnv) -> None:
        self.games = games
        agent = games.possible_agents[0]
        space = games.observation_space(agent)
        assert isinstance(space, spaces.Dict)
        self.observation_space = space["observation"]
        self.action_space = games.action_space(agent)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        """Begin an episode and return the observation of the seat to move."""
        super().reset(seed=seed)
        self.games.reset(seed=seed, options=options)
        return self.games.last()[0]["observation"], {}

    def step(self, action: int) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        """Act for the seat to move, pay it, and return the next seat's observation."""
        mover = self.games.agent_selection
        self.games.step(int(action))
        paid = float(self.games.rewards[mover])
        observation, _, terminated, truncated, _ = self.games.last()
        return observation["observation"], paid, terminated, truncated, {}

    def action_masks(self) -> Array:
        """Return bool[52], the legal cards; MaskablePPO calls this."""
        mask: Array = self.games.last()[0]["action_mask"].astype(np.bool_)
        return mask


def main(timesteps: int = 20_000, seed: int = 1) -> MaskablePPO:
    """Train and return the model."""
    torch.set_num_threads(1)  # small nets: a second thread waits more than it works
    games = SelfPlay(six_card_v0.env(episode="deal", reward="points"))
    model = MaskablePPO("MlpPolicy", games, gamma=1.0, seed=seed, device="cpu", verbose=1)
    return model.learn(timesteps)


if __name__ == "__main__":
    tyro.cli(main)
