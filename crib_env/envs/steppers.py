"""Stepping a learner's games: in compiled code on one thread or several, or with agents in Python.

Compiled opponents play inside one pass over the lanes (`crib_env.engine.learners`). Where a policy
plays a phase of the deal, or opponents differ from game to game, they take turns in passes
(`crib_env.engine.learners`). An agent that runs in Python gets one call for all its lanes
(`step_python`). The results are the same, action by action; a test compares them.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from crib_env.arrays import Array, Doubles
from crib_env.engine.entries import entries_of
from crib_env.engine.family import Family
from crib_env.engine.learners import CONTINUE, OPPONENT, PHASE_POLICY, AgentEntries, learner_entries
from crib_env.engine.record import NONE
from crib_env.engine.show import show_table
from crib_env.envs.opponents import PhasePolicy
from crib_env.errors import IllegalActionError
from crib_env.policy import Agent, CompiledAgent

if TYPE_CHECKING:
    from crib_env.envs.learner import LearnerBatch

ILLEGAL_REWARD = -1.0  # as PettingZoo's TerminateIllegalWrapper is used in its own classic games
LANES_PER_THREAD = 2048  # fewer are not worth handing to a thread


def choose_threads(threads: int | None, n: int) -> int:
    """Return how many threads step n games: as asked for, else by n and the machine's cores."""
    if threads is None:
        return max(1, min(os.cpu_count() or 1, n // LANES_PER_THREAD))
    return threads


@dataclass(frozen=True)
class Player:
    """One who plays in compiled passes.

    Attributes:
        agent: who. entries: its compiled code. weights: float64[K], what that reads.
    """

    agent: CompiledAgent
    entries: AgentEntries
    weights: Doubles


def compiled_player(agent: Agent, family: Family) -> Player | None:
    """Return the agent as compiled code; None if it must be asked in Python."""
    if not isinstance(agent, CompiledAgent):
        return None
    entries = agent.entries_for(family)
    if entries is None:
        return None
    return Player(agent, entries, np.ascontiguousarray(agent.weights, dtype=np.float64))


def compiled_stepper(
    family: Family,
    opponents: Sequence[Agent],
    phase_policy: PhasePolicy | None,
    n: int,
    threads: int,
) -> CompiledStepper | None:
    """Return what steps n games against these in compiled code; None if one of them cannot be."""
    players = [compiled_player(opponent, family) for opponent in opponents]
    found = [player for player in players if player is not None]
    if len(found) < len(players):
        return None
    if phase_policy is None:
        if len(found) == 1:
            return CompiledStepper(family, found[0], n, threads)
        return MultiPolicyStepper(family, found, None, NONE, n, threads)
    policy = compiled_player(phase_policy.agent, family)
    if policy is None:
        return None
    return MultiPolicyStepper(family, found, policy, phase_policy.phase, n, threads)


class CompiledStepper:
    """Steps games against a compiled opponent.

    Args:
        family: the games'. opponent: who plays all seats but the learner's.
        n: how many games. threads: how many threads share them.
    """

    def __init__(self, family: Family, opponent: Player, n: int, threads: int) -> None:
        self.family = family
        self.opponent = opponent
        self.threads = threads
        self._table = show_table()
        self._views = np.zeros((threads, 1), dtype=family.view)
        self._bounds = np.linspace(0, n, threads + 1).astype(int).tolist()
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
        bad = self.opponent.entries.step_range.unchecked(
            batch.states, batch.games.record, batch.games.decks, self._table, self.opponent.weights,
            batch.chance.rngs, self._views[thread], batch.logs[thread], lo, hi, int(batch.points),
            int(batch.autoreset), int(batch.seat is None), batch.seats, actions, batch.obs,
            batch.masks, batch.rewards, batch.dones, batch.final_obs, batch.final_masks,
            batch.endings,
        )  # fmt: skip
        if bad != NONE:
            self._refuse(self.opponent, "opponent", bad)

    def _refuse(self, player: Player, role: str, lane: int) -> None:
        raise IllegalActionError(
            f"the {role} {player.agent.name!r} failed: it chose an illegal action in game {lane}"
        )


class MultiPolicyStepper(CompiledStepper):
    """Steps games in which compiled policies take turns.

    Args:
        family, n, threads: as of `CompiledStepper`.
        opponents: who plays all seats but the learner's, by number; see `Opponents.drawn`.
        policy: who plays the phase, if anybody. phase: which, or NONE.
    """

    def __init__(
        self,
        family: Family,
        opponents: Sequence[Player],
        policy: Player | None,
        phase: int,
        n: int,
        threads: int,
    ) -> None:
        super().__init__(family, opponents[0], n, threads)
        self.opponents = opponents
        self.phase = phase
        self.policy = policy
        self._waiting = np.empty(n, dtype=np.int64)
        self._entries = learner_entries(family)

    def _run_range(
        self, batch: LearnerBatch, actions: Array, thread: int, lo: int, hi: int
    ) -> None:
        views, log = self._views[thread], batch.logs[thread]
        game = batch.states, batch.games.record, batch.games.decks
        waiting = self._entries.act.unchecked(
            *game, self._table, log, lo, hi, self.phase, batch.seats, actions, batch.rewards,
            batch.dones, self._waiting,
        )  # fmt: skip
        self._take_turns(batch, thread, lo, waiting)
        waiting = self._entries.settle.unchecked(
            *game, views, log, lo, hi, self.phase, int(batch.points), int(batch.autoreset),
            int(batch.seat is None), batch.seats, actions, batch.rewards, batch.dones,
            batch.final_obs, batch.final_masks, batch.endings, self._waiting,
        )  # fmt: skip
        if batch.autoreset:
            batch.opponents.draw(batch.chance.share_rngs, lo + batch.dones[lo:hi].nonzero()[0])
        self._take_turns(batch, thread, lo, waiting)
        self._entries.observe.unchecked(
            batch.states, batch.games.record, views, lo, hi, batch.seats, batch.obs, batch.masks
        )

    def _take_turns(self, batch: LearnerBatch, thread: int, lo: int, waiting: int) -> None:
        """Let policy and opponents take turns until no lane waits for any of them."""
        while waiting:
            if self.policy is not None:
                waiting = self._let_act(batch, thread, self.policy, PHASE_POLICY, lo, waiting)
            waiting = self._opponents_turn(batch, thread, lo, waiting)

    def _opponents_turn(self, batch: LearnerBatch, thread: int, lo: int, waiting: int) -> int:
        """Let each opponent act in its lanes of those that wait; return how many still do."""
        if len(self.opponents) == 1:
            return self._let_act(batch, thread, self.opponent, OPPONENT, lo, waiting)
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
        """Let a policy act in ``waiting`` lanes of the list from ``lo`` on; return who is left."""
        policy = role == PHASE_POLICY
        left: int = player.entries.take_turns.unchecked(
            batch.states, batch.games.record, batch.games.decks, self._table, player.weights,
            batch.chance.phase_rngs if policy else batch.chance.rngs, self._views[thread],
            batch.logs[thread], self.phase, role, batch.seats, self._waiting, lo, waiting,
        )  # fmt: skip
        if left < 0:
            self._refuse(player, "phase policy" if policy else "opponent", NONE - left)
        return left


def step_python(batch: LearnerBatch, actions: Array) -> None:
    """Play the actions, int64[N], and what follows up to the learner's next decision."""
    lanes = batch.lanes
    begun = actions == CONTINUE
    legal = batch.legal(actions)
    illegal = ~(legal | begun)
    batch.games.step(lanes[legal], actions[legal])
    _play_others(batch, lanes[legal | begun])
    _reward(batch, legal)
    batch.states["gain"][legal] = 0
    batch.rewards[illegal] = ILLEGAL_REWARD
    batch.dones |= illegal
    ended = np.flatnonzero(batch.dones)
    if len(ended):
        learner_entries(batch.family).write_endings(
            batch.states, batch.games.record, ended, batch.seats, illegal, batch.endings
        )
        _look(batch, ended, batch.final_obs, batch.final_masks)
        if batch.autoreset:
            batch.autoreset_lanes(ended)
            _play_others(batch, ended)
    _look(batch, lanes, batch.obs, batch.masks)


def _play_others(batch: LearnerBatch, lanes: Array) -> None:
    """Let the other seats and the phase policy act until the learner is to move, or the end."""
    games, policy = batch.games, batch.phase_policy
    chance = batch.chance
    while True:
        lanes = games.running(lanes)
        left_out = np.zeros(len(lanes), dtype=np.bool_)
        if policy is not None:
            left_out = batch.states["phase"][lanes] == policy.phase
            games.ask(policy.agent, lanes[left_out], chance.phase_policy)
        movers = games.movers(lanes)
        others = ~left_out & (movers != batch.seats[lanes])
        partners = others & (batch.sides[movers] == batch.sides[batch.seats[lanes]])
        if batch.partner is not None:
            games.ask(batch.partner, lanes[partners], chance.partner)
        for k, opponent in enumerate(batch.opponents.agents):
            plays = others & (batch.opponents.drawn[lanes] == k)
            if batch.partner is None:
                games.ask(opponent, lanes[plays & partners], chance.partner)
            games.ask(opponent, lanes[plays & ~partners], chance.opponent)
        lanes = lanes[left_out | others]
        if not len(lanes):
            return


def _reward(batch: LearnerBatch, acted: Array) -> None:
    """Reward the learners who ``acted``, bool[N], and say where the episode is over."""
    learner_entries(batch.family).fill_rewards(
        batch.states, batch.games.record, batch.seats, int(batch.points), batch.rewards
    )
    batch.rewards[~acted] = 0
    batch.dones[:] = (batch.states["over"] != 0) & acted


def _look(batch: LearnerBatch, lanes: Array, obs: Array, masks: Array) -> None:
    views = batch.games.views(lanes, batch.seats[lanes])
    seen = np.empty((len(lanes), obs.shape[1]), dtype=np.uint8)
    legal = np.empty((len(lanes), masks.shape[1]), dtype=np.int8)
    entries_of(batch.family).encode(views, seen, legal)
    obs[lanes] = seen
    masks[lanes] = legal
