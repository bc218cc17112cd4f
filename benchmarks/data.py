"""How many decisions per second does `crib data` write on one core, beside plain random play?

Whole shards of six-card games, with and without the expert's values, and the `rollout` entry: one
observation and mask for each of a random player's decisions, and nothing stored.
"""

from __future__ import annotations

from collections.abc import Callable

from crib_training.data.play import Setup

from benchmarks.lanes import Lanes
from benchmarks.timing import FULL, Contender, Findings, Settings, race, rate_of


def writing(games: int, columns: tuple[str, ...], values: str | None) -> Callable[[], int]:
    """Return a piece of work: to play a shard and to make its file."""
    setup = Setup(
        agents=("rule_based", "greedy"), environment="six_card_v0", rules=None, episode=None,
        players=None, seed=1, games=games, shard=games, columns=columns, values=values,
    )  # fmt: skip
    (shard,) = setup.shards()
    return lambda: int(setup.play(shard)["rows"])


def measure(settings: Settings = FULL) -> Findings:
    """Measure the usual columns, all of them, expert's values, and the rollout."""
    games = 2 if settings.quick else 1000
    contenders = [
        Contender("crib data", rate_of(writing(games, (), None))),
        Contender("crib data --values expert", rate_of(writing(min(games, 50), (), "expert"))),
        Contender("crib data --columns all", rate_of(writing(min(games, 50), ("all",), None))),
        Contender("rollout of random play", rate_of(Lanes("hoyle", 1024, steps=50).play)),
    ]
    return Findings("Games as data", race(contenders, "decisions/s", settings))
