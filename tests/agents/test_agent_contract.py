"""The contract of every named agent; a new agent is tested here without a new line.

It plays legally in positions of random play and ignores hidden cards. It acts the same on a view
in a batch and alone, compiled and uncompiled, and as an opponent.
"""

from __future__ import annotations

import contextlib
import pickle
from collections.abc import Iterator
from importlib.metadata import entry_points
from typing import Any

import gymnasium
import numpy as np
import pytest
from crib_agents.expert.discard import WIN_VALUE, rank_discards
from crib_agents.expert.table_top import analyze as analyze_table
from numpy.testing import assert_array_equal

from checkout import python
from compiled import SLOW, compiled_alone
from crib_env import ENVIRONMENTS, CompiledAgent, Game, agent_names, encode, find_agent
from crib_env.policy import StochasticPolicy
from crib_env.registration import env_module, gym_id
from crib_env.rules import PRESETS
from hidden import redraw_state
from not_played import plays
from stacked import Lanes
from vector_walks import InPython, picture

GAMES = [
    ("hoyle", 2),
    ("five_card", 2),
    *((preset, players) for preset in ("table_top", "table_top_ship") for players in (2, 4)),
    ("three_hand", 3),
    ("four_hand", 4),
]
SIMPLE = ("random", "greedy", "rule_based")
TURNS = 14  # steps of all games from the deal on, more than a two-hand deal has


CASES = [(name, *game) for name in agent_names() for game in GAMES if plays(name, PRESETS[game[0]].family)]
every_case = pytest.mark.parametrize(("name", "preset", "players"), CASES)


def table_of(name: str, preset: str, players: int, seed: int) -> Lanes:
    """Return games from the deal on, half of them late: fewer for agents that take longer."""
    lanes = 2 if SLOW else 30 if name in SIMPLE else 4
    table = Lanes(preset, lanes, seed, players=players, episode="game")
    late = table.states["scores"][::2]
    late[:] = np.random.default_rng(seed).integers(0, PRESETS[preset].target, late.shape)
    return table


def walk(table: Lanes, turns: int = TURNS) -> Iterator[tuple[Any, Any]]:
    """Play at random, yielding the running games and their views before each decision."""
    random, rng = find_agent("random"), np.random.default_rng(9)
    for _ in range(turns):
        lanes = table.running()
        views = table.views(lanes)
        yield lanes, views
        table.step(lanes, random.act(views, rng))


def acted(agent: Any, views: Any) -> list[int]:
    """Return an agent's actions for views, int64, with seed 1."""
    actions = agent.act(views, np.random.default_rng(1))
    assert actions.dtype == np.int64
    return actions.tolist()


@every_case
def test_agent_plays_legally_and_ignores_hidden_cards(name: str, preset: str, players: int) -> None:
    agent, rng, redrawn = find_agent(name), np.random.default_rng(3), 0
    table = table_of(name, preset, players, seed=8)
    for lanes, views in walk(table):
        actions = acted(agent, views)
        assert encode(views)[1][np.arange(len(views)), actions].all()
        before = table.states.copy()
        for lane, view in zip(lanes, views, strict=True):
            redrawn += redraw_state(table.states[lane], view, PRESETS[preset], rng)
        assert acted(agent, table.views(lanes)) == actions
        table.states[:] = before
    assert redrawn > 100 or SLOW


@every_case
def test_agent_batch_equals_single_views(name: str, preset: str, players: int) -> None:
    agent, rng = find_agent(name), np.random.default_rng(1)
    untouched = rng.bit_generator.state
    for turn, (_, views) in enumerate(walk(table_of(name, preset, players, seed=6))):
        if turn % 4 == 0 and isinstance(agent, StochasticPolicy):
            alone = [agent.action_probabilities(view[None])[0] for view in views[::-2]]
            assert_array_equal(agent.action_probabilities(views[::-2]), alone)
        together = agent.act(views[::-2], rng)  # not contiguous, the last first
        if rng.bit_generator.state != untouched:  # it draws, in the order of the views
            assert acted(agent, views[::-2].copy()) == acted(agent, views[::-2])
        elif turn % 4 == 0:
            alone = [int(agent.act(view[None], rng)[0]) for view in views[::-2]]
            assert alone == together.tolist()


