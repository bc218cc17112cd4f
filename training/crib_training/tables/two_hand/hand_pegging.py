"""Measure the mean pegging of each hand, ``hand_pegging.json``.

    crib tables hand_pegging --agent rule_based

An agent plays single deals against itself (under a minute per million). In half of them one seat
discards at random, so that rare hands occur too; only that seat's pegging counts there. For each
role and the ranks of each kept hand the file holds the mean points that the seat pegs and that the
other seat pegs. Heels are excluded, since no hand causes them.

Means of few samples shrink towards an additive model with a share for each card (empirical Bayes).
The amount follows from the scatter of all hands about the model and of samples about their means.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from crib_agents.data.tables import HAND_PEGGING, RANKS, ROLES
from crib_agents.loading import load_agent

from crib_env.arrays import Array
from crib_env.batch import GameBatch
from crib_env.engine.hands.records import DISCARD
from crib_env.engine.record import NONE
from crib_env.engine.show import JACK
from crib_env.engine.two_hand import HAND
from crib_env.policy import Agent
from crib_env.rules import TwoHandRules
from crib_env.settings import Count, NewFile, Seed, checked_dataclass
from crib_training.exploit.hands import multisets
from crib_training.progress import steps
from crib_training.tables.files import write
from crib_training.tables.two_hand.dealing import both_games

LANES = 100_000
DEALER = 0  # its seat


def sample(
    rules: TwoHandRules, agent: Agent, deals: int, seed_seq: np.random.SeedSequence
) -> Array:
    """Play deals; return float64[2, hands, 2, 3] by role and hand.

    For the points this seat and the other pegged: the number of deals, their sum, that of squares.
    """
    ranks = multisets(rules.dealt - 2)
    look_up = np.zeros([RANKS] * (rules.dealt - 2), dtype=np.int64)
    look_up[tuple(ranks.T)] = np.arange(len(ranks))
    sums = np.zeros((2, len(ranks), 2, 3))
    chunks = seed_seq.spawn(-(-deals // LANES))
    for chunk in steps(chunks, f"{rules.name}, deals of {agent.name}, in parts"):
        deck, chance = chunk.spawn(2)
        rng = np.random.default_rng(chance)
        games = GameBatch(rules, LANES, episode="deal", seed=deck)
        games.reset(dealer=DEALER)
        # The seat that discards at random, or NONE.
        wild = rng.choice([NONE, NONE, 0, 1], size=LANES)
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
        slots = np.arange(rules.dealt)
        for seat in (0, 1):
            counted = np.flatnonzero((wild == NONE) | (wild == seat))
            dealt = states["dealt"][counted][:, HAND * seat + slots] // 4
            held = (states["discarded"][counted, seat][:, None] >> slots & 1) == 0
            hands = np.sort(dealt[held].reshape(len(counted), -1), axis=1)
            at = look_up[tuple(hands.T)]
            role = ROLES.index("dealer" if seat == DEALER else "pone")
            for whose, points in enumerate((pegged[counted, seat], pegged[counted, 1 - seat])):
                for power in range(3):
                    np.add.at(sums[role, :, whose, power], at, points.astype(np.float64) ** power)
    return sums


def shrunk(ranks: Array, sums: Array) -> tuple[Array, dict[str, float]]:
    """Return the means drawn towards an additive model, and what was found on the way.

    Shapes: ranks int64[hands, cards]; sums float64[hands, 3].
    """
    n, total, squares = sums.T
    mean = total / np.maximum(n, 1)
    noise = float((squares.sum() - (total * mean).sum()) / (n.sum() - (n > 0).sum()))
    counts = (ranks[:, :, None] == np.arange(RANKS)).sum(axis=1).astype(np.float64)
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


@checked_dataclass(frozen=True, kw_only=True)
class Settings:
    """Measure what each hand pegs.

    Attributes:
        agent: the agent that plays.
        deals: deals of each game.
        seed: fixes all random numbers.
        out: the file to write.
    """

    agent: str = "rule_based"
    deals: Count = 4_000_000
    seed: Seed = 2027
    out: NewFile = HAND_PEGGING.path


def run(settings: Settings) -> None:
    """Measure both games, print what was found, and write the file."""
    agent = load_agent(settings.agent)
    games: dict[str, Any] = {}
    for rules, seed_seq in both_games(settings.seed):
        ranks = multisets(rules.dealt - 2)
        sums = sample(rules, agent, settings.deals, seed_seq)
        games[rules.name] = {"dealt": rules.dealt}
        for i, role in enumerate(ROLES):
            games[rules.name][role] = {}
            for whose, key in enumerate(("mine", "theirs")):
                means, found = shrunk(ranks, sums[i, :, whose])
                games[rules.name][role][key] = means.round(3).tolist()
                print(f"{rules.name}, {role}, {key}: hands' means from {means.min():.2f} to "
                      f"{means.max():.2f}; a deal scatters by {found['noise']:.2f}, hands about "
                      f"the additive model by {found['spread']:.2f}; samples of a hand: fewest "
                      f"{found['fewest']:.0f}, median {found['median']:.0f}")  # fmt: skip
    write(HAND_PEGGING, settings, games)
