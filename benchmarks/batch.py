"""The speed of the compiled batch in random play, on one thread, on two, and on a GPU."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib.util import find_spec

import numpy as np
from numba import int64

from benchmarks import peers
from benchmarks.timing import FULL, Findings, Row, Settings, over_peers, race, ratio
from crib_env.batch import GameBatch
from crib_env.engine.family import Family
from crib_env.engine.hands.records import DISCARD, PEGGING
from crib_env.engine.jit import Entry, entry
from crib_env.engine.record import DECKS_T, LOG_SIZE, LOG_T, MASKS_T, NO_DECKS, NONE, OBS_T, RNGS_T, TABLE_T
from crib_env.engine.rng import WORDS
from crib_env.engine.show import show_table
from crib_env.rules import PRESETS

A_PIECE = 200_000  # decisions between two readings of the clock: some tens of milliseconds


@cache
def rollout_of(family: Family) -> Entry:
    """Return an entry that plays a range of games at random."""
    states_t, rules_t, views_t = family.types
    kernels = family.kernels
    begin_episode, draw_move, step = kernels.begin_episode, kernels.draw_move, kernels.step
    view_of, encode, encode_mask = kernels.view, kernels.encode, kernels.encode_mask
    has_phases = "phase" in (family.state.names or ())

    @entry(
        int64(states_t, rules_t, DECKS_T, TABLE_T, RNGS_T, views_t, LOG_T, int64, int64, int64, int64, OBS_T, MASKS_T),
        f"{family.name}.rollout",
    )
    def rollout(states, rules, decks, table, rngs, views, log, lo, hi, phase, steps, obs, masks):
        """Play ``steps`` random decisions in each game of a range, observing before every one.

        Decisions of ``phase``, which a policy plays, are random too, and neither observed nor
        counted; NONE for no such phase. Finished episodes reset. Returns the number of decisions.
        """
        v = views[0]
        for _ in range(steps):
            for i in range(lo, hi):
                s = states[i]
                while has_phases and s["phase"] == phase:
                    step(s, rules[0], decks, table, draw_move(s, rules[0], rngs[i]), log)
                    if s["over"]:
                        begin_episode(s, rules[0], decks, NONE, log)
                view_of(s, rules[0], s["to_move"], v)
                encode(v, obs[i])
                encode_mask(v, masks[i])
                step(s, rules[0], decks, table, draw_move(s, rules[0], rngs[i]), log)
                if s["over"]:
                    begin_episode(s, rules[0], decks, NONE, log)
        return steps * (hi - lo)

    return rollout


class Lanes:
    """N games played by the entry of `rollout_of`: an observation and a mask at every decision.

    Args:
        rules: the name of a preset.
        n: the number of games.
        threads: how many Python threads share them, each a range of games.
        episode: the kind of episode; finished ones reset.
        players: seats in a game.
        phase: the phase that a policy plays at random, uncounted, if any.
        steps: decisions in each game between two readings of the clock.
    """

    def __init__(
        self,
        rules: str,
        n: int,
        *,
        threads: int = 1,
        episode: str = "game",
        players: int = 2,
        phase: int = NONE,
        steps: int | None = None,
    ) -> None:
        self.games = GameBatch(PRESETS[rules], n, players=players, episode=episode, seed=1)
        self.games.reset()
        family = self.games.family
        self.obs = np.zeros((n, family.obs_size), dtype=np.uint8)
        self.masks = np.zeros((n, family.actions), dtype=np.int8)
        self.rngs = np.empty((n, WORDS), dtype=np.int64)
        self.rngs[:] = np.random.SeedSequence(2).generate_state(WORDS * n).reshape(n, WORDS)
        # A scratch view and log for each thread, a page apart: no two share a cache line.
        self.views = [np.zeros(64, dtype=family.view)[:1] for _ in range(threads)]
        self.logs = [np.zeros(512, dtype=np.int64)[:LOG_SIZE] for _ in range(threads)]
        self.table = show_table()
        self.bounds = np.linspace(0, n, threads + 1).astype(int).tolist()
        self.steps = steps or max(1, A_PIECE // n)
        self.pool = ThreadPoolExecutor(threads - 1) if threads > 1 else None
        self._rollout = rollout_of(family).compiled
        self._phase = phase
        self.play()  # so that the games are at different points of a deal

    def _play_range(self, thread: int) -> int:
        games, lo, hi = self.games, self.bounds[thread], self.bounds[thread + 1]
        done: int = self._rollout(
            games.states, games.record, NO_DECKS, self.table, self.rngs, self.views[thread],
            self.logs[thread], lo, hi, self._phase, self.steps, self.obs, self.masks,
        )  # fmt: skip
        return done

    def play(self) -> int:
        """Play some steps in every game; return the number of decisions."""
        if self.pool is None:
            return self._play_range(0)
        jobs = [self.pool.submit(self._play_range, t) for t in range(1, len(self.views))]
        return self._play_range(0) + sum(job.result() for job in jobs)


def measure_batch(settings: Settings = FULL) -> Findings:
    """How many decisions per second does the compiled batch make in random play?

    An observation and an action mask are written at every decision; actions are drawn in compiled
    code from each game's own generator. One core unless the row says otherwise. Where a policy
    plays the rest of the deal, its decisions are not counted: in ``discard_v0`` about two for each
    of the players'.
    """
    n, many = (64, 64) if settings.quick else (1024, 4096)
    first = f"six_card, N={n}"
    one, two = (f"six_card, N={many}, {threads}" for threads in ("1 thread", "2 threads"))
    lanes = {
        first: Lanes("hoyle", n),
        one: Lanes("hoyle", many),
        two: Lanes("hoyle", many, threads=2),
        f"five_card, N={n}": Lanes("five_card", n),
        f"table_top for 2, N={n}": Lanes("table_top", n),
        f"table_top for 4, N={n}": Lanes("table_top", n, players=4),
        f"table_top_ship for 2, N={n}": Lanes("table_top_ship", n),
        f"three_hand, N={n}": Lanes("three_hand", n, players=3),
        f"four_hand, N={n}": Lanes("four_hand", n, players=4),
        f"discard, policy random, N={n}": Lanes("hoyle", n, episode="deal", phase=PEGGING),
        f"pegging, policy random, N={n}": Lanes("hoyle", n, episode="pegging", phase=DISCARD),
    }
    others, notes = peers.installed(peers.CRIBBAGE, settings)
    ours = {name: games.play for name, games in lanes.items()}
    rows = race(ours, "decisions/s", settings, others)
    ratios = [
        ratio(f"six_card, N={many}: 2 threads / 1 thread", rows[two], rows[one]),
        *over_peers(rows[first], rows.values()),
    ]
    return Findings("Compiled batch, random play", rows.values(), ratios, notes)


SIZES = (1 << 10, 1 << 14, 1 << 17, 1 << 20)
GAMES = (("hoyle", 2), ("five_card", 2), ("table_top", 2), ("table_top", 4))
CPU_LANES = 4096
ON_GPU = 1 << 24  # decisions between two readings of the clock on a GPU, at most


def why_not() -> str:
    """Return why no GPU can be measured here; empty if one can."""
    if find_spec("numba_cuda") is None:
        return "for lack of numba-cuda: pip install 'crib-env[cuda]'"
    from numba import cuda

    return "" if cuda.is_available() else "for lack of a CUDA device on this machine"


def device_name() -> str:
    """Return the card's name."""
    from numba import cuda

    if cuda.config.ENABLE_CUDASIM:
        return "numba-cuda's simulator, whose figures mean nothing"
    name = cuda.get_current_device().name
    return name.decode() if isinstance(name, bytes) else str(name)


