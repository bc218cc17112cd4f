"""Ratings on the Elo scale, with intervals from a bootstrap over pairs or sets of games.

One agent plays each game against ``opponents`` copies of another. Its strength is
s = 10 ** (R / 400) at the rating R (Elo's scale). In the model, agent i wins from k copies of
agent j with probability s_i / (s_i + k s_j). Between two sides, with k = 1, this is the model of
Bradley and Terry (Biometrika 39, 1952). Among more it is that of Luce and Plackett (Plackett,
Applied Statistics 24, 1975) for the first place alone: the game pays nothing for the second.

The ratings maximise the likelihood of the games. If one agent won every game of a pairing, its
rating would not be finite. So every pairing gets one extra game, shared as level agents would share
it, which is negligible among thousands.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from crib_env.arrays import Array, Bools, Doubles

SCALE = 400 / math.log(10)
RESAMPLES = 1000
NEWTON_STEPS = 100
LONGEST_STEP = 2.0  # in natural units; keeps Newton's method from overshooting
SETTLED = 1e-10


def fit_ratings(
    won: npt.ArrayLike, lost: npt.ArrayLike | None = None, *, anchor: int | None = None, opponents: int = 1
) -> Doubles:
    """Return the maximum-likelihood ratings, float64[..., N], of games won, [..., N, N].

    By default the games lost are ``won`` transposed. The rating of agent ``anchor`` is 0; without
    an anchor the mean rating is 0.
    """
    wins = np.array(won, dtype=np.float64)
    n = wins.shape[-1]
    if wins.ndim < 2 or wins.shape[-2] != n:
        raise ValueError(f"wins must be a square table, got shape {wins.shape}")
    games = wins + (np.swapaxes(wins, -1, -2) if lost is None else np.array(lost, dtype=np.float64))
    played = games > 0
    if not _connected(np.all(played.reshape(-1, n, n), axis=0)):
        raise ValueError("ratings need a chain of games between any two agents")
    wins = wins + played / (1 + opponents)
    games = games + played
    strength = np.zeros(wins.shape[:-1])
    diagonal = np.arange(n)
    for _ in range(NEWTON_STEPS):
        expected = _share(strength, opponents)
        surplus = wins - games * expected
        gradient = surplus.sum(axis=-1) - surplus.sum(axis=-2)
        curve = -games * expected * (1 - expected)
        curve = curve + np.swapaxes(curve, -1, -2)
        curve[..., diagonal, diagonal] -= curve.sum(axis=-1)
        # The curvature is blind to a shift of all ratings: 1 / n everywhere pins their mean.
        step = np.linalg.solve(curve + 1 / n, gradient[..., None])[..., 0]
        strength += np.clip(step, -LONGEST_STEP, LONGEST_STEP)
        if np.abs(step).max() < SETTLED:
            break
    zero = strength.mean(axis=-1) if anchor is None else strength[..., anchor]
    ratings: Doubles = SCALE * (strength - zero[..., None])
    return ratings


def _share(strength: Doubles, opponents: int) -> Doubles:
    """Return float64[..., N, N], the share of games that i wins from copies of j; natural units."""
    share: Doubles = 1 / (1 + opponents * np.exp(strength[..., None, :] - strength[..., :, None]))
    return share


def _connected(played: Bools) -> bool:
    """Return whether a chain of games leads from the first agent to every other."""
    reached = np.zeros(len(played), dtype=bool)
    reached[0] = True
    for _ in played:
        reached |= (played | played.T)[reached].any(axis=0)
    return bool(reached.all())


def resampled(
    scores: Mapping[tuple[int, int], Array],
    agents: int,
    rng: np.random.Generator,
    resamples: int = RESAMPLES,
    together: bool = False,
    opponents: int = 1,
) -> Doubles:
    """Return bootstrap tables of games won and lost, float64[2, resamples, agents, agents].

    Pairs are resampled, since their games share their cards: within each pairing, or ``together``
    in all. A level pair is added: without it, the interval of an agent that won every game would
    have no width.
    """
    games = 1 + opponents
    tables = np.zeros((2, resamples, agents, agents))
    if together:
        first, second = np.array(list(scores)).T
        most = max(map(len, scores.values()))
        won, lost = np.zeros((2, len(scores), most + 1))
        for k, pair_scores in enumerate(scores.values()):
            places = [*range(len(pair_scores)), most]
            won[k, places] = [*pair_scores, 1.0]
            lost[k, places] = games - won[k, places]
        for sample in range(resamples):
            drawn = rng.multinomial(most, np.full(most + 1, 1 / (most + 1)))
            tables[:, sample, first, second] = won @ drawn, lost @ drawn
        return tables
    for (i, j), pair_scores in scores.items():
        values, counts = np.unique([*pair_scores, 1.0], return_counts=True)
        drawn = rng.multinomial(len(pair_scores), counts / counts.sum(), size=resamples)
        tables[:, :, i, j] = drawn @ values, drawn @ (games - values)
    return tables


def games_table(scores: Mapping[tuple[int, int], Array], agents: int, opponents: int = 1) -> Doubles:
    """Return float64[2, agents, agents], the games won and lost; arguments as `resampled`."""
    table = np.zeros((2, agents, agents))
    for (i, j), pair_scores in scores.items():
        table[:, i, j] = pair_scores.sum(), (1 + opponents - pair_scores).sum()
    return table


def rate(
    scores: Mapping[tuple[int, int], Array],
    agents: int,
    seed: int,
    anchor: int | None = None,
    together: bool = False,
    opponents: int = 1,
) -> tuple[Doubles, Doubles, Doubles]:
    """Return the ratings with their 95 % intervals, percentiles of the bootstrap."""
    ratings = fit_ratings(*games_table(scores, agents, opponents), anchor=anchor, opponents=opponents)
    rng = np.random.default_rng(seed)
    again = resampled(scores, agents, rng, together=together, opponents=opponents)
    refitted = fit_ratings(*again, anchor=anchor, opponents=opponents)
    low, high = np.percentile(refitted, [2.5, 97.5], axis=0)
    # If an agent won all its games, the added pair can leave the estimate outside the interval.
    return ratings, np.minimum(low, ratings), np.maximum(high, ratings)


def rated(
    names: Sequence[str],
    scores: Mapping[tuple[int, int], Array],
    seed: int,
    anchor: str | None = None,
    together: bool = False,
    opponents: int = 1,
) -> list[dict[str, Any]]:
    """Return each agent's name, rating and interval, ready for JSON; ``anchor`` is rated 0."""
    zero = None if anchor is None else names.index(anchor)
    found = rate(scores, len(names), seed, zero, together, opponents)
    return [
        {"name": name, "rating": float(rating), "low": float(low), "high": float(high)}
        for name, rating, low, high in zip(names, *found, strict=True)
    ]


def expected_share(ratings: Doubles, opponents: int = 1) -> Doubles:
    """Return float64[N, N], the share of games the ratings expect i to win from copies of j."""
    return _share(ratings / SCALE, opponents)
