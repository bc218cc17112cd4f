"""Duplicate deals: every sequence of deals is played twice, with the seats swapped.

Both agents then have the same luck of the cards, so a pair of games is more precise than two single
games. Intervals are computed over pairs, never over games: the two games of a pair share their
cards. AIVAT corrects for the remaining luck (`crib_training.evaluation.aivat`). Opponents who must
not see cards twice, such as people, get different deals in the two games of a pair.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from crib_env.arrays import Array
from crib_env.batch import GameBatch
from crib_env.honours import refuse_rules
from crib_env.policy import Agent
from crib_env.rules import Rules, TwoHandRules
from crib_training.evaluation.aivat.deals import DealLog
from crib_training.evaluation.aivat.reference import Reference
from crib_training.evaluation.playing import (
    Finished,
    Sides,
    ignore_progress,
    play_out,
)
from crib_training.evaluation.referee import Failure, Referee

PAIRS_AT_ONCE = 4096
ARRAYS = ("returns", "scores", "first_dealt", "points", "forfeits")
CORRECTIONS = ("won_correction", "points_correction")
CORRECTED = ("game", "deal")  # episodes that AIVAT corrects


@dataclass(frozen=True)
class Pairs:
    """The outcome of duplicate games between agents ``first`` and ``second``.

    In game 0 of a pair ``first`` has seat 0, in game 1 seat 1.

    Attributes:
        returns: float64[pairs, 2, 2], of (first, second): 1 for the winner, -1 for the loser, 0 in
            a drawn deal.
        scores: int64[pairs, 2, 2], their final scores: points, or in a match game points (H11).
            0 in a game that was forfeited.
        first_dealt: bool[pairs, 2], whether ``first`` dealt first.
        points: int64[pairs, 2, 2, 3], points pegged by (first, second) in play, hands, cribs.
        forfeits: bool[pairs, 2, 2], whether (first, second) lost the game by a failure.
        won_correction: float64[pairs, 2, 3], what each term of AIVAT added to ``first``'s chance of
            winning; None where games were not corrected. Forfeited games are not.
        points_correction: float64[pairs, 2, 3, 2, 3], the points that each brought (first, second).
        failures: the reasons of those failures.
    """

    returns: Array
    scores: Array
    first_dealt: Array
    points: Array
    forfeits: Array
    won_correction: Array | None = None
    points_correction: Array | None = None
    failures: tuple[Failure, ...] = ()

    @property
    def won(self) -> Array:
        """Whether ``first`` won each game, bool[pairs, 2]."""
        return np.asarray(self.returns[..., 0] > 0)

    @property
    def shares_won(self) -> Array:
        """The share of each pair's games that ``first`` won, draws as half, float64[pairs]."""
        return np.asarray((1 + self.returns[..., 0]).mean(axis=1) / 2)

    @property
    def margin(self) -> Array:
        """``first``'s final score less ``second``'s, int64[pairs, 2]."""
        return np.asarray(self.scores[..., 0] - self.scores[..., 1])

    @classmethod
    def joined(cls, chunks: Sequence[Pairs]) -> Pairs:
        """Return the pairs of all chunks, in their order."""
        arrays: dict[str, Any] = {
            name: np.concatenate([getattr(chunk, name) for chunk in chunks])
            for name in chunks[0].known()
        }
        return cls(**arrays, failures=tuple(f for chunk in chunks for f in chunk.failures))

    def known(self) -> list[str]:
        """Return the names of the arrays that exist."""
        return [*ARRAYS, *(name for name in CORRECTIONS if getattr(self, name) is not None)]

    def swapped(self) -> Pairs:
        """Return the same pairs as the other agent sees them: as ``first``, with seat 0 first."""
        won, points = self.won_correction, self.points_correction
        return Pairs(
            returns=self.returns[:, ::-1, ::-1],
            scores=self.scores[:, ::-1, ::-1],
            first_dealt=~self.first_dealt[:, ::-1],
            points=self.points[:, ::-1, ::-1],
            forfeits=self.forfeits[:, ::-1, ::-1],
            won_correction=None if won is None else -won[:, ::-1],
            points_correction=None if points is None else points[:, ::-1, :, ::-1],
            failures=self.failures,
        )

    def take(self, chosen: Array) -> Pairs:
        """Return the pairs at indices, or under a mask, and no failures."""
        arrays: dict[str, Any] = {name: getattr(self, name)[chosen] for name in self.known()}
        return Pairs(**arrays)

    def without_forfeits(self) -> Pairs:
        """Return the pairs in which no game was forfeited."""
        return self.take(np.flatnonzero(~self.forfeits.any(axis=(1, 2))))


@dataclass(frozen=True)
class Estimate:
    """A mean with its 95 % interval.

    Attributes:
        mean: the mean.
        half: half the interval's width; NaN from fewer than two pairs (so is the mean of none).
        n: the number of pairs.
    """

    mean: float
    half: float
    n: int


def estimate(per_pair: Array) -> Estimate:
    """Return the mean of one value a pair, with its 95 % interval (normal approximation)."""
    values = np.asarray(per_pair, dtype=np.float64)
    n = len(values)
    half = 1.96 * float(values.std(ddof=1)) / math.sqrt(n) if n > 1 else math.nan
    return Estimate(float(values.mean()) if n else math.nan, half, n)


