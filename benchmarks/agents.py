"""What plays and counts: hands by table, agents, games as data, words, networks."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import count

import numpy as np
from crib_agents.learned import MonteCarloAgent
from crib_play.drill import Exercise
from crib_play.table import actions_of
from crib_play.tasks import task
from crib_training.data.play import Setup
from crib_training.evaluation.duplicate import play_pairs
from crib_training.loading import find_env, shortest_episode
from crib_training.methods.deep_monte_carlo import Learner
from crib_training.methods.deep_monte_carlo import Settings as RunSettings

from benchmarks.batch import Lanes
from benchmarks.timing import FULL, Contender, Findings, Rate, Settings, race, rate_of, ratio
from crib_env import format_cards
from crib_env.batch import GameBatch
from crib_env.engine.show import show_table
from crib_env.envs.text import text_env
from crib_env.policy import find_agent
from crib_env.rules import PRESETS
from crib_env.scoring import many

HELD = 4
ALL = 12_994_800


def measure_hands(settings: Settings = FULL) -> Findings:
    """How many hands per second does the table count?

    Six-card hands with their starter: given as arrays of cards (each row is checked for invalid and
    repeated cards), and all 12,994,800 of them enumerated.
    """
    n = 1000 if settings.quick else 100_000
    rng = np.random.default_rng(1)
    drawn = rng.random((n, 52)).argpartition(HELD, axis=1)[:, : HELD + 1].astype(np.int64)
    cards = np.ascontiguousarray(drawn[:, :HELD])
    starters = np.ascontiguousarray(drawn[:, HELD])
    points = np.empty(n, dtype=np.int64)
    flush = PRESETS["hoyle"].flush_size
    table = show_table()
    counts = np.zeros(many.HIGHEST + 1, dtype=np.int64)

    def given() -> int:
        many.fill_points(cards, starters, flush, table, points)
        return n

    def enumerated() -> int:
        counts[:] = 0
        for lowest in range(52):
            many.fill_histogram(lowest, HELD, flush, table, counts)
        return ALL

    rows = race(
        [
            Contender("hands given as arrays", rate_of(given)),
            Contender("all hands enumerated", rate_of(enumerated)),
        ],
        "hands/s",
        settings,
    )
    assert counts.sum() == ALL
    return Findings("Hands counted by table", rows)


NAMES = ("random", "greedy", "rule_based")


def games(name: str, pairs: int) -> Callable[[], int]:
    """Return a piece of work: so many duplicate pairs of games of an agent against itself."""
    agent = find_agent(name)
    rules = PRESETS["hoyle"]
    seeds = count(1)

    def piece() -> int:
        play_pairs(rules, "game", agent, agent, pairs, next(seeds))
        return 2 * pairs

    return piece


def measure_agents(settings: Settings = FULL) -> Findings:
    """How many games per second do the agents play against themselves on one core?

    Whole six-card games to 121 by `play_pairs` of `crib_training`: the way tournaments and
    evaluations play, every decision made from a view.
    """
    pairs = 4 if settings.quick else 256
    contenders = [
        Contender(f"{name} against {name}", rate_of(games(name, pairs))) for name in NAMES
    ]
    return Findings("Agents, whole games", race(contenders, "games/s", settings))


def writing(games: int, columns: tuple[str, ...], values: str | None) -> Callable[[], int]:
    """Return a piece of work: to play a shard and to make its file."""
    setup = Setup(
        agents=("rule_based", "greedy"), environment="six_card_v0", rules=None, episode=None,
        players=None, seed=1, games=games, shard=games, columns=columns, values=values,
    )  # fmt: skip
    (shard,) = setup.shards()
    return lambda: int(setup.play(shard)["rows"])


def measure_data(settings: Settings = FULL) -> Findings:
    """How many decisions per second does `crib data` write on one core, beside plain random play?

    Whole shards of six-card games, with and without the expert's values, and the `rollout` entry:
    one observation and mask for each of a random player's decisions, and nothing stored.
    """
    games = 2 if settings.quick else 1000
    contenders = [
        Contender("crib data", rate_of(writing(games, (), None))),
        Contender("crib data --values expert", rate_of(writing(min(games, 50), (), "expert"))),
        Contender("crib data --columns all", rate_of(writing(min(games, 50), ("all",), None))),
        Contender("rollout of random play", rate_of(Lanes("hoyle", 1024, steps=50).play)),
    ]
    *written, rollout = race(contenders, "decisions/s", settings)
    ratios = [ratio(f"{row.name} / {rollout.name}", row, rollout) for row in written]
    return Findings("Games as data", [*written, rollout], ratios)


def best_of(exercise: Exercise) -> str:
    """Return the reply that names the best choice."""
    return format_cards(sorted(actions_of(exercise.choices[0])))


def measure_text(settings: Settings = FULL) -> Findings:
    """How many rollouts of the text environments are made in a second, beside the model's own time?

    A decision is a task with its prompt and its reward; a deal against `rule_based` has a prompt
    and a reply for each decision of the learner.
    """
    numbers = count()
    env = text_env("six_card_v0", opponent="rule_based", episode="deal", style="full")

    def decision(kind: str) -> Callable[[], int]:
        def made() -> int:
            one = task(kind, "train", next(numbers))
            one.prompt("full")
            return 1 + int(one.reward(best_of(one.exercise)))

        return made

    def deal() -> int:
        env.reset(seed=next(numbers))
        over = False
        while not over:
            (action,) = np.flatnonzero(env.env.action_masks())[:1].tolist()
            over = env.step(format_cards([action]))[2]
        return 1

    kinds = ("discard", "pegging")
    contenders = [Contender(f"decision: {kind}", rate_of(decision(kind))) for kind in kinds]
    contenders.append(Contender("deal", rate_of(deal)))
    return Findings("Rollouts in words", race(contenders, "rollouts/s", settings))


GAMES = {"hoyle": "six_card_v0", "five_card": "five_card_v0", "table_top": "table_top_v0"}


def answering(game: str, at_once: int) -> Rate:
    """Return the rate at which the agent decides."""
    agent, rng = MonteCarloAgent(), np.random.default_rng(1)
    seeds = count(1)
    episode = shortest_episode(find_env(GAMES[game]))

    def rate(seconds: float) -> float:
        decided, spent = 0, 0.0
        while spent <= seconds:
            games = GameBatch(PRESETS[game], at_once, episode=episode, seed=next(seeds))
            games.reset()
            running = games.running()
            while len(running):
                views = games.views(running)
                began = time.perf_counter()
                actions = agent.act(views, rng)
                spent += time.perf_counter() - began
                decided += len(views)
                games.step(running, actions)
                running = games.running(running)
        return decided / spent

    return rate


def training(environment: str, lanes: int | None) -> Rate:
    """Return the rate at which the trainer decides and learns from its decisions."""
    run = Learner(RunSettings(env=environment, deals=1_000_000_000, num_envs=lanes))

    def rate(seconds: float) -> float:
        decisions, began, spent = run.decisions, time.perf_counter(), 0.0
        while spent <= seconds:
            run.iterate()
            spent = time.perf_counter() - began
        return (run.decisions - decisions) / spent

    return rate


def measure_learned(settings: Settings = FULL) -> Findings:
    """How many decisions per second do `learned` and its trainer make on one core?

    The agent answers views of whole deals that it plays against itself, 1024 at once; only the
    calls of `act` are timed. The trainer plays a batch of deals and fits its networks to it; all of
    this is timed.
    """
    at_once, lanes = (8, 32) if settings.quick else (1024, None)
    contenders = [Contender(f"learned decides, {game}", answering(game, at_once)) for game in GAMES]
    contenders += [
        Contender(f"deep Monte Carlo plays and fits, {game}", training(env, lanes))
        for game, env in GAMES.items()
    ]
    return Findings("Learned agents", race(contenders, "decisions/s", settings))
