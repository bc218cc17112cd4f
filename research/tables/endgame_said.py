"""How far what `expert` says near the end of a game is beyond what it wins.

`python -m research.tables endgame_said`: the expert plays itself from scores where both seats need
few points. At each decision in the first deal the value of its choice is compared with the game. A
shift at even chances, which falls to none where the value is sure, makes up the difference.
"""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np
from crib_agents.data.tables import ENDGAME_SAID, ROLES
from crib_agents.expert import discard, pegging
from crib_agents.expert.endgame import CLASSES, decided, near_end
from crib_agents.expert.pegging import PeggingExpert
from crib_agents.loading import load_agent
from crib_training.progress import steps

from crib_env.arrays import Array
from crib_env.batch import GameBatch
from crib_env.engine.hands.records import DISCARD
from crib_env.options import ResetOptions
from crib_env.policy import Views
from crib_env.rules import TwoHandRules
from crib_env.settings import Count, Seed
from research.tables.dealing import both_games
from research.tables.endgame import needs_drawn
from research.tables.maker import makes

LANES = 2000
KINDS = 3
DIGITS = 4
WEIGHT = 60.0  # of a class, what the mean over all classes weighs against its own decisions


def said_and_won(
    rules: TwoHandRules, games_played: int, seed: np.random.SeedSequence
) -> tuple[Array, Array, Array]:
    """Return the cell of each decision, the value of its choice and whether the game was won."""
    cells, said, won = [], [], []
    for chunk in steps(seed.spawn(max(1, games_played // LANES)), f"{rules.name}, games in parts"):
        cards, chance = chunk.spawn(2)
        rng = np.random.default_rng(chance)
        games = GameBatch(rules, min(LANES, games_played), seed=cards)
        scores = rules.target - needs_drawn(games.n, rng)
        games.reset_each([
            ResetOptions(dealer=int(rng.integers(2)), scores=(int(one), int(other)))
            for one, other in scores
        ])  # fmt: skip
        agent, lanes = load_agent("expert"), games.running()
        asked, lane_of, seat_of = [], [], []
        while len(lanes):
            views = games.views(lanes)
            actions = np.asarray(agent.act(views, rng), dtype=np.int64)
            first = (games.states["deals"][lanes] == 1) & (views["discarded_n"] != 1)
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
        won.append((games.returns()[np.concatenate(lane_of), np.concatenate(seat_of)] > 0)[near])
    return np.concatenate(cells), np.concatenate(said), np.concatenate(won)


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
def endgame_said(games: Count = 2_000, seed: Seed = 2035) -> dict[str, Any]:
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
