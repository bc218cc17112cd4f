"""N games of one learner against an opponent: the core of the Gymnasium, vector and SB3 shells.

Compiled opponents play inside the compiled batch (their `vector_step` entry; with a house, which
must be compiled too, their `take_turns`); any other agent is asked in Python for all lanes in which
it is to move at once. All give the same rewards, ends and observations.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt

from crib_env.engine.family import Family, find_family
from crib_env.engine.rng import seed_states
from crib_env.engine.tables import show_table
from crib_env.engine.two_hand.records import NO_DECKS, NONE
from crib_env.envs.checks import ILLEGAL_REWARD, check_choice, set_scores
from crib_env.envs.house import House, compile_house
from crib_env.errors import EpisodeOverError, IllegalActionError
from crib_env.options import ResetOptions
from crib_env.policy import Agent, CompiledAgent, Opponent, check_actions, find_agent
from crib_env.rules import Rules

Array = npt.NDArray[Any]
LANES_PER_THREAD = 2048  # fewer are not worth handing to a thread


class LearnerBatch:
    """N games in which one seat is the learner's and an opponent plays the others.

    Args:
        family: the engine.
        rules: the rules to play.
        num_envs: the number of games, N.
        players: seats in a game.
        episode: what one episode is.
        reward: ``"win"`` or ``"points"``.
        opponent: the name of an agent, an agent, or a function of a view and a generator.
        partner: likewise, who plays the learner's partner where four play; None: the opponent's
            like.
        seat: the learner's seat, or None to draw it for each episode.
        on_illegal: ``"terminate"`` or ``"raise"``, as in the AEC environments.
        autoreset: begin a new episode at once where one ended.
        threads: how many threads step the games; None chooses by N and the machine's cores.
        house: who makes the decisions that the environment leaves to a built-in policy, if any.

    Attributes:
        obs: uint8[N, obs_size], masks: int8[N, actions]: of the learner to move.
        rewards: float64[N]. dones: bool[N].
        final_obs, final_masks: where ``dones``, the ended episode's last.
        seats: int64[N], the learner's seats.
    """

    def __init__(
        self,
        family: Family,
        rules: Rules,
        num_envs: int,
        *,
        players: int = 2,
        episode: str = "game",
        reward: str = "win",
        opponent: Opponent = "random",
        partner: Opponent | None = None,
        seat: int | None = None,
        on_illegal: str = "terminate",
        autoreset: bool = True,
        threads: int | None = None,
        house: House | None = None,
    ) -> None:
        if type(num_envs) is not int or num_envs < 1:
            raise ValueError(f"num_envs must be a whole number from 1 up, got {num_envs!r}")
        if threads is not None and (type(threads) is not int or threads < 1):
            raise ValueError(f"threads must be None or a whole number from 1 up, got {threads!r}")
        check_choice("reward", reward, ("win", "points"))
        check_choice("on_illegal", on_illegal, ("terminate", "raise"))
        if seat is not None and seat not in range(players):
            raise ValueError(f"seat must be from 0 to {players - 1} or None, got {seat!r}")
        self.family = family
        self.rules = rules
        self.players = players
        self.num_envs = num_envs
        if partner is not None and players != 4:
            raise ValueError(f"partner={partner!r} needs four players; this game has {players}")
        self.opponent = find_agent(opponent)
        self.partner = self.opponent if partner is None else find_agent(partner)
        self.seat = seat
        self.on_illegal = on_illegal
        self.house = house
        self.autoreset = autoreset
        self.points = reward == "points"
        self.rules_record = family.rules_record(rules, episode, players)
        n, batch = num_envs, family.batch
        self.states = np.zeros(n, dtype=family.state)
        self.seats = np.full(n, 0 if seat is None else seat, dtype=np.int64)
        self.obs = np.zeros((n, family.obs_size), dtype=np.uint8)
        self.masks = np.zeros((n, family.actions), dtype=np.int8)
        self.final_obs = np.zeros_like(self.obs)
        self.final_masks = np.zeros_like(self.masks)
        self.rewards = np.zeros(n)
        self.dones = np.zeros(n, dtype=np.bool_)
        self.decks = NO_DECKS
        self._lanes = np.arange(n)
        self._continue = np.full(n, batch.CONTINUE, dtype=np.int64)
        self._tally = np.zeros((n, 2, batch.TALLY), dtype=np.int64)
        self._started = False
        self._rngs = np.zeros((n, 4), dtype=np.int64)
        self._rng = np.random.default_rng()
        if threads is None:
            threads = max(1, min(os.cpu_count() or 1, n // LANES_PER_THREAD))
        self.threads = threads
        self._views = np.zeros((threads, 1), dtype=family.view)
        self._logs = np.zeros((threads, family.log_size), dtype=np.int64)
        self._bind()

    def _bind(self) -> None:
        """Take hold of what neither copies nor pickles carry."""
        self._table = show_table()
        self._vector_step = None
        self._weights = np.zeros(1)
        self._compiled_house = None
        if self.house is not None:
            self._compiled_house = compile_house(
                self.house, self.opponent, self.family, self.num_envs
            )
        elif self.partner is self.opponent and isinstance(self.opponent, CompiledAgent):
            entry = self.opponent.vector_step_for(self.family.name)
            if entry is not None:
                self._vector_step = entry.unchecked
                self._weights = np.ascontiguousarray(self.opponent.weights, dtype=np.float64)
        self._pool = ThreadPoolExecutor(self.threads - 1) if self.threads > 1 else None

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        for name in ("_table", "_vector_step", "_weights", "_compiled_house", "_pool", "family"):
            del state[name]
        state["family"] = self.family.name
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.family = find_family(state["family"])
        self._bind()

    def seed(self, seed: int | None) -> None:
        """Start every generator from ``seed``; None takes fresh entropy."""
        deals, players, agent = np.random.SeedSequence(seed).spawn(3)
        seed_states(self.states, deals)
        self._rngs[:] = players.generate_state(4 * self.num_envs).reshape(-1, 4)
        # Seeded by words of the sequence: one with a parent would tell an opponent of the deals'.
        self._rng = np.random.default_rng(agent.generate_state(4))
        self._started = True

    def reset(self, options: ResetOptions | None = None) -> None:
        """Begin an episode in every lane and bring it to the learner's first decision."""
        if not self._started:
            self.seed(None)
        options = options or ResetOptions()
        self.decks = options.decks
        dealer = NONE if options.dealer is None else options.dealer
        self._start(self._lanes, dealer, self.decks)
        if options.scores is not None:
            set_scores(self.states, options.scores)
        self._run(self._continue)
        self.dones[:] = False

    def step(self, actions: Array) -> None:
        """Act for every learner; the results are in the attributes.

        Args:
            actions: int[N].

        Raises:
            ValueError: actions of another shape.
            IllegalActionError: with ``on_illegal="raise"``, before anything has changed.
            EpisodeOverError: before the first reset.
        """
        if not self._started:
            raise EpisodeOverError("step() before the first reset(): call reset() first")
        given = np.asarray(actions)
        if given.shape != (self.num_envs,) or given.dtype.kind not in "iu":
            raise ValueError(
                f"actions must be {self.num_envs} whole numbers, one a game, got shape "
                f"{given.shape} of {given.dtype}"
            )
        if self.on_illegal == "raise":
            self._refuse_illegal(given)
        # Any number below 0 is as illegal as -1; CONTINUE, which is one, is not for callers.
        self._run(np.maximum(given, -1, dtype=np.int64))

    def view(self, lane: int) -> np.void:
        """Return what the learner of a game may know, as a view record."""
        view = np.zeros(1, dtype=self.family.view)
        lanes, seats = np.array([lane]), self.seats[lane : lane + 1]
        self.family.batch.view_lanes(self.states, self.rules_record, lanes, seats, view)
        record: np.void = view[0]
        return record

    def deals(self, lane: int) -> int:
        """Return how many deals (in Table Top rounds) a game's episode has had."""
        return int(self.states["deals" if self.family.name == "two_hand" else "rounds"][lane])

    def _refuse_illegal(self, actions: Array) -> None:
        inside = (actions >= 0) & (actions < self.family.actions)
        legal = self.masks[self._lanes, np.where(inside, actions, 0)].astype(np.bool_) & inside
        if not legal.all():
            lane = int(np.flatnonzero(~legal)[0])
            why = self.family.why_illegal(self.view(lane), int(actions[lane]))
            raise IllegalActionError(why if self.num_envs == 1 else f"game {lane}: {why}")

    # --- compiled opponents ---------------------------------------------------------------------

    def _run(self, actions: Array) -> None:
        if self._vector_step is None and self._compiled_house is None:
            self._run_in_python(actions)
            return
        if self._pool is None:
            self._run_range(actions, 0, 0, self.num_envs)
            return
        bounds = np.linspace(0, self.num_envs, self.threads + 1).astype(int).tolist()
        jobs = [
            self._pool.submit(self._run_range, actions, t, bounds[t], bounds[t + 1])
            for t in range(1, self.threads)
        ]
        self._run_range(actions, 0, bounds[0], bounds[1])
        for job in jobs:
            job.result()

    def _run_range(self, actions: Array, thread: int, lo: int, hi: int) -> None:
        if self._compiled_house is not None:
            self._compiled_house.step_range(self, actions, thread, lo, hi)
            return
        assert self._vector_step is not None
        self._vector_step(
            self.states, self.rules_record, self.decks, self._table, self._weights, self._rngs,
            self._views[thread], self._logs[thread], lo, hi, int(self.points),
            int(self.autoreset), int(self.seat is None), self.seats, actions, self.obs, self.masks,
            self.rewards, self.dones, self.final_obs, self.final_masks,
        )  # fmt: skip

    # --- any other opponent ---------------------------------------------------------------------

    def _run_in_python(self, actions: Array) -> None:
        """Do what `vector_step_range` does, asking the opponent in Python."""
        lanes = self._lanes
        self.rewards[:] = 0.0
        self.dones[:] = False
        if actions is not self._continue:
            inside = (actions >= 0) & (actions < self.family.actions)
            legal = self.masks[lanes, np.where(inside, actions, 0)].astype(np.bool_) & inside
            self._step_lanes(lanes[legal], actions[legal])
            self._play_opponents(lanes[legal])
            self._reward(legal)
            self.states["gain"] = 0
            self.rewards[~legal] = ILLEGAL_REWARD
            self.dones |= ~legal
            ended = np.flatnonzero(self.dones)
            if len(ended):
                self._look(ended, self.final_obs, self.final_masks)
                if self.autoreset:
                    self._start(ended, NONE, NO_DECKS)
                    self.states["given"][ended] = len(self.decks)
                    self._play_opponents(ended)
        else:
            self._play_opponents(lanes)
        self._look(lanes, self.obs, self.masks)

    def _start(self, lanes: Array, dealer: int, decks: Array) -> None:
        batch = self.family.batch
        dealers = np.full(len(lanes), dealer, dtype=np.int64)
        batch.start_lanes(self.states, self.rules_record, decks, lanes, dealers, self._logs[0])
        if self.seat is None:
            batch.draw_seats(self.states, self.rules_record, lanes, self.seats)

    def _play_opponents(self, lanes: Array) -> None:
        """Let the opponent and the house act until the learner is to move or the episode over."""
        while True:
            lanes = lanes[self.states["over"][lanes] == 0]
            house = np.zeros(len(lanes), dtype=np.bool_)
            if self.house is not None:
                house = self.states["phase"][lanes] == self.house.phase
                self._ask(self.house.agent, lanes[house])
            movers = self.states["to_move"][lanes]
            others = ~house & (movers != self.seats[lanes])
            partners = others & (movers % 2 == self.seats[lanes] % 2)
            self._ask(self.partner, lanes[partners])
            self._ask(self.opponent, lanes[others & ~partners])
            lanes = lanes[house | others]
            if not len(lanes):
                return

    def _ask(self, agent: Agent, lanes: Array) -> None:
        """Let an agent act for the seat to move in each lane."""
        if not len(lanes):
            return
        movers = self.states["to_move"][lanes]
        views = np.zeros(len(lanes), dtype=self.family.view)
        self.family.batch.view_lanes(self.states, self.rules_record, lanes, movers, views)
        answer = agent.act(views, self._rng)
        try:
            actions = check_actions(answer, len(views))
        except ValueError as error:
            raise ValueError(f"{agent.name!r} erred: {error}") from error
        bad = self._step_lanes(lanes, actions)
        if bad != NONE:
            why = self.family.why_illegal(views[bad], int(actions[bad]))
            raise IllegalActionError(f"{agent.name!r} erred: {why}")

    def _step_lanes(self, lanes: Array, actions: Array) -> int:
        bad: int = self.family.batch.step_lanes(
            self.states, self.rules_record, self.decks, self._table, lanes, actions, self._logs[0],
            self._tally,
        )  # fmt: skip
        return bad

    def _reward(self, legal: Array) -> None:
        over = (self.states["over"] != 0) & legal
        sides = self.seats % 2
        sign = 1 - 2 * sides
        if self.points:
            gain = self.states["gain"]
            self.rewards[:] = sign * (gain[:, 0] - gain[:, 1])
        else:
            results = self.family.batch.outcomes(self.states, self.rules_record)
            self.rewards[over] = (sign * results)[over]
        self.dones |= over

    def _look(self, lanes: Array, obs: Array, masks: Array) -> None:
        batch = self.family.batch
        views = np.zeros(len(lanes), dtype=self.family.view)
        batch.view_lanes(self.states, self.rules_record, lanes, self.seats[lanes], views)
        seen = np.empty((len(lanes), self.family.obs_size), dtype=np.uint8)
        legal = np.empty((len(lanes), self.family.actions), dtype=np.int8)
        batch.encode_views(views, seen, legal)
        obs[lanes] = seen
        masks[lanes] = legal
