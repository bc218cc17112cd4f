"""Agents' generators are independent of each other and do not reveal those of the deals."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from compiled import Watched
from crib_env import discard_v0, pegging_v0, six_card_v0, table_top_v0
from crib_env.engine.rng import seed_states
from vector_walks import lowest

LANES = 5
SeedSequence = np.random.SeedSequence


class Spy:
    """Keeps the generator it is given."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.rngs: list[np.random.Generator] = []

    def act(self, views: Any, rng: np.random.Generator) -> Any:
        if all(rng is not known for known in self.rngs):
            self.rngs.append(rng)
        return np.array([lowest(view, rng) for view in views])


def relatives(seed_seq: Any) -> Iterator[SeedSequence]:
    """Yield the seed sequences reachable from a generator: its ancestors and descendants."""
    above = [
        SeedSequence(seed_seq.entropy, spawn_key=seed_seq.spawn_key[:depth])
        for depth in range(len(seed_seq.spawn_key) + 1)
    ]
    for one in above:
        yield SeedSequence(one.entropy, spawn_key=one.spawn_key)
        for child in SeedSequence(one.entropy, spawn_key=one.spawn_key).spawn(4):
            yield child
            yield from child.spawn(3)


def gives_away(rng: np.random.Generator, deals: Any) -> bool:
    """True if the generators of the deals, int64[N, 4], can be rebuilt from ``rng``."""
    for seed_seq in relatives(rng.bit_generator.seed_seq):
        states = np.zeros(len(deals), dtype=[("rng", np.int64, (4,))])
        seed_states(states, seed_seq)
        if np.array_equal(states["rng"], deals):
            return True
    return False


def deals_of(batch: Any, seed: int) -> Any:
    """Return the generators of a batch's deals as its seed starts them."""
    batch.seed(seed)
    return batch.states["rng"].copy()


def assert_apart(spies: list[Spy], deals: Any) -> None:
    assert all(spy.rngs for spy in spies)
    for spy in spies:
        for rng in spy.rngs:
            assert not gives_away(rng, deals), spy.name
    drawn = {copy.deepcopy(rng).random() for spy in spies for rng in spy.rngs}
    assert len(drawn) == sum(len(spy.rngs) for spy in spies)


@pytest.mark.parametrize("form", ["gym", "vector"])
@pytest.mark.parametrize(
    ("module", "keyword", "more"),
    [(discard_v0, "pegging_policy", {}), (pegging_v0, "discard_policy", {}), (table_top_v0, "partner", {"players": 4})],
)
def test_opponents_and_partners_draw_independently_of_each_other_and_the_deals(
    module: Any, keyword: str, more: dict[str, Any], form: str
) -> None:
    spies = [Spy("opponent"), Spy(keyword)]
    keywords = {"opponent": spies[0], keyword: spies[1], **more}
    env = module.gym_env(**keywords) if form == "gym" else module.vector_env(LANES, **keywords)
    deals = deals_of(env.batch, 7)
    env.reset(seed=7)
    while not all(spy.rngs for spy in spies):
        if not env.action_masks().any():
            env.reset()
        env.step(env.action_masks().argmax(axis=-1))
    assert_apart(spies, deals)


@pytest.mark.parametrize("module", [six_card_v0, table_top_v0])
def test_seeds_of_each_game_stay_hidden(module: Any) -> None:
    spy = Spy("opponent")
    env = module.vector_env(2, opponent=spy, seat=None)
    deals = [deals_of(module.gym_env(opponent=spy).batch, seed) for seed in (7, 8)]
    env.reset(seed=[7, 8])
    env.step(env.action_masks().argmax(axis=1))
    assert not any(gives_away(rng, one) for rng in spy.rngs for one in deals)


@pytest.mark.parametrize(("module", "keyword"), [(discard_v0, "pegging_policy"), (pegging_v0, "discard_policy")])
@pytest.mark.parametrize("seed", [7, None])
def test_aec_phase_policy_draws_independently_of_the_deals(module: Any, keyword: str, seed: int | None) -> None:
    spy, given = Spy("policy"), []
    env = module.raw_env(**{keyword: spy})
    seeded = env.game.seed
    env.game.seed = lambda seed_seq: (given.append(seed_seq), seeded(seed_seq))
    env.reset(seed=seed)
    while not spy.rngs:
        env.step(int(env.observe(env.agent_selection)["action_mask"].argmax()))
    (seed_seq,) = given
    deals = np.zeros(1, dtype=[("rng", np.int64, (4,))])
    seed_states(deals, SeedSequence(seed_seq.entropy, spawn_key=seed_seq.spawn_key))
    assert_apart([spy], deals["rng"])


def test_compiled_agents_draw_independently_of_each_other_and_the_deals() -> None:
    opponent, policy = Watched(), Watched()
    env = discard_v0.vector_env(LANES, opponent=opponent, pegging_policy=policy, threads=1)
    deals = {tuple(row) for row in deals_of(env.batch, 7).tolist()}
    env.reset(seed=7)
    for _ in range(4):
        env.step(env.action_masks().argmax(axis=1))
    seen = opponent.generators, policy.generators
    assert len(seen[0]) == len(seen[1]) == len(deals) == LANES
    assert len(seen[0] | seen[1] | deals) == 3 * LANES