def race_one(rules: str, players: int, n: int, settings: Settings) -> list[Row]:
    """Return the rows of one game and size: many decisions a launch, two launches each, the CPU."""
    from numba import cuda

    from crib_env.engine.cuda import CudaBatch

    batch = CudaBatch(PRESETS[rules], n, players=players, seed=1)
    steps = 2 if settings.quick else min(256, ON_GPU // n)
    threads, cpu_lanes = os.cpu_count() or 1, 64 if settings.quick else CPU_LANES

    def rollout() -> int:
        done = batch.rollout(steps)
        cuda.synchronize()
        return done

    def stepping() -> int:
        for _ in range(steps):
            batch.step(batch.sample())
        cuda.synchronize()
        return steps * n

    game = f"{rules} for {players}"
    pieces = {
        f"{game}, GPU rollout, N={n:,}": rollout,
        f"{game}, GPU step, N={n:,}": stepping,
        f"{game}, CPU, {threads} threads (beside N={n:,})": Lanes(
            rules, cpu_lanes, threads=threads, players=players
        ).play,
    }
    return list(race(pieces, "decisions/s", settings).values())


def measure_gpu(settings: Settings = FULL) -> Findings:
    """How many decisions per second does the GPU batch make in random play, beside the CPU?

    Random play as on the CPU, N from 1,024 to 1,048,576 games: ``rollout`` plays many decisions a
    launch, ``step`` is one launch to draw the actions and one to step. The CPU's figure is on all
    its cores. Needs a CUDA device and the extra ``cuda``; without them it measures nothing and
    prints the reason.
    """
    title = "GPU batch, random play"
    if why := why_not():
        return Findings(title, [], notes=[f"GPU: unmeasured, {why}."])
    rows: list[Row] = []
    ratios: list[Row] = []
    for rules, players in GAMES[:1] if settings.quick else GAMES:
        for n in (2,) if settings.quick else SIZES:  # one at a time: the largest takes gigabytes
            *found, cpu = race_one(rules, players, n, settings)
            rows += [*found, cpu]
            ratios += [ratio(f"{row.name} / CPU", row, cpu) for row in found]
    notes = [f"GPU: {device_name()}", f"the CPU plays N={CPU_LANES:,} games"]
    return Findings(title, rows, ratios, notes)
