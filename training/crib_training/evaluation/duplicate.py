"""Duplicate deals: every sequence of deals is played once from each side.

Between two sides a pair of games has the same deals, with the seats swapped. Among three or more,
one agent meets several copies of the other, and the deals of a set are played from every side; an
agent of equal strength wins one game in three, say. A pair is a set of two.

Both agents then have the same luck of the cards, so a pair of games is more precise than two single
games. Intervals are computed over pairs, never over games: the games of a pair share their cards.
AIVAT corrects for the remaining luck (`crib_training.evaluation.aivat`). Opponents who must not see
cards twice, such as people, get different deals in the two games of a pair.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from crib_env.arrays import Array
from crib_env.batch import GameBatch, ahead_of_others
from crib_env.policy import Agent
from crib_env.rules import Rules, TwoHandRules
from crib_env.supported_rules import refuse_rules
from crib_training.evaluation.aivat import DealLog, Reference
from crib_training.evaluation.referee import Chronicle, Failure, Referee
from crib_training.loading import sides_of
from crib_training.progress import Finished, ignore_progress

PAIRS_AT_ONCE = 4096
CORRECTIONS = ("won_correction", "points_correction")
CORRECTED = ("game", "deal")  # episodes that AIVAT corrects

Sides = tuple[Agent | Referee, Agent | Referee]
"""The agent to compare, and the agent on all other sides."""


@dataclass(frozen=True)
class Pairs:
    """The outcome of sets of duplicate games of ``first`` against ``second`` on all other sides.

    In game g of a set ``first`` has side g: a set has as many games as a game has sides, two in a
    pair. Sides are counted from that of ``first`` to the left.
    """

    # [sets, games, sides]: 1 for the winner, 0 for the others, equal shares of a drawn deal. The
    # sides of the other agent share a game that one forfeits.
    won: Array
    # [sets, games, sides]: points, or in a match game points (H11); 0 in a forfeited game.
    scores: Array
    dealer: Array  # [sets, games], the side that dealt first
    points: Array  # [sets, games, sides, 3], pegged in play, hands, cribs
    forfeits: Array  # bool[sets, games, 2], whether (first, second) lost the game by a failure
    # By AIVAT term: [pairs, 2, 3], the change of ``first``'s probability of winning, and [pairs, 2,
    # 3, 2, 3], the points of both by phase. None if not corrected; 0 for a forfeited game.
    won_correction: Array | None = None
    points_correction: Array | None = None
    failures: tuple[Failure, ...] = ()

    @property
    def sides(self) -> int:
        """How many sides a game has."""
        return int(self.won.shape[2])

    @property
    def first_dealt(self) -> Array:
        """Whether ``first`` dealt first, bool[sets, games]."""
        return np.asarray(self.dealer == 0)

    @property
    def shares_won(self) -> Array:
        """The share of each set's games that ``first`` won, float64[sets]."""
        return np.asarray(self.won[..., 0].mean(axis=1))

    @property
    def margin(self) -> Array:
        """``first``'s final score less the mean of the others', float64[sets, games]."""
        return np.asarray(ahead_of_others(self.scores)[..., 0])

    @property
    def points_ahead(self) -> Array:
        """``first``'s points of all phases less the mean of the others', float64[sets, games]."""
        return np.asarray(ahead_of_others(self.points.sum(axis=3))[..., 0])

    @classmethod
    def joined(cls, chunks: Sequence[Pairs]) -> Pairs:
        """Return the sets of all chunks, in their order."""
        arrays: dict[str, Any] = {
            name: np.concatenate([getattr(chunk, name) for chunk in chunks]) for name in chunks[0].known()
        }
        return cls(**arrays, failures=tuple(f for chunk in chunks for f in chunk.failures))

    def known(self) -> list[str]:
        """Return the names of the fields that hold arrays."""
        return [one.name for one in fields(self) if isinstance(getattr(self, one.name), np.ndarray)]

    def swapped(self) -> Pairs:
        """Return pairs with agents and games exchanged, so that ``first`` has side g in game g."""
        won, points = self.won_correction, self.points_correction
        return Pairs(
            won=self.won[:, ::-1, ::-1],
            scores=self.scores[:, ::-1, ::-1],
            dealer=1 - self.dealer[:, ::-1],
            points=self.points[:, ::-1, ::-1],
            forfeits=self.forfeits[:, ::-1, ::-1],
            won_correction=None if won is None else -won[:, ::-1],
            points_correction=None if points is None else points[:, ::-1, :, ::-1],
            failures=self.failures,
        )

    def take(self, chosen: Array) -> Pairs:
        """Return the sets at indices, or under a mask, without the list of failures."""
        arrays: dict[str, Any] = {name: getattr(self, name)[chosen] for name in self.known()}
        return Pairs(**arrays)

    def without_forfeits(self) -> Pairs:
        """Return the sets in which no game was forfeited."""
        return self.take(np.flatnonzero(~self.forfeits.any(axis=(1, 2))))


