"""The contract of every environment, tested on each registered one.

A new environment is tested here without a new line; `VARIANTS` only adds keywords worth a second
look. The contract is in docs and the environments' pages. `short_card_v0` is registered as another
package would register it, and tested like the rest.
"""

from __future__ import annotations

import copy
import importlib
import pickle
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from types import SimpleNamespace
from typing import Any

import gymnasium
import numpy as np
import pettingzoo
import pytest
from gymnasium.utils.env_checker import check_env as gymnasium_check_env
from gymnasium.utils.env_checker import data_equivalence
from pettingzoo.env_registry.registration import aec_registry
from pettingzoo.test import api_test, performance_benchmark, seed_test

import crib_env
from aec_walks import legal, lowest_legal, over, trajectory, walk
from crib_env import ENVIRONMENTS, Agent, EpisodeOverError, IllegalActionError, find_agent, register_environment
from crib_env.encoding import encode
from crib_env.envs import renderer
from crib_env.registration import env_module as module
from crib_env.registration import gym_id
from vector_walks import lowest

VARIANTS: dict[str, list[dict[str, Any]]] = {
    "six_card_v0": [{"episode": "match"}, {"episode": "deal", "features": True}, {"rules": "five_card"}],
    "three_hand_v0": [{"episode": "match"}, {"rules": "three_hand[second_go_ends=True]"}],
    "four_hand_v0": [{"rules": "four_hand[partners=False]"}, {"episode": "deal", "features": True}],
    "table_top_v0": [{"players": 4, "features": True}, {"rules": "table_top_ship", "episode": "game"}],
    "discard_v0": [{"rules": "five_card"}],
    "pegging_v0": [{"rules": "five_card"}],
}
NAMES = [*sorted(ENVIRONMENTS), "short_card_v0"]


def _cases() -> Iterator[Any]:
    for name in NAMES:
        for keywords in ({}, *VARIANTS.get(name, ())):
            shown = ",".join(f"{key}={value}" for key, value in keywords.items())
            yield pytest.param(name, keywords, id=f"{name}[{shown}]" if shown else name)


def begun(name: str, keywords: dict[str, Any], seed: int) -> Any:
    """Return the AEC environment of a case, reset with a seed."""
    env = module(name).raw_env(**keywords)
    env.reset(seed=seed)
    return env


every_name = pytest.mark.parametrize("name", NAMES)
every_case = pytest.mark.parametrize(("name", "keywords"), list(_cases()))


@pytest.fixture(scope="module", autouse=True)
def _short_card() -> Iterator[None]:
    """Register an environment of another package, for these tests alone."""
    register_environment("short_card_v0", "ShortCard-v0")
    yield
    del ENVIRONMENTS["short_card_v0"]


def opponent_of(name: str) -> Callable[[Any, np.random.Generator], int]:
    return lowest_legal(module(name).raw_env().game.family)


# ---------------------------------------------------------------- registries, others' tests


@every_name
def test_registered_with_pettingzoo_and_gymnasium(name: str) -> None:
    stem, version = name.rsplit("_", 1)
    package = module(name).__name__.partition(".")[0]
    assert f"{package}/{stem}-{version}" in aec_registry
    env = pettingzoo.make("aec", f"{package}/{stem}-{version}")
    assert isinstance(env, pettingzoo.AECEnv)
    assert env.metadata["name"] == name
    assert gym_id(name) in gymnasium.registry
    assert getattr(crib_env, name) is module(name)


