"""A pool of past policies: members, draws, and results by member."""

from __future__ import annotations

import functools
import threading
from collections import Counter
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from crib_agents import Pool, ScoredAgent, from_torch
from crib_agents.adapters.agent_wrappers import PhasedAgent
from crib_agents.opponent_pool import WAYS
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import VecNormalize
from torch import nn

from crib_env import find_agent, sample_legal, six_card_v0, table_top_v0, three_hand_v0
from learned_nets import views_of

torch.set_num_threads(1)


def always(name: str) -> Any:
    """Return a random agent of this name."""
    return SimpleNamespace(name=name, act=find_agent("random").act)


def pool_of(count: int, size: int = 20, **keywords: Any) -> Pool:
    pool = Pool(size, seed=1, **keywords)
    for number in range(count):
        pool.add(always(f"past {number}"))
    return pool


def names(pool: Pool) -> list[str]:
    return [agent.name for agent in pool]


def drawn(pool: Pool, count: int, times: int = 4000) -> dict[str, float]:
    found = Counter(agent.name for _ in range(times) for agent, _ in pool.sample(count))
    return {name: found[name] / times for name in names(pool)}


def test_pool_drops_the_oldest_with_their_results() -> None:
    pool = pool_of(3, size=3, by="results")
    pool.note("past 0", 1.0)
    assert pool.win_rates() == {"past 0": 2 / 3, "past 1": 0.5, "past 2": 0.5}
    pool.add(always("past 3"))
    assert names(pool) == ["past 1", "past 2", "past 3"]
    pool.note("past 0", 1.0)  # a game against a policy that has left the pool
    pool.add(always("past 0"))
    assert pool.win_rates()["past 0"] == 0.5


def test_pool_by_recency_draws_by_the_decay() -> None:
    pool = pool_of(4, by="recency", decay=0.5)
    assert pool.probabilities() == pytest.approx(np.array([1, 2, 4, 8]) / 15)
    found = drawn(pool, 1)
    assert list(found.values()) == pytest.approx(pool.probabilities(), abs=0.03)


def test_pool_by_results_prefers_stronger_opponents() -> None:
    pool = pool_of(3, by="results", sharpness=2.0)
    for name, won in (("past 0", 8), ("past 1", 0), ("past 2", 4)):
        for game in range(8):
            pool.note(name, float(game < won))
    lost = np.array([1, 9, 5]) / 10  # one won and one lost are added
    extreme = pool_of(2, by="results", sharpness=1e6)
    extreme.note("past 0", 1.0)
    assert [(agent.name, share) for agent, share in extreme.sample(1)] == [("past 1", 1.0)]
    assert list(pool.win_rates().values()) == pytest.approx(1 - lost)
    assert pool.probabilities() == pytest.approx(lost**2 / (lost**2).sum())
    found = drawn(pool, 1)
    assert list(found.values()) == pytest.approx(pool.probabilities(), abs=0.03)


def test_pool_sample_is_distinct_with_valid_shares() -> None:
    pool = pool_of(5, by="uniform")
    for _ in range(20):
        sample = pool.sample(3)
        assert len({agent.name for agent, _ in sample}) == 3
        assert sum(share for _, share in sample) == pytest.approx(1.0)
    assert list(drawn(pool, 3).values()) == pytest.approx([0.6] * 5, abs=0.04)
    assert len(pool.sample(9)) == 5
    assert sum(share for _, share in pool.sample(9)) == pytest.approx(1.0)


def test_pool_equal_seeds_draw_alike() -> None:
    first, second = (pool_of(6, by="recency") for _ in range(2))
    for _ in range(10):
        assert [a.name for a, _ in first.sample(2)] == [a.name for a, _ in second.sample(2)]


class Holder:
    """A user's object that holds a network."""

    def __init__(self, net: nn.Module) -> None:
        self.net = net

    def __call__(self, observations: torch.Tensor) -> Any:
        return self.net(observations)

    def scores(self, observations: torch.Tensor) -> Any:
        return self.net(observations)


class Own:
    """A user's agent that calls a network."""

    name = "own"

    def __init__(self, net: nn.Module) -> None:
        self.inner = from_torch(net)

    def act(self, views: Any, rng: np.random.Generator) -> Any:
        return self.inner.act(views, rng)


READ = {
    "a network that draws": lambda net: from_torch(net, sample=True),
    "networks of the two phases": lambda net: PhasedAgent(from_torch(net, sample=True), from_torch(net, sample=True)),
    "a method": lambda net: from_torch(Holder(net).scores),
    "an object that is called": lambda net: from_torch(Holder(net), masks=False),
    "an agent's attribute": Own,
    "a wrapped method of a module": lambda net: from_torch(net.forward),
}


def scores(agent: Any, views: Any) -> Any:
    """Return an agent's probabilities for views, or its actions without them."""
    for ask in ("action_probabilities", "action_values"):
        if hasattr(agent, ask):
            return getattr(agent, ask)(views)
    return agent.act(views, np.random.default_rng(1))