@dataclass(frozen=True)
class Estimate:
    """A mean over pairs or hands with its 95 % interval.

    Attributes:
        mean: the mean; NaN without values.
        ci95: half the width of the interval; NaN for fewer than two values, 0 over all hands.
    """

    mean: float
    ci95: float

    def __str__(self) -> str:
        return f"{self.mean:.4f} ± {self.ci95:.4f}"


def estimate(per_pair: Array) -> Estimate:
    """Return the mean of one value per pair, with its 95 % interval (normal approximation)."""
    values = np.asarray(per_pair, dtype=np.float64)
    n = len(values)
    half = 1.96 * float(values.std(ddof=1)) / math.sqrt(n) if n > 1 else math.nan
    return Estimate(float(values.mean()) if n else math.nan, half)


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
    """Play duplicate pairs, or sets among more than two sides, and return their outcome.

    An agent receives only its views. But it plays all games of a pair, one after the other, so
    an agent that remembers cards could recognise them. A tournament prevents this. A failure of a
    `Referee`'s agent costs it the game; any other agent's is raised. With a ``reference``, AIVAT
    corrects the results. Without ``duplicate``, the games of a pair have different deals.
    """
    if pairs < 1:
        raise ValueError(f"pairs must be at least 1, got {pairs!r}")
    for agent in (first, second):
        refuse_rules(agent, rules, episode)
    agents = [(first, second)] * sides_of(rules, players)
    chunks = []
    for chunk in range(math.ceil(pairs / PAIRS_AT_ONCE)):
        n = min(PAIRS_AT_ONCE, pairs - chunk * PAIRS_AT_ONCE)
        seed_seq = np.random.SeedSequence(seed, spawn_key=(chunk,))
        played = play_chunk(
            rules, episode, agents, n, seed_seq, players, reference=reference, duplicate=duplicate, finished=finished
        )
        chunks.append(played)
    return Pairs.joined(chunks)


def play_chunk(
    rules: Rules,
    episode: str,
    agents: Sequence[Sides],
    n: int,
    seed_seq: np.random.SeedSequence,
    players: int | None = None,
    *,
    reference: Reference | None = None,
    duplicate: bool = True,
    finished: Finished = ignore_progress,
) -> Pairs:
    """Play n sets: n games side by side, then the same deals with ``first`` on the next side.

    ``agents`` holds (first, second) for each game of a set: instances that played the first games
    have seen the cards of all seats, others have not. Otherwise as `play_pairs`.
    """
    deals, chance, redrawn, others = seed_seq.spawn(4)
    # A generator exposes its seed: the agents' must not lead to the deals' seed.
    rngs = [np.random.default_rng(one.generate_state(4)) for one in chance.spawn(2 * len(agents))]
    n_sides = len(agents)
    outcomes: list[dict[str, Array]] = []
    failures: list[Failure] = []
    for side, who in enumerate(agents):
        games = GameBatch(rules, n, players=players, episode=episode, seed=deals if duplicate or not side else others)
        # With different deals, one seat deals first in both games, so each agent does in one.
        games.reset(dealer=None if duplicate else 0)
        log = DealLog() if reference and episode in CORRECTED else None
        dealer = (games.sides[games.states["dealer"]] - side) % n_sides
        player_of = (np.arange(n_sides) != side).astype(np.int64)
        forfeits, failed = play_out(games, who, rngs[2 * side :], player_of, log, finished)
        outcome = {"dealer": dealer, "forfeits": forfeits, **_results(games, side, forfeits)}
        if reference and log and isinstance(rules, TwoHandRules):
            won, points = reference.corrections(rules, log.deals(), n, side, redrawn)
            forfeited = forfeits.any(axis=1)
            won[forfeited], points[forfeited] = 0.0, 0.0
            outcome |= {"won_correction": won, "points_correction": points}
        outcomes.append(outcome)
        failures += failed
    arrays: dict[str, Any] = {name: np.stack([outcome[name] for outcome in outcomes], axis=1) for name in outcomes[0]}
    return Pairs(**arrays, failures=tuple(failures))


