"""Duplicate deals with three sides or more: a set has one game for each side of `first`.

One agent meets several copies of the other, and both play every hand: with three hands the deals of
a set are played three times, with ``first`` in the next seat each time. An agent of equal strength
wins one game in three. Intervals are computed over sets, never over games, since the games of a set
share their cards.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from crib_env.arrays import Array
from crib_env.batch import GameBatch
from crib_env.engine.family import find_family
from crib_env.honours import refuse_rules
from crib_env.policy import Agent
from crib_env.rules import Rules
from crib_training.evaluation.duplicate import PAIRS_AT_ONCE, estimate
from crib_training.evaluation.figures import NOTHING, ROLES, as_json
from crib_training.evaluation.playing import Finished, Sides, ignore_progress, play_out
from crib_training.evaluation.referee import Failure, Referee
from crib_training.loading import sides_of

ARRAYS = ("won", "scores", "dealer", "points", "forfeits")


@dataclass(frozen=True)
class Sets:
    """The outcome of sets of games between ``first`` and, on all other sides, ``second``.

    In game g of a set ``first`` has side g. Sides are counted from its own to the left.

    Attributes:
        won: float64[sets, games, sides], 1 for the winner, else 0; nobody wins a drawn deal. The
            sides of the other agent share a game that one forfeits.
        scores: int64[sets, games, sides], their final scores.
        dealer: int64[sets, games], the side that dealt first.
        points: int64[sets, games, sides, 3], points pegged in play, hands, cribs.
        forfeits: bool[sets, games, 2], whether (first, second) lost the game by a failure.
        failures: the reasons of those failures.
    """

    won: Array
    scores: Array
    dealer: Array
    points: Array
    forfeits: Array
    failures: tuple[Failure, ...] = ()

    @property
    def shares_won(self) -> Array:
        """The share of each set's games that ``first`` won, float64[sets]."""
        return np.asarray(self.won[..., 0].mean(axis=1))

    @classmethod
    def joined(cls, chunks: Sequence[Sets]) -> Sets:
        """Return the sets of all chunks, in their order."""
        arrays: dict[str, Any] = {
            name: np.concatenate([getattr(chunk, name) for chunk in chunks]) for name in ARRAYS
        }
        return cls(**arrays, failures=tuple(f for chunk in chunks for f in chunk.failures))

    def known(self) -> tuple[str, ...]:
        """Return the names of the arrays."""
        return ARRAYS

    def take(self, chosen: Array) -> Sets:
        """Return the sets at indices, or under a mask, and no failures."""
        return Sets(**{name: getattr(self, name)[chosen] for name in ARRAYS})

    def without_forfeits(self) -> Sets:
        """Return the sets in which no game was forfeited."""
        return self.take(np.flatnonzero(~self.forfeits.any(axis=(1, 2))))


def play_sets(
    rules: Rules,
    episode: str,
    first: Agent | Referee,
    second: Agent | Referee,
    sets: int,
    seed: int,
    *,
    players: int | None = None,
    finished: Finished = ignore_progress,
) -> Sets:
    """Play sets of games on the same deals and return their outcome; see `Sets`.

    Args:
        rules: the rules of a game of three sides or more, each of one seat.
        episode: the episode of the game to play.
        first: an agent; given with its referee, a failure costs it the game.
        second: another, or the same.
        sets: how many sets, at least 1.
        seed: fixes the deals and the agents' own chance.
        players: seats in a game, by default the fewest the rules allow.
        finished: a progress callback.

    Raises:
        ValueError: ``sets`` is less than 1, or an agent does not play by the rules.
        IllegalActionError: an agent without a referee chose an illegal action; it is named.
    """
    if sets < 1:
        raise ValueError(f"sets must be at least 1, got {sets!r}")
    for agent in (first, second):
        refuse_rules(agent, rules, episode)
    agents = [(first, second)] * sides_of(rules, players)
    chunks = []
    for chunk in range(math.ceil(sets / PAIRS_AT_ONCE)):
        n = min(PAIRS_AT_ONCE, sets - chunk * PAIRS_AT_ONCE)
        seed_seq = np.random.SeedSequence(seed, spawn_key=(chunk,))
        chunks.append(play_rotated(rules, episode, agents, n, seed_seq, players, finished=finished))
    return Sets.joined(chunks)


