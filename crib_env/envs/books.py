"""PettingZoo's bookkeeping: spaces, rewards, and who is done."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from pettingzoo import AECEnv
from pettingzoo.utils.env_logger import EnvLogger

from crib_env.envs.checks import ILLEGAL_REWARD
from crib_env.errors import EpisodeOverError

Observation = dict[str, npt.NDArray[Any]]


class Books(AECEnv[str, Observation, "int | None"]):
    """An AEC environment of equal seats ``player_0``, ``player_1`` and so on, zero-sum by sides.

    Args:
        players: how many seats. obs_size, actions: of every seat's spaces.
    """

    def __init__(self, players: int, obs_size: int, actions: int) -> None:
        super().__init__()
        self.possible_agents = [f"player_{seat}" for seat in range(players)]
        self.agents: list[str] = []
        self.agent_selection = self.possible_agents[0]  # until the first reset
        self._seat_of = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        space = spaces.Dict(
            {
                "observation": spaces.Box(0, 1, (obs_size,), np.uint8),
                "action_mask": spaces.Box(0, 1, (actions,), np.int8),
            }
        )
        self.observation_spaces = {agent: copy.deepcopy(space) for agent in self.possible_agents}
        self.action_spaces = {agent: spaces.Discrete(actions) for agent in self.possible_agents}
        self._over = True

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Return the space of ``agent``'s observations."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """Return the space of ``agent``'s actions."""
        return self.action_spaces[agent]

    def last(
        self, observe: bool = True
    ) -> tuple[Observation | None, float, bool, bool, dict[str, Any]]:
        """Return observation, reward since it last acted, ends and info of ``agent_selection``."""
        if not self.agents:
            raise EpisodeOverError("last() without a running episode: call reset() first")
        agent = self.agent_selection
        return (
            self.observe(agent) if observe else None,
            self._cumulative_rewards[agent],
            self.terminations[agent],
            self.truncations[agent],
            self.infos[agent],
        )

    def close(self) -> None:
        """Do nothing: there is nothing to release."""

    def _open_books(self) -> None:
        """Begin an episode's bookkeeping: nobody has been paid and nobody is done."""
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self._skip_agent_selection: str | None = None
        self._over = False

    def _pay(self, gain: float) -> None:
        """Pay the points or the result, seen from side 0, to every agent."""
        rewards, total = self.rewards, self._cumulative_rewards
        for seat, agent in enumerate(self.agents):
            reward = gain if seat % 2 == 0 else -gain
            rewards[agent] = reward
            total[agent] += reward

    def _close_books(self, *, truncated: bool) -> None:
        """End the episode for every agent."""
        self._over = True
        self.terminations = dict.fromkeys(self.agents, True)
        self.truncations = dict.fromkeys(self.agents, truncated)
        self._deads_step_first()

    def _punish(self, agent: str) -> None:
        """End the episode at reward -1 for an agent whose action was illegal, 0 for the others."""
        EnvLogger.warn_on_illegal_move()
        self._cumulative_rewards[agent] = 0.0
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self.rewards[agent] = ILLEGAL_REWARD
        self._accumulate_rewards()
        self._close_books(truncated=True)