@pytest.mark.parametrize("kind", READ)
def test_pool_copies_a_loaded_network(kind: str) -> None:
    net, views = nn.Linear(425, 52), views_of("hoyle", 10, 1)
    agent = find_agent(READ[kind](net))
    before, named = scores(agent, views), agent.name
    past = Pool().add(agent, name="past")
    with torch.no_grad():
        net.weight.mul_(-1)
        net.bias.mul_(-1)
    assert np.array_equal(scores(past, views), before, equal_nan=True)
    assert not np.array_equal(scores(agent, views), before, equal_nan=True)
    assert (past.name, agent.name) == ("past", named)


def test_pool_rejects_taken_names() -> None:
    pool, net = Pool(), nn.Linear(425, 52)
    pool.add(net, name="past")
    with pytest.raises(ValueError, match="a policy named 'past' is in the pool already"):
        pool.add(net, name="past")
    assert pool.add(net, name="newer") is list(pool)[-1]


def by_a_view(net: nn.Module) -> Any:
    agent = from_torch(net)
    return lambda view, rng: int(agent.act(view, rng))


@dataclass(slots=True)
class Slotted:
    """An agent with slots instead of a ``__dict__``."""

    made_of: Any
    name: str = "slotted"

    def act(self, views: Any, rng: Any) -> Any:
        return find_agent("random").act(views, rng)


BY_FUNCTIONS = {
    "a slot": lambda net: Slotted(lambda observations: net(observations)),
    "a function": lambda net: from_torch(lambda observations: net(observations)),
    "a partial function": lambda net: from_torch(
        functools.partial(lambda one, observations: one(observations), net), masks=False
    ),
    "scores": lambda net: ScoredAgent(lambda observations, masks: net(observations), "own scores"),
    "a function of a view": by_a_view,
    "a phase": lambda net: PhasedAgent("greedy", from_torch(lambda observations: net(observations))),
}


@pytest.mark.parametrize("kind", BY_FUNCTIONS)
def test_add_refuses_an_agent_that_plays_by_a_function(kind: str) -> None:
    pool = Pool()
    with pytest.raises(ValueError, match="plays by a function, and a copy of a function reads"):
        pool.add(BY_FUNCTIONS[kind](nn.Linear(425, 52)))
    assert len(pool) == 0


def test_add_refuses_what_deepcopy_cannot_copy() -> None:
    pool, agent = Pool(), Own(nn.Linear(425, 52))
    agent.lock = threading.Lock()  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match=r"'own' cannot be copied \(TypeError: .*lock.*\)") as no:
        pool.add(agent)
    assert "\n" not in str(no.value)
    net = nn.Linear(425, 52)
    net.held = [net(torch.zeros(425))]  # type: ignore[assignment]
    with pytest.raises(ValueError, match=r"'Linear' cannot be copied \(RuntimeError: Only Tensors"):
        pool.add(net)
    assert len(pool) == 0


@pytest.mark.parametrize(
    ("form", "together"), [("gym_env", True), ("vector_env", False), ("torch_env", True), ("sb3_env", False)]
)
def test_pool_ignores_results_of_other_opponents_of_one_name(form: str, together: bool) -> None:
    pool = Pool(by="results")
    pool.add(nn.Linear(425, 52))
    stranger = from_torch(nn.Linear(425, 52))
    opponents = [(stranger, 1.0), *(pool.sample() if together else [])]
    make, n = getattr(six_card_v0, form), [] if form == "gym_env" else [4]
    env = make(*n, opponent=opponents)
    with pytest.raises(ValueError, match="an opponent is called 'Linear', as a policy in the pool"):
        pool.record(env, np.zeros(4, dtype=bool), {})
    assert pool.win_rates() == {"Linear": 0.5}
    env = make(*n, opponent=[(from_torch(nn.Linear(425, 52), name="mine"), 1), *pool.sample()])
    pool.record(env, np.zeros(4, dtype=bool), {})


