"""The tables of the games for three and four, from games of `rule_based`.

`python -m research.tables many_hand_cribs`: the program counts the crib with every card that a seat
could have discarded, by the current means, so rare discards get samples too. The means of the
rounds so far are the next table. All discard by the same means, so without that they would swing
from round to round.

`python -m research.tables many_hand_win`: at the start of each deal the command records the points
that every side still needs and the dealer, and fits the formula of `crib_agents.expert.many_hand`
to the winner: for each of some values of ``added`` a conditional logit, which has one best fit. The
table also has the mean points of a deal. The command prints how the formula predicts as many other
games.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from crib_agents.data.tables import (
    MANY_HAND,
    MANY_HAND_CRIBS,
    MANY_HAND_GAMES,
    MANY_HAND_WIN,
    ROLES,
)
from crib_agents.expert.many_hand import ADDED, NEEDED
from crib_agents.rule_based import RuleBasedAgent, default_weights
from crib_training.progress import steps

from crib_env.arrays import Array, Doubles
from crib_env.batch import GameBatch
from crib_env.engine.many_hand import CRIB_SLOT, HAND
from crib_env.engine.ranks import RANKS
from crib_env.policy import Agent
from crib_env.rules import PRESETS, Rules
from crib_env.scoring.many import score_hands
from crib_env.settings import Count, Seed
from research.tables.maker import makes

CARDS = 4  # of a crib
AT_ONCE = 50_000


def deal_starts(
    games: GameBatch, agent: Agent, rng: np.random.Generator
) -> tuple[Array, Array, Array]:
    """Play games to their end by one agent; return the starts of their deals.

    Returns the games, int64[N], the scores then, int64[N, sides], and the dealers, int64[N].
    """
    games.reset()
    found, dealt = [], np.zeros(games.n, dtype=np.int64)
    for lanes in chain([games.running()], games.play(agent, rng)):
        new = lanes[games.states["deals"][lanes] > dealt[lanes]]
        states = games.states[new]
        found.append((new, states["scores"][:, : games.tally.shape[1]], states["dealer"]))
        dealt[new] += 1
    lanes, scores, dealers = (np.concatenate(column) for column in zip(*found, strict=True))
    return lanes, scores, dealers


def discards_of(agent: RuleBasedAgent, preset: str, seed_seq: np.random.SeedSequence) -> GameBatch:
    """Return deals in which all have discarded."""
    games = GameBatch(PRESETS[preset], AT_ONCE, episode="deal", seed=seed_seq)
    games.reset()
    every = np.arange(AT_ONCE)
    for _ in games.sides:
        games.ask(agent, every, np.random.default_rng(0))
    return games


def mean_cribs(states: Array, rules: Rules, sides: Array) -> Doubles:
    """Return the mean crib with each card that a seat could have discarded, by rank.

    Shapes: the result float64[ROLES, RANKS].
    """
    players = len(sides)
    totals = np.zeros((len(ROLES), RANKS))
    counts = np.zeros_like(totals)
    dealt = states["dealt"][:, : HAND * players].reshape(-1, players, HAND)
    laid = np.log2(states["discarded"][:, :players]).astype(np.int64)
    cribs = np.empty((len(states), CARDS), dtype=np.int64)
    cribs[:, -1] = states["dealt"][:, CRIB_SLOT]
    cribs[:, :players] = np.take_along_axis(dealt, laid[..., None], axis=2)[..., 0]
    for seat in range(players):
        own = (sides[seat] == sides[states["dealer"]]).astype(np.int64)
        for card in dealt[:, seat].T:
            other = cribs.copy()
            other[:, seat] = card
            points = score_hands(other, states["starter"], rules, crib=True)
            np.add.at(totals, (own, card >> 2), points)
            np.add.at(counts, (own, card >> 2), 1)
    return totals / counts


@makes(MANY_HAND_CRIBS)
def many_hand_cribs(deals: Count = 500_000, rounds: Count = 6, seed: Seed = 2024) -> dict[str, Any]:
    """Compute the mean cribs of the games for three and four.

    Args:
        deals: deals per round.
        rounds: rounds of each game.
    """
    cribs = np.zeros(MANY_HAND_CRIBS.shapes["crib"])
    seeds = np.random.SeedSequence(seed).spawn(len(MANY_HAND))
    for means, preset, seed_seq in zip(cribs, MANY_HAND, seeds, strict=True):
        changes = []
        for i, child in enumerate(steps(seed_seq.spawn(rounds), f"{preset}, rounds")):
            agent = RuleBasedAgent(default_weights(cribs))
            parts = [discards_of(agent, preset, one) for one in child.spawn(-(-deals // AT_ONCE))]
            found = np.mean([mean_cribs(g.states, g.rules, g.sides) for g in parts], axis=0)
            step = (found - means) / max(1, i)  # the mean of all rounds but the first
            changes.append(np.abs(step).mean())
            means += step
        print(f"{preset}: mean change by round " + " ".join(f"{c:.4f}" for c in changes))
        for role, points in zip(ROLES, means, strict=True):
            print(f"  {role}: " + " ".join(f"{one:.2f}" for one in points))
    return {"crib": cribs.round(4)}


TRIED = (2.0, 5.0, 10.0, 20.0, 40.0, 80.0)  # values of ``added``
NEWTON_STEPS = 20
BINS = 5  # of chances, when the formula is tried on other games


@dataclass(frozen=True)
class Starts:
    """Starts of deals in games that have been played."""

    needs: Array  # int64[N, sides], the points each side still had to make
    dealing: Array  # int64[N], the side that dealt
    winner: Array  # int64[N], the side that won the game

    def features(self, added: float) -> Doubles:
        """Return float64[N, sides, sides]: the points needed, and each side's place but the last.

        The formula is linear in them.
        """
        sides = self.needs.shape[1]
        places = (np.arange(sides) - self.dealing[:, None]) % sides
        found = np.concatenate([-self.needs[..., None], np.eye(sides)[places][..., :-1]], axis=2)
        return np.asarray(found / np.sqrt(self.needs.mean(axis=1) + added)[:, None, None])


def play(rules: Rules, games: int, seed_seq: np.random.SeedSequence) -> Starts:
    """Play games of `rule_based` and return the starts of their deals."""
    batch = GameBatch(rules, games, seed=seed_seq)
    lanes, scores, dealers = deal_starts(batch, RuleBasedAgent(), np.random.default_rng(0))
    winner = batch.states["winner"][lanes]
    return Starts(rules.target - scores, batch.sides[dealers], winner)


def probabilities(features: Doubles, weights: Doubles) -> Doubles:
    """Return each side's probability of winning, float64[N, sides]."""
    leads = features @ weights
    strength = np.exp(leads - leads.max(axis=1, keepdims=True))
    return np.asarray(strength / strength.sum(axis=1, keepdims=True))


