"""Fit the chance of winning a game for three or four from the scores, ``many_hand_win.npz``.

    crib tables many_hand_win

`rule_based` plays whole games. At the start of each deal the command notes what every side still
has to make and who deals, and fits the formula of `crib_agents.expert.many_hand` to who won:
for each of some values of ``added`` a conditional logit, which has one best fit. The table also has
the mean points of a deal. The command prints how the formula predicts as many other games.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from crib_agents.data.tables import MANY_HAND_GAMES, MANY_HAND_WIN, save
from crib_agents.expert.many_hand import ADDED, NEEDED
from crib_agents.rule_based import RuleBasedAgent

from crib_env.arrays import Array, Doubles
from crib_env.batch import GameBatch
from crib_env.rules import Rules
from crib_env.settings import Count, NewFile, Seed, checked_dataclass
from crib_training.progress import steps
from crib_training.tables.files import made_by

TRIED = (2.0, 5.0, 10.0, 20.0, 40.0, 80.0)  # values of ``added``
NEWTON_STEPS = 20
BINS = 5  # of chances, when the formula is tried on other games


@dataclass(frozen=True)
class Starts:
    """Starts of deals in games that have been played.

    Attributes:
        needs: int64[N, sides], the points each side still had to make.
        dealing: int64[N], the side that dealt.
        winner: int64[N], the side that won the game.
    """

    needs: Array
    dealing: Array
    winner: Array

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
    batch.reset()
    agent, rng = RuleBasedAgent(), np.random.default_rng(0)
    sides = batch.tally.shape[1]
    noted = np.zeros(games, dtype=np.int64)  # deals
    found: list[tuple[Array, Array, Array]] = []
    running = batch.running()
    while len(running):
        states = batch.states[running]
        new = states["deals"] > noted[running]
        lanes = running[new]
        needs = rules.target - states["scores"][new, :sides]
        found.append((lanes, needs, batch.sides[states["dealer"][new]]))
        noted[lanes] = states["deals"][new]
        batch.ask(agent, running, rng)
        running = batch.running(running)
    lanes, needs, dealing = (np.concatenate(column) for column in zip(*found, strict=True))
    return Starts(needs, dealing, batch.states["winner"][lanes])


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


@checked_dataclass(frozen=True, kw_only=True)
class Settings:
    """Fit the chance of winning a game for three or four.

    Attributes:
        games: games to fit to, and as many others to try the formula on.
        seed: fixes all random numbers.
        out: the file to write.
    """

    games: Count = 4000
    seed: Seed = 2025
    out: NewFile = MANY_HAND_WIN.path


def run(settings: Settings) -> None:
    """Fit each game's formula, print how it predicts other games, and write the file."""
    formula, points = (np.zeros(shape) for shape in MANY_HAND_WIN.shapes.values())
    seeds = np.random.SeedSequence(settings.seed).spawn(len(MANY_HAND_GAMES))
    for game, seed in enumerate(steps(seeds, "games")):
        name = MANY_HAND_GAMES[game]
        rules = Rules.preset(name)
        first, second, third = seed.spawn(3)
        added, weights = fit(play(rules, settings.games, first))
        formula[game, ADDED], formula[game, NEEDED] = added, weights[0]
        formula[game, : len(weights) - 1] = weights[1:]
        mean = points_of_a_deal(rules, settings.games, third)
        points[game, : len(mean)] = mean
        others = play(rules, settings.games, second)
        print(f"{name}: {calibration(others, probabilities(others.features(added), weights))}")
    save(MANY_HAND_WIN, settings.out, made_by=made_by(MANY_HAND_WIN, settings),
         formula=formula.round(4), points=points.round(3))  # fmt: skip
