"""Measure the play of the cards alone: agents that peg, over the same discards.

    python -m crib_training.evaluation.pegging --pairs 4000 --seed 1

Every agent plays the hands that `rule_based` keeps, on duplicate deals, so hands and cribs cancel
and what is left is the pegging. Printed are the points a deal more with 95 % intervals over pairs,
the points of the play by role (his heels are among the dealer's), whole games won at the same
discards, and the expert's decisions a second.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations

from crib_agents import PhasedAgent
from crib_agents.adapters.timed import Timed
from crib_agents.expert.two_hand.pegging.expert import PeggingExpert

from crib_env.errors import unknown
from crib_env.policy import Agent, find_agent
from crib_env.rules import PRESETS
from crib_env.settings import Count, CountOrNone, Seed
from crib_training.command_line import start
from crib_training.evaluation.determinized import DeterminizedAgent
from crib_training.evaluation.duplicate import Estimate, Pairs, estimate, play_pairs
from crib_training.evaluation.markdown import table
from crib_training.tables.two_hand.dealing import GAMES

HEAD = ("pegging", "against", "points a deal more", "as pone", "as dealer", "games won")
PEGGING: dict[str, Callable[[], Agent]] = {
    "expert": PeggingExpert,
    "rule_based": lambda: find_agent("rule_based"),
    "greedy": lambda: find_agent("greedy"),
    "open_handed": DeterminizedAgent,
}


def match(game: str, episode: str, first: Agent, second: Agent, pairs: int, seed: int) -> Pairs:
    """Play duplicate pairs in which `rule_based` discards for both agents."""
    agents = [PhasedAgent("rule_based", agent) for agent in (first, second)]
    return play_pairs(PRESETS[game], episode, agents[0], agents[1], pairs, seed)


def more(deals: Pairs) -> Estimate:
    """Return how many points a deal more the first agent pegs."""
    play = deals.points[:, :, :, 0]
    return estimate((play[:, :, 0] - play[:, :, 1]).mean(axis=1))


def by_role(deals: Pairs, player: int, dealer: bool) -> Estimate:
    """Return an agent's points of the play in one role, which it has once in each pair."""
    dealt = deals.first_dealt if player == 0 else ~deals.first_dealt
    return estimate(deals.points[:, :, player, 0][dealt == dealer])


def shown(value: Estimate, scale: float = 1.0) -> str:
    """Return an estimate as text."""
    return f"{scale * value.mean:.2f} ± {scale * value.half:.2f}"


@dataclass(frozen=True)
class Settings:
    """Measure the play of the cards alone, over the same discards.

    Attributes:
        pairs: of deals.
        games: pairs of games; 0 for none.
        agents: who pegs.
        seed: fixes everything.
    """

    pairs: Count = 4000
    games: CountOrNone = 1000
    agents: tuple[str, ...] = tuple(PEGGING)
    seed: Seed = 1


def run(settings: Settings) -> None:
    """Play every pairing of both games and print the table."""
    unknown_names = [name for name in settings.agents if name not in PEGGING]
    if unknown_names:
        raise unknown("agent that pegs", unknown_names[0], PEGGING)
    for game in GAMES:
        timed = Timed(PeggingExpert())
        match(game, "pegging", timed, timed, 1, settings.seed)  # compiled, or read from the cache
        timed.decisions, timed.seconds = 0, 0.0
        rows = []
        for name, against in combinations(settings.agents, 2):
            first = timed if name == "expert" else PEGGING[name]()
            second = PEGGING[against]()
            deals = match(game, "pegging", first, second, settings.pairs, settings.seed)
            won = "–"
            if settings.games and name == "expert":
                games = match(game, "game", first, second, settings.games, settings.seed)
                won = shown(estimate((games.result == 1).mean(axis=1)), 100.0) + " %"
            roles = [
                f"{shown(by_role(deals, 0, dealer))} to {by_role(deals, 1, dealer).mean:.2f}"
                for dealer in (False, True)
            ]
            rows.append([name, against, shown(more(deals)), *roles, won])
        print(f"{game}:\n\n{table(HEAD, rows)}\n", flush=True)
        if timed.decisions:
            print(
                f"{game}: the expert made {timed.decisions / timed.seconds:.0f} decisions a "
                f"second, {timed.decisions} in all\n",
                flush=True,
            )


if __name__ == "__main__":
    start(Settings, run)