def test_pool_copies_a_model_of_sb3() -> None:
    model = MaskablePPO("MlpPolicy", six_card_v0.sb3_env(2))
    pool, views = Pool(), views_of("hoyle", 10, 1)
    past = pool.add(model, name="past")
    before = past.action_values(views)  # type: ignore[attr-defined]
    with torch.no_grad():
        model.policy.action_net.weight.mul_(-5)
    assert np.array_equal(past.action_values(views), before, equal_nan=True)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("form", "module"),
    [
        ("gym_env", six_card_v0),
        ("vector_env", six_card_v0),
        ("next step", six_card_v0),
        ("torch_env", six_card_v0),
        ("torch_env", table_top_v0),
    ],
)
def test_pool_results_follow_rewards_in_every_form(form: str, module: Any) -> None:
    """`reward="win"` pays 1, 0 or -1 at the end of an episode; only the reward names the winner."""
    pool = Pool(by="results", seed=1)
    for name in ("past 0", "past 1"):
        pool.add("greedy", name=name)
    keywords = {"opponent": pool.sample(2), "episode": "deal", "seat": None, "reward": "win"}
    if module is table_top_v0:
        keywords["players"] = 4
    if form == "next step":
        from gymnasium.vector import AutoresetMode

        env = module.vector_env(8, autoreset_mode=AutoresetMode.NEXT_STEP, **keywords)
    else:
        env = getattr(module, form)(*([] if form == "gym_env" else [8]), **keywords)
    assert env.unwrapped.batch.compiled  # copies of compiled agents are compiled
    rng = np.random.default_rng(1)
    _, info = env.reset(seed=1)
    games, won = Counter[str](), Counter[str]()
    for _ in range(200 if form == "gym_env" else 60):
        mask = np.atleast_2d(np.asarray(info["action_mask"])).astype(np.int8)
        actions = sample_legal(mask, rng)
        _, rewards, dones, _, info = env.step(actions[0] if form == "gym_env" else actions)
        pool.record(env, dones, info)
        for lane in np.flatnonzero(np.atleast_1d(np.asarray(dones))):
            about = info.get("final_info", info)
            number = int(np.atleast_1d(np.asarray(about["opponent"]))[lane])
            name = env.unwrapped.opponent_names[number]
            games[name] += 1
            won[name] += (float(np.atleast_1d(np.asarray(rewards))[lane]) + 1) / 2
        if form == "gym_env" and dones:
            _, info = env.reset()
    assert min(games[name] for name in names(pool)) > 3
    expected = {name: (won[name] + 1) / (games[name] + 2) for name in names(pool)}
    assert pool.win_rates() == pytest.approx(expected)


def test_pool_results_of_three_sides_count_each_seat() -> None:
    pool = Pool(by="results")
    pool.add(find_agent("greedy"), name="past")
    env = three_hand_v0.vector_env(8, rules="three_hand[target=15]", opponent=pool.sample(), seat=2, reward="win")
    rng, results = np.random.default_rng(3), []
    _, info = env.reset(seed=3)
    for _ in range(300):
        _, rewards, dones, _, info = env.step(sample_legal(info["action_mask"], rng))
        pool.record(env, dones, info)
        results += rewards[dones].tolist()
    won = sum(reward == 1 for reward in results)
    assert won > 3
    assert set(results) <= {1, -0.5}  # no ties, which count as a half
    assert pool.win_rates() == {"past": pytest.approx((won + 1) / (len(results) + 2))}


def test_pool_callback_plays_sb3s_past_policies() -> None:
    pool = Pool(4, by="results", seed=1)

    class PastSelves(BaseCallback):
        def _on_step(self) -> bool:
            pool.record(self.training_env, self.locals["dones"], self.locals["infos"])
            return True

        def _on_rollout_end(self) -> None:
            pool.add(self.model, name=f"after {self.num_timesteps}")
            self.training_env.env_method("set_opponent", pool.sample(2))

    games = VecNormalize(six_card_v0.sb3_env(8, episode="deal", reward="points"), norm_obs=False)
    model = MaskablePPO("MlpPolicy", games, n_steps=32, batch_size=256, n_epochs=1, seed=1)
    model.learn(8 * 32 * 6, callback=PastSelves())
    Pool().add(model)  # after learn() its distribution holds tensors with gradients
    assert names(pool) == [f"after {256 * n}" for n in range(3, 7)]
    assert any(rate != 0.5 for rate in pool.win_rates().values())
    assert {agent.name for agent in games.get_attr("opponent")} <= set(names(pool))


@pytest.mark.parametrize(
    ("call", "why"),
    [
        (lambda: Pool(0), "size must be a whole number from 1 up, got 0"),
        (lambda: Pool(by="age"), "by must be one of 'recency', 'results', 'uniform', got 'age'"),
        (lambda: Pool(decay=1.5), "decay must be above 0"),
        (lambda: Pool(decay="slow"), "decay must be above 0 and at most 1, got 'slow'"),
        (lambda: Pool(sharpness=-1.0), "sharpness must be 0 or more"),
        (lambda: Pool().sample(), r"the pool is empty: add\(policy\) first"),
        (lambda: pool_of(4).sample(1.5), r"count must be a whole number from 1 up, got 1\.5"),
        (lambda: Pool().add("greedy", name=""), "name must be a text .*, got ''"),
        (lambda: pool_of(1).note("past 0", float("nan")), "won must be from 0 to 1, got nan"),
        (lambda: pool_of(1).note("past 0", "a"), "won must be from 0 to 1, got 'a'"),
    ],
)
def test_pool_rejects_values_out_of_range(call: Any, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        call()


def test_empty_pool_has_no_probabilities() -> None:
    assert [Pool(by=by).probabilities().shape for by in WAYS] == [(0,)] * len(WAYS)