def _results(games: GameBatch, side: int, forfeits: Array) -> dict[str, Array]:
    """Return the results of finished games in which ``first`` had ``side``.

    They are fields of `Pairs` by name, each without its second axis.
    """
    n_sides = games.tally.shape[1]
    to_the_left = (side + np.arange(n_sides)) % n_sides
    seats = [games.sides.tolist().index(one) for one in to_the_left]
    forfeited = forfeits.any(axis=1, keepdims=True)
    shared = np.where(np.arange(n_sides) == 0, forfeits[:, 1:], forfeits[:, :1] / (n_sides - 1))
    returns = games.returns()[:, seats]
    won = np.where(returns.any(axis=1, keepdims=True), returns > 0, 1 / n_sides)
    board = games.states["match_score" if games.episode == "match" else "scores"]
    return {
        "won": np.where(forfeited, shared, won),
        "scores": np.where(forfeited, 0, board[:, to_the_left]),
        "points": games.tally[:, to_the_left],
    }


def play_out(
    games: GameBatch,
    agents: Sides,
    rngs: Sequence[np.random.Generator],
    player_of: Array,
    log: DealLog | None,
    finished: Finished,
) -> tuple[Array, list[Failure]]:
    """Play running games to their end.

    ``player_of``, int64[sides], is 0 where the first agent plays a side, and 1 where the second
    does. Returns bool[games, 2], whether (first, second) failed, and the failures.
    """
    forfeits = np.zeros((games.n, 2), dtype=bool)
    failures: list[Failure] = []
    reported = 0.0
    running = games.running()
    followers = [one for one in agents if isinstance(one, Referee) and one.follower is not None]
    at_once = min([games.n, *(one.follower.games_at_once for one in followers)])
    chronicle = Chronicle(games) if followers else None
    for one in followers:
        one.follow(chronicle)
    while len(running):
        playing = running[:at_once]
        mover = player_of[games.sides[games.movers(playing)]]
        for player, agent in enumerate(agents):
            lanes = playing[mover == player]
            if not len(lanes):
                continue
            if not isinstance(agent, Referee):
                games.ask(agent, lanes, rngs[player])
                continue
            for lane, failure in agent.move(games, lanes, rngs[player]).items():
                failures.append(failure)
                forfeits[lane, player] = True
        if log is not None:
            log.note(games, playing)
        running = games.running(running)
        if failures:
            running = running[~forfeits[running].any(axis=1)]
        if chronicle is not None:
            for lane in np.setdiff1d(playing, running):
                for player, agent in enumerate(agents):
                    if isinstance(agent, Referee) and agent.follower is not None:
                        seats = np.flatnonzero(player_of[games.sides] == player)
                        won = not forfeits[lane, player] if forfeits[lane].any() else None
                        chronicle.end(agent.follower, int(lane), seats, won)
        now = games_played(games, running)
        finished(now - reported)
        reported = now
    return forfeits, failures


def games_played(games: GameBatch, running: Array) -> float:
    """Return the number of games played: finished ones, and parts of the others by their scores."""
    over = games.n - len(running)
    if games.episode != "game":
        return over
    return over + float(games.states["scores"][running].max(axis=1).sum()) / games.rules.target
