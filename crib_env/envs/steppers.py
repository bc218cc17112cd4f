"""Stepping a learner's games: in compiled code on one thread or several, or with agents in Python.

A compiled opponent plays inside one pass over the games. Where a policy plays a phase of the deal,
or opponents differ from game to game, they take turns between passes. If one of them runs in
Python, all are asked in Python, each with one call for all its games. The results are the same,
action by action; a test compares them. The entries are those of `crib_env.engine.learners`.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from crib_env.arrays import Array, Doubles
from crib_env.engine.family import Family
from crib_env.engine.learners import OPPONENT, PHASE_POLICY, AgentEntries, learner_entries
from crib_env.engine.record import NONE
from crib_env.engine.show import show_table
from crib_env.errors import IllegalActionError
from crib_env.policy import Agent, CompiledAgent

if TYPE_CHECKING:
    from crib_env.envs.learner import LearnerBatch

LANES_PER_THREAD = 2048  # fewer are not worth handing to a thread


def choose_threads(threads: int | None, n: int) -> int:
    """Return how many threads step n games: as asked for, else by n and the machine's cores."""
    if threads is None:
        return max(1, min(os.cpu_count() or 1, n // LANES_PER_THREAD))
    return threads


class Player(NamedTuple):
    """One who plays in compiled passes: the agent, its code, and the weights that this reads."""

    agent: CompiledAgent
    entries: AgentEntries
    weights: Doubles


def compiled_player(agent: Agent, family: Family) -> Player | None:
    """Return the agent as compiled code; None if it must be asked in Python."""
    entries = agent.entries_for(family) if isinstance(agent, CompiledAgent) else None
    if entries is None:
        return None
    assert isinstance(agent, CompiledAgent)
    return Player(agent, entries, np.ascontiguousarray(agent.weights, dtype=np.float64))


def choose_stepper(batch: LearnerBatch) -> Stepper:
    """Return what steps the games of a batch, by who plays in them."""
    players = [compiled_player(agent, batch.family) for agent in batch.opponents.agents]
    opponents = [player for player in players if player is not None]
    phase = batch.config.phase_policy
    policy = None if phase is None else compiled_player(phase.agent, batch.family)
    asked = len(opponents) < len(players) or (phase is not None and policy is None)
    if asked or batch.config.partner is not None:
        return PythonStepper(batch)
    return Stepper(batch, opponents, policy)


class Stepper:
    """Steps the games of a batch in compiled code, on its threads.

    One opponent who plays all seats but the learner's does so in one pass; several policies take
    turns: opponents by number, and a phase's.
    """

    compiled = True

    def __init__(
        self, batch: LearnerBatch, opponents: Sequence[Player] = (), policy: Player | None = None
    ) -> None:
        n, self.threads = batch.num_envs, batch.threads if self.compiled else 1
        phase = batch.config.phase_policy
        self.opponents = opponents
        self.policy = policy
        self.phase = NONE if phase is None else phase.phase
        self._waiting = np.empty(n, dtype=np.int64)
        self._table = show_table()
        self._views = np.zeros((self.threads, 1), dtype=batch.family.view)
        self._bounds = np.linspace(0, n, self.threads + 1).astype(int).tolist()
        self._start_pool()

    def _start_pool(self) -> None:
        self._process = os.getpid()
        self._pool = ThreadPoolExecutor(self.threads - 1) if self.threads > 1 else None

    def run(self, batch: LearnerBatch, actions: Array) -> None:
        """Play the actions, int64[N], and what follows up to the learner's next decision."""
        if self._pool is None:
            self._run_range(batch, actions, 0, 0, self._bounds[1])
            return
        if os.getpid() != self._process:  # a fork copies the pool but not its threads
            self._start_pool()
        lo = self._bounds
        jobs = [
            self._pool.submit(self._run_range, batch, actions, t, lo[t], lo[t + 1])
            for t in range(1, self.threads)
        ]
        try:
            self._run_range(batch, actions, 0, lo[0], lo[1])
        finally:
            for job in jobs:
                job.result()

    def _run_range(
        self, batch: LearnerBatch, actions: Array, thread: int, lo: int, hi: int
    ) -> None:
        if len(self.opponents) == 1 and self.phase == NONE:
            self._one_pass(batch, self.opponents[0], actions, thread, lo, hi)
        else:
            self._in_turns(batch, actions, thread, lo, hi)

    def _one_pass(
        self, batch: LearnerBatch, opponent: Player, actions: Array, thread: int, lo: int, hi: int
    ) -> None:
        bad = opponent.entries.step_range.unchecked(
            batch.states, batch.games.record, batch.games.decks, self._table, opponent.weights,
            batch.chance.rngs, self._views[thread], batch.logs[thread], lo, hi, int(batch.points),
            int(batch.autoreset), int(batch.config.seat is None), batch.seats, actions, batch.obs,
            batch.masks, batch.rewards, batch.dones, batch.final_obs, batch.final_masks,
            batch.endings,
        )  # fmt: skip
        if bad != NONE:
            refuse_action(opponent, "opponent", bad)

    def _in_turns(self, batch: LearnerBatch, actions: Array, thread: int, lo: int, hi: int) -> None:
        entries = learner_entries(batch.family)
        views, log = self._views[thread], batch.logs[thread]
        game = batch.states, batch.games.record, batch.games.decks
        waiting = entries.act.unchecked(
            *game, self._table, log, lo, hi, self.phase, batch.seats, actions, batch.rewards,
            batch.dones, self._waiting,
        )  # fmt: skip
        self._take_turns(batch, thread, lo, waiting)
        waiting = entries.settle.unchecked(
            *game, views, log, lo, hi, self.phase, int(batch.points), int(batch.autoreset),
            int(batch.config.seat is None), batch.seats, actions, batch.rewards, batch.dones,
            batch.final_obs, batch.final_masks, batch.endings, self._waiting,
        )  # fmt: skip
        if batch.autoreset:
            batch.opponents.draw(batch.chance.share_rngs, lo + batch.dones[lo:hi].nonzero()[0])
        self._take_turns(batch, thread, lo, waiting)
        entries.observe.unchecked(
            batch.states, batch.games.record, views, lo, hi, batch.seats, batch.obs, batch.masks
        )

    def _take_turns(self, batch: LearnerBatch, thread: int, lo: int, waiting: int) -> None:
        """Let policy and opponents take turns until no game waits for any of them."""
        while waiting:
            if self.policy is not None:
                waiting = self._let_act(batch, thread, self.policy, PHASE_POLICY, lo, waiting)
            waiting = self._opponents_turn(batch, thread, lo, waiting)

    def _opponents_turn(self, batch: LearnerBatch, thread: int, lo: int, waiting: int) -> int:
        """Let each opponent act in its games of those that wait; return how many still do."""
        if len(self.opponents) == 1:
            return self._let_act(batch, thread, self.opponents[0], OPPONENT, lo, waiting)
        lanes = self._waiting[lo : lo + waiting]
        drawn = batch.opponents.drawn[lanes]
        lanes[:] = lanes[np.argsort(drawn, kind="stable")]
        starts = np.searchsorted(np.sort(drawn), np.arange(len(self.opponents) + 1)).tolist()
        left = 0
        for k, opponent in enumerate(self.opponents):
            first, n = starts[k], starts[k + 1] - starts[k]
            n = self._let_act(batch, thread, opponent, OPPONENT, lo + first, n)
            lanes[left : left + n] = lanes[first : first + n].copy()
            left += n
        return left

    def _let_act(
        self, batch: LearnerBatch, thread: int, player: Player, role: int, lo: int, waiting: int
    ) -> int:
        """Let a policy act in ``waiting`` games of the list from ``lo`` on; return who is left."""
        policy = role == PHASE_POLICY
        left: int = player.entries.take_turns.unchecked(
            batch.states, batch.games.record, batch.games.decks, self._table, player.weights,
            batch.chance.phase_rngs if policy else batch.chance.rngs, self._views[thread],
            batch.logs[thread], self.phase, role, batch.seats, self._waiting, lo, waiting,
        )  # fmt: skip
        if left < 0:
            refuse_action(player, "phase policy" if policy else "opponent", NONE - left)
        return left


def refuse_action(player: Player, role: str, lane: int) -> None:
    """Raise for a compiled player whose action was illegal."""
    raise IllegalActionError(
        f"the {role} {player.agent.name!r} failed: it chose an illegal action in game {lane}"
    )


class PythonStepper(Stepper):
    """Steps games whose players are asked in Python, once a round for all games that wait."""

    compiled = False

    def _take_turns(self, batch: LearnerBatch, thread: int, lo: int, waiting: int) -> None:
        games, policy, chance = batch.games, batch.config.phase_policy, batch.chance
        partner: Any = batch.config.partner  # an agent; None: whoever the opponent is
        lanes = self._waiting[:waiting].copy()
        while len(lanes):
            in_phase = np.zeros(len(lanes), dtype=np.bool_)
            if policy is not None:
                in_phase = batch.states["phase"][lanes] == policy.phase
                games.ask(policy.agent, lanes[in_phase], chance.phase_policy)
            movers = games.movers(lanes)
            others = ~in_phase & (movers != batch.seats[lanes])
            partners = others & (batch.sides[movers] == batch.sides[batch.seats[lanes]])
            if partner is not None:
                games.ask(partner, lanes[partners], chance.partner)
            for k, opponent in enumerate(batch.opponents.agents):
                plays = others & (batch.opponents.drawn[lanes] == k)
                if partner is None:
                    games.ask(opponent, lanes[plays & partners], chance.partner)
                games.ask(opponent, lanes[plays & ~partners], chance.opponent)
            lanes = games.running(lanes[in_phase | others])
