"""The points of a deal, for the win table, and the mean pegging of each hand.

`python -m research.tables deal_outcomes`: an agent plays single deals from 0-0 against itself (a
few seconds per 100,000). The command prints the means, and how far the parts of a deal are from
independent, which the win table assumes, and the first dealer's probability of winning that
follows.

`python -m research.tables hand_pegging`: two agents each play single deals against themselves
(`learned` some four minutes of one core per million). In half of them one seat discards at random,
so that rare hands occur too; only that seat's pegging counts there. For each role and the ranks of
each kept hand the file holds the mean points that the seat pegs and that the other seat pegs. Heels
are excluded, since no hand causes them. Means of few samples shrink towards an additive model with
a share for each card (empirical Bayes). The amount follows from the scatter of all hands about the
model and of samples about their means.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
from crib_agents.data.tables import DEAL_OUTCOMES, HAND_PEGGING, ROLES
from crib_agents.knowledge.deal_points import COUNT_SIZE, MOST_PLAY, PLAY_SIZE, Outcomes
from crib_agents.knowledge.winning import WON, solve
from crib_agents.loading import load_agent

from crib_env.arrays import Array
from crib_env.engine.hands.records import DISCARD
from crib_env.engine.ranks import RANKS, multisets, rank_counts
from crib_env.engine.record import NONE
from crib_env.engine.show import JACK
from crib_env.policy import Agent
from crib_env.rules import TwoHandRules
from crib_env.settings import Count, Seed
from research.tables.dealing import batches, both_games, kept_hands, players_named
from research.tables.maker import makes

DEALER, PONE = 0, 1
LANES = 100_000
COUNTS = ("pone's play", "dealer's play", "pone's hand", "dealer's hand", "crib")


def play_deals(rules: TwoHandRules, agent: Agent, deals: int, seed_seq: np.random.SeedSequence) -> tuple[Array, Array]:
    """Play ``deals`` deals of an agent against itself and return their points.

    Returns int64[deals, 5], the points of each deal in the order of `COUNTS`; and int64[2, 16, 16]:
    entry [s, p, q] counts the deals in which the other seat had pegged q points when seat s first
    had p or more.
    """
    outs = np.zeros((2, PLAY_SIZE, PLAY_SIZE), dtype=np.int64)
    points = []
    for games, rng in batches(rules, deals, LANES, seed_seq, f"deals of {agent.name}", episode="deal"):
        games.reset(dealer=DEALER)
        before = np.zeros((games.n, 2), dtype=np.int64)
        for lanes in games.play(agent, rng):
            now = np.minimum(games.tally[lanes, :, 0], MOST_PLAY)
            was = before[lanes]
            for seat in (DEALER, PONE):
                for more in range(1, PLAY_SIZE):  # a card can score several points
                    passed = was[:, seat] + more <= now[:, seat]
                    if not passed.any():
                        break
                    to = was[passed, seat] + more
                    np.add.at(outs[seat], (to, was[passed, 1 - seat]), 1)
            before[lanes] = now
        t = games.tally
        points.append(
            np.stack([t[:, PONE, 0], t[:, DEALER, 0], t[:, PONE, 1], t[:, DEALER, 1], t[:, DEALER, 2]], axis=1)
        )
    return np.concatenate(points), outs


def outcomes_of(points: Array, outs: Array) -> dict[str, Array]:
    """Return counts of deals by name, as the table holds them for a game."""
    play = np.zeros((PLAY_SIZE, PLAY_SIZE), dtype=np.int64)
    capped = np.minimum(points[:, :2], MOST_PLAY)
    np.add.at(play, (capped[:, 0], capped[:, 1]), 1)
    pone_hand, dealer_hand, crib = (np.bincount(points[:, i], minlength=COUNT_SIZE) for i in (2, 3, 4))
    return {
        "deals": np.array(len(points)),
        "pegging": play,
        "pone_out": outs[PONE],
        "dealer_out": outs[DEALER],
        "pone_hand": pone_hand,
        "dealer_hand": dealer_hand,
        "crib": crib,
    }


@makes(DEAL_OUTCOMES)
def deal_outcomes(agent: str = "expert", deals: Count = 150_000, seed: Seed = 2026) -> dict[str, Any]:
    """Measure the points of a deal, for the win table.

    Args:
        agent: the agent that plays.
        deals: deals of each game.
    """
    player, games = load_agent(agent), []
    for rules, seed_seq in both_games(seed):
        points, outs = play_deals(rules, player, deals, seed_seq)
        games.append(outcomes_of(points, outs))
        means = ", ".join(f"{p} {m:.3f}" for p, m in zip(COUNTS, points.mean(axis=0), strict=True))
        print(f"{rules.name}: {means}")
        print("correlations:")
        for count, row in zip(COUNTS, np.corrcoef(points.T), strict=True):
            print(f"  {count:14}" + "".join(f"{value:7.3f}" for value in row))
        counted = (games[-1][field.name] for field in fields(Outcomes))
        wins = solve(Outcomes(*(count / deals for count in counted)), rules.target)
        first = wins[rules.target - rules.for_last, rules.target, ::-1]
        print(
            f"the first dealer wins {100 * first[WON].sum():.2f} % of games; by a double "
            "skunk, a skunk, plainly, and loses plainly, by a skunk, a double skunk: "
            + ", ".join(f"{100 * share:.1f}" for share in first)
        )
    return {name: np.stack([game[name] for game in games]) for name in games[0]}


def sample_pegging(rules: TwoHandRules, agent: Agent, deals: int, seed_seq: np.random.SeedSequence) -> Array:
    """Play deals; return float64[2, hands, 2, 3] by role and hand.

    For the points pegged by this seat and the other: number of deals, sum and sum of squares.
    """
    sums = np.zeros((2, len(multisets(rules.dealt - 2)), 2, 3))
    for games, rng in batches(rules, deals, LANES, seed_seq, f"deals of {agent.name}", episode="deal"):
        games.reset(dealer=DEALER)
        # The seat that discards at random, or NONE.
        wild = rng.choice([NONE, NONE, 0, 1], size=games.n)
        lanes = games.running()
        while len(lanes):
            views = games.views(lanes)
            cards = agent.act(views, rng)
            random = (views["phase"] == DISCARD) & (views["seat"] == wild[lanes])
            drawn = rng.integers(views["hand_n"])
            cards[random] = views["hand"][np.arange(len(lanes)), drawn][random]
            bad = games.step(lanes, cards)
            assert bad is None, games.why_illegal(lanes[bad], cards[bad])
            lanes = games.running(lanes)
        states = games.states
        pegged = games.tally[:, :, 0].copy()
        pegged[:, DEALER] -= np.where(states["starter"] // 4 == JACK, rules.heels, 0)
        for seat in (0, 1):
            counted = np.flatnonzero((wild == NONE) | (wild == seat))
            at = kept_hands(games, seat)[counted]
            role = ROLES.index("dealer" if seat == DEALER else "pone")
            for whose, points in enumerate((pegged[counted, seat], pegged[counted, 1 - seat])):
                for power in range(3):
                    np.add.at(sums[role, :, whose, power], at, points.astype(np.float64) ** power)
    return sums


def shrunk(cards: int, sums: Array) -> tuple[Array, dict[str, float]]:
    """Return the means of hands of ``cards`` cards, shrunk towards an additive model, and figures.

    Shapes: sums float64[hands, 3].

    Raises:
        ValueError: too few deals for the model.
    """
    n, total, squares = sums.T
    counts = rank_counts(cards).astype(np.float64)
    seen = int((n > 0).sum())
    if n.sum() == seen or np.linalg.matrix_rank(counts[n > 0]) < RANKS:
        raise ValueError(
            f"{n.sum():.0f} deals with {seen} hands of {cards} cards say too little "
            "of each rank: raise --deals, or --worth where there is one"
        )
    mean = total / np.maximum(n, 1)
    noise = float((squares.sum() - (total * mean).sum()) / (n.sum() - seen))
    spread = 0.0
    for _ in range(20):  # weights by the scatter found, the scatter by the weights
        weight = np.where(n > 0, 1.0 / (spread + noise / np.maximum(n, 1)), 0.0)
        share = np.linalg.solve((counts.T * weight) @ counts, (counts.T * weight) @ mean)
        model = counts @ share
        excess = (mean - model) ** 2 - noise / np.maximum(n, 1)
        spread = max(float((weight**2 * excess).sum() / (weight**2).sum()), 1e-6)
    trust = n * spread / (n * spread + noise)
    return trust * mean + (1 - trust) * model, {
        "noise": noise**0.5,
        "spread": spread**0.5,
        "fewest": float(n.min()),
        "median": float(np.median(n)),
    }


@makes(HAND_PEGGING)
def hand_pegging(agents: str = "learned,rule_based", deals: Count = 2_000_000, seed: Seed = 2027) -> dict[str, Any]:
    """Measure the pegging of each hand.

    Args:
        agents: built-in names joined by commas.
        deals: deals of each game and agent.
    """
    players = players_named(agents)
    found = {name: np.zeros(shape) for name, shape in HAND_PEGGING.shapes.items()}
    for game, (rules, seed_seq) in enumerate(both_games(seed)):
        each = [sample_pegging(rules, player, deals, seed_seq) for player in players]
        sums = np.sum(each, axis=0)
        for i, role in enumerate(ROLES):
            for whose, key in enumerate(("mine", "theirs")):
                means, figures = shrunk(rules.dealt - 2, sums[i, :, whose])
                found[key][game, i, : len(means)] = means.round(3)
                print(
                    f"{rules.name}, {role}, {key}: hands' means from {means.min():.2f} to "
                    f"{means.max():.2f}; a deal scatters by {figures['noise']:.2f}, hands about "
                    f"the additive model by {figures['spread']:.2f}; samples of a hand: fewest "
                    f"{figures['fewest']:.0f}, median {figures['median']:.0f}"
                )
    return found
