"""The engine under the environments: its generator, its compilation, its load time and memory."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import crib_env
from aec_walks import lowest_legal, trajectory
from checkout import python
from crib_env import ENVIRONMENTS, agent_names
from crib_env.engine import rng
from crib_env.registration import env_module as module
from stacked import sfc32

WORD = st.integers(0, 2**32 - 1)


# ---------------------------------------------------------------- the generator

# PractRand's own output ("RNG_output sfc32"), which seeds (0, low word, high word), twelve rounds.
PUBLISHED = {
    0x0000000000000000: [
        0x514676C3, 0x08A809DF, 0x30349D2B, 0xFB52C520, 0x38802BE1, 0x948279E6, 0xEC4BF1D9,
        0x7CB0A909, 0xFAD8B4A8, 0x3CA4B808, 0x3821B4C5, 0x5E7023CA, 0x50F26BF7, 0xF1E1B0A2,
        0x6163032F, 0x3BF3C9A4,
    ],
    0x0123456789ABCDEF: [
        0x84712D97, 0xF5A3D9C8, 0x5CD0A295, 0x35E05B54, 0x4C627CA1, 0x33A043E2, 0xB6113C67,
        0x7CAB9699, 0x4A52EFEB, 0x5936797F, 0x139E2B9F, 0xC7DF3DB1, 0x61CE1717, 0x5581E344,
        0xBC3016EA, 0xA6BFD381,
    ],
    0x1160843560A847B1: [
        0xF9EA2944, 0xB8DE4818, 0xDA3F8EF3, 0xDFE59C72, 0xDA840BC6, 0x93EB481B, 0x80FF0E2D,
        0x47A441A1,
    ],
}  # fmt: skip


@pytest.mark.parametrize("seed", PUBLISHED, ids=hex)
def test_generator_gives_the_published_words_of_sfc32(seed: int) -> None:
    state = np.zeros(4, dtype=np.int64)
    rng.seed_words(state, 0, seed & 0xFFFFFFFF, seed >> 32)
    words = [int(rng.next_word(state)) for _ in PUBLISHED[seed]]
    assert words == PUBLISHED[seed]
    assert sfc32(0, seed & 0xFFFFFFFF, seed >> 32, 12, len(words)) == words  # the tests' own too


@given(a=WORD, b=WORD, c=WORD)
@settings(max_examples=200, deadline=None)
def test_generator_equals_a_plain_sfc32_from_any_seed(a: int, b: int, c: int) -> None:
    state = np.zeros(4, dtype=np.int64)
    rng.seed_words(state, a, b, c)
    assert [int(rng.next_word(state)) for _ in range(20)] == sfc32(a, b, c, rng.WARM_UP, 20)
    assert state.min() >= 0
    assert state.max() < 2**32


@given(a=WORD, b=WORD, c=WORD, n=st.integers(1, 2**20))
@settings(max_examples=200, deadline=None)
def test_bounded_draws_are_the_scaled_words(a: int, b: int, c: int, n: int) -> None:
    state = np.zeros(4, dtype=np.int64)
    rng.seed_words(state, a, b, c)
    draws = [int(rng.below(state, n)) for _ in range(8)]
    assert draws == [word * n >> 32 for word in sfc32(a, b, c, rng.WARM_UP, 8)]
    assert all(0 <= draw < n for draw in draws)


@pytest.mark.parametrize("seed", [0, 7, 2**70])
def test_seed_states_equals_seeding_one_by_one(seed: int) -> None:
    states = np.zeros(9, dtype=[("rng", np.int64, (4,))])
    rng.seed_states(states, np.random.SeedSequence(seed))
    words = np.random.SeedSequence(seed).generate_state(27).reshape(9, 3).tolist()
    for lane, (a, b, c) in enumerate(words):
        one = np.zeros(4, dtype=np.int64)
        rng.seed_words(one, a, b, c)
        assert states["rng"][lane].tolist() == one.tolist()
    fewer = np.zeros(4, dtype=states.dtype)
    rng.seed_states(fewer, np.random.SeedSequence(seed))
    assert np.array_equal(fewer["rng"], states["rng"][:4])  # independent of num_envs


# ---------------------------------------------------------------- deals


def deals_of(env: Any, seed: int, prefer: Any) -> list[list[int]]:
    """Return the cards of every deal of a match, in the order dealt; ``prefer`` picks the card."""
    env.reset(seed=seed, options={"dealer": 0})
    deals, count = [], 0
    while not all(env.terminations.values()):
        state = env.snapshot().game.position.state[0]
        if state["deals"] != count:
            count = int(state["deals"])
            pone, dealer = (state["dealt"][6 * s : 6 * s + 6].tolist() for s in (1 - env.dealer, env.dealer))
            deals.append([c for pair in zip(pone, dealer, strict=True) for c in pair] + [int(state["starter"])])
        mask = env.observe(env.agent_selection)["action_mask"]
        env.step(int(prefer(np.flatnonzero(mask))))
    return deals


@pytest.mark.parametrize("seed", range(2))
def test_equal_seeds_give_equal_deals_under_any_play(seed: int) -> None:
    env = crib_env.six_card_v0.raw_env(episode="match")
    low, high = deals_of(env, seed, min), deals_of(env, seed, max)
    n = min(len(low), len(high))
    assert n > 20
    assert low[:n] == high[:n]
    assert all(len(set(deal)) == 13 for deal in low)


def test_deal_places_every_card_with_equal_probability() -> None:
    env = crib_env.six_card_v0.vector_env(4096, opponent=lowest_legal(crib_env.six_card_v0.raw_env().game.family))
    env.reset(seed=1)
    assert len(np.unique(env.batch.states["dealt"], axis=0)) == 4096  # the games are independent
    dealt = env.batch.states["dealt"].T
    for place in (*dealt, env.batch.states["starter"]):
        counts = np.bincount(place, minlength=52)
        chi_squared = ((counts - 4096 / 52) ** 2 / (4096 / 52)).sum()
        assert chi_squared < 110  # 51 degrees of freedom: beyond it once in 300,000


# ---------------------------------------------------------------- one source, compiled or not


def digest(name: str) -> str:
    """Return a hash of random walks through an environment, alone and in the batch."""
    total = hashlib.sha256()
    env = module(name).raw_env(reward="points")
    env.reset(seed=17)
    for part in trajectory(env, seed=17, decisions=80):
        total.update(repr(part).encode())
    total.update(env.snapshot().game.position.state.tobytes())
    for opponent in (lowest_legal(env.game.family), *(n for n in ("greedy",) if n in agent_names())):
        batch = module(name).vector_env(3, opponent=opponent, reward="points")
        _, info = batch.reset(seed=18)
        for _ in range(12):
            legal = [np.flatnonzero(mask)[-1] for mask in info["action_mask"]]
            observations, rewards, ends, _, info = batch.step(np.array(legal))
            for array in (observations, rewards, ends, info["action_mask"]):
                total.update(array.tobytes())
        total.update(batch.batch.states.tobytes())
    return total.hexdigest()


def print_digests() -> None:
    """Print every environment's digest, or what went wrong, as one JSON object."""
    digests = {}
    for name in ENVIRONMENTS:
        try:
            digests[name] = digest(name)
        except Exception as error:
            digests[name] = repr(error)
    print(json.dumps(digests))


