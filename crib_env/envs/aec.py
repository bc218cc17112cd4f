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
from pettingzoo import AECEnv
from pettingzoo.utils.env_logger import EnvLogger

from crib_env.engine.family import Family, find_family
from crib_env.engine.rng import seed_states
from crib_env.engine.tables import show_table
from crib_env.engine.two_hand.records import NONE
from crib_env.engine.two_hand.single import GAIN_OFFSET, ILLEGAL
from crib_env.envs import positions
from crib_env.envs.checks import ILLEGAL_REWARD, check_choice, set_scores, whole_action
from crib_env.envs.house import House
from crib_env.errors import EpisodeOverError, IllegalActionError
from crib_env.events import Event, read_log
from crib_env.options import ResetOptions, check_seed, read_options
from crib_env.policy import check_actions
from crib_env.rules import Rules

Observation = dict[str, npt.NDArray[Any]]


class CribbageAEC(AECEnv[str, Observation, "int | None"]):
    """A card game as an agent-environment cycle.

    Args:
        family: the engine.
        name: the environment's name with its version, such as ``"six_card_v0"``.
        rules: the rules to play.
        players: the number of seats.
        episode: what one episode is: a name the family's ``rules_record`` knows.
        reward: ``"win"``, +1 or -1 at the episode's end; or ``"points"``, at every step the
            acting side's points less the other's (zero-sum).
        render_mode: None or one of ``metadata["render_modes"]``.
        on_illegal: ``"terminate"`` ends the episode at reward -1 for the seat that acted, as
            PettingZoo's TerminateIllegalWrapper does; ``"raise"`` an `IllegalActionError`.
        house: who makes the decisions that this environment leaves to a built-in policy, if any.
    """

    def __init__(
        self,
        family: Family,
        name: str,
        rules: Rules,
        *,
        players: int = 2,
        episode: str,
        reward: str = "win",
        render_mode: str | None = None,
        on_illegal: str = "terminate",
        house: House | None = None,
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
        self.family = family
        self.rules = rules
        self.players = players
        self.episode = episode
        self.reward = reward
        self.render_mode = render_mode
        self.on_illegal = on_illegal
        self.house = house
        self.possible_agents = [f"player_{seat}" for seat in range(players)]
        self.agents: list[str] = []
        self._seat_of = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        space = spaces.Dict(
            {
                "observation": spaces.Box(0, 1, (family.obs_size,), np.uint8),
                "action_mask": spaces.Box(0, 1, (family.actions,), np.int8),
            }
        )
        self.observation_spaces = {agent: copy.deepcopy(space) for agent in self.possible_agents}
        self.action_spaces = {
            agent: spaces.Discrete(family.actions) for agent in self.possible_agents
        }
        self.state_space = spaces.Box(0, 1, (players * family.obs_size + 52,), np.uint8)
        self._rules = family.rules_record(rules, episode, players)
        self._states = np.zeros(1, dtype=family.state)
        self._views = np.zeros(1, dtype=family.view)
        self._log = np.zeros(family.log_size, dtype=np.int64)
        self._decks = ResetOptions().decks
        self._obs = np.zeros(family.obs_size, dtype=np.uint8)
        self._mask = np.zeros(family.actions, dtype=np.int8)
        self._observed = NONE  # the seat whose observation _obs and _mask hold
        self._seeded = False
        self._over = True
        self._pushed: list[dict[str, Any]] = []  # positions before the moves that pop takes back
        self._points = reward == "points"
        self._bind()

    def _bind(self) -> None:
        """Take hold of the compiled entries, which neither copies nor pickles carry."""
        single = self.family.single
        self._table = show_table()
        self._step = single.step.unchecked
        self._observe = single.observe.unchecked
        self._over_shift = self.family.seat_bits
        self._seat_mask = (1 << self.family.seat_bits) - 1

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        for name in ("_step", "_observe", "_table", "family"):
            del state[name]
        state["family"] = self.family.name
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.family = find_family(state["family"])
        self._bind()

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
            seed_states(self._states, entropy)
            self._house_rng = np.random.default_rng(entropy.spawn(1)[0])
            self._seeded = True
        self._decks = chosen.decks
        dealer = NONE if chosen.dealer is None else chosen.dealer
        self.family.single.begin(self._states, self._rules, self._decks, dealer, self._log)
        if chosen.scores is not None:
            set_scores(self._states, chosen.scores)
            if self.family.name == "two_hand":
                self._log[0] = 0  # three for last (F1) are not pegged on top of given scores
        self._pushed.clear()
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self._skip_agent_selection: str | None = None
        self._over = False
        if self.house is not None:
            self._house_acts(0)
        self._look(int(self._states["to_move"][0]))
        self.agent_selection = self.possible_agents[self._observed]

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
            code = self._step(
                self._states, self._rules, self._decks, self._table, action, self._log,
                self._views, self._obs, self._mask,
            )  # fmt: skip
        except OverflowError:  # a number that no 64 bits hold is no action either
            code = ILLEGAL
        if code < 0:
            self._illegal(agent, action)
            return
        self._cumulative_rewards[agent] = 0.0
        seat, over, gain = self._unpack(code)
        if self.house is not None and not over:
            seat, over, gain = self._house_acts(gain)
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
        return {"observation": self._obs.copy(), "action_mask": self._mask.copy()}

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
        secret = np.zeros(52, dtype=np.uint8)
        secret[self.family.secret(self._states[0])] = 1
        return np.concatenate([*parts, secret])

    def render(self) -> str | None:
        """Return the game as text, for the seat to move (``render_mode="ansi"``)."""
        if self.render_mode is None:
            EnvLogger.warn("render() needs a render_mode, such as env(render_mode='ansi')")
            return None
        from crib_env.render.ansi import render

        return render(self)

    def close(self) -> None:
        """Do nothing: there is nothing to release."""

    # --- beyond PettingZoo ----------------------------------------------------------------------

    @property
    def scores(self) -> tuple[int, int]:
        """The scores of the present game, by side."""
        first, second = self._states["scores"][0]
        return int(first), int(second)

    @property
    def games(self) -> tuple[int, int]:
        """The game points of the match, by side (H11); Table Top has no matches."""
        if self.family.name != "two_hand":
            raise AttributeError(f"{self.metadata['name']} has no matches and so no game points")
        first, second = self._states["games"][0]
        return int(first), int(second)

    @property
    def dealer(self) -> int:
        """The seat that deals."""
        return int(self._states["dealer"][0])

    @property
    def deals(self) -> int:
        """How many deals (in Table Top rounds) this episode has had."""
        return int(self._states["deals" if self.family.name == "two_hand" else "rounds"][0])

    @property
    def events(self) -> list[Event]:
        """What was pegged since the last decision, in order."""
        return read_log(self._log)

    def view(self, seat: int) -> np.void:
        """Return a copy of what ``seat`` may know, as a view record."""
        if seat not in range(self.players):
            raise ValueError(f"seat must be from 0 to {self.players - 1}, got {seat!r}")
        self._look(seat)
        record: np.void = self._views.copy()[0]
        return record

    def snapshot(self) -> dict[str, Any]:
        """Return the position, the generator included, for `restore`; later play leaves it be."""
        return positions.snapshot(self)

    def restore(self, snapshot: dict[str, Any]) -> None:
        """Go back to a position taken by `snapshot` of an environment of the same rules."""
        positions.restore(self, snapshot)

    def push(self, action: int) -> None:
        """Make a move that `pop` takes back: for search, as in python-chess.

        Raises:
            IllegalActionError: an illegal action, whatever ``on_illegal`` says; nothing changed.
        """
        positions.push(self, action)

    def pop(self) -> None:
        """Take back the last move made by `push`.

        Raises:
            IndexError: there is none since the reset.
        """
        positions.pop(self)

    def notation(self) -> str:
        """Return the position as one line of text; see `crib_env.notation`."""
        return positions.notation(self)

    def from_notation(self, text: str) -> None:
        """Take up a position written by `notation`; given decks are not part of it.

        Raises:
            ValueError: text that is no position, or one of another game than this environment's.
        """
        positions.from_notation(self, text)

    # --- inside ---------------------------------------------------------------------------------

    def _look(self, seat: int) -> None:
        if not self._seeded:
            raise EpisodeOverError("there is nothing to see before the first reset(): call it")
        self._observe(self._states, self._rules, seat, self._views, self._obs, self._mask)
        self._observed = seat
        if self._over:
            self._mask[:] = 0  # also where an illegal action ended the episode

    def _house_acts(self, gain: int) -> tuple[int, int, int]:
        """Let the house make its decisions; return seat to move, end, gain so far."""
        assert self.house is not None
        states, over = self._states, 0
        while not over and states["phase"][0] == self.house.phase:
            view = self.view(int(states["to_move"][0]))
            answer = self.house.agent.act(np.array([view]), self._house_rng)
            action = int(check_actions(answer, 1)[0])
            code = self._step(
                states, self._rules, self._decks, self._table, action, self._log, self._views,
                self._obs, self._mask,
            )  # fmt: skip
            if code < 0:
                why = self.family.why_illegal(view, action)
                raise IllegalActionError(f"the house {self.house.agent.name!r} erred: {why}")
            _, over, more = self._unpack(code)
            gain += more
        return int(states["to_move"][0]), over, gain

    def _unpack(self, code: int) -> tuple[int, int, int]:
        ends = code >> self._over_shift
        return code & self._seat_mask, ends & 1, (ends >> 1) - GAIN_OFFSET

    def _pay(self, gain: float) -> None:
        rewards, total = self.rewards, self._cumulative_rewards
        for seat, agent in enumerate(self.agents):
            reward = gain if seat % 2 == 0 else -gain
            rewards[agent] = reward
            total[agent] += reward

    def _finish(self, gain: float) -> None:
        if not self._points:
            gain = self.family.single.outcome(self._states, self._rules)
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
