"""How far what `expert` says near the end of a game is beyond what it wins.

`python -m research.tables endgame_said`: the expert plays itself from scores where both seats need
few points. At each decision in the first deal the value of its choice is compared with the game, or
where that goes on with the win table's chance for the next deal. A shift at even chances, which
falls to none where the value is sure, makes up the difference.
"""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np
from crib_agents.data.tables import ENDGAME_SAID, ROLES
from crib_agents.expert import discard, pegging
from crib_agents.expert.endgame import CLASSES, REACH, decided, near_end
from crib_agents.expert.pegging import PeggingExpert
from crib_agents.knowledge.winning import WON, probabilities
from crib_agents.loading import load_agent
from crib_training.progress import steps

from crib_env.arrays import Array
from crib_env.batch import GameBatch
from crib_env.engine.hands.records import DISCARD
from crib_env.engine.record import NONE
from crib_env.options import ResetOptions
from crib_env.policy import Views
from crib_env.rules import TwoHandRules
from crib_env.settings import Count, Seed
from research.tables.dealing import both_games
from research.tables.maker import makes

LANES = 2000
KINDS = 3
BANDS = (1, 3), (1, 3), (4, 11), (4, 11), (12, REACH), (1, REACH)  # points to make, each as often
DIGITS = 4
WEIGHT = 60.0  # of a class, what the mean over all classes weighs against its own decisions


def said_and_won(
    rules: TwoHandRules, games_played: int, seed: np.random.SeedSequence
) -> tuple[Array, Array, Array]:
    """Return the cell of each decision, the value of its choice and the chance it was made for."""
    chances = probabilities(rules.dealt, rules.target)[..., WON].sum(axis=-1)
    cells, said, won = [], [], []
    for chunk in steps(seed.spawn(max(1, games_played // LANES)), f"{rules.name}, games in parts"):
        cards, chance = chunk.spawn(2)
        rng = np.random.default_rng(chance)
        games = GameBatch(rules, min(LANES, games_played), seed=cards)
        scores = rules.target - needs_of_bands(games.n, rng)
        games.reset_each([
            ResetOptions(dealer=int(rng.integers(2)), scores=(int(one), int(other)))
            for one, other in scores
        ])  # fmt: skip
        agent, lanes = load_agent("expert"), games.running()
        asked, lane_of, seat_of = [], [], []
        while len(lanes := lanes[games.states["deals"][lanes] == 1]):
            views = games.views(lanes)
            actions = np.asarray(agent.act(views, rng), dtype=np.int64)
            first = views["discarded_n"] != 1
            asked.append(views[first])
            lane_of.append(lanes[first])
            seat_of.append(games.movers(lanes)[first])
            games.step(lanes, actions)
            lanes = games.running(lanes)
        views = np.concatenate(asked)
        near, roles, classes = near_end(views)
        kinds = decided(views)[near]
        cells.append((kinds * len(ROLES) + roles) * CLASSES**2 + classes)
        said.append(best_value(views[near]))
        at, seats = np.concatenate(lane_of), np.concatenate(seat_of)
        won.append(chance_of(games, chances)[at, seats][near])
    return np.concatenate(cells), np.concatenate(said), np.concatenate(won)


def chance_of(games: GameBatch, chances: Array) -> Array:
    """Return each seat's chance of winning, float64[games, 2]: games are over or at a deal's start.

    ``chances`` is of the dealer (index 1) and pone by what the seat and the other need.
    """
    needs = np.maximum(games.rules.target - games.states["scores"][:, :2], 0)
    seats = np.arange(2)
    deals = (games.states["dealer"][:, None] == seats).astype(int)
    found: Array = chances[deals, needs[:, seats], needs[:, 1 - seats]]
    over = games.states["winner"] != NONE
    found[over] = games.returns()[over] > 0
    return found


def needs_of_bands(games: int, rng: np.random.Generator) -> Array:
    """Return what both seats need in games, int64[games, 2]: both of one band of `BANDS`."""
    band = np.array(BANDS)[rng.integers(len(BANDS), size=games)]
    needs: Array = rng.integers(band[:, :1], band[:, 1:] + 1, size=(games, 2))
    return needs


def best_value(views: Views) -> Array:
    """Return the value of the best choice of each view, as the search says it, float64[B]."""
    best = np.zeros(len(views))
    pairs = views["phase"] == DISCARD
    if pairs.any():
        columns = discard.rank_discards(views[pairs])[1][..., discard.WIN_VALUE]
        best[pairs] = columns[:, : comb(int(views["dealt"][0]), 2)].max(axis=1)
    if not pairs.all():
        found = PeggingExpert().findings(views[~pairs])[..., pegging.WIN_VALUE]
        best[~pairs] = np.nanmax(found, axis=1)
    return best


def shifts(cells: Array, said: Array, won: Array) -> Array:
    """Return the shift of each cell, float64[3, 2, classes], few samples drawn to the mean of all.

    By least squares, of kinds and roles apart.
    """
    moved = 4.0 * said * (1.0 - said)
    size = KINDS * len(ROLES) * CLASSES**2
    gain = np.bincount(cells, moved * (won - said), size).reshape(KINDS, len(ROLES), -1)
    weight = np.bincount(cells, moved**2, size).reshape(KINDS, len(ROLES), -1)
    mean = gain.sum(axis=-1, keepdims=True) / weight.sum(axis=-1, keepdims=True)
    found: Array = (gain + WEIGHT * mean) / (weight + WEIGHT)
    return found


@makes(ENDGAME_SAID)
def endgame_said(games: Count = 8_000, seed: Seed = 2035) -> dict[str, Any]:
    """Measure how far what the expert says near the end is beyond what it wins.

    Args:
        games: games of each rules.
    """
    found = []
    for rules, seed_seq in both_games(seed):
        cells, said, won = said_and_won(rules, games, seed_seq)
        found.append(shifts(cells, said, won))
        by_kind = (found[-1].mean(axis=-1) * 100).round(1).tolist()
        print(
            f"{rules.name}: {len(cells)} decisions, said {100 * said.mean():.2f} %, won "
            f"{100 * won.mean():.2f} %; mean shift by kind and role (pone, dealer) {by_kind}"
        )
    return {"shift": np.stack(found).round(DIGITS)}
