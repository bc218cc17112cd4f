"""How many fewer games AIVAT needs, and a check that the mean does not change.

    python -m research.aivat --pairs 2000 --seed 1

The command plays duplicate games and single deals for pairs of agents. It corrects them by the
starter's term alone, then with the reference's term, then with the discard's term as well. It
prints the plain and the adjusted means, and their difference in standard errors. It also prints how
many times fewer pairs give the same interval: for duplicate pairs, and for games that do not share
their deals. For another reference, such as ``random``, it measures deals of that reference first.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from crib_agents.loading import TakesAgents
from crib_training.command_line import start
from crib_training.evaluation.aivat import REDRAWS, TERMS, Reference, usual_reference
from crib_training.evaluation.duplicate import Estimate, Pairs, estimate, play_pairs
from crib_training.evaluation.figures import as_json
from crib_training.evaluation.report import shown
from crib_training.loading import find_game
from crib_training.outputs import table
from crib_training.progress import Progress

from crib_env.arrays import Bools, Doubles
from crib_env.policy import CompiledAgent, find_agent
from crib_env.rules import TwoHandRules
from crib_env.settings import Count, Seed, checked_dataclass
from research.tables.reference_deals import measure

PLAYED = {"game": (100, 2, " %"), "deal": (1, 3, "")}  # and how `shown` writes their means
HEAD = ("agents", "what", "luck removed", "mean", "standard errors apart", "times fewer pairs", "without duplicates")


@dataclass(frozen=True)
class Reduction:
    """Results after subtracting some terms."""

    mean: Estimate  # over pairs, plain or adjusted
    apart: float  # its difference from the plain mean, in its standard errors
    fewer: float  # how many times fewer pairs give the interval of plain duplicate pairs
    unpaired: float  # the same where each game has its own deals


def spread(values: Doubles, first_dealt: Bools) -> float:
    """Return the variance of the mean of two games that share no deals, one of each first dealer.

    Shapes: values float64[pairs, 2]; first_dealt bool[pairs, 2].
    """
    return float(values[first_dealt].var(ddof=1) + values[~first_dealt].var(ddof=1)) / 4


def reduction(plain: Doubles, luck: Doubles, first_dealt: Bools) -> Reduction:
    """Return the results of games, float64[pairs, 2], after the correction."""
    adjusted = plain - luck
    apart = estimate(luck.mean(axis=1))
    return Reduction(
        mean=estimate(adjusted.mean(axis=1)),
        apart=-1.96 * apart.mean / apart.ci95 if apart.ci95 else 0.0,
        fewer=float(plain.mean(axis=1).var() / adjusted.mean(axis=1).var()),
        unpaired=spread(plain, first_dealt) / spread(adjusted, first_dealt),
    )


def plain_and_correction(episode: str, pairs: Pairs) -> tuple[Doubles, Doubles]:
    """Return wins or point margins, float64[pairs, 2], and corrections, [pairs, 2, terms]."""
    assert pairs.won_correction is not None
    assert pairs.points_correction is not None
    if episode == "game":
        return pairs.won[..., 0], pairs.won_correction
    points, luck = pairs.points.sum(axis=3), pairs.points_correction.sum(axis=4)
    return (points[..., 0] - points[..., 1]).astype(np.float64), luck[..., 0] - luck[..., 1]


def reference_called(name: str, rules: TwoHandRules, deals: int, seed: int) -> Reference:
    """Return the reference of a compiled agent; measure its deals if it is not `rule_based`."""
    usual, agent = usual_reference(rules), find_agent(name)
    assert usual is not None
    if agent.name == usual.agent.name:
        return usual
    if not isinstance(agent, CompiledAgent):
        raise ValueError(f"a reference is a compiled agent, {name} is none")
    return Reference(agent, measure(rules, agent, deals, np.random.SeedSequence(seed)))


@checked_dataclass(frozen=True, kw_only=True)
class Settings(TakesAgents):
    """Measure how many fewer games AIVAT needs.

    Attributes:
        agents: pairs of agents, such as expert,rule_based.
        env: the environment.
        pairs: duplicate pairs of games, and of single deals.
        seed: fixes all random numbers.
        reference: the policy that replays the deals.
        redraws: hands to redraw where a discard differs.
        deals: deals to measure first of a reference other than rule_based.
    """

    agents: tuple[str, ...] = (
        "expert,rule_based",
        "rule_based,greedy",
        "expert,greedy",
        "greedy,random",
        "learned,rule_based",
        "master,expert",
    )
    env: Literal["six_card_v0", "five_card_v0"] = "six_card_v0"
    pairs: Count = 2000
    seed: Seed = 1
    reference: str = "rule_based"
    redraws: Count = REDRAWS
    deals: Count = 200_000


def run(settings: Settings) -> None:
    """Play every pair of agents and print the table."""
    _, rules = find_game(settings.env)
    assert isinstance(rules, TwoHandRules)
    reference = reference_called(settings.reference, rules, settings.deals, settings.seed)
    reference = Reference(reference.agent, reference.outcomes, settings.redraws)
    began, rows = time.process_time(), []
    with Progress("games and deals", 4 * settings.pairs * len(settings.agents)) as progress:
        for names in settings.agents:
            first, second = map(settings.load_agent, names.split(","))
            for episode, written in PLAYED.items():
                how: dict[str, Any] = {"reference": reference, "finished": progress.advance}
                pairs = play_pairs(rules, episode, first, second, settings.pairs, settings.seed, **how)
                plain, luck = plain_and_correction(episode, pairs)
                for n in range(len(TERMS) + 1):
                    found = reduction(plain, luck[..., :n].sum(axis=-1), pairs.first_dealt)
                    rows.append(
                        [
                            f"{first.name}, {second.name}",
                            f"{episode}s",
                            " + ".join(TERMS[:n]) or "none",
                            shown(as_json(found.mean), *written),
                            f"{found.apart:+.1f}" if n else "",
                            f"{found.fewer:.2f}",
                            f"{found.unpaired:.2f}",
                        ]
                    )
    print(table(HEAD, rows))
    print(
        f"\n{settings.env}, {settings.pairs} pairs a row, seed {settings.seed}, reference "
        f"{reference.agent.name}, {settings.redraws} redraws, "
        f"{time.process_time() - began:.0f} CPU seconds"
    )


if __name__ == "__main__":
    start(Settings, run)
