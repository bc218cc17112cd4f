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

from crib_env.answers import whole_action
from crib_env.engine.single import ILLEGAL, OVER
from crib_env.envs.arrays import note_rules
from crib_env.envs.checks import ILLEGAL_REWARD, check_choice, choose_render_mode
from crib_env.envs.phase_policy import PhasePolicy, check_phase
from crib_env.envs.renderer import FPS, MODES, Renderer, ShowsGame, Viewer
from crib_env.envs.settings import Setting
from crib_env.errors import EpisodeOverError, IllegalActionError
from crib_env.events import Event
from crib_env.game import Game, Snapshot
from crib_env.options import check_seed, read_options

Observation = dict[str, npt.NDArray[Any]]

# The attributes of an episode, which a snapshot holds besides the game's position.
EPISODE = (
    "agents", "agent_selection", "rewards", "_cumulative_rewards", "terminations", "truncations",
    "infos", "_skip_agent_selection", "_over", "_begun",
)  # fmt: skip


class EnvSnapshot(NamedTuple):
    """A position of an environment.

    Attributes:
        game: the game's part.
        episode: the attributes of PettingZoo, by name.
        phase_rng: the generator of the policy that plays a phase.
    """

    game: Snapshot
    episode: dict[str, Any]
    phase_rng: np.random.Generator


