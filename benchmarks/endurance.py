"""Play many games of every kind; check each at its end, and that memory does not grow.

    python -m benchmarks.endurance --games 10000000

Seats play at random; machine code makes all decisions. At the end of every game the program checks
that it is over, that the winner has the target and the others have less, that returns sum to zero,
that the points by phase add up to the scores (except in matches, and where only a difference is
scored), and that no card of the last deal was dealt twice. A match has some ten games, so a tenth
as many are played. In one game of each 50,000, every position is written as a line of notation and
read back, which replays its deal from the cards. Memory growth is that of this process's peak, from
the first batch to the end.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from crib_training.outputs import peak_bytes
from numba import int64

from benchmarks.timing import machine
from crib_env.batch import GameBatch
from crib_env.engine.family import Family
from crib_env.engine.jit import Entry, entry
from crib_env.engine.record import DECKS_T, LOG_T, LOG_WIDTH, NONE, TABLE_T, count_sides
from crib_env.engine.rng import WORDS
from crib_env.engine.show import show_table
from crib_env.notation import format_state

# Rules, episode, players.
KINDS: tuple[tuple[str, str, int], ...] = (
    ("hoyle", "game", 2),
    ("hoyle", "match", 2),
    ("five_card", "game", 2),
    ("three_hand", "game", 3),
    ("four_hand", "game", 4),
    ("four_hand[partners=False]", "game", 4),
    ("table_top", "game", 2),
    ("table_top", "game", 4),
    ("table_top_ship", "game", 2),
    ("table_top_ship", "game", 4),
)
LANES = 5000
READ_BACK = 10  # one game of each ten batches is read back
A_MATCH = 10  # games, about
ALL = 1 << 40  # more decisions than any game has

Scores = npt.NDArray[np.int64]


def random_play(family: Family) -> Entry:
    """Return an entry that plays every game at random, at most ``most`` decisions each."""
    states_t, rules_t, _ = family.types
    draw_move, step = family.kernels.draw_move, family.kernels.step
    tally_column = family.kernels.tally_column

    @entry(
        int64(states_t, rules_t, DECKS_T, TABLE_T, int64[::1], LOG_T, int64[:, :, ::1], int64),
        f"{family.name}.random_play",
    )
    def play(states, rules, decks, table, rng, log, tally, most):
        """Add the points to ``tally[game, side, phase]``; return the number of decisions."""
        decisions = 0
        for lane in range(states.shape[0]):
            s = states[lane]
            for _ in range(most):
                if s["over"]:
                    break
                step(s, rules[0], decks, table, draw_move(s, rules[0], rng), log)
                decisions += 1
                for row in range(log[0]):
                    at = 1 + LOG_WIDTH * row
                    phase = tally_column(log[at + 2])
                    if phase != NONE:
                        tally[lane, log[at], phase] += log[at + 1]
        return decisions

    return play


def broken(games: GameBatch, begun: Scores) -> list[str]:
    """Return the checks that an ended game of the batch fails; ``begun``: scores at the start."""
    states, record = games.states, games.record
    scores = states["scores"][:, : count_sides(games.sides)]
    target, winner = int(record["target"][0]), np.maximum(states["winner"], 0)
    won = scores[np.arange(games.n), winner]
    if in_full := "deck" in (states.dtype.names or ()):  # Table Top counts both sides in full (T9)
        ends = (won >= target) & (won > scores[np.arange(games.n), 1 - winner])
        dealt = states["deck"]
    else:
        ends = (scores <= target).all(axis=1) & ((scores == target).sum(axis=1) == 1)
        seats = states["held"].shape[1]
        hand = states["dealt"].shape[1] // seats  # places of a seat; the crib's follow the seats'
        hands = states["dealt"][:, : hand * seats].reshape(games.n, seats, hand)
        hands = hands[:, : games.players, : int(record["dealt"][0])].reshape(games.n, -1)
        dealt = np.column_stack([hands, states["dealt"][:, hand * seats :], states["starter"]])
    sat = dealt != NONE
    cards = np.bitwise_or.reduce(np.where(sat, 1 << dealt, 0), axis=1)
    checks = {
        "every game is over": states["over"] == 1,
        "the winner has the target and the others have less": ends,
        "returns sum to zero": np.abs(games.returns().sum(axis=1)) < 1e-9,
        "no card is dealt twice": np.bitwise_count(cards) == sat.sum(axis=1),
    }
    if games.episode == "game":
        checks["the winner of the game has won"] = won == scores.max(axis=1)
    if games.episode == "game" and not (in_full and record["score_difference"][0]):
        made = begun + games.tally.sum(axis=2)
        checks["points by phase add up to the scores"] = (scores == made).all(axis=1)
    return [f"{name}: lane {int(np.argmin(held))}" for name, held in checks.items() if not held.all()]


def endure(rules: str, episode: str, players: int, games: int, seed: int) -> str:
    """Play, check, and return a row of the table."""
    first, decisions, positions, played = 0, 0, 0, 0
    began = time.process_time()
    batch = GameBatch(rules, min(LANES, games), players=players, episode=episode)
    play, table = random_play(batch.family), show_table()
    while played < games:
        batch.n = min(batch.n, games - played)
        batch.states, batch.tally = batch.states[: batch.n], batch.tally[: batch.n]
        words = np.random.SeedSequence([seed, played])
        batch.seed(words)
        batch.reset()
        rng = words.spawn(1)[0].generate_state(WORDS).astype(np.int64)
        begun = batch.states["scores"][:, : count_sides(batch.sides)].copy()

        def decide(lanes: int, most: int, rng: Scores = rng) -> int:
            made: int = play(
                batch.states[:lanes], batch.record, batch.decks, table, rng, batch.log, batch.tally[:lanes], most
            )
            return made

        while played // LANES % READ_BACK == 0 and batch.states["over"][0] == 0:
            format_state(batch.states[:1], batch.rules, episode)  # reads it back, and compares
            positions += 1
            decisions += decide(1, 1)
        decisions += decide(batch.n, ALL)
        if found := broken(batch, begun):
            raise RuntimeError(f"{rules}, {episode}, seed {seed}, from game {played}: {found}")
        played += batch.n
        first = first or peak_bytes() or 0
    grown = ((peak_bytes() or 0) - first) / 1e6
    seconds = time.process_time() - began
    return (
        f"| {rules} | {episode} | {players} | {played:,} | {decisions:,} | {positions:,} "
        f"| {grown:.1f} | {seconds:.0f} |"
    )


def main(words: Sequence[str] | None = None) -> None:
    """Print a row for each kind of game."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--games", type=int, default=10_000_000, help=f"of each kind; of matches one for each {A_MATCH}"
    )
    every = dict.fromkeys(rules for rules, _, _ in KINDS)
    parser.add_argument("--rules", nargs="+", choices=every, help="of these alone; by default of all")
    parser.add_argument("--seed", type=int, default=1)
    settings = parser.parse_args(words)
    print(
        "| rules | episode | players | episodes | decisions | positions read back | MB grown "
        "| CPU s |\n|---|---|---|---|---|---|---|---|"
    )
    try:
        for rules, episode, players in KINDS:
            if settings.rules and rules not in settings.rules:
                continue
            episodes = settings.games // (A_MATCH if episode == "match" else 1)
            print(endure(rules, episode, players, episodes, settings.seed), flush=True)
    except RuntimeError as error:
        sys.exit(f"error: {error}")
    print(f"seed {settings.seed}", *machine()[:2], sep="; ")


if __name__ == "__main__":
    main()