def surprise(starts: Starts, found: Doubles) -> float:
    """Return the mean of -log of the chance that the winner was given."""
    return float(-np.log(found[np.arange(len(found)), starts.winner]).mean())


def fit(starts: Starts) -> tuple[float, Doubles]:
    """Return ``added`` and the weights of `Starts.features` of the least surprise."""
    fits = []
    for added in TRIED:
        features = starts.features(added)
        weights = np.zeros(features.shape[2])
        won = features[np.arange(len(features)), starts.winner]
        for _ in range(NEWTON_STEPS):
            found = probabilities(features, weights)
            mean = np.einsum("ns,nsf->nf", found, features)
            spread = np.einsum("ns,nsf,nsg->fg", found, features, features) - mean.T @ mean
            weights = weights + np.linalg.solve(spread, (won - mean).sum(axis=0))
        fits.append((surprise(starts, probabilities(features, weights)), added, weights))
    _, added, weights = min(fits, key=lambda one: one[0])
    return added, weights


def calibration(starts: Starts, found: Doubles) -> str:
    """Return in words how often sides won that were given a chance, by fifths of chances."""
    won = np.eye(found.shape[1])[starts.winner]
    lines = [f"surprise {surprise(starts, found):.4f}"]
    for low in np.arange(BINS) / BINS:
        here = (found >= low) & (found < low + 1 / BINS)
        if here.any():
            lines.append(
                f"predicted {100 * found[here].mean():.1f} %, won {100 * won[here].mean():.1f} %"
            )
    return "; ".join(lines)


def points_of_a_deal(rules: Rules, deals: int, seed_seq: np.random.SeedSequence) -> Doubles:
    """Return the mean points of a side by its place from the dealing side, float64[sides, 3]."""
    batch = GameBatch(rules, deals, episode="deal", seed=seed_seq)
    batch.reset()
    sides = batch.tally.shape[1]
    dealing = batch.sides[batch.states["dealer"]]
    for _ in batch.play(RuleBasedAgent(), np.random.default_rng(0)):
        pass
    from_dealer = (dealing[:, None] + np.arange(sides)) % sides
    return np.asarray(batch.tally[np.arange(deals)[:, None], from_dealer].mean(axis=0))


@makes(MANY_HAND_WIN)
def many_hand_win(games: Count = 4000, seed: Seed = 2025) -> dict[str, Any]:
    """Fit the chance of winning a game for three or four.

    Args:
        games: games to fit to, and as many others to try the formula on.
    """
    formula, points = (np.zeros(shape) for shape in MANY_HAND_WIN.shapes.values())
    seeds = np.random.SeedSequence(seed).spawn(len(MANY_HAND_GAMES))
    for game, seed_seq in enumerate(steps(seeds, "games")):
        name = MANY_HAND_GAMES[game]
        rules = Rules.preset(name)
        first, second, third = seed_seq.spawn(3)
        added, weights = fit(play(rules, games, first))
        formula[game, ADDED], formula[game, NEEDED] = added, weights[0]
        formula[game, : len(weights) - 1] = weights[1:]
        mean = points_of_a_deal(rules, games, third)
        points[game, : len(mean)] = mean
        others = play(rules, games, second)
        print(f"{name}: {calibration(others, probabilities(others.features(added), weights))}")
    return {"formula": formula.round(4), "points": points.round(3)}
