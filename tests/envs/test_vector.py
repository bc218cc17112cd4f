"""The native batch as a Gymnasium vector environment."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

import crib_env
from crib_env import discard_v0, pegging_v0, six_card_v0
from vector_walks import Lowest, lowest, pick, picture, walk

IDS = [f"crib_env/{gym_name}" for gym_name in crib_env.ENVIRONMENTS.values()]


@pytest.mark.parametrize("gym_id", IDS)
def test_make_vec_gives_the_native_batch_with_its_spaces(gym_id: str) -> None:
    env = gymnasium.make_vec(gym_id, num_envs=5, opponent=lowest)
    assert isinstance(env.unwrapped, type(six_card_v0.vector_env(1, opponent=lowest)))
    assert env.num_envs == 5
    assert env.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    single = gymnasium.make(gym_id, opponent=lowest)
    assert env.single_observation_space == single.observation_space
    assert env.single_action_space == single.action_space
    observations, info = env.reset(seed=1)
    assert env.observation_space.contains(observations)
    n = env.single_action_space.n
    assert info["action_mask"].shape == (5, n)
    assert info["action_mask"].dtype == np.int8
    for observations, rewards, ends, truncations, info in walk(env, seed=1, steps=40):
        assert env.observation_space.contains(observations)
        assert rewards.shape == ends.shape == truncations.shape == (5,)
        assert (rewards.dtype, ends.dtype, truncations.dtype) == (np.float64, bool, bool)
        assert not truncations.any()
        assert info["action_mask"].any(axis=1).all()  # always somebody's turn: the learner's
        assert np.array_equal(env.unwrapped.action_masks(), info["action_mask"].astype(bool))
    env.close()


def test_gymnasiums_own_wrappers_take_the_batch() -> None:
    env = gymnasium.make_vec("crib_env/SixCard-v0", num_envs=4, opponent=lowest, episode="deal")
    env = gymnasium.wrappers.vector.RecordEpisodeStatistics(env)
    rng = np.random.default_rng(2)
    _, info = env.reset(seed=2)
    finished = 0
    for _ in range(60):
        _, _, ends, _, info = env.step(pick(info, rng))
        finished += int(ends.sum())
        if ends.any():
            assert (info["episode"]["l"][ends] > 0).all()
    assert finished >= 20  # a deal is six decisions, or a few less


def test_arrays_of_a_step_are_the_callers_own_unless_asked_otherwise() -> None:
    env = six_card_v0.vector_env(3, opponent=lowest)
    rng = np.random.default_rng(4)
    kept, copies = [], []
    for result in walk(env, seed=4, steps=20):
        arrays = [*result[:4], result[4]["action_mask"]]
        kept.append(arrays)
        copies.append(copy.deepcopy(arrays))
    for arrays, copied in zip(kept, copies, strict=True):
        assert all(np.array_equal(a, b) for a, b in zip(arrays, copied, strict=True))
    shared = six_card_v0.vector_env(3, opponent=lowest, copy=False)
    first, info = shared.reset(seed=4)
    second, *_ = shared.step(pick(info, rng))
    assert np.shares_memory(first, second)


@pytest.mark.parametrize(
    ("module", "keywords"),
    [
        (six_card_v0, {"opponent": lowest, "seat": None}),
        (six_card_v0, {"opponent": "greedy", "seat": 0}),
        (six_card_v0, {"opponent": "random", "seat": None}),
        (six_card_v0, {"opponent": [("greedy", 1), ("rule_based", 2.0), ("random", 0.5)],
                       "seat": None, "episode": "deal"}),
        (discard_v0, {"opponent": "random", "pegging_policy": "random"}),
        (pegging_v0, {"opponent": "random", "discard_policy": "random"}),
    ],
)  # fmt: skip
def test_equal_seeds_give_equal_batches_whatever_the_threads(
    module: Any, keywords: dict[str, Any]
) -> None:
    one, two, many = (
        module.vector_env(37, threads=threads, reward="points", **keywords) for threads in (1, 2, 5)
    )
    expected = picture(one, seed=5, steps=150)
    assert picture(two, seed=5, steps=150) == expected
    assert picture(many, seed=5, steps=150) == expected
    assert picture(one, seed=5, steps=150) == expected  # reseeding begins all anew
    assert picture(one, seed=6, steps=150) != expected


def test_a_lane_plays_the_same_in_a_batch_of_any_size() -> None:
    small, large = (six_card_v0.vector_env(n, opponent=lowest, seat=1) for n in (3, 8))
    first, _ = small.reset(seed=7)
    second, _ = large.reset(seed=7)
    for _ in range(120):
        assert np.array_equal(first, second[:3])
        actions = [int(np.flatnonzero(mask)[0]) for mask in large.action_masks()]
        first, *_ = small.step(np.array(actions[:3]))
        second, *_ = large.step(np.array(actions))


def test_reset_without_a_seed_goes_on_with_the_generators() -> None:
    env, twin = (six_card_v0.vector_env(4, opponent=lowest) for _ in range(2))
    for each in (env, twin):
        each.reset(seed=8)
    begun = set()
    for _ in range(5):
        observations, _ = env.reset()
        again, _ = twin.reset()
        assert np.array_equal(observations, again)
        begun.add(observations.tobytes())
    assert len(begun) == 5


def test_the_first_reset_without_a_seed_takes_fresh_entropy() -> None:
    first, second = (six_card_v0.vector_env(2, opponent=lowest).reset()[0] for _ in range(2))
    assert not np.array_equal(first, second)


def test_a_seat_of_none_draws_both_seats_anew_for_each_episode() -> None:
    env = six_card_v0.vector_env(64, opponent=lowest, seat=None, episode="deal")
    env.reset(seed=9)
    assert set(env.batch.seats.tolist()) == {0, 1}
    drawn = np.zeros(64, dtype=int)
    episodes = 0
    for _, _, ends, _, _ in walk(env, seed=9, steps=120):
        drawn[ends] += env.batch.seats[ends]
        episodes += int(ends.sum())
    assert episodes > 1000
    assert 0.4 < drawn.sum() / episodes < 0.6
    assert (drawn > 0).all()  # every lane has sat on either side


@pytest.mark.parametrize("seat", [0, 1])
def test_a_given_seat_stays(seat: int) -> None:
    env = six_card_v0.vector_env(8, opponent=lowest, seat=seat, episode="deal")
    for _ in walk(env, seed=10, steps=40):
        assert (env.batch.seats == seat).all()


@pytest.mark.parametrize("opponent", [lowest, "greedy"])
def test_given_decks_are_for_the_first_episode_of_a_game_only(opponent: Any) -> None:
    """The next episode is dealt by the lane's generator from its first deal to its last."""
    decks = np.array([np.random.default_rng(i).permutation(52) for i in range(12)])
    env = six_card_v0.vector_env(4, opponent=opponent, seat=0)
    rng = np.random.default_rng(11)
    _, info = env.reset(seed=11, options={"decks": decks, "dealer": 0})
    episode, given = np.zeros(4, dtype=int), {tuple(deck[0:12].tolist()) for deck in decks}
    met: list[set[bool]] = [set(), set()]
    for _ in range(1000):
        *_, ends, _, info = env.step(pick(info, rng))
        episode += ends
        for lane in np.flatnonzero(episode < 2):
            state = env.batch.states[lane]
            pone, dealer = (state["dealt"][6 * s : 6 * s + 6]
                            for s in (1 - state["dealer"], state["dealer"]))  # fmt: skip
            dealt = tuple(int(c) for pair in zip(pone, dealer, strict=True) for c in pair)
            met[episode[lane]].add(dealt in given)
        if (episode >= 2).all():
            break
    assert met[0] == {True}
    assert met[1] == {False}