@pytest.fixture(scope="module")
def plain_digests() -> dict[str, str]:
    """The digests of the same source run as ordinary Python."""
    printed = python("import test_engine; test_engine.print_digests()", NUMBA_DISABLE_JIT="1")
    return json.loads(printed.splitlines()[-1])


@pytest.mark.parametrize("name", sorted(ENVIRONMENTS))
def test_compiled_and_plain_python_play_the_same_games(name: str, plain_digests: dict[str, str]) -> None:
    assert plain_digests[name] == digest(name)


# ---------------------------------------------------------------- import and memory


def test_importing_crib_env_is_quick_and_loads_neither_numba_nor_agents_nor_training() -> None:
    """It takes less than a quarter of the import time of its requirements."""
    heavy = ("numba", "llvmlite", "crib_agents", "crib_play", "crib_training", "torch",
             "stable_baselines3", "scipy", "matplotlib")  # fmt: skip
    code = (
        "import sys, time; start = time.process_time(); import gymnasium, pettingzoo, numpy\n"
        "between = time.process_time(); import crib_env; end = time.process_time()\n"
        "crib_env.ENVIRONMENTS, crib_env.agent_names(), crib_env.Rules.preset('hoyle')\n"
        "from crib_env.scoring import score_hand; score_hand('5H 5S 5C JD', '5D')\n"
        f"loaded = [name for name in {heavy!r} if name in sys.modules]\n"
        "print(loaded, between - start, end - between, sep=';')"
    )
    runs = [python(code).split(";") for _ in range(2)]
    assert {loaded for loaded, *_ in runs} == {"[]"}
    base, ours = (min(float(run[i]) for run in runs) for i in (1, 2))
    assert ours < base / 4, f"{ours:.3f} s of our own on top of {base:.3f} s"


@pytest.mark.parametrize("name", sorted(ENVIRONMENTS))
def test_game_state_takes_at_most_a_kibibyte(name: str) -> None:
    """For two-hand games, observation and mask included."""
    family = module(name).raw_env().game.family
    assert family.state.itemsize <= 1024
    if family.name == "two_hand":
        assert family.state.itemsize + family.obs_size + family.actions <= 1024


ALONE = """
import sys
for name in {names}:
    for loaded in [module for module in sys.modules if module.partition(".")[0] == "crib_env"]:
        del sys.modules[loaded]
    __import__(f"crib_env.{{name}}")
    print(*(module for module in sys.modules if module.startswith("crib_env.")))
"""


def test_environment_modules_import_alone() -> None:
    names = list(ENVIRONMENTS)
    for name, line in zip(names, python(ALONE.format(names=names)).splitlines(), strict=True):
        assert {f"crib_env.{one}" for one in names} & set(line.split()) == {f"crib_env.{name}"}
