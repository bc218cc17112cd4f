"""Bradley-Terry ratings on the Elo scale, with intervals from a bootstrap over pairs of games.

In the model, agent i beats agent j with probability 1 / (1 + 10 ** ((R_j - R_i) / 400)) (Bradley
and Terry, Biometrika 39, 1952; Elo's scale). The ratings maximise the likelihood of the games. If
one side won every game of a pairing, its rating would not be finite. So every pairing gets one
extra drawn game, which is negligible among thousands.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from crib_env.arrays import Array, Bools, Doubles

SCALE = 400 / math.log(10)
ADDED = 0.5  # to each side of each pairing: half a game won
RESAMPLES = 1000
NEWTON_STEPS = 100
LONGEST_STEP = 2.0  # in natural units: what keeps Newton's method from overshooting
SETTLED = 1e-10


def bradley_terry(wins: npt.ArrayLike, anchor: int | None = None) -> Doubles:
    """Return the maximum-likelihood ratings.

    Args:
        wins: float[..., N, N], games i won from j, a draw as half a game for each; leading axes
            are fitted each by itself.
        anchor: the agent rated 0; None sets the mean to 0.

    Returns:
        float64[..., N], Elo.

    Raises:
        ValueError: the table is not square, or there are agents between whom no chain of games
            leads, so that nothing compares them.
    """
    won = np.array(wins, dtype=np.float64)
    n = won.shape[-1]
    if won.ndim < 2 or won.shape[-2] != n:
        raise ValueError(f"wins must be a square table, got shape {won.shape}")
    played = won + np.swapaxes(won, -1, -2) > 0
    if not _connected(np.all(played.reshape(-1, n, n), axis=0)):
        raise ValueError("ratings need a chain of games between any two agents")
    won = won + ADDED * played
    games = won + np.swapaxes(won, -1, -2)
    strength = np.zeros(won.shape[:-1])
    diagonal = np.arange(n)
    for _ in range(NEWTON_STEPS):
        expected = 1 / (1 + np.exp(strength[..., None, :] - strength[..., :, None]))
        gradient = won.sum(axis=-1) - (games * expected).sum(axis=-1)
        curve = -games * expected * (1 - expected)
        curve[..., diagonal, diagonal] -= curve.sum(axis=-1)
        # The curvature is blind to a shift of all ratings: 1 / n everywhere pins their mean.
        step = np.linalg.solve(curve + 1 / n, gradient[..., None])[..., 0]
        strength += np.clip(step, -LONGEST_STEP, LONGEST_STEP)
        if np.abs(step).max() < SETTLED:
            break
    zero = strength.mean(axis=-1) if anchor is None else strength[..., anchor]
    ratings: Doubles = SCALE * (strength - zero[..., None])
    return ratings


def _connected(played: Bools) -> bool:
    """Return whether a chain of games leads from the first agent to every other."""
    reached = np.zeros(len(played), dtype=bool)
    reached[0] = True
    for _ in played:
        reached |= played[reached].any(axis=0)
    return bool(reached.all())


def resampled_wins(
    scores: Mapping[tuple[int, int], Array],
    agents: int,
    rng: np.random.Generator,
    resamples: int = RESAMPLES,
    together: bool = False,
) -> Doubles:
    """Return tables of wins from tournaments whose pairs are drawn again, with replacement.

    Pairs are drawn within each pairing: the two games of a pair share their cards, so the pair is
    what was sampled. Among those drawn from is one of a game won each, which nobody played: where
    one agent won every game, pairs played alone would give an interval without width.

    Args:
        scores: for each pairing (i, j), the games i won in each pair: 0, 0.5, 1, 1.5 or 2.
        agents: number of agents.
        rng: the random generator.
        resamples: number of tables.
        together: pairs of one place in all pairings have the same deals, and are drawn as one.

    Returns:
        float64[resamples, agents, agents].
    """
    wins = np.zeros((resamples, agents, agents))
    if together:
        first, second = np.array(list(scores)).T
        most = max(map(len, scores.values()))
        won, lost = np.zeros((2, len(scores), most + 1))
        for k, pair_scores in enumerate(scores.values()):
            places = [*range(len(pair_scores)), most]
            won[k, places] = [*pair_scores, 1.0]
            lost[k, places] = 2 - won[k, places]
        for sample in wins:
            drawn = rng.multinomial(most, np.full(most + 1, 1 / (most + 1)))
            sample[first, second] = won @ drawn
            sample[second, first] = lost @ drawn
        return wins
    for (i, j), pair_scores in scores.items():
        values, counts = np.unique([*pair_scores, 1.0], return_counts=True)
        drawn = rng.multinomial(len(pair_scores), counts / counts.sum(), size=resamples)
        wins[:, i, j] = drawn @ values
        wins[:, j, i] = drawn @ (2 - values)
    return wins


def wins_table(scores: Mapping[tuple[int, int], Array], agents: int) -> Doubles:
    """Return float64[agents, agents], the games i won from j; arguments as `resampled_wins`."""
    wins = np.zeros((agents, agents))
    for (i, j), pair_scores in scores.items():
        wins[i, j] = pair_scores.sum()
        wins[j, i] = (2 - pair_scores).sum()
    return wins


def rate(
    scores: Mapping[tuple[int, int], Array],
    agents: int,
    seed: int,
    anchor: int | None = None,
    together: bool = False,
) -> tuple[Doubles, Doubles, Doubles]:
    """Return the ratings with their 95 % intervals: percentiles of the bootstrap, and the estimate.

    Args:
        scores: as for `resampled_wins`.
        agents: number of agents.
        seed: fixes the bootstrap.
        anchor: the agent rated 0; None sets the mean to 0.
        together: as for `resampled_wins`.

    Returns:
        ratings, lower ends and upper ends, each float64[agents], Elo.
    """
    ratings = bradley_terry(wins_table(scores, agents), anchor)
    rng = np.random.default_rng(seed)
    again = bradley_terry(resampled_wins(scores, agents, rng, together=together), anchor)
    low, high = np.percentile(again, [2.5, 97.5], axis=0)
    # Where an agent won all its games, the game nobody played can leave the estimate outside.
    return ratings, np.minimum(low, ratings), np.maximum(high, ratings)


def expected_share(ratings: Doubles) -> Doubles:
    """Return float64[N, N], the share of games the ratings expect i to win from j."""
    share: Doubles = 1 / (1 + 10 ** ((ratings[None, :] - ratings[:, None]) / 400))
    return share
