"""Compute the mean cribs of the games for three and four, ``many_hand_cribs.npz``.

    crib tables many_hand_cribs

For each game the command plays discards of `rule_based`, by the current means. The program counts
the crib with every card that a seat could have discarded instead, so rare discards get samples too.
The means of the rounds so far are the next table. All discard by the same means, so without that
they would swing from round to round.
"""

from __future__ import annotations

import numpy as np
from crib_agents.data.tables import MANY_HAND, MANY_HAND_CRIBS, RANKS, ROLES, save
from crib_agents.rule_based import RuleBasedAgent, default_weights

from crib_env.arrays import Array, Doubles
from crib_env.batch import GameBatch
from crib_env.engine.many_hand import CRIB_SLOT, HAND
from crib_env.rules import PRESETS, Rules
from crib_env.scoring.many import score_hands
from crib_env.settings import Count, NewFile, Seed, checked_dataclass
from crib_training.progress import steps
from crib_training.tables.files import made_by

CARDS = 4  # of a crib
AT_ONCE = 50_000


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


def fixed_point(
    preset: str, game: int, deals: int, rounds: int, seed_seq: np.random.SeedSequence
) -> tuple[Array, list[float]]:
    """Iterate from no table at all; return the mean cribs and each round's mean change."""
    means = np.zeros((len(ROLES), RANKS))
    changes = []
    for i, child in enumerate(steps(seed_seq.spawn(rounds), f"{preset}, rounds")):
        charts = np.zeros(MANY_HAND_CRIBS.shapes["crib"])
        charts[game] = means
        agent = RuleBasedAgent(default_weights(charts))
        parts = [discards_of(agent, preset, part) for part in child.spawn(-(-deals // AT_ONCE))]
        found = np.mean([mean_cribs(g.states, g.rules, g.sides) for g in parts], axis=0)
        step = (found - means) / max(1, i)  # the mean of all rounds but the first
        changes.append(float(np.abs(step).mean()))
        means = means + step
    return means, changes


@checked_dataclass(frozen=True, kw_only=True)
class Settings:
    """Compute the mean cribs of the games for three and four.

    Attributes:
        deals: deals per round.
        rounds: rounds of each game.
        seed: fixes all random numbers.
        out: the file to write.
    """

    deals: Count = 500_000
    rounds: Count = 6
    seed: Seed = 2024
    out: NewFile = MANY_HAND_CRIBS.path


def run(settings: Settings) -> None:
    """Compute both games' tables, print how they changed, and write the file."""
    cribs = np.zeros(MANY_HAND_CRIBS.shapes["crib"])
    seeds = np.random.SeedSequence(settings.seed).spawn(len(MANY_HAND))
    for game, (preset, seed) in enumerate(zip(MANY_HAND, seeds, strict=True)):
        cribs[game], changes = fixed_point(preset, game, settings.deals, settings.rounds, seed)
        print(f"{preset}: mean change by round " + " ".join(f"{c:.4f}" for c in changes))
        for role, means in zip(ROLES, cribs[game], strict=True):
            print(f"  {role}: " + " ".join(f"{points:.2f}" for points in means))
    save(MANY_HAND_CRIBS, settings.out, made_by=made_by(MANY_HAND_CRIBS, settings),
         crib=cribs.round(4))  # fmt: skip
