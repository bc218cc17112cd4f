"""The difference between `expert`'s values near the end of a game and the games it wins.

`python -m research.tables endgame_shift`: `expert` plays itself from scores at which both seats
need few points. At each decision of the first deal, the value of its choice is compared with the
game's result, or with the win table's probability if a second deal follows. The table holds the
shift of values of one half; it falls to 0 at values of 0 and 1.

`python -m research.tables endgame_check` prints the shown values beside the share of games won, by
points to make.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import comb
from typing import Any

import numpy as np
from crib_agents.analyze import two_hand_action_values
from crib_agents.data.tables import ENDGAME_SHIFT, ROLES
from crib_agents.expert import discard, pegging
from crib_agents.expert.endgame import CLASSES, PAIR, REACH, decided, near_end
from crib_agents.knowledge.winning import WON, probabilities
from crib_agents.loading import load_agent
from crib_training.outputs import table

from crib_env.arrays import Array
from crib_env.batch import GameBatch
from crib_env.engine.hands.records import DISCARD
from crib_env.engine.record import NONE
from crib_env.options import ResetOptions
from crib_env.policy import Agent, Views
from crib_env.rules import TwoHandRules
from crib_env.settings import Count, Seed
from research.tables.dealing import batches, both_games
from research.tables.maker import makes

LANES = 2000
KINDS = 3
BANDS = (1, 3), (1, 3), (4, 11), (4, 11), (12, REACH), (1, REACH)  # points to make, equally likely
DIGITS = 4
WEIGHT = 60.0  # the weight of the mean of all classes in each class, in decisions


def first_deals(
    rules: TwoHandRules,
    bands: tuple[tuple[int, int], ...],
    games_played: int,
    seed: np.random.SeedSequence,
    agent: Agent,
) -> Iterator[tuple[GameBatch, Array, Array, Array]]:
    """Play first deals from scores in the bands.

    Yields:
        the games after that deal, the views of its decisions, and each view's game and seat.
    """
    for games, rng in batches(rules, games_played, LANES, seed, "games"):
        scores = rules.target - needs_of_bands(bands, games.n, rng)
        games.reset_each(
            [ResetOptions(dealer=int(rng.integers(2)), scores=(int(one), int(other))) for one, other in scores]
        )
        lanes = games.running()
        asked, lane_of, seat_of = [], [], []
        while len(lanes := lanes[games.states["deals"][lanes] == 1]):
            views = games.views(lanes)
            actions = np.asarray(agent.act(views, rng), dtype=np.int64)
            first = views["discarded_n"] != 1
            asked.append(views[first])
            lane_of.append(lanes[first])
            seat_of.append(games.movers(lanes)[first])
            games.step_legal(lanes, actions)
            lanes = games.running(lanes)
        yield games, np.concatenate(asked), np.concatenate(lane_of), np.concatenate(seat_of)


def values_and_wins(rules: TwoHandRules, games_played: int, seed: np.random.SeedSequence) -> tuple[Array, Array, Array]:
    """Return each decision's cell, its choice's value, and the win (0, 1) or its probability."""
    chances = probabilities(rules.dealt, rules.target)[..., WON].sum(axis=-1)
    cells, values, won = [], [], []
    for games, views, at, seats in first_deals(rules, BANDS, games_played, seed, load_agent("expert")):
        near, roles, classes = near_end(views)
        kinds = decided(views)[near]
        cells.append((kinds * len(ROLES) + roles) * CLASSES**2 + classes)
        values.append(best_value(views[near]))
        won.append(chance_of(games, chances)[at, seats][near])
    return np.concatenate(cells), np.concatenate(values), np.concatenate(won)


def chance_of(games: GameBatch, chances: Array) -> Array:
    """Return each seat's probability of winning, float64[games, 2], after a game or a deal.

    ``chances``: those of pone (0) and the dealer (1), by the needs of the seat and of the other.
    """
    needs = np.maximum(games.rules.target - games.states["scores"][:, :2], 0)
    seats = np.arange(2)
    deals = (games.states["dealer"][:, None] == seats).astype(int)
    found: Array = chances[deals, needs[:, seats], needs[:, 1 - seats]]
    over = games.states["winner"] != NONE
    found[over] = games.returns()[over] > 0
    return found


def needs_of_bands(bands: tuple[tuple[int, int], ...], games: int, rng: np.random.Generator) -> Array:
    """Return the points both seats need, int64[games, 2], drawn from one of the bands."""
    band = np.array(bands)[rng.integers(len(bands), size=games)]
    needs: Array = rng.integers(band[:, :1], band[:, 1:] + 1, size=(games, 2))
    return needs


def best_value(views: Views) -> Array:
    """Return the search's value of the best choice of each view, float64[B]."""
    best = np.zeros(len(views))
    pairs = views["phase"] == DISCARD
    if pairs.any():
        columns = discard.rank_discards(views[pairs])[1][..., discard.WIN_VALUE]
        best[pairs] = columns[:, : comb(int(views["dealt"][0]), 2)].max(axis=1)
    if not pairs.all():
        found = pegging.findings(views[~pairs])[..., pegging.WIN_VALUE]
        best[~pairs] = np.nanmax(found, axis=1)
    return best