@every_case
@pytest.mark.parametrize("form", ["env", "raw_env"])
def test_pettingzoo_api_test(name: str, keywords: dict[str, Any], form: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # PettingZoo's own environments with masks are exempted by name from these three.
        warnings.filterwarnings("ignore", message="Observation is not a NumPy array")
        warnings.filterwarnings("ignore", message="Observation space for each agent probably")
        warnings.filterwarnings("ignore", message="Action mask numpy array is all zeros")
        api_test(getattr(module(name), form)(**keywords), num_cycles=60)
        if not keywords:
            flat = getattr(module(name), form)(mask_in_observation=False)
            api_test(flat, num_cycles=60)


@every_case
def test_pettingzoo_seed_test(name: str, keywords: dict[str, Any]) -> None:
    seed_test(lambda: module(name).env(**keywords), num_cycles=100)


@every_name
def test_pettingzoo_performance_benchmark_runs(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = iter(range(10**9))  # each call advances a second, so five calls end it
    fake = SimpleNamespace(time=lambda: float(next(clock)))
    importlib.import_module("pettingzoo.test.performance_benchmark")
    monkeypatch.setattr(sys.modules["pettingzoo.test.performance_benchmark"], "time", fake)
    performance_benchmark(module(name).env())
    assert "turns per second" in capsys.readouterr().out


@every_name
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_gymnasium_check_env(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(renderer, "FPS", 1000)  # no frame delay
    env = gymnasium.make(gym_id(name), opponent=opponent_of(name))
    gymnasium_check_env(env.unwrapped)
    for keywords in ({"mask_in_observation": True}, {"features": True}):
        env = gymnasium.make(gym_id(name), opponent=opponent_of(name), **keywords)
        gymnasium_check_env(env.unwrapped, skip_render_check=True)


@every_name
def test_sb3_check_env(name: str) -> None:
    import stable_baselines3.common.env_checker as checker

    env = gymnasium.make(gym_id(name), opponent=opponent_of(name))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        checker.check_env(env.unwrapped, skip_render_check=True)


# ---------------------------------------------------------------- determinism, copies, snapshots


@every_case
def test_equal_seeds_give_equal_games_over_many_deals(name: str, keywords: dict[str, Any]) -> None:
    first, second, other = (module(name).raw_env(**keywords) for _ in range(3))
    first.reset(seed=11)
    second.reset(seed=11)
    other.reset(seed=12)
    one = trajectory(first, seed=1, decisions=120)  # some ten deals
    assert trajectory(second, seed=1, decisions=120) == one
    assert trajectory(other, seed=1, decisions=120) != one
    first.reset(seed=11)
    assert trajectory(first, seed=1, decisions=120) == one


@every_case
def test_reset_without_a_seed_continues_the_generator(name: str, keywords: dict[str, Any]) -> None:
    deals: list[list[bytes]] = [[], []]
    for seen in deals:
        env = begun(name, keywords, seed=3)
        for _ in range(8):
            seen.append(env.observe(env.agent_selection)["observation"].tobytes())
            env.reset()
    assert deals[0] == deals[1]
    assert len(set(deals[0])) == 8


COPIES: dict[str, Callable[[Any], Any]] = {
    "deepcopy": copy.deepcopy,
    "pickle": lambda env: pickle.loads(pickle.dumps(env)),
}


@every_case
@pytest.mark.parametrize("given", [False, True], ids=["drawn", "given"])
def test_copies_and_snapshots_keep_game_generator_and_decks(name: str, keywords: dict[str, Any], given: bool) -> None:
    env, fresh = (module(name).raw_env(**keywords) for _ in range(2))
    decks = np.array([np.random.default_rng(i).permutation(52) for i in range(20)])
    env.reset(seed=21, options={"decks": decks, "dealer": 1} if given else None)
    for _ in walk(env, np.random.default_rng(21), decisions=5 if given else 47):
        pass
    twins, taken = [how(env) for how in COPIES.values()], env.snapshot()
    fresh.restore(taken)  # one that was never reset
    expected = trajectory(env, seed=5, decisions=50)
    for twin in (*twins, fresh):
        assert trajectory(twin, seed=5, decisions=50) == expected
    for _ in range(2):
        env.restore(taken)
        assert trajectory(env, seed=5, decisions=50) == expected


@every_name
def test_gymnasium_copies_keep_the_game_and_its_generator(name: str) -> None:
    env = gymnasium.make(gym_id(name), opponent=lowest).unwrapped

    def go(env: Any, seed: int) -> list[Any]:
        rng, seen = np.random.default_rng(seed), []
        for _ in range(60):
            masks = env.action_masks()
            if not masks.any():
                env.reset()
                masks = env.action_masks()
            observation, reward, done, *_ = env.step(int(rng.choice(np.flatnonzero(masks))))
            seen.append((observation.tobytes(), reward, done))
        return seen

    env.reset(seed=31)
    go(env, 1)
    twins = [how(env) for how in COPIES.values()]
    expected = go(env, 2)
    for twin in twins:
        assert go(twin, 2) == expected


@every_name
def test_environment_holds_a_game(name: str) -> None:
    env = module(name).raw_env()
    with pytest.raises(EpisodeOverError, match=r"reset\(\)"):
        env.view(0)
    env.reset(seed=21)
    game = env.game
    for _ in walk(env, np.random.default_rng(21), decisions=30):
        assert env.game is game
        assert (env.scores, env.dealer, env.events) == (game.scores, game.dealer, game.events)
        assert env.agent_selection == f"player_{game.seat}"
        seen = env.observe(env.agent_selection)
        assert np.flatnonzero(seen["action_mask"]).tolist() == game.legal_actions
        for seat in range(game.players):  # looking at the game changes nothing
            assert env.view(seat) == game.view(seat)
        again = env.observe(env.agent_selection)
        assert all(np.array_equal(seen[key], again[key]) for key in seen)
        assert env.notation() == game.notation()


@every_name
def test_gymnasium_game_is_an_independent_copy(name: str) -> None:
    env = gymnasium.make(gym_id(name), opponent=lowest).unwrapped
    with pytest.raises(EpisodeOverError, match=r"reset\(\)"):
        _ = env.game
    env.reset(seed=22)
    rng = np.random.default_rng(22)
    for _ in range(10):
        game = env.game
        assert game == env.game
        assert game.notation() == env.notation()
        assert (game.seat, game.scores, game.events) == (env.seat, env.scores, env.events)
        assert game.legal_actions == np.flatnonzero(env.action_masks()).tolist()
        assert game.view(env.seat) == env.view()
        before = env.notation()
        while not game.over:
            game.step(int(rng.choice(game.legal_actions)))
        assert env.notation() == before
        if env.step(int(rng.choice(np.flatnonzero(env.action_masks()))))[2]:
            env.reset()


# ---------------------------------------------------------------- observations and masks


@every_case
def test_observations_lie_in_their_space(name: str, keywords: dict[str, Any]) -> None:
    env = begun(name, keywords, seed=41)
    for _ in walk(env, np.random.default_rng(41), decisions=250):
        for agent in env.possible_agents:
            observation = env.observe(agent)
            assert env.observation_space(agent).contains(observation)
            wanted = np.float32 if "features" in keywords else np.uint8
            assert observation["observation"].dtype == wanted
            assert observation["action_mask"].dtype == np.int8
        assert env.state_space.contains(env.state())


@every_name
def test_observation_layout_covers_the_observation(name: str) -> None:
    layout = crib_env.observation_layout(name)
    at = 0
    for part in layout.values():
        assert part.start == at
        at = part.stop
    env = module(name).raw_env()
    assert env.observation_space(env.possible_agents[0])["observation"].shape == (at,)


@every_case
def test_observations_with_features_equal_those_of_encode(name: str, keywords: dict[str, Any]) -> None:
    family = begun(name, keywords, seed=41).game.family
    suits = "canonical" if family.canonical else "real"
    keywords = keywords | {"suits": suits}
    with_features = begun(name, keywords | {"features": True}, seed=41)
    bits = begun(name, keywords | {"features": False}, seed=41)
    for mover in walk(with_features, np.random.default_rng(41), decisions=100):
        found, mask = with_features.observe(mover).values()
        rows, masks = encode(with_features.view(with_features.game.seat), True, suits)
        assert found.tobytes() == rows.tobytes()
        assert mask.tolist() == masks[0].tolist()
        bits.restore(with_features.snapshot())
        for agent in bits.possible_agents:
            found, mask = with_features.observe(agent).values()
            plain = bits.observe(agent)
            assert found[: family.obs_size].tolist() == plain["observation"].tolist()
            assert found[family.obs_size :].any() == (agent == mover)
            assert mask.tolist() == plain["action_mask"].tolist()


@every_name
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_features_are_zeros_once_an_episode_is_over(name: str) -> None:
    env = module(name).env(features=True)
    env.reset(seed=44)
    mask = env.observe(env.agent_selection)["action_mask"]
    env.step(int(mask.argmin()))  # illegal
    for agent in env.possible_agents:
        found, mask = env.observe(agent).values()
        assert not found[env.game.family.obs_size :].any()
        assert not mask.any()


@every_case
def test_mask_equals_legal_actions_and_is_zero_for_other_seats(name: str, keywords: dict[str, Any]) -> None:
    env = begun(name, keywords, seed=42)
    for i, mover in enumerate(walk(env, np.random.default_rng(42), decisions=60)):
        for agent in env.possible_agents:
            mask = env.observe(agent)["action_mask"]
            assert mask.any() == (agent == mover)
        if i % 4:
            continue
        taken = env.snapshot()
        mask = env.observe(mover)["action_mask"]
        for action in range(env.action_space(mover).n):
            if mask[action]:
                env.step(action)
                env.restore(taken)
            else:
                with pytest.raises(IllegalActionError):
                    env.step(action)
    while not over(env):
        env.step(int(legal(env)[0]))
    for agent in env.possible_agents:
        assert not env.observe(agent)["action_mask"].any()


@every_case
def test_returned_arrays_are_copies(name: str, keywords: dict[str, Any]) -> None:
    env = begun(name, keywords, seed=43)
    for agent in walk(env, np.random.default_rng(43), decisions=30):
        observation = env.observe(agent)
        kept = copy.deepcopy(observation)
        observation["observation"][:] = 7
        observation["action_mask"][:] = 7
        view = env.view(0)
        kept_view = view.tobytes()
        for field in view.dtype.names:
            view[field] = -7
        assert data_equivalence(env.observe(agent), kept)
        assert env.view(0).tobytes() == kept_view


# Fields that hold cards in any engine's records; the dtype shows which of them an engine has.
# A new engine with other names for its cards fails the assertion below.
STATE_CARDS = ("dealt", "pile", "starter", "deck", "layout")
VIEW_CARDS = ("hand", "discarded", "pile", "starter", "layout", "card", "partner_card", "crib")


def cards_in(record: Any, names: tuple[str, ...]) -> set[int]:
    found: set[int] = set()
    for field in names:
        if field in record.dtype.names:
            found |= {int(card) for card in np.ravel(record[field]) if card >= 0}
    return found


@every_case
def test_redrawing_hidden_cards_changes_nothing_a_seat_sees(name: str, keywords: dict[str, Any]) -> None:
    env = begun(name, {"render_mode": "ansi", **keywords}, seed=51)
    rng = np.random.default_rng(51)
    shown_elsewhere = redrawn = 0
    for i, mover in enumerate(walk(env, rng, decisions=60)):
        taken = env.snapshot()
        drawn = env.render()
        everyone = [env.observe(agent)["observation"].tobytes() for agent in env.possible_agents]
        for seat, agent in enumerate(env.possible_agents):
            view, seen = env.view(seat).tobytes(), env.observe(agent)
            state = taken.game.position.state[0]
            known = cards_in(env.view(seat), VIEW_CARDS)
            assert cards_in(state, STATE_CARDS) >= known, f"decision {i}: unknown card fields"
            hidden = sorted(set(range(52)) - known)
            place = np.arange(-1, 52)  # place[card + 1] is the card drawn in its stead
            place[np.array(hidden) + 1] = rng.permutation(hidden)
            changed = copy.deepcopy(taken)
            states = changed.game.position.state
            for field in STATE_CARDS:
                if field in state.dtype.names:
                    states[field] = place[states[field] + 1]
            redrawn += states.tobytes() != taken.game.position.state.tobytes()
            env.restore(changed)
            assert env.view(seat).tobytes() == view, f"decision {i}, {agent}"
            assert data_equivalence(env.observe(agent), seen), f"decision {i}, {agent}"
            if agent == mover:
                assert env.render() == drawn, f"decision {i}"
            shown_elsewhere += everyone != [
                env.observe(other)["observation"].tobytes() for other in env.possible_agents
            ]
            env.restore(taken)
    assert redrawn > 45
    assert shown_elsewhere > 15  # the other seats' observations show the redrawn cards


@pytest.mark.parametrize(("name", "keywords"), [case for case in _cases() if case.values[0] != "table_top_v0"])
def test_observation_recalls_all_of_the_deal(name: str, keywords: dict[str, Any]) -> None:
    """Hand, discards, and the pile in order with each card's player can be read back."""
    layout = crib_env.observation_layout(name)
    env = begun(name, keywords, seed=52)

    def places(left: int, bits: Any) -> list[bool]:
        """Return the bits of the seat `left` places to the left; two seats may share one bit."""
        return [left % len(env.possible_agents) == k for k in range(len(bits))]

    for _ in walk(env, np.random.default_rng(52), decisions=120):
        state = env.game.states[0]
        for seat, agent in enumerate(env.possible_agents):
            bits = env.observe(agent)["observation"]
            parts = {part: np.flatnonzero(bits[where]).tolist() for part, where in layout.items()}
            hand = len(state["dealt"]) // len(state["held"])
            mine = state["dealt"][hand * seat : hand * seat + hand]
            held, discarded = (
                sorted(int(c) for i, c in enumerate(mine) if int(state[field][seat]) >> i & 1)
                for field in ("held", "discarded")
            )
            assert parts["hand"] == held
            assert parts["discarded"] == discarded
            slots = bits[layout["pile"]].reshape(len(state["pile"]), -1)
            n = int(state["pile_n"])
            assert not slots[n:].any()
            for i, slot in enumerate(slots[:n]):
                assert slot[:13].sum() == slot[13:17].sum() == 1
                assert 4 * slot[:13].argmax() + slot[13:17].argmax() == state["pile"][i]
                by = int(state["pile_seats"]) >> 2 * i & 3
                assert slot[17:-1].tolist() == places(by - seat, slot[17:-1])
                assert slot[-1] == (i >= state["pile_from"])
            assert parts["count"] == [state["count"]]
            assert bits[layout["dealer"]].tolist() == places(env.dealer - seat, bits[layout["dealer"]])


# ---------------------------------------------------------------- rewards


@every_case
@pytest.mark.parametrize("reward", ["win", "points"])
def test_rewards_are_zero_sum_and_last_pays_each_once(name: str, keywords: dict[str, Any], reward: str) -> None:
    env = module(name).raw_env(reward=reward, **keywords)
    rng = np.random.default_rng(61)
    for episode in range(4):
        env.reset(seed=episode)
        steps = dict.fromkeys(env.possible_agents, 0.0)
        paid = dict.fromkeys(env.possible_agents, 0.0)
        for agent in env.agent_iter():
            _, received, termination, truncation, _ = env.last()
            paid[agent] += received
            if termination or truncation:
                env.step(None)
                continue
            env.step(int(rng.choice(legal(env))))
            assert sum(env.rewards.values()) == pytest.approx(0), f"episode {episode}"
            pays = [*env.rewards.values(), *env._cumulative_rewards.values()]
            assert {type(value) for value in pays} == {float}
            for other, value in env.rewards.items():
                steps[other] += value
        assert paid == pytest.approx(steps), f"episode {episode}"
        if reward == "win":
            loss = 1 / max(env.game.sides)  # paid by each loser to one winner
            # Several sides may share the first place.
            shared = {(1 - (k - 1) * loss) / k for k in range(1, max(env.game.sides) + 2)}
            assert all(any(abs(value) == pytest.approx(one) for one in {loss, *shared}) for value in paid.values())


def lead(by_side: Sequence[int]) -> float:
    """Return what side 0 has more than the mean of the others."""
    return by_side[0] - sum(by_side[1:]) / (len(by_side) - 1)


@every_case
def test_points_add_up_to_the_scores_and_agree_with_the_winner(name: str, keywords: dict[str, Any]) -> None:
    points = module(name).raw_env(reward="points", **keywords)
    win = module(name).raw_env(reward="win", **keywords)
    rng = np.random.default_rng(62)
    for episode in range(5):
        for env in (points, win):
            env.reset(seed=episode)
        start = lead(points.scores)
        total = pegged = 0.0
        while not over(points):
            action = int(rng.choice(legal(points)))
            points.step(action)
            win.step(action)
            total += points.rewards["player_0"]
            made = [0] * len(points.scores)
            for event in points.events:
                made[event.seat] += event.points if event.reason != "for_last" else 0
            pegged += lead(made)
        result = win._cumulative_rewards["player_0"]
        if "match" not in keywords.values():  # there the scores are the last game's
            assert total == pytest.approx(lead(points.scores) - start), f"episode {episode}"
            if start == 0:
                ahead = points.scores[0] - max(points.scores[1:])
                assert np.sign(ahead) == np.sign(result), f"episode {episode}"
        else:
            assert total == pytest.approx(pegged), f"episode {episode}"


@every_name
def test_points_of_a_deal_whose_starter_is_a_jack_agree_with_its_result(name: str) -> None:
    """Heels, at any time of the deal, count in both rewards or in neither."""
    jacks, others = list(range(40, 44)), [card for card in range(52) if card // 4 != 10]
    short = "round" if "table_top" in name else "deal"
    turned = (10, 12, 16, 28) if "table_top" in name else (10, 12, 16, 20)  # of every game
    rng = np.random.default_rng(64)
    for trial in range(12):
        rng.shuffle(others)
        deck = list(others)
        for at, jack in zip(turned, jacks, strict=True):
            deck.insert(at, jack)
        options = {"decks": [deck], "dealer": trial % 2}
        totals = {}
        for reward in ("points", "win"):
            env = module(name).raw_env(reward=reward, episode=short)
            env.reset(seed=trial, options=options)
            last = [sum(e.points for e in env.events if (e.seat, e.reason) == (s, "for_last")) for s in (0, 1)]
            totals[reward] = 0.0
            while not over(env):
                env.step(int(legal(env)[trial % len(legal(env))]))
                totals[reward] += env.rewards["player_0"]
            final = lead(env.scores) - lead(last)  # F1: pegged before the first decision
        if len(env.scores) == 2:  # with more sides, one above the mean may not be first
            assert np.sign(totals["points"]) == totals["win"], f"trial {trial}"
        if name != "discard_v0":  # whose pegging is played by a policy, within a decision
            assert totals["points"] == final, f"trial {trial}"


@every_name
def test_illegal_action_ends_episode_like_pettingzoos_wrapper(name: str) -> None:
    wrapped = pettingzoo.utils.TerminateIllegalWrapper(module(name).raw_env(), illegal_reward=-1)
    plain = module(name).env()
    for env in (wrapped, plain):
        env.reset(seed=71)
        for _ in range(3):
            env.step(int(legal(env)[0]))
        env.last()  # the wrapper looks at the mask last shown
        mask = env.observe(env.agent_selection)["action_mask"]
        env.step(int(np.flatnonzero(mask == 0)[0]))
    for field in ("terminations", "truncations", "rewards", "_cumulative_rewards", "agents", "agent_selection"):
        assert getattr(plain, field) == getattr(wrapped.unwrapped, field), field
    while plain.agents:
        plain.step(None)


# ---------------------------------------------------------------- one game in every form


class LearnerOnAec:
    """A learner's seat of the AEC environment, its opponents played from their views."""

    def __init__(self, env: Any, seat: int, opponent: Agent, partner: Agent | None) -> None:
        self.env, self.agent, self.seat = env, env.possible_agents[seat], seat
        self.opponent, self.partner = opponent, partner
        self.unused = np.random.default_rng()

    def reset(self, options: dict[str, Any]) -> Any:
        self.env.reset(seed=0, options=options)
        self.reward = 0.0
        self._others()
        return self.env.observe(self.agent)

    def step(self, action: int) -> Any:
        self.reward = 0.0
        self._step(action)
        self._others()
        return self.env.observe(self.agent)

    def _step(self, action: int) -> None:
        self.env.step(action)
        self.reward += self.env.rewards[self.agent]

    def _others(self) -> None:
        while not over(self.env) and self.env.agent_selection != self.agent:
            seat, sides = self.env.game.seat, self.env.game.sides
            mover = self.partner if sides[seat] == sides[self.seat] else self.opponent
            view = np.array([self.env.view(seat)])
            self._step(int((mover or self.opponent).act(view, self.unused)[0]))


def _games_to_compare() -> Iterator[Any]:
    """Yield environments with deterministic opponents."""
    for name in sorted(ENVIRONMENTS):
        family = module(name).maker.family.name
        compiled = [one for one in ("greedy", "rule_based") if family in find_agent(one).acts]
        for variant in ({}, *(v for v in VARIANTS.get(name, ()) if "players" in v)):
            for opponent in ("a function", *compiled):
                yield pytest.param(name, variant, opponent, id=f"{name}-{variant}-{opponent}")
    for rules, variant in (
        ("table_top", {"players": 4, "partner": "rule_based"}),
        ("table_top_ship", {"players": 4, "partner": "rule_based"}),
        ("table_top_ship", {}),
    ):
        variant = {"rules": rules, **variant}
        yield pytest.param("table_top_v0", variant, "greedy", id=f"table_top_v0-{variant}")


@pytest.mark.parametrize(("name", "variant", "opponent"), list(_games_to_compare()))
@pytest.mark.parametrize(("reward", "seat"), [("win", 0), ("points", 1)])
def test_batch_gymnasium_and_aec_play_the_same_game(
    name: str, variant: dict[str, Any], opponent: str, reward: str, seat: int
) -> None:
    """The same decks and actions, game by game: observations, masks, rewards and ends."""

    play = opponent_of(name)

    def function(view: Any, rng: np.random.Generator) -> int:
        assert isinstance(rng, np.random.Generator)
        assert view["to_move"]
        return play(view, rng)

    given = function if opponent == "a function" else opponent
    rng = np.random.default_rng(81)
    lanes, decks = 3, np.array([rng.permutation(52) for _ in range(60)])
    options = {"decks": decks, "dealer": 1}
    forms = {"reward": reward, **variant}
    partner = forms.pop("partner", None)
    keywords = {"opponent": given, "seat": seat, **forms}
    if partner:
        keywords["partner"] = partner
    agents = find_agent(given), find_agent(partner) if partner else None
    batch = gymnasium.make_vec(gym_id(name), num_envs=lanes, **keywords)
    single = [gymnasium.make(gym_id(name), **keywords).unwrapped for _ in range(lanes)]
    aec = [LearnerOnAec(module(name).raw_env(**forms), seat, *agents) for _ in range(lanes)]
    observations, info = batch.reset(seed=81, options=options)
    running = np.ones(lanes, dtype=bool)
    for lane in range(lanes):
        expected = aec[lane].reset(options)
        one, one_info = single[lane].reset(seed=81, options=options)
        for got, mask in ((observations[lane], info["action_mask"][lane]), (one, one_info["action_mask"])):
            assert np.array_equal(got, expected["observation"])
            assert np.array_equal(mask, expected["action_mask"])
    while running.any():
        actions = np.array([rng.choice(np.flatnonzero(mask)) for mask in info["action_mask"]], dtype=np.int64)
        observations, rewards, ends, truncations, info = batch.step(actions)
        assert not truncations.any()
        for lane in np.flatnonzero(running):
            expected = aec[lane].step(int(actions[lane]))
            one, one_reward, one_end, one_cut, one_info = single[lane].step(int(actions[lane]))
            assert rewards[lane] == one_reward == aec[lane].reward
            assert ends[lane] == one_end == over(aec[lane].env)
            assert not one_cut
            got = info["final_obs"][lane] if ends[lane] else observations[lane]
            assert np.array_equal(got, expected["observation"])
            assert np.array_equal(one, expected["observation"])
            assert np.array_equal(one_info["action_mask"], expected["action_mask"])
            assert np.array_equal(single[lane].action_masks(), one_info["action_mask"] == 1)
            if not ends[lane]:
                assert np.array_equal(info["action_mask"][lane], expected["action_mask"])
        running &= ~ends
    assert [env.scores for env in single] == [lane.env.scores for lane in aec]


@every_case
def test_ansi_rendering_is_plain_text_that_tells_positions_apart(name: str, keywords: dict[str, Any]) -> None:
    env = module(name).env(render_mode="ansi", **keywords)
    env.reset(seed=91)
    texts = set()
    for _ in walk(env, np.random.default_rng(91), decisions=60):
        text = env.render()
        assert set(re.sub(r"[ -~]", "", text)) == {"\n"}  # printable ASCII without escapes
        assert max(map(len, text.splitlines())) <= 100
        assert all(row == row.rstrip() for row in text.splitlines())
        texts.add(text)
    assert len(texts) == 60  # each decision looks different


@every_case
def test_notation_round_trips_every_position(name: str, keywords: dict[str, Any]) -> None:
    env, other = (module(name).raw_env(**keywords) for _ in range(2))
    env.reset(seed=92)
    for _ in walk(env, np.random.default_rng(92), decisions=30):
        text = env.notation()
        other.set_position(text)
        assert other.notation() == text
        assert other.agent_selection == env.agent_selection
