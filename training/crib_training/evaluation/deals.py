"""Compare two agents in single deals alone, from 0-0: what they make more, in points a deal.

    python -m crib_training.evaluation.deals equilibrium expert --env five_card_v0 --pairs 50000

`crib evaluate` plays as many whole games besides, which take several times as long.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from crib_agents.loading import TakesAgents

from crib_env.options import check_seed
from crib_env.settings import Count, Players, Positional, Seed
from crib_training.command_line import start
from crib_training.evaluation.duplicate import estimate, play_pairs
from crib_training.evaluation.figures import points_more
from crib_training.loading import find_game, in_phase, shortest_episode
from crib_training.progress import Progress


@dataclass(frozen=True)
class Settings(TakesAgents):
    """Compare two agents in single duplicate deals.

    Attributes:
        first: an agent: a name, a .safetensors, .zip (Stable-Baselines3) or .onnx file, or
            package.module:Class.
        second: another, or the same.
        env: the environment.
        rules: other than the environment's own: a preset, or one with changes, such as
            hoyle[target=91,for_last=3].
        players: 2, or 4 in Table Top.
        pairs: how many pairs of deals, or of rounds.
        seed: fixes everything.
    """

    first: Positional[str]
    second: Positional[str]
    env: str = "six_card_v0"
    rules: str | None = None
    players: Players = 2
    pairs: Count = 10_000
    seed: Seed = 1


def run(settings: Settings) -> None:
    """Play the deals, and print what the first agent made more."""
    maker, rules = find_game(settings.env, settings.rules)
    maker.check_players(settings.players)
    check_seed(settings.seed)
    first, second = (
        in_phase(maker, settings.load_agent(name)) for name in (settings.first, settings.second)
    )
    began = time.process_time()
    with Progress(f"{settings.first} against {settings.second}", 2 * settings.pairs) as progress:
        deals = play_pairs(
            rules, shortest_episode(maker), first, second, settings.pairs, settings.seed,
            players=settings.players, finished=progress.advance,
        )  # fmt: skip
    more = estimate(points_more(deals.whole()).sum(axis=(1, 2)) / 2)
    print(
        f"{settings.first} makes {more.mean:+.4f} ± {more.half:.4f} points a deal more than "
        f"{settings.second}: {settings.pairs:,} pairs of duplicate deals, {settings.env}, rules "
        f"{settings.rules or rules.name}, seed {settings.seed}, "
        f"{time.process_time() - began:.0f} CPU s"
    )


if __name__ == "__main__":
    start(Settings, run)