def shifts(cells: Array, values: Array, won: Array) -> Array:
    """Return the shift of each cell, float64[3, 2, classes], by least squares.

    Classes with few samples shrink towards the mean of their kind and role.
    """
    moved = 4.0 * values * (1.0 - values)
    size = KINDS * len(ROLES) * CLASSES**2
    gain = np.bincount(cells, moved * (won - values), size).reshape(KINDS, len(ROLES), -1)
    weight = np.bincount(cells, moved**2, size).reshape(KINDS, len(ROLES), -1)
    mean = gain.sum(axis=-1, keepdims=True) / weight.sum(axis=-1, keepdims=True)
    found: Array = (gain + WEIGHT * mean) / (weight + WEIGHT)
    return found


@makes(ENDGAME_SHIFT)
def endgame_shift(games: Count = 12_000, seed: Seed = 2035) -> dict[str, Any]:
    """Measure the shift between the expert's values near the end and the games it wins.

    Args:
        games: games by each rules.
    """
    found = []
    for rules, seed_seq in both_games(seed):
        cells, values, won = values_and_wins(rules, games, seed_seq)
        found.append(shifts(cells, values, won))
        by_kind = (found[-1].mean(axis=-1) * 100).round(1).tolist()
        print(
            f"{rules.name}: {len(cells)} decisions, mean value {100 * values.mean():.2f} %, won "
            f"{100 * won.mean():.2f} %; mean shift by kind and role (pone, dealer) {by_kind}"
        )
    return {"shift": np.stack(found).round(DIGITS)}


CHECKED = (1, 3), (4, 11), (12, 26)  # points to make
NAMES = "discard", "first card", "later card"
HEAD = ("game", "to make", "decision", "role", "decisions", "value, %", "less games won, points")


@makes(None)
def endgame_check(games: Count = 2_000, seed: Seed = 701) -> None:
    """Print the values that are shown beside the games that the expert wins, near the end.

    Args:
        games: games by each rules, from each band of points to make.
    """
    rows = []
    for rules, seed_seq in both_games(seed):
        for band, of_band in zip(CHECKED, seed_seq.spawn(len(CHECKED)), strict=True):
            agent, rng = load_agent("expert"), np.random.default_rng(of_band.spawn(1)[0])
            cells, values, beyond, number = [], [], [], []
            for k, (batch, views, at, seats) in enumerate(first_deals(rules, (band,), games, of_band, agent)):
                for _ in batch.play(agent, rng):
                    pass
                open_choice = (decided(views) == PAIR) | (views["legal"] & (views["legal"] - 1) > 0)
                views, at, seats = views[open_choice], at[open_choice], seats[open_choice]
                cells.append(decided(views) * len(ROLES) + (views["dealer"] == 0))
                values.append(np.nanmax(two_hand_action_values(views), axis=1))
                beyond.append(values[-1] - (batch.returns()[at, seats] > 0))
                number.append(k * LANES + at)
            names = rules.name, f"{band[0]} to {band[1]}"
            of_cell, said, more, game = map(np.concatenate, (cells, values, beyond, number))
            for cell in range(KINDS * len(ROLES)):
                here = of_cell == cell
                mean, half = clustered(more[here], game[here])
                made = f"{100 * said[here].mean():.1f}", f"{100 * mean:+.2f} ± {100 * half:.2f}"
                rows.append([*names, NAMES[cell // 2], ROLES[cell % 2], here.sum(), *made])
    print(table(HEAD, rows))


def clustered(values: Array, groups: Array) -> tuple[float, float]:
    """Return the mean and half the 95 % interval of values that depend within groups."""
    mean = values.mean()
    sums = np.bincount(groups, values - mean)
    return float(mean), float(1.96 * (sums**2).sum() ** 0.5 / len(values))
