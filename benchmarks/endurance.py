"""Play many games of every kind; check each at its end, and that memory does not grow.

    python -m benchmarks.endurance --games 10000000

Seats play at random, in the compiled batch. Of every game are checked at the end: that it is over,
that the winner has the target and the others have less, that returns sum to zero, that the points
made by phase add up to the scores (but where only a difference is scored, and in matches), and that
no card of the last deal was dealt twice. Of one game of each batch every position is written as a
line of notation and read back, which replays its deal from the cards. Memory is the most that this
process has held, after the first batch and at the end.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from crib_agents.random_agent import RandomAgent
from crib_training.outputs import peak_bytes

from benchmarks.report import machine
from crib_env.batch import GameBatch
from crib_env.engine.returns import count_sides
from crib_env.notation import format_state

# Rules, episode, players.
KINDS: tuple[tuple[str, str, int], ...] = (
    ("hoyle", "game", 2),
    ("hoyle", "match", 2),
    ("five_card", "game", 2),
    ("table_top", "game", 2),
    ("table_top", "game", 4),
    ("table_top_ship", "game", 2),
    ("table_top_ship", "game", 4),
)
LANES = 5000

Scores = npt.NDArray[np.int64]


def broken(games: GameBatch, begun: Scores) -> list[str]:
    """Return the promises that some ended game of the batch breaks; ``begun``: scores at first."""
    states, record = games.states, games.record
    scores = states["scores"][:, : count_sides(games.sides)]
    target, winner = int(record["target"][0]), np.maximum(states["winner"], 0)
    won = scores[np.arange(games.n), winner]
    if in_full := "deck" in states.dtype.names:  # Table Top counts both sides in full (T9)
        ends = (won >= target) & (won > scores[np.arange(games.n), 1 - winner])
        dealt = states["deck"]
    else:
        ends = (scores <= target).all(axis=1) & ((scores == target).sum(axis=1) == 1)
        seats = states["dealt"].reshape(games.n, 2, -1)[:, :, : int(record["dealt"][0])]
        dealt = np.column_stack([seats.reshape(games.n, -1), states["starter"]])
    checks = {
        "every game is over": states["over"] == 1,
        "the winner has the target and the others have less": ends,
        "returns sum to zero": np.abs(games.returns().sum(axis=1)) < 1e-9,
        "no card is dealt twice": (np.diff(np.sort(dealt, axis=1), axis=1) > 0).all(axis=1),
    }
    if games.episode == "game":
        checks["the winner of the game has won"] = won == scores.max(axis=1)
    if games.episode == "game" and not (in_full and record["score_difference"][0]):
        made = begun + games.tally.sum(axis=2)
        checks["points by phase add up to the scores"] = (scores == made).all(axis=1)
    return [f"{name}: lane {int(np.argmin(held))}" for name, held in checks.items()
            if not held.all()]  # fmt: skip


def endure(rules: str, episode: str, players: int, games: int, seed: int) -> str:
    """Play, check, and return a row of the table.

    Raises:
        RuntimeError: a promise is broken; it names the seed and the lane.
    """
    agent, rng = RandomAgent(), np.random.default_rng(seed)
    first, decisions, positions, played = 0, 0, 0, 0
    began = time.process_time()
    while played < games:
        lanes = min(LANES, games - played)
        batch_seed = np.random.SeedSequence([seed, played])
        batch = GameBatch(rules, lanes, players=players, episode=episode, seed=batch_seed)
        batch.reset()
        begun = batch.states["scores"][:, : count_sides(batch.sides)].copy()
        for stepped in batch.play(agent, rng):
            decisions += len(stepped)
            if stepped[0] == 0 and batch.states["over"][0] == 0:
                format_state(batch.states[:1], batch.rules, episode)  # reads it back, and compares
                positions += 1
        if found := broken(batch, begun):
            raise RuntimeError(f"{rules}, {episode}, seed {seed}, from game {played}: {found}")
        played += lanes
        first = first or peak_bytes() or 0
    grown = ((peak_bytes() or 0) - first) / 1e6
    seconds = time.process_time() - began
    return (f"| {rules} | {episode} | {players} | {played:,} | {decisions:,} | {positions:,} "
            f"| {grown:.1f} | {seconds:.0f} |")  # fmt: skip


def main(words: Sequence[str] | None = None) -> None:
    """Print a row for each kind of game."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--games", type=int, default=10_000_000, help="of each kind")
    parser.add_argument("--seed", type=int, default=1)
    settings = parser.parse_args(words)
    print("| rules | episode | players | games | decisions | positions read back | MB grown "
          "| CPU s |\n|---|---|---|---|---|---|---|---|")  # fmt: skip
    try:
        for rules, episode, players in KINDS:
            print(endure(rules, episode, players, settings.games, settings.seed), flush=True)
    except RuntimeError as error:
        sys.exit(f"error: {error}")
    print(f"seed {settings.seed}", *machine()[:2], sep="; ")


if __name__ == "__main__":
    main()