class CribbageAEC(ShowsGame, AECEnv[str, Observation, "int | None"]):
    """A card game as an agent-environment cycle of ``player_0``, ``player_1`` and so on.

    Rewards are zero-sum between the sides; ``game.sides`` has the side of each seat.

    Args:
        game: the game that is played, by the family of the reward (`family_for`).
        name: the environment's name with its version, such as ``"six_card_v0"``.
        reward: ``"win"``, +1 or -1 at the episode's end; or ``"points"``, at every step the
            points of its side less the mean of the others'; or in the two-hand games ``"expected"``
            or ``"expected_at_show"``, see `CribbageEnv`.
        render_mode: None or one of ``metadata["render_modes"]``.
        viewer: whose knowledge is rendered: a seat, ``"all"``, or None for the seat to move.
        on_illegal: ``"terminate"`` ends the episode at reward -1 for the seat that acted, as
            PettingZoo's TerminateIllegalWrapper does; ``"raise"`` an `IllegalActionError`.
        phase_policy: who makes the decisions that this environment leaves out, if any.

    Attributes:
        game: the `Game`, to be looked at. Moves and positions that are set on it, rather than by
            the environment's methods, are not seen by the environment.
    """

    rules = Setting("game.rules")
    players = Setting("game.players")
    episode = Setting("game.episode")
    reward = Setting("_reward")
    suits = Setting("game.family.suits")

    def __init__(
        self,
        game: Game,
        name: str,
        *,
        reward: str = "win",
        render_mode: str | None = None,
        viewer: Viewer = None,
        on_illegal: str = "terminate",
        phase_policy: PhasePolicy | None = None,
    ) -> None:
        super().__init__()
        self.metadata: dict[str, Any] = {
            "name": name,
            "render_modes": list(MODES),
            "is_parallelizable": False,
            "render_fps": FPS,
        }
        check_choice("on_illegal", on_illegal, ("terminate", "raise"))
        self.game = game
        self.render_mode = choose_render_mode(render_mode, self.metadata["render_modes"])
        self._renderer = Renderer(name, game.players, viewer)
        self.on_illegal = on_illegal
        self.phase_policy = phase_policy
        self.possible_agents = [f"player_{seat}" for seat in range(game.players)]
        self._seat_of = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        self.agents: list[str] = []
        self.agent_selection = self.possible_agents[0]  # until the first reset
        size, actions = game.family.obs_size, game.family.actions
        space = spaces.Dict(
            {
                "observation": spaces.Box(0, 1, (size,), np.uint8),
                "action_mask": spaces.Box(0, 1, (actions,), np.int8),
            }
        )
        note_rules(space["observation"], game.rules, game.family.suits)
        self.observation_spaces = {agent: copy.deepcopy(space) for agent in self.possible_agents}
        self.action_spaces = {agent: spaces.Discrete(actions) for agent in self.possible_agents}
        self.state_space = spaces.Box(0, 1, (game.players * size + 52,), np.uint8)
        self._reward = reward
        self._points = reward != "win"
        self._phase_rng = np.random.default_rng()
        self._begun = False
        self._over = True
        self._before_moves: list[EnvSnapshot] = []  # positions that pop goes back to

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
            seed: seeds the generator of all deals and cuts; None goes on with it.
            options: ``decks``, ``dealer`` and ``scores``: see `crib_env.options.read_options`.

        Raises:
            ValueError: a seed or an option that does not fit; nothing has changed then.
        """
        seed = check_seed(seed)
        chosen = read_options(options, self.game.sides, self.rules.target)
        if seed is not None or not self._begun:  # copies of an env not begun yet deal differently
            seed_seq = np.random.SeedSequence(seed)
            self.game.seed(seed_seq)
            # Seeded by words: a generator tells what sequence it came of, and so of the deals.
            self._phase_rng = np.random.default_rng(seed_seq.spawn(1)[0].generate_state(4))
        self.game._reset(chosen)
        self._begin_episode()

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
                    "with None; reset() starts a new episode"
                )
            self._was_dead_step(None)
            return
        game = self.game
        if type(action) is not int:
            action = whole_action(action, game.family.actions)
        try:
            code = game.advance(action)
        except OverflowError:  # a number that no 64 bits hold is no action either
            code = ILLEGAL
        if code < 0:
            if self.on_illegal == "raise":
                raise IllegalActionError(game.family.why_illegal(game.view(game.seat), action))
            self._terminate_illegal(agent)
            return
        self._cumulative_rewards[agent] = 0.0
        leads = game.leads
        if self.phase_policy is not None and code < OVER:
            leads = leads.copy()  # overwritten by each action
            leads += self._play_phase(self.phase_policy)
            code = game.seat + OVER * game.over
        self.agent_selection = self.possible_agents[code % OVER]
        if code >= OVER:
            self._end_game(leads)
        elif self._points:
            self._add_rewards(leads.tolist(), game.unit)
        if self.render_mode == "human":
            self.render()

    def observe(self, agent: str) -> Observation:
        """Return ``{"observation": uint8[obs_size], "action_mask": int8[actions]}``, new arrays.

        The mask is all zeros for a seat not to move.
        """
        game = self.game
        if agent == self.agent_selection and not self._over:
            return {"observation": game.obs.copy(), "action_mask": game.mask.copy()}
        self._check_begun()
        observation, mask = game.observe(self._seat_of[agent])
        if self._over:
            mask[:] = 0  # also where an illegal action ended the episode
        return {"observation": observation, "action_mask": mask}

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
        """What was pegged since the last decision, in order."""
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
        """Return the position, its generator included, for `restore`; later play leaves it be."""
        episode = {name: getattr(self, name) for name in EPISODE if hasattr(self, name)}
        return EnvSnapshot(self.game.snapshot(), *copy.deepcopy((episode, self._phase_rng)))

    def restore(self, snapshot: EnvSnapshot) -> None:
        """Go back to a position taken by `snapshot` of an environment of the same game.

        Raises:
            ValueError: no snapshot, or one of another game; nothing has changed then.
        """
        if not isinstance(snapshot, EnvSnapshot):
            raise ValueError(f"restore() takes what snapshot() returned, got {snapshot!r}")
        check_phase(self.phase_policy, snapshot.game.position.state[0])
        self.game.restore(snapshot.game)
        episode, self._phase_rng = copy.deepcopy((snapshot.episode, snapshot.phase_rng))
        self.__dict__.update(episode)

    def push(self, action: int) -> None:
        """Make a move that `pop` takes back: for search, as in python-chess.

        Raises:
            IllegalActionError: an illegal action, whatever ``on_illegal`` says; nothing changed.
        """
        game = self.game
        action = whole_action(action, game.family.actions)
        if self._over or action not in game.legal_actions:
            raise IllegalActionError(game.family.why_illegal(game.view(game.seat), action))
        self._before_moves.append(self.snapshot())
        self.step(action)

    def pop(self) -> None:
        """Take back the last move made by `push`.

        Raises:
            IndexError: there is none since the reset.
        """
        if not self._before_moves:
            raise IndexError("there is no move to take back: push() makes one")
        self.restore(self._before_moves.pop())

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
        """Go on from the position that the game has been given, with no rewards yet."""
        self._begun = True
        self._before_moves.clear()
        self.agents = []  # until the phase policy has made its decisions
        if self.phase_policy is not None:
            self._play_phase(self.phase_policy)
        self.agents = self.possible_agents[:]
        self.agent_selection = self.agents[self.game.seat]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self._skip_agent_selection: str | None = None
        self._over = False
        if self.game.over:  # a position of an ended game
            self._end_game(np.zeros_like(self.game.leads))
        if self.render_mode == "human":
            self.render()

    def _play_phase(self, policy: PhasePolicy) -> npt.NDArray[np.int64]:
        """Let the phase policy make its decisions; return what they gain each seat.

        As `Game.leads`. Where it fails the episode is over: no seat has an action until the
        next reset.
        """
        agents, self.agents = self.agents, []
        leads = policy.play(self.game, self._phase_rng)
        self.agents = agents
        return leads

    def _add_rewards(self, by_seat: Sequence[float], unit: int) -> None:
        """Reward every agent with points or returns; ``unit`` of those given by seat make 1."""
        rewards, total = self.rewards, self._cumulative_rewards
        for seat, agent in enumerate(self.agents):
            rewards[agent] = reward = by_seat[seat] / unit
            total[agent] += reward

    def _end_game(self, leads: npt.NDArray[np.int64]) -> None:
        """End the episode with the game."""
        if self._points:
            self._add_rewards(leads.tolist(), self.game.unit)
        else:
            self._add_rewards(self.game.returns, 1)
        self._end_episode(truncated=False)

    def _end_episode(self, *, truncated: bool) -> None:
        """End the episode for every agent."""
        self._over = True
        self.terminations = dict.fromkeys(self.agents, True)
        self.truncations = dict.fromkeys(self.agents, truncated)
        self._deads_step_first()

    def _terminate_illegal(self, agent: str) -> None:
        """End the episode at reward -1 for an agent whose action was illegal, 0 for the others."""
        EnvLogger.warn_on_illegal_move()
        self._cumulative_rewards[agent] = 0.0
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self.rewards[agent] = ILLEGAL_REWARD
        self._accumulate_rewards()
        self._end_episode(truncated=True)