def play_pairs(
    rules: Rules,
    episode: str,
    first: Agent | Referee,
    second: Agent | Referee,
    pairs: int,
    seed: int,
    *,
    players: int | None = None,
    reference: Reference | None = None,
    duplicate: bool = True,
    finished: Finished = ignore_progress,
) -> Pairs:
    """Play ``pairs`` duplicate pairs and return their outcome.

    An agent receives only its views. But it plays both games of a pair, one after the other, so
    an agent that remembers cards could recognise them. A tournament prevents this.

    Args:
        rules: the rules of any game.
        episode: the episode of the game to play.
        first: an agent; given with its referee, a failure costs it the game.
        second: another, or the same.
        pairs: how many pairs, at least 1.
        seed: fixes the deals and the agents' own chance.
        players: seats in a game, by default the fewest the rules allow; with four, each agent
            plays both seats of a side.
        reference: the policy by which AIVAT corrects; None for no correction.
        duplicate: whether the two games of a pair have the same deals.
        finished: a progress callback.

    Raises:
        ValueError: ``pairs`` is less than 1, such a game has more sides than two, or an agent does
            not play by the rules.
        IllegalActionError: an agent without a referee chose an illegal action; it is named.
    """
    if pairs < 1:
        raise ValueError(f"pairs must be at least 1, got {pairs!r}")
    for agent in (first, second):
        refuse_rules(agent, rules, episode)
    chunks = []
    for chunk in range(math.ceil(pairs / PAIRS_AT_ONCE)):
        n = min(PAIRS_AT_ONCE, pairs - chunk * PAIRS_AT_ONCE)
        seed_seq = np.random.SeedSequence(seed, spawn_key=(chunk,))
        chunks.append(
            play_chunk(
                rules, episode, (first, second), n, seed_seq, players, reference=reference,
                duplicate=duplicate, finished=finished,
            )
        )  # fmt: skip
    return Pairs.joined(chunks)


def play_chunk(
    rules: Rules,
    episode: str,
    agents: Sides,
    n: int,
    seed_seq: np.random.SeedSequence,
    players: int | None = None,
    swapped_agents: Sides | None = None,
    *,
    reference: Reference | None = None,
    duplicate: bool = True,
    finished: Finished = ignore_progress,
) -> Pairs:
    """Play n pairs: n games side by side, then the same deals with the seats swapped.

    Args:
        rules, episode, players, reference, duplicate, finished: as for `play_pairs`.
        agents: first and second. A failure of an agent given with its referee costs it the game;
            another's is raised.
        n: how many pairs.
        seed_seq: seed of the deals, and of separate generators for the agents.
        swapped_agents: the two who play the swapped games, by default the same. Who played the
            first games has seen the cards of both seats by then: other instances have not.

    Raises:
        IllegalActionError: an agent without a referee chose an illegal action.
    """
    deals, chance, redrawn, others = seed_seq.spawn(4)
    # A generator shows what it was seeded from: the agents' must not lead to the deals' seed.
    rngs = [np.random.default_rng(one.generate_state(4)) for one in chance.spawn(4)]
    halves = []
    for swapped, who in enumerate((agents, swapped_agents or agents)):
        games = GameBatch(
            rules, n, players=players, episode=episode,
            seed=deals if duplicate or not swapped else others,
        )  # fmt: skip
        if (n_sides := games.tally.shape[1]) != len(agents):
            raise ValueError(f"two agents meet in games of two sides, {rules.name} has {n_sides}")
        # With deals of their own, games have one seat deal first: each agent does in one of a pair.
        games.reset(dealer=None if duplicate else 0)
        log = DealLog() if reference and episode in CORRECTED else None
        outcome, failures = _play_half(games, who, rngs[2 * swapped :], swapped, log, finished)
        if reference and log and isinstance(rules, TwoHandRules):
            found = reference.corrections(rules, log.deals(), n, swapped, redrawn)
            forfeited = outcome["forfeits"].any(axis=1)
            found.won[forfeited], found.points[forfeited] = 0.0, 0.0
            outcome |= {"won_correction": found.won, "points_correction": found.points}
        halves.append((outcome, failures))
    arrays: dict[str, Any] = {
        name: np.stack([half[name] for half, _ in halves], axis=1) for name in halves[0][0]
    }
    return Pairs(**arrays, failures=tuple(f for _, failures in halves for f in failures))


def _play_half(
    games: GameBatch,
    agents: Sides,
    rngs: Sequence[np.random.Generator],
    swapped: int,
    log: DealLog | None,
    finished: Finished,
) -> tuple[dict[str, Array], list[Failure]]:
    """Play games that have begun, in which ``agents[swapped]`` has seat 0.

    Returns the fields of `Pairs` by name, each without its second axis, and the failures.
    """
    first_dealt = games.sides[games.states["dealer"]] == swapped
    sides = [swapped, 1 - swapped]  # of first and second
    forfeits, failures = play_out(games, agents, rngs, np.array(sides), log, finished)
    seats = [games.sides.tolist().index(side) for side in sides]
    forfeited = forfeits.any(axis=1, keepdims=True)
    board = games.states["match_score" if games.episode == "match" else "scores"]
    outcome = {
        "returns": np.where(forfeited, 1.0 - 2 * forfeits, games.returns()[:, seats]),
        "scores": np.where(forfeited, 0, board[:, sides]),
        "first_dealt": first_dealt,
        "points": games.tally[:, sides],
        "forfeits": forfeits,
    }
    return outcome, failures
