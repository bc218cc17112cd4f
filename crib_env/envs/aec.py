"""The PettingZoo environment: one class that plays any game of a `Family`.

It checks order and legality itself, so it needs no wrapper. PettingZoo's usual wrappers take
several times as long as the game itself.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from pettingzoo import AECEnv
from pettingzoo.utils.env_logger import EnvLogger

from crib_env.encoding import encode
from crib_env.engine.entries import EPISODE_OVER, ILLEGAL
from crib_env.engine.record import NONE
from crib_env.envs.config import MODES, EnvConfig, EnvSettings
from crib_env.envs.learner import shown
from crib_env.envs.opponents import PhasePolicy, check_phase
from crib_env.envs.renderer import FPS, ShowsGame
from crib_env.envs.spaces import Masking, Observation
from crib_env.errors import EpisodeOverError, IllegalActionError
from crib_env.events import Event
from crib_env.game import Game, Snapshot
from crib_env.options import check_seed, read_options
from crib_env.policy import sample_legal, whole_action

# The attributes of an episode, which a snapshot holds besides the game's position.
EPISODE = (
    "agents", "agent_selection", "rewards", "_cumulative_rewards", "terminations", "truncations",
    "infos", "_skip_agent_selection", "_over", "_begun", "_phase_rng", "_illegal_rng",
)  # fmt: skip


class EnvSnapshot(NamedTuple):
    """A position of an environment."""

    game: Snapshot
    episode: dict[str, Any]  # PettingZoo's attributes, and the generators besides the game's


class CribbageAEC(ShowsGame, EnvSettings, AECEnv[str, Observation, "int | None"]):
    """A card game as an agent-environment cycle of ``player_0``, ``player_1`` and so on.

    Rewards are zero-sum between the sides; ``game.sides`` has the side of each seat.

    Its keywords are described at `EnvConfig`; `crib_env.six_card_v0.env` lists them. An illegal
    action with ``on_illegal="terminate"`` ends the episode, as PettingZoo's TerminateIllegalWrapper
    does, at `illegal_reward` for the seat that acted; with ``"random"`` ``info["illegal_action"]``
    has the seat's replaced action (-1 if none was, -2 for any below 0).
    ``mask_in_observation=False`` is for wrappers of observations, such as SuperSuit's, that need
    the bits alone.

    Attributes:
        game: the `Game`, for reading. The environment does not notice moves and positions set on
            it directly.
    """

    def __init__(self, config: EnvConfig) -> None:
        # 27 attributes in all: from 30 on CPython 3.11 looks each up in a dictionary, 5 % slower.
        super().__init__()
        self.metadata: dict[str, Any] = {
            "name": config.spec.name,
            "render_modes": list(MODES),
            "is_parallelizable": False,
            "render_fps": FPS,
        }
        self.game = game = Game(config.rules, players=config.players, episode=config.episode, family=config.family)
        self._show(config)
        self.phase_policy = config.phase_policy
        self.possible_agents = [f"player_{seat}" for seat in range(game.players)]
        self._seat_of = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        self.agents: list[str] = []
        self.agent_selection = self.possible_agents[0]  # until the first reset
        size, actions = game.family.obs_size, game.family.actions
        masking = Masking(config)
        self._keys = masking.keys and tuple(masking.keys)  # unpacked at every step, and so faster
        # Whether steps write into infos: masks, or illegal actions.
        self._informs = masking.keys is None or config.on_illegal == "random"
        self.observation_spaces = {agent: copy.deepcopy(masking.space) for agent in self.possible_agents}
        self.action_spaces = {agent: spaces.Discrete(actions) for agent in self.possible_agents}
        self.state_space = spaces.Box(0, 1, (game.players * size + 52,), np.uint8)
        self._points = config.reward != "win"
        self._phase_rng = self._illegal_rng = np.random.default_rng()
        self._begun = False
        self._over = True

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
            seed: starts all generators; None continues with them.
            options: ``decks``, ``dealer`` and ``scores``: see `crib_env.options.read_options`.

        Raises:
            ValueError: an invalid seed or option; nothing has changed then.
        """
        seed = check_seed(seed)
        chosen = read_options(options, self.game.sides, self.rules.target)
        if seed is not None or not self._begun:  # copies of an env not begun yet deal differently
            seed_seq = np.random.SeedSequence(seed)
            self.game.seed(seed_seq)
            # Seed from raw words: a Generator exposes its SeedSequence, which reveals the deals.
            phase, illegal = seed_seq.spawn(2)
            self._phase_rng = self._illegal_rng = np.random.default_rng(phase.generate_state(4))
            if self._config.on_illegal == "random":
                self._illegal_rng = np.random.default_rng(illegal.generate_state(4))
        self.game._reset(chosen)
        self._begin_episode()

    def step(self, action: int | None) -> None:
        """Act for ``agent_selection``; a finished agent steps with None, as in any AEC environment.

        Raises:
            IllegalActionError: an illegal action with ``on_illegal="raise"``; nothing has changed.
            EpisodeOverError: there is no episode to step.
        """
        if not self.agents:
            raise EpisodeOverError(f"step({action!r}) without a running episode: call reset() first")
        agent = self.agent_selection
        if self._over:
            if action is not None:
                raise EpisodeOverError(
                    f"step({action!r}) after the episode's end: {agent} is done and can only step "
                    "with None; reset() starts a new episode"
                )
            self._was_dead_step(None)
            return
        game = self.game
        if type(action) is not int:
            action = whole_action(action, game.family.actions)
        try:
            code = game.advance(action)
        except OverflowError:  # a number beyond 64 bits is illegal too
            code = ILLEGAL
        illegal = NONE
        if code < 0:
            if self._config.on_illegal == "raise":
                raise IllegalActionError(game.family.why_illegal(game.view(game.seat), action))
            if self._config.on_illegal == "terminate":
                self._terminate_illegal(agent)
                return
            illegal = shown(action)
            code = game.advance(sample_legal(game.mask, self._illegal_rng))
        self._cumulative_rewards[agent] = 0.0
        margins = game.margins
        if self.phase_policy is not None and code < EPISODE_OVER:
            margins = margins.copy()  # overwritten by each action
            margins += self._play_phase(self.phase_policy)
            code = game.seat + EPISODE_OVER * game.over
        self.agent_selection = self.possible_agents[code % EPISODE_OVER]
        if code >= EPISODE_OVER:
            self._end_game(margins)
        elif self._points:
            self._add_rewards(margins.tolist(), game.unit)
        if self._informs:
            if self._config.on_illegal == "random":
                self.infos[agent] = {**self.infos[agent], "illegal_action": illegal}
            self._show_masks(agent, self.agent_selection)
        if self.render_mode == "human":
            self.render()

    def observe(self, agent: str) -> Observation:
        """Return ``{"observation": uint8[obs_size], "action_mask": int8[actions]}``, new arrays.

        The mask is all zeros for a seat not to move. With ``features=True`` the observation is a
        longer float32 array, whose features are zeros for such a seat, too. With
        ``mask_in_observation=False`` it is the array of the observation alone.
        """
        game = self.game
        observation: npt.NDArray[Any]
        features = self._config.features
        if agent == self.agent_selection and not self._over and not features:
            observation, mask = game.obs.copy(), game.mask.copy()
        else:
            self._check_begun()
            seat = self._seat_of[agent]
            if features:
                both = encode(game.view(seat), features, self._config.suits)
                observation, mask = both[0][0], both[1][0]
            else:
                observation, mask = game.observe(seat)
            if self._over:  # also where an illegal action ended the episode
                mask[:] = 0
                observation[game.family.obs_size :] = 0  # the features
        if self._keys is None:
            return observation
        first, second = self._keys
        return {first: observation, second: mask}

    def last(self, observe: bool = True) -> tuple[Observation | None, float, bool, bool, dict[str, Any]]:
        """Return ``agent_selection``'s observation, reward since it last acted, ends and info."""
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
        """Return the state of the whole game, for centralised critics.

        This is every seat's observation, then a card, one-hot by id: the starter, turned or not; in
        Table Top the card in turn.

        Returns:
            uint8[players * obs_size + 52].
        """
        self._check_begun()
        parts = [self.game.observe(seat)[0] for seat in range(self.players)]
        hidden = np.zeros(52, dtype=np.uint8)
        hidden[self.game.family.hidden_card(self.game.states[0])] = 1
        return np.concatenate([*parts, hidden])

    # --- the game -------------------------------------------------------------------------------

    @property
    def scores(self) -> tuple[int, ...]:
        """The scores of the present game, by side."""
        return self.game.scores

    @property
    def dealer(self) -> int:
        """The seat that deals."""
        return self.game.dealer

    @property
    def events(self) -> list[Event]:
        """The points pegged since the last decision, in order."""
        return self.game.events

    def view(self, seat: int) -> np.void:
        """Return what ``seat`` may know, as a view record.

        Raises:
            ValueError: no such seat.
            EpisodeOverError: before the first reset.
        """
        self._check_begun()
        return self.game.view(seat)

    def snapshot(self) -> EnvSnapshot:
        """Return the position, its generator included, for `restore`; play does not change it."""
        episode = {name: getattr(self, name) for name in EPISODE if hasattr(self, name)}
        return EnvSnapshot(self.game.snapshot(), copy.deepcopy(episode))

    def restore(self, snapshot: EnvSnapshot) -> None:
        """Go back to a position taken by `snapshot` of an environment of the same game.

        Raises:
            ValueError: no snapshot, or one of another game; nothing has changed then.
        """
        if not isinstance(snapshot, EnvSnapshot):
            raise ValueError(f"restore() takes what snapshot() returned, got {snapshot!r}")
        check_phase(self.phase_policy, snapshot.game.position.state[0])
        self.game.restore(snapshot.game)
        self.__dict__.update(copy.deepcopy(snapshot.episode))

    def set_position(self, text: str) -> None:
        """Set a position written by `notation`; given decks are not part of it.

        Raises:
            ValueError: text that is no position, or one of another game than this environment's;
                nothing has changed then.
        """
        position = self.game.parse(text)
        check_phase(self.phase_policy, position.position.state[0])
        self.game.restore(position)
        self._begin_episode()

    # --- inside ---------------------------------------------------------------------------------

    @property
    def _seat(self) -> int:
        return self._seat_of[self.agent_selection]

    def _begin_episode(self) -> None:
        """Continue from the game's new position, with no rewards yet."""
        self._begun = True
        self.agents = []  # until the phase policy has made its decisions
        if self.phase_policy is not None:
            self._play_phase(self.phase_policy)
        self.agents = self.possible_agents[:]
        self.agent_selection = self.agents[self.game.seat]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        said = {"illegal_action": NONE} if self._config.on_illegal == "random" else {}
        self.infos: dict[str, dict[str, Any]] = {agent: said.copy() for agent in self.agents}
        self._skip_agent_selection: str | None = None
        self._over = False
        self._show_masks(*self.agents)
        if self.game.over:  # a position of an ended game
            self._end_game(np.zeros_like(self.game.margins))
        if self.render_mode == "human":
            self.render()

    def _show_masks(self, *agents: str) -> None:
        """Write masks into infos that have them, in new dictionaries: callers hold the old ones."""
        for agent in agents if self._keys is None else ():
            mask = np.zeros_like(self.game.mask)
            if agent == self.agent_selection and not self._over:
                mask[:] = self.game.mask
            self.infos[agent] = {**self.infos[agent], "action_mask": mask}

    def _play_phase(self, policy: PhasePolicy) -> npt.NDArray[np.int64]:
        """Play the phase policy's decisions; return each seat's margin, as `Game.margins`.

        If the policy fails, the episode is over: ``agents`` stays empty until the next reset.
        """
        agents, self.agents = self.agents, []
        margins = policy.play(self.game, self._phase_rng)
        self.agents = agents
        return margins

    def _add_rewards(self, by_seat: Sequence[float], unit: int) -> None:
        """Reward every agent by ``by_seat[seat] / unit``: points or returns."""
        rewards, total = self.rewards, self._cumulative_rewards
        for seat, agent in enumerate(self.agents):
            rewards[agent] = reward = by_seat[seat] / unit
            total[agent] += reward

    def _end_game(self, margins: npt.NDArray[np.int64]) -> None:
        """End the episode with the game."""
        if self._points:
            self._add_rewards(margins.tolist(), self.game.unit)
        else:
            self._add_rewards(self.game.returns, 1)
        self._end_episode(truncated=False)

    def _end_episode(self, *, truncated: bool) -> None:
        """End the episode for every agent."""
        self._over = True
        self.terminations = dict.fromkeys(self.agents, True)
        self.truncations = dict.fromkeys(self.agents, truncated)
        self._show_masks(*self.agents)
        self._deads_step_first()

    def _terminate_illegal(self, agent: str) -> None:
        """End the episode at `illegal_reward` for the agent that acted, 0 for the others."""
        EnvLogger.warn_on_illegal_move()
        self._cumulative_rewards[agent] = 0.0
        self._add_rewards([self.illegal_reward if one == agent else 0.0 for one in self.agents], 1)
        self._end_episode(truncated=True)