@every_case
def test_agent_and_its_pickled_copy_play_alike(name: str, preset: str, players: int) -> None:
    """`Lanes` refuses an illegal action; a pickled copy of the agent takes the same actions."""
    agent = find_agent(name)
    twin = pickle.loads(pickle.dumps(agent))
    one, other = (table_of(name, preset, players, seed=4) for _ in range(2))
    rngs = [np.random.default_rng(5) for _ in range(2)]
    for turn in range(32):
        lanes = one.running()
        one.step(lanes, agent.act(one.views(lanes), rngs[0]))
        if turn < 6:
            other.step(lanes, twin.act(other.views(lanes), rngs[1]))
            assert_array_equal(one.states, other.states)
    assert (one.states["deals"] > 1).any() or not len(one.running())


def sure(name: str) -> bool:
    """Return whether an agent is compiled and deterministic, without making it."""
    (point,) = entry_points(group="crib_env.agents", name=name)
    return issubclass(kind := point.load(), CompiledAgent) and not kind.draws


@compiled_alone
@pytest.mark.parametrize(("name", "preset", "players"), [case for case in CASES if sure(case[0])])
def test_agent_compiled_plays_as_in_python(name: str, preset: str, players: int) -> None:
    """Deterministic agents: the same observations, rewards and ends."""
    agent = find_agent(name)
    family = PRESETS[preset].family
    module = next(module for module in map(env_module, ENVIRONMENTS) if module.maker.family.name == family)
    keywords = {"rules": preset, "players": players, "seat": None, "reward": "points"}
    envs = [module.vector_env(8, opponent=one, **keywords) for one in (agent, InPython(agent))]
    assert envs[0].batch.compiled
    assert picture(envs[0], seed=6, steps=60) == picture(envs[1], seed=6, steps=60)


def trace() -> str:
    """Return choices of the simple agents in a few deals, and values of `expert`, as text."""
    lines = []
    for name in SIMPLE:
        for preset, players in (GAMES[0], GAMES[1], GAMES[3], GAMES[4]):
            table = Lanes(preset, 1, 12, players=players, episode="game")
            actions = [acted(find_agent(name), views) for _, views in walk(table)]
            lines.append(f"{name} {preset} {players} {actions}")
    for preset, scores in (("hoyle", (0, 0)), ("hoyle", (110, 106)), ("five_card", (55, 50))):
        game, agent = Game(preset, seed=8), find_agent("expert")
        game.reset(scores=scores)
        value = rank_discards(np.array([game.view(game.seat)]))[1][0, :, WIN_VALUE]
        pair = [game.step(acted(agent, np.array([game.view(game.seat)]))[0]) for _ in range(2)]
        lines.append(f"{preset} {scores} {game.notation()} {value.max():.9f} {pair}")
    for preset, players in (GAMES[2], GAMES[5]):
        for turn, budget in ((18, 1), (23, 2), (26, 3)):
            table = Lanes(preset, 1, 12, players=players, episode="round")
            *_, (_, views) = walk(table, turn + 1)
            found = analyze_table(views[0], budget)
            lines.append(f"{players} {preset} {turn} {found.round(6).tolist()}")
    return "\n".join(lines)


@compiled_alone
def test_agent_without_jit_chooses_the_same_actions() -> None:
    code = "import test_agent_contract as tests; print(tests.trace())"
    assert python(code, NUMBA_DISABLE_JIT="1", PYTHONWARNINGS="error") == trace()


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_opponent_may_be_every_agent_name(environment: str) -> None:
    maker = env_module(environment).maker
    met = set()
    for name in agent_names():
        with contextlib.suppress(ValueError):  # the error names the games it plays
            env = gymnasium.make(gym_id(environment), opponent=name, episode=next(iter(maker.episodes)))
            _, info = env.reset(seed=2)
            end = False
            while not end:
                *_, reward, end, _, info = env.step(int(np.flatnonzero(info["action_mask"])[-1]))
            assert reward in (-1.0, -0.5, 0.0, 1.0)
            met.add(name)
    assert met >= {name for name in agent_names() if plays(name, maker.family.name)}
