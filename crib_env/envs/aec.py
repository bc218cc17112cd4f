"""The PettingZoo shell: one class that plays any game of a `Family`.

It checks order and legality itself, so no wrapper is needed: the usual ones cost several times what
the game does.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from pettingzoo.utils.env_logger import EnvLogger

from crib_env.engine.record import NONE
from crib_env.engine.single import ILLEGAL, unpack
from crib_env.envs.beyond import EnvSnapshot, GameAccess
from crib_env.envs.checks import ILLEGAL_REWARD, check_choice, whole_action
from crib_env.envs.phase_policy import PhasePolicy
from crib_env.errors import EpisodeOverError, IllegalActionError
from crib_env.game import Game
from crib_env.options import check_seed, read_options
from crib_env.policy import ask_agent

Observation = dict[str, npt.NDArray[Any]]


class CribbageAEC(GameAccess):
    """A card game as an agent-environment cycle.

    Args:
        game: the game that is played.
        name: the environment's name with its version, such as ``"six_card_v0"``.
        reward: ``"win"``, +1 or -1 at the episode's end; or ``"points"``, at every step the
            acting side's points less the other's (zero-sum).
        render_mode: None or one of ``metadata["render_modes"]``.
        on_illegal: ``"terminate"`` ends the episode at reward -1 for the seat that acted, as
            PettingZoo's TerminateIllegalWrapper does; ``"raise"`` an `IllegalActionError`.
        phase_policy: who makes the decisions that this environment leaves out, if any.
    """

    def __init__(
        self,
        game: Game,
        name: str,
        *,
        reward: str = "win",
        render_mode: str | None = None,
        on_illegal: str = "terminate",
        phase_policy: PhasePolicy | None = None,
    ) -> None:
        super().__init__()
        self.metadata: dict[str, Any] = {
            "name": name,
            "render_modes": ["ansi"],
            "is_parallelizable": False,
            "render_fps": 2,
        }
        check_choice("reward", reward, ("win", "points"))
        check_choice("on_illegal", on_illegal, ("terminate", "raise"))
        if render_mode is not None:
            check_choice("render_mode", render_mode, tuple(self.metadata["render_modes"]))
        self.game = game
        self.family = game.family
        self.rules = game.rules
        self.players = game.players
        self.episode = game.episode
        self.reward = reward
        self.render_mode = render_mode
        self.on_illegal = on_illegal
        self.phase_policy = phase_policy
        self.possible_agents = [f"player_{seat}" for seat in range(game.players)]
        self.agents: list[str] = []
        self.agent_selection = self.possible_agents[0]  # until the first reset
        self._seat_of = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        obs_size, actions = game.family.obs_size, game.family.actions
        space = spaces.Dict(
            {
                "observation": spaces.Box(0, 1, (obs_size,), np.uint8),
                "action_mask": spaces.Box(0, 1, (actions,), np.int8),
            }
        )
        self.observation_spaces = {agent: copy.deepcopy(space) for agent in self.possible_agents}
        self.action_spaces = {agent: spaces.Discrete(actions) for agent in self.possible_agents}
        self.state_space = spaces.Box(0, 1, (game.players * obs_size + 52,), np.uint8)
        self._chance = None
        self._observed = NONE  # the seat whose observation the game's arrays hold
        self._seeded = False
        self._over = True
        self._taken: list[EnvSnapshot] = []
        self._points = reward == "points"

    # --- PettingZoo's interface -----------------------------------------------------------------

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Return the space of ``agent``'s observations."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """Return the space of ``agent``'s actions."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin an episode.

        Args:
            seed: starts the generator of all deals and cuts; None goes on with it.
            options: ``decks``, ``dealer`` and ``scores``: see `crib_env.options.read_options`.

        Raises:
            ValueError: a seed or an option that does not fit; nothing has changed then.
        """
        check_seed(seed)
        chosen = read_options(options, self.players, self.rules.target)
        if seed is not None or not self._seeded:
            entropy = np.random.SeedSequence(seed)
            self.game.seed(entropy)
            # Seeded by words: a generator tells what sequence it came of, and so of the deals.
            self._chance = np.random.default_rng(entropy.spawn(1)[0].generate_state(4))
            self._seeded = True
        self.game.start(chosen)
        self._resume()

    def _resume(self) -> None:
        self._taken.clear()
        self._over = False
        self.agents = []
        self._phase_policy_acts(0)
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self._skip_agent_selection: str | None = None
        self._look(self.game.seat)
        self.agent_selection = self.possible_agents[self._observed]
        if self.game.over:  # a position of an ended game
            self._finish(0)

    def step(self, action: int | None) -> None:
        """Act for ``agent_selection``; a finished agent steps with None, as in any AEC environment.

        Raises:
            IllegalActionError: an illegal action with ``on_illegal="raise"``; nothing has changed.
            EpisodeOverError: there is no episode to step.
        """
        if not self.agents:
            raise EpisodeOverError(
                f"step({action!r}) without a running episode: call reset() first"
            )
        agent = self.agent_selection
        if self._over:
            if action is not None:
                raise EpisodeOverError(
                    f"step({action!r}) after the episode's end: {agent} is done and can only step "
                    "with None; reset() begins a new episode"
                )
            self._was_dead_step(None)
            return
        if type(action) is not int:
            action = whole_action(action, self.family.actions)
        try:
            code = self.game.advance(action)
        except OverflowError:  # a number that no 64 bits hold is no action either
            code = ILLEGAL
        if code < 0:
            self._illegal(agent, action)
            return
        self._cumulative_rewards[agent] = 0.0
        seat, over, gain = unpack(code)
        if self.phase_policy is not None and not over:
            seat, over, gain = self._phase_policy_acts(gain)
        self._observed = seat
        self.agent_selection = self.possible_agents[seat]
        if over:
            self._finish(gain)
        elif self._points:
            self._pay(float(gain))

    def observe(self, agent: str) -> Observation:
        """Return ``{"observation": uint8[obs_size], "action_mask": int8[actions]}``, new arrays.

        The mask is all zeros for a seat not to move.
        """
        seat = self._seat_of[agent]
        if self._observed != seat:
            self._look(seat)
        return {"observation": self.game.obs.copy(), "action_mask": self.game.mask.copy()}

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

    def state(self) -> npt.NDArray[np.uint8]:
        """Return everything, for centralised critics.

        That is every seat's observation, then a card by id: the starter, turned or not; in Table
        Top the card in turn.

        Returns:
            uint8[players * obs_size + 52].
        """
        parts = [self.observe(agent)["observation"] for agent in self.possible_agents]
        hidden = np.zeros(52, dtype=np.uint8)
        hidden[self.family.hidden_card(self.game.states[0])] = 1
        return np.concatenate([*parts, hidden])

    def render(self) -> str | None:
        """Return the game as text, for the seat to move (``render_mode="ansi"``)."""
        if self.render_mode is None:
            EnvLogger.warn("render() needs a render_mode, such as env(render_mode='ansi')")
            return None
        seat = self._seat_of[self.agent_selection]
        self._look(seat)
        return self.game.text(seat, self.metadata["name"])

    def close(self) -> None:
        """Do nothing: there is nothing to release."""

    # --- inside ---------------------------------------------------------------------------------

    def _look(self, seat: int) -> None:
        if not self._seeded:
            raise EpisodeOverError("there is nothing to see before the first reset(): call it")
        self.game.look(seat)
        self._observed = seat
        if self._over:
            self.game.mask[:] = 0  # also where an illegal action ended the episode

    def _forget(self) -> None:
        self._observed = NONE

    def _phase_policy_acts(self, gain: int) -> tuple[int, int, int]:
        """Let the phase policy make its decisions; return seat to move, end, gain so far.

        Where it fails the episode is over: no seat has an action until the next reset.
        """
        game, policy = self.game, self.phase_policy
        agents, self.agents = self.agents, []
        over = int(game.over)
        while policy is not None and not over and game.states["phase"][0] == policy.phase:
            view = game.view(game.seat)
            assert self._chance is not None
            action = int(ask_agent(policy.agent, np.array([view]), self._chance)[0])
            code = game.advance(action)
            if code < 0:
                why = self.family.why_illegal(view, action)
                raise IllegalActionError(f"the phase policy {policy.agent.name!r} erred: {why}")
            _, over, more = unpack(code)
            gain += more
        self.agents = agents
        return game.seat, over, gain

    def _pay(self, gain: float) -> None:
        rewards, total = self.rewards, self._cumulative_rewards
        for seat, agent in enumerate(self.agents):
            reward = gain if seat % 2 == 0 else -gain
            rewards[agent] = reward
            total[agent] += reward

    def _finish(self, gain: float) -> None:
        if not self._points:
            gain = self.game.result
        self._pay(float(gain))
        self._over = True
        self._observed = NONE
        self.terminations = dict.fromkeys(self.agents, True)
        self._deads_step_first()

    def _illegal(self, agent: str, action: int) -> None:
        if self.on_illegal == "raise":
            view = self.view(self._seat_of[agent])
            raise IllegalActionError(self.family.why_illegal(view, action))
        EnvLogger.warn_on_illegal_move()
        self._cumulative_rewards[agent] = 0.0
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self.rewards[agent] = ILLEGAL_REWARD
        self._accumulate_rewards()
        self.terminations = dict.fromkeys(self.agents, True)
        self.truncations = dict.fromkeys(self.agents, True)
        self._over = True
        self._observed = NONE
        self._deads_step_first()
