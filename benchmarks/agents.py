"""The speed of counting hands, of agents, of games as data or in words, and of networks."""

from __future__ import annotations

from functools import partial
from itertools import count
from typing import Literal

import numpy as np
from crib_agents.adapters.agent_wrappers import Timed
from crib_agents.learned import MonteCarloAgent
from crib_play.table import actions_of
from crib_play.tasks import task
from crib_training.data.play import Setup
from crib_training.evaluation.duplicate import play_pairs
from crib_training.loading import find_env, shortest_episode
from crib_training.methods.deep_monte_carlo import Learner
from crib_training.methods.deep_monte_carlo import Settings as RunSettings

from benchmarks.batch import Lanes
from benchmarks.timing import FULL, Findings, Piece, Settings, race, ratio
from crib_env import format_cards
from crib_env.batch import GameBatch
from crib_env.engine.show import show_table
from crib_env.envs.text import text_env
from crib_env.policy import find_agent
from crib_env.rules import PRESETS
from crib_env.scoring import many

HELD = 4
ALL_HANDS = 12_994_800


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
    flush, table = PRESETS["hoyle"].flush_size, show_table()
    counts = np.zeros(many.HIGHEST + 1, dtype=np.int64)

    def given() -> int:
        many.fill_points(cards, starters, flush, table, points)
        return n

    def enumerated() -> int:
        counts[:] = 0
        for lowest in range(52):
            many.fill_histogram(lowest, HELD, flush, table, counts)
        return ALL_HANDS

    pieces = {"hands given as arrays": given, "all hands enumerated": enumerated}
    rows = race(pieces, "hands/s", settings).values()
    assert counts.sum() == ALL_HANDS
    return Findings("Hands counted by table", rows)


def measure_agents(settings: Settings = FULL) -> Findings:
    """How many games per second do the agents play against themselves on one core?

    Whole six-card games to 121 by `play_pairs` of `crib_training`: the way tournaments and
    evaluations play, every decision made from a view.
    """
    pairs, seeds = 4 if settings.quick else 256, count(1)

    def games(name: str) -> int:
        agent = find_agent(name)
        play_pairs(PRESETS["hoyle"], "game", agent, agent, pairs, next(seeds))
        return 2 * pairs

    pieces: dict[str, Piece] = {
        f"{name} against {name}": partial(games, name) for name in ("random", "greedy", "rule_based")
    }
    return Findings("Agents, whole games", race(pieces, "games/s", settings).values())


def writing(games: int, columns: tuple[str, ...] = (), values: Literal["expert"] | None = None) -> Piece:
    """Return a piece of work: play a shard and make its file."""
    setup = Setup(("rule_based", "greedy"), games=games, shard=games, columns=columns, values=values)
    (shard,) = setup.shards()
    return lambda: int(setup.play(shard)["rows"])


def measure_data(settings: Settings = FULL) -> Findings:
    """How many decisions per second does `crib data` write on one core, beside plain random play?

    Whole shards of six-card games, with and without the expert's values, and random play in
    compiled code: one observation and mask for each of a random player's decisions, nothing stored.
    """
    games, few = (2, 2) if settings.quick else (1000, 50)
    pieces = {
        "crib data": writing(games),
        "crib data --values expert": writing(few, values="expert"),
        "crib data --columns all": writing(few, ("all",)),
        "rollout of random play": Lanes("hoyle", 1024, steps=50).play,
    }
    *written, rollout = rows = race(pieces, "decisions/s", settings).values()
    ratios = [ratio(f"{row.name} / {rollout.name}", row, rollout) for row in written]
    return Findings("Games as data", rows, ratios)


def measure_text(settings: Settings = FULL) -> Findings:
    """How many rollouts per second do the text environments make, without the model's own time?

    A decision is a task with its prompt and its reward; a deal against `rule_based` has a prompt
    and a reply for each decision of the learner.
    """
    numbers = count()
    env = text_env("six_card_v0", opponent="rule_based", episode="deal", style="full")

    def decision(kind: str) -> int:
        one = task(kind, "train", next(numbers))
        one.prompt("full")
        best = format_cards(sorted(actions_of(one.exercise.choices[0])))
        return 1 + int(one.reward(best))  # which is 0

    def deal() -> int:
        env.reset(seed=next(numbers))
        over = False
        while not over:
            (action,) = np.flatnonzero(env.env.action_masks())[:1].tolist()
            over = env.step(format_cards([action]))[2]
        return 1

    pieces: dict[str, Piece] = {
        "decision: discard": partial(decision, "discard"),
        "decision: pegging": partial(decision, "pegging"),
        "deal": deal,
    }
    return Findings("Rollouts in words", race(pieces, "rollouts/s", settings).values())


GAMES = {"hoyle": "six_card_v0", "five_card": "five_card_v0", "table_top": "table_top_v0"}


def answering(game: str, at_once: int) -> Piece:
    """Return a piece of work: whole deals of the agent with itself; only its answers are timed."""
    agent, rng, seeds = Timed(MonteCarloAgent()), np.random.default_rng(1), count(1)
    episode = shortest_episode(find_env(GAMES[game]))

    def piece() -> tuple[int, float]:
        agent.decisions, agent.seconds = 0, 0.0
        games = GameBatch(PRESETS[game], at_once, episode=episode, seed=next(seeds))
        games.reset()
        for _ in games.play(agent, rng):
            pass
        return agent.decisions, agent.seconds

    return piece


def training(environment: str, lanes: int | None) -> Piece:
    """Return a piece of work: an iteration of deep Monte Carlo, which plays deals and fits."""
    run = Learner(RunSettings(env=environment, deals=1_000_000_000, num_envs=lanes))

    def piece() -> int:
        before = run.decisions
        run.iterate()
        return run.decisions - before

    return piece


def measure_learned(settings: Settings = FULL) -> Findings:
    """How many decisions per second do `learned` and its trainer make on one core?

    The agent answers views of whole deals that it plays against itself, 1024 at once; only the
    calls of `act` are timed. The trainer plays a batch of deals and fits its networks to it; all of
    this is timed.
    """
    at_once, lanes = (8, 32) if settings.quick else (1024, None)
    pieces = {f"learned decides, {game}": answering(game, at_once) for game in GAMES}
    pieces |= {
        f"deep Monte Carlo plays and fits, {game}": training(environment, lanes) for game, environment in GAMES.items()
    }
    return Findings("Learned agents", race(pieces, "decisions/s", settings).values())