def play_rotated(
    rules: Rules,
    episode: str,
    agents: Sequence[Sides],
    n: int,
    seed_seq: np.random.SeedSequence,
    players: int | None = None,
    *,
    finished: Finished = ignore_progress,
) -> Sets:
    """Play n sets: n games side by side, then the same deals with ``first`` in the next seat."""
    deals, chance = seed_seq.spawn(2)
    # A generator shows what it was seeded from: the agents' must not lead to the deals' seed.
    rngs = [np.random.default_rng(one.generate_state(4)) for one in chance.spawn(2 * len(agents))]
    outcomes: list[dict[str, Array]] = []
    failures: list[Failure] = []
    for side, who in enumerate(agents):
        games = GameBatch(rules, n, players=players, episode=episode, seed=deals)
        games.reset()
        outcome, failed = _play(games, who, rngs[2 * side :], side, finished)
        outcomes.append(outcome)
        failures += failed
    arrays: dict[str, Any] = {
        name: np.stack([outcome[name] for outcome in outcomes], axis=1) for name in ARRAYS
    }
    return Sets(**arrays, failures=tuple(failures))


def _play(
    games: GameBatch, agents: Sides, rngs: list[np.random.Generator], side: int, finished: Finished
) -> tuple[dict[str, Array], list[Failure]]:
    """Play games in which ``first`` has ``side``; return the fields of `Sets` of each game."""
    n_sides = len(games.sides)
    dealer = (games.sides[games.states["dealer"]] - side) % n_sides
    owners = (np.arange(n_sides) != side).astype(np.int64)
    forfeits, failures = play_out(games, agents, rngs, owners, None, finished)
    to_the_left = (side + np.arange(n_sides)) % n_sides
    forfeited = forfeits.any(axis=1, keepdims=True)
    shared = np.where(np.arange(n_sides) == 0, forfeits[:, 1:], forfeits[:, :1] / (n_sides - 1))
    board = games.states["match_score" if games.episode == "match" else "scores"]
    outcome = {
        "won": np.where(forfeited, shared, games.returns()[:, to_the_left] > 0),
        "scores": np.where(forfeited, 0, board[:, to_the_left]),
        "dealer": dealer,
        "points": games.tally[:, to_the_left],
        "forfeits": forfeits,
    }
    return outcome, failures


def figures_of_sets(
    rules: Rules, names: tuple[str, str], games: Sets, deals: Sets
) -> dict[str, Any]:
    """Return the figures of two agents from sets of games and of single deals, ready for JSON.

    They have the keys of `crib_training.evaluation.figures.figures`. Margins are those over the
    mean of the other sides. There are no skunks and no adjusted figures.
    """
    phases = find_family(rules.engine).phases
    whole_games, whole_deals = games.without_forfeits(), deals.without_forfeits()
    margin = whole_games.scores[..., 0] - whole_games.scores[..., 1:].mean(axis=2)
    points = whole_deals.points.sum(axis=3)
    more = points[..., 0] - points[..., 1:].mean(axis=2)
    of_role = {role: _by_player(whole_deals, role == "dealer") for role in ROLES}
    dealers = np.take_along_axis(whole_games.won, whole_games.dealer[..., None], axis=2)
    return {
        "won": as_json(estimate(games.shares_won)),
        "won_as_first_dealer": as_json(estimate(games.won[..., 0][games.dealer == 0])),
        "first_dealer_won": as_json(estimate(dealers.mean(axis=(1, 2)))),
        "margin": as_json(estimate(margin.mean(axis=1))),
        "skunks_for": NOTHING,
        "skunks_against": NOTHING,
        "margin_per_deal": as_json(estimate(more.mean(axis=1))),
        "points_per_deal": {
            **as_json(estimate(points[..., 0].mean(axis=1))),
            **{
                role: {name: _by_phase(phases, both[player]) for player, name in enumerate(names)}
                for role, both in of_role.items()
            },
        },
        "more_per_deal": {
            role: _by_phase(phases, both[0] - both[1]) for role, both in of_role.items()
        },
        "adjusted": None,
        "forfeits": {
            name: int(games.forfeits[..., player].sum() + deals.forfeits[..., player].sum())
            for player, name in enumerate(names)
        },
    }


def _by_player(deals: Sets, dealing: bool) -> tuple[Array, Array]:
    """Return each set's mean points of (first, second) as dealer, or not, float64[sets, 3]."""
    sides = np.arange(deals.won.shape[2])
    in_role = (sides == deals.dealer[..., None]) == dealing
    own, others = (
        np.einsum("sgp,sgpf->sf", chosen, deals.points) / chosen.sum(axis=(1, 2))[:, None]
        for chosen in (in_role & (sides == 0), in_role & (sides != 0))
    )
    return own, others


def _by_phase(phases: tuple[str, ...], points: Array) -> dict[str, Any]:
    return {phase: as_json(estimate(points[:, i])) for i, phase in enumerate(phases)}
