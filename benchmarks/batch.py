"""The compiled batch in random play: how fast, at which sizes, and in how much memory."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks import peers
from benchmarks.timing import (
    FULL,
    Contender,
    Findings,
    Row,
    Settings,
    over_peers,
    race,
    rate_of,
    ratio,
)
from crib_env import six_card_v0
from crib_env.batch import GameBatch
from crib_env.engine.entries import entries_of
from crib_env.engine.hands.records import DISCARD, PEGGING
from crib_env.engine.learners import learner_entries
from crib_env.engine.record import NO_DECKS
from crib_env.engine.rng import WORDS
from crib_env.engine.show import show_table
from crib_env.rules import PRESETS

A_PIECE = 200_000  # decisions between two looks at the clock: some tens of milliseconds


class Lanes:
    """N games played by a `rollout` entry: an observation and a mask at every decision.

    Args:
        rules: the name of a preset.
        n: the number of games.
        threads: how many Python threads share them, each a range of lanes.
        episode: what one episode is; finished ones reset.
        players: seats in a game.
        phase: the phase that a policy plays at random, uncounted, if any.
        steps: decisions in each lane between two looks at the clock.
    """

    def __init__(
        self,
        rules: str,
        n: int,
        *,
        threads: int = 1,
        episode: str = "game",
        players: int = 2,
        phase: int | None = None,
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
        self.logs = [np.zeros(512, dtype=np.int64)[: family.log_size] for _ in range(threads)]
        self.table = show_table()
        self.bounds = np.linspace(0, n, threads + 1).astype(int).tolist()
        self.steps = steps or max(1, A_PIECE // n)
        self.pool = ThreadPoolExecutor(threads - 1) if threads > 1 else None
        entries = entries_of(family) if phase is None else learner_entries(family)
        self._rollout = entries.rollout.compiled
        self._phase = [] if phase is None else [phase]
        self.play()  # not all lanes at the same point of a deal

    def _play_range(self, thread: int) -> int:
        games, lo, hi = self.games, self.bounds[thread], self.bounds[thread + 1]
        done: int = self._rollout(
            games.states, games.record, NO_DECKS, self.table, self.rngs, self.views[thread],
            self.logs[thread], lo, hi, *self._phase, self.steps, self.obs, self.masks,
        )  # fmt: skip
        return done

    def play(self) -> int:
        """Play some steps in every lane; return the number of decisions."""
        if self.pool is None:
            return self._play_range(0)
        jobs = [self.pool.submit(self._play_range, t) for t in range(1, len(self.views))]
        return self._play_range(0) + sum(job.result() for job in jobs)


MANY = 4096


def contender(name: str, lanes: Lanes) -> Contender:
    """Return lanes as a contender."""
    return Contender(name, rate_of(lanes.play))


def measure_batch(settings: Settings = FULL) -> Findings:
    """How many decisions per second does the compiled batch make in random play?

    An observation and an action mask are written at every decision; actions are drawn in compiled
    code from each lane's own generator. One core unless the row says otherwise. Where a policy
    plays the rest of the deal, its decisions are not counted: in ``discard_v0`` about two for each
    of the players'.
    """
    n = 64 if settings.quick else 1024
    many = 64 if settings.quick else MANY
    contenders = [
        contender(f"six_card, N={n}", Lanes("hoyle", n)),
        contender(f"six_card, N={many}, 1 thread", Lanes("hoyle", many)),
        contender(f"six_card, N={many}, 2 threads", Lanes("hoyle", many, threads=2)),
        contender(f"five_card, N={n}", Lanes("five_card", n)),
    ]
    for rules, players in (("table_top", 2), ("table_top", 4), ("table_top_ship", 2)):
        lanes = Lanes(rules, n, players=players)
        contenders.append(contender(f"{rules} for {players}, N={n}", lanes))
    for rules, players in (("three_hand", 3), ("four_hand", 4)):
        lanes = Lanes(rules, n, players=players)
        contenders.append(contender(f"{rules}, N={n}", lanes))
    for name, episode, phase in (("discard", "deal", PEGGING), ("pegging", "pegging", DISCARD)):
        lanes = Lanes("hoyle", n, episode=episode, phase=phase)
        contenders.append(contender(f"{name}, policy random, N={n}", lanes))
    notes = []
    if settings.peers:
        single, missing = peers.single_games()
        many_games, more_missing = peers.batches()
        contenders += many_games + [c for c in single if "cribbage" in c.name]
        notes += missing + more_missing
    rows = race(contenders, "decisions/s", settings)
    ratios = [
        ratio(f"six_card, N={many}: 2 threads / 1 thread", rows[2], rows[1]),
        *over_peers(rows[0], rows),
    ]
    return Findings("Compiled batch, random play", rows, ratios, notes)


SIZES = tuple(4**k for k in range(9))
PICTURE = Path(__file__).parents[1] / "docs" / "pictures" / "scaling.png"


def measure_scaling(settings: Settings = FULL) -> Findings:
    """How does the cost grow with the number of games, on one thread and on two?

    Random play as in `benchmarks.batch`, N from 1 to 65,536; also drawn, in ``docs/pictures``.
    """
    sizes = SIZES[:3] if settings.quick else SIZES
    settings = replace(settings, seconds=settings.seconds / 2)
    rows: list[Row] = []
    ratios: list[Row] = []
    for n in sizes:  # one size at a time: the largest takes tens of megabytes
        contenders = [
            Contender(f"N={n}, {threads} thread{'s' * (threads > 1)}", rate_of(lanes.play))
            for threads in (1, 2)[: 2 if n > 1 else 1]
            for lanes in [Lanes("hoyle", n, threads=threads)]
        ]
        found = race(contenders, "decisions/s", settings)
        rows += found
        if len(found) == 2:
            ratios.append(ratio(f"N={n}: 2 threads / 1 thread", found[1], found[0]))
    notes = [f"{settings.seconds:g} s a repeat here"]
    return Findings("Batch size", rows, ratios, notes)


def draw(rows: Sequence[Row], to: Path = PICTURE) -> list[str]:
    """Draw the rows; return the picture's name, or nothing where matplotlib is missing."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return []
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    for ending in ("1 thread", "2 threads"):
        line = [row for row in rows if row.name.endswith(ending)]
        sizes = [int(row.name.removeprefix("N=").split(",")[0]) for row in line]
        axes.plot(sizes, [row.median / 1e6 for row in line], marker="o", label=ending)
        axes.fill_between(
            sizes, [row.low / 1e6 for row in line], [row.high / 1e6 for row in line], alpha=0.2
        )
    axes.set_xscale("log", base=4)
    axes.set_xticks(SIZES, [f"{n:,}" for n in SIZES])
    axes.minorticks_off()
    axes.set_ylim(bottom=0)
    axes.set_xlabel("games side by side, N")
    axes.set_ylabel("million decisions per second")
    axes.legend()
    figure.savefig(to, dpi=120)
    return [to.name]


