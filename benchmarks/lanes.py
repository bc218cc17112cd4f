"""Many games in compiled random play, on one thread or several: what `batch` and `scaling` time."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from crib_env.engine import phases
from crib_env.engine.family import find_family
from crib_env.engine.record import NO_DECKS, NONE
from crib_env.engine.rng import WORDS, seed_states
from crib_env.engine.show import show_table
from crib_env.engine.two_hand.records import LOG_SIZE
from crib_env.rules import PRESETS

A_PIECE = 200_000  # decisions between two looks at the clock: some tens of milliseconds


class Lanes:
    """N games played by a `rollout` entry: an observation and a mask at every decision.

    Args:
        rules: the name of a preset.
        n: the number of games.
        threads: how many Python threads share them, each a range of lanes.
        episode: what one episode is; ended ones begin anew.
        players: seats in a game.
        house: the phase that a house plays at random, uncounted, if any.
    """

    def __init__(
        self,
        rules: str,
        n: int,
        *,
        threads: int = 1,
        episode: str = "game",
        players: int = 2,
        house: int | None = None,
    ) -> None:
        preset = PRESETS[rules]
        family = find_family(preset.family)
        self.record = family.rules_record(preset, episode, players)
        self.states = np.zeros(n, dtype=family.state)
        seed_states(self.states, np.random.SeedSequence(1))
        self.obs = np.zeros((n, family.obs_size), dtype=np.uint8)
        self.masks = np.zeros((n, family.actions), dtype=np.int8)
        self.rngs = np.empty((n, WORDS), dtype=np.int64)
        self.rngs[:] = np.random.SeedSequence(2).generate_state(WORDS * n).reshape(n, WORDS)
        # A scratch view and log for each thread, a page apart: no two share a cache line.
        self.views = [np.zeros(64, dtype=family.view)[:1] for _ in range(threads)]
        self.logs = [np.zeros(LOG_SIZE, dtype=np.int64) for _ in range(threads)]
        self.table = show_table()
        self.bounds = np.linspace(0, n, threads + 1).astype(int).tolist()
        self.steps = max(1, A_PIECE // n)
        self.pool = ThreadPoolExecutor(threads - 1) if threads > 1 else None
        batch = family.batch
        self._rollout = (batch if house is None else phases).rollout.compiled
        self._house = [] if house is None else [house]
        dealers = np.full(n, NONE, dtype=np.int64)
        batch.start_lanes(self.states, self.record, NO_DECKS, np.arange(n), dealers, self.logs[0])
        self.play()  # not all lanes at the same point of a deal

    def _play_range(self, thread: int) -> int:
        done: int = self._rollout(
            self.states, self.record, NO_DECKS, self.table, self.rngs, self.views[thread],
            self.logs[thread], self.bounds[thread], self.bounds[thread + 1], *self._house,
            self.steps, self.obs, self.masks,
        )  # fmt: skip
        return done

    def play(self) -> int:
        """Play some steps in every lane; return the number of decisions."""
        if self.pool is None:
            return self._play_range(0)
        jobs = [self.pool.submit(self._play_range, t) for t in range(1, len(self.views))]
        return self._play_range(0) + sum(job.result() for job in jobs)
