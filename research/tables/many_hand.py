"""The mean cribs of the games for three and four, from games of `rule_based`.

`python -m research.tables many_hand_cribs`: all seats discard by the current means. The program
counts the crib with every card that a seat could have discarded, so rare discards get samples too.
The next table is the mean over the rounds so far; the second round replaces the first. Single
rounds would swing, because all seats discard by the same table.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from crib_agents.data.tables import MANY_HAND, MANY_HAND_CRIBS, ROLES
from crib_agents.rule_based import RuleBasedAgent, default_weights
from crib_training.progress import steps

from crib_env.arrays import Array, Doubles
from crib_env.batch import GameBatch
from crib_env.engine.many_hand import CRIB_SLOT, HAND
from crib_env.engine.ranks import RANKS
from crib_env.rules import PRESETS, Rules
from crib_env.scoring.many import score_hands
from crib_env.settings import Count, Seed
from research.tables.maker import makes

CARDS = 4  # of a crib
AT_ONCE = 50_000


def discards_of(agent: RuleBasedAgent, preset: str, seed_seq: np.random.SeedSequence) -> GameBatch:
    """Return deals in which all seats have discarded."""
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
        deals: deals per round, rounded up to whole batches of 50,000.
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