N = 64


def row(name: str, size: int) -> Row:
    """Return a size as a row: it is counted, so it has one value."""
    return Row(name, "B", (float(size),))


def measure_memory(settings: Settings = FULL) -> Findings:
    """How many bytes does a game of the batch take?

    The sum of the arrays is everything: nothing else grows with the number of games.
    """
    rows = []
    for rules, family in (("hoyle", "two_hand"), ("table_top", "table_top")):
        lanes = Lanes(rules, N)
        state, obs = lanes.games.states.itemsize, lanes.obs.shape[1]
        masks, rng = lanes.masks.shape[1], lanes.rngs.nbytes // N
        rows += [
            row(f"{family}: the game's record", state),
            row(f"{family}: the observation", obs),
            row(f"{family}: the action mask", masks),
            row(f"{family}: the generator of the players' chance", rng),
            row(f"{family}: all of it", state + obs + masks + rng),
        ]
    batch = six_card_v0.vector_env(N).batch
    owners = (batch, batch.games, batch.chance)
    found = {id(array): array for owner in owners for array in vars(owner).values()}
    arrays = [array for array in found.values() if isinstance(array, np.ndarray)]
    total = sum(array.nbytes for array in arrays if len(array) == N)
    rows.append(row("six_card vector_env: every array with one row per game", total // N))
    notes = [
        "table_top: the observation, a byte an entry as Gymnasium's spaces have it, fills 1 KiB "
        "with the mask and the generator, whatever the record takes"
    ]
    return Findings("Memory per game", rows, notes=notes)