def test_options_hold_for_every_game_of_the_batch() -> None:
    env = six_card_v0.vector_env(4, opponent=lowest, seat=0)
    deck = np.random.default_rng(12).permutation(52)
    observations, _ = env.reset(seed=12, options={"decks": [deck], "dealer": 1, "scores": (5, 9)})
    assert (observations == observations[0]).all()
    layout = crib_env.observation_layout("six_card_v0")
    assert np.flatnonzero(observations[0][layout["hand"]]).tolist() == sorted(deck[0:12:2].tolist())
    need, other = (observations[0][layout[part]] for part in ("need", "other_need"))
    assert 10 * need[:20].sum() + need[20:].argmax() == 121 - 5
    assert 10 * other[:20].sum() + other[20:].argmax() == 121 - 9


def test_named_opponents_play_inside_the_compiled_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("random", "greedy", "rule_based"):
        env = six_card_v0.vector_env(4, opponent=name)

        def refuse(*_: object, name: str = name) -> None:
            raise AssertionError(f"{name} was called in Python")

        monkeypatch.setattr(type(env.batch.opponents[0]), "act", refuse)
        for _ in walk(env, seed=13, steps=30):
            pass


def test_an_agent_is_asked_for_many_games_at_once_and_a_function_for_each() -> None:
    sizes = []

    class Counting(Lowest):
        def act(self, views: Any, rng: np.random.Generator) -> Any:
            sizes.append(len(views))
            assert views["to_move"].all()
            return super().act(views, rng)

    batched = six_card_v0.vector_env(16, opponent=Counting(), reward="points")
    single = six_card_v0.vector_env(16, opponent=lowest, reward="points")
    assert picture(batched, seed=15, steps=60) == picture(single, seed=15, steps=60)
    assert max(sizes) > 4


def test_chance_of_an_opponent_in_python_comes_from_the_seed() -> None:
    def anything(view: Any, rng: np.random.Generator) -> int:
        legal = [int(c) for i, c in enumerate(view["hand"]) if int(view["legal"]) >> i & 1]
        return int(rng.choice(legal))

    env = six_card_v0.vector_env(4, opponent=anything)
    assert picture(env, seed=16, steps=80) == picture(env, seed=16, steps=80)


def test_chance_of_a_named_opponent_differs_between_games_and_between_seeds() -> None:
    deck = np.random.default_rng(20).permutation(52)
    discarded = []
    for seed in (1, 2):
        env = six_card_v0.vector_env(64, opponent="random", seat=1)
        env.reset(seed=seed, options={"decks": [deck], "dealer": 1})
        discarded.append(env.batch.states["discarded"][:, 0].tolist())  # by pone, of fifteen pairs
    for of_a_seed in discarded:
        assert len(set(of_a_seed)) >= 12
    assert discarded[0] != discarded[1]


@pytest.mark.parametrize("opponent", [Lowest(), [("greedy", 1), ("rule_based", 2.0)]])
def test_copies_of_a_batch_go_on_alike(opponent: Any) -> None:
    env = six_card_v0.vector_env(4, opponent=opponent, threads=2, episode="deal")
    rng = np.random.default_rng(17)
    _, info = env.reset(seed=17)
    for _ in range(30):
        *_, info = env.step(pick(info, rng))
    for twin in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        other, info_twin = copy.deepcopy(env), info
        for _ in range(60):
            actions = pick(info_twin, rng)
            first, second = twin.step(actions), other.step(actions)
            info_twin = first[-1]
            assert all(np.array_equal(a, b) for a, b in zip(first[:4], second[:4], strict=True))
