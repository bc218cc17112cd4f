"""The native batch as a Gymnasium vector environment, beside Gymnasium's own, and in tensors."""

from __future__ import annotations

import copy
import multiprocessing
import os
import pickle
import warnings
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers.vector import NormalizeObservation, RecordEpisodeStatistics

import crib_env
from crib_env import (
    ENVIRONMENTS,
    discard_v0,
    env_module,
    five_card_v0,
    pegging_v0,
    sample_legal,
    six_card_v0,
    table_top_v0,
)
from crib_env.batch import usable_cores
from crib_env.envs import vector
from two_hand_views import legal_cards
from vector_walks import THREE, Lowest, lowest, pick, picture, walk

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
        assert info["action_mask"].any(axis=1).all()  # the learner is always to move
        assert np.array_equal(env.unwrapped.action_masks(), info["action_mask"].astype(bool))
    env.close()


@pytest.mark.parametrize("mode", ["SameStep", "NextStep"])
def test_record_episode_statistics_of_the_batch_are_exact(mode: str) -> None:
    """If this version of Gymnasium counts wrongly, a warning names it instead."""
    env = RecordEpisodeStatistics(
        gymnasium.make_vec(
            "crib_env/SixCard-v0", num_envs=4, opponent=lowest, episode="deal", reward="points", autoreset_mode=mode
        )
    )
    rng = np.random.default_rng(2)
    if mode == "SameStep" and vector.STATISTICS_OF_NEXT_STEP:
        with pytest.warns(UserWarning, match=r"RecordEpisodeStatistics .* NextStep"):
            env.reset(seed=2)
        return
    _, info = env.reset(seed=2)
    totals, lengths, finished = np.zeros(4), np.zeros(4, dtype=int), 0
    begun = np.zeros(4, dtype=bool)
    for _ in range(60):
        _, rewards, ends, _, info = env.step(pick(info, rng))
        totals += rewards
        lengths += ~begun
        for lane in np.flatnonzero(ends):
            assert info["episode"]["r"][lane] == totals[lane]
            assert info["episode"]["l"][lane] == lengths[lane]
            totals[lane], lengths[lane], finished = 0.0, 0, finished + 1
        begun = ends & (mode == "NextStep")
    assert finished >= 20  # a deal is six decisions, or a few less


def test_record_episode_statistics_of_older_gymnasium_warns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vector, "STATISTICS_OF_NEXT_STEP", True)

    def made(mode: str) -> Any:
        return gymnasium.make_vec("crib_env/SixCard-v0", num_envs=2, opponent=lowest, autoreset_mode=mode)

    with pytest.warns(UserWarning, match=r"autoreset_mode='NextStep'"):
        RecordEpisodeStatistics(made("SameStep")).reset(seed=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made("SameStep").reset(seed=1)
        RecordEpisodeStatistics(made("NextStep")).reset(seed=1)


def test_record_episode_statistics_rejects_tensors() -> None:
    env = RecordEpisodeStatistics(six_card_v0.torch_env(2, opponent=lowest))
    with pytest.raises(TypeError, match="torch_env returns tensors: wrap vector_env"):
        env.reset(seed=1)


@pytest.mark.parametrize("copied", [True, False])
def test_action_masks_are_those_of_the_info_in_the_next_step_mode(copied: bool) -> None:
    env = six_card_v0.vector_env(4, opponent=lowest, episode="deal", autoreset_mode="NextStep", copy=copied)
    _, info = env.reset(seed=1)
    rng, ended = np.random.default_rng(1), 0
    for _ in range(20):
        _, _, ends, _, info = env.step(sample_legal(env.action_masks(), rng))
        assert np.array_equal(env.action_masks(), info["action_mask"].astype(bool))
        assert env.action_masks()[ends].all()
        ended += int(ends.sum())
    assert ended > 4


def test_vector_env_without_spec_has_a_text_form() -> None:
    """Gymnasium's `__repr__` reads the spec; TorchRL's GymWrapper reads the text."""
    env = six_card_v0.vector_env(2)
    assert env.spec is None
    assert str(env) == "CribbageVectorEnv(num_envs=2)"


def test_make_vec_mode_as_text_and_spec_as_json_are_equal() -> None:
    env = gymnasium.make_vec("crib_env/SixCard-v0", num_envs=2, autoreset_mode=AutoresetMode.NEXT_STEP)
    spec = gymnasium.envs.registration.EnvSpec.from_json(env.spec.to_json())
    again = gymnasium.make_vec(spec)
    assert again.autoreset_mode is again.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    assert again.num_envs == 2


@pytest.mark.parametrize("mode", ["SameStep", "NextStep"])
@pytest.mark.parametrize("opponent", ["greedy", lowest], ids=["compiled", "python"])
def test_reset_mask_resets_only_the_masked_games(mode: str, opponent: Any) -> None:
    keywords = {"opponent": opponent, "episode": "deal", "autoreset_mode": mode}
    env, other = (six_card_v0.vector_env(4, **keywords) for _ in range(2))
    mask = np.array([False, True, False, True])
    with pytest.raises(crib_env.EpisodeOverError, match="reset"):
        env.reset(options={"reset_mask": mask})
    (_, info), _ = env.reset(seed=1), other.reset(seed=1)
    for step in range(30):
        if step % 5 == 3:
            seen, info = env.reset(seed=[None, 8, None, 9], options={"reset_mask": mask, "dealer": 1})
            for lane, seed in ((1, 8), (3, 9)):
                single = six_card_v0.gym_env(opponent=opponent, episode="deal")
                first, about = single.reset(seed=seed, options={"dealer": 1})
                assert np.array_equal(seen[lane], first)
                assert np.array_equal(info["action_mask"][lane], about["action_mask"])
        actions = info["action_mask"].argmax(1)
        played, theirs = env.step(actions), other.step(np.where(mask, 99, actions))
        info = played[-1]
        for mine, whole in zip(played[:4], theirs[:4], strict=True):
            assert np.array_equal(mine[~mask], whole[~mask])


@pytest.mark.parametrize("mask", [[True], np.zeros(2, dtype=bool), np.array([0, 1]), None])
def test_reset_mask_of_wrong_shape_or_dtype_is_rejected(mask: Any) -> None:
    env = six_card_v0.vector_env(2, opponent=lowest)
    env.reset(seed=1)
    before = env.batch.states.tobytes()
    with pytest.raises(ValueError, match=r"'reset_mask' must be bool\[2\]"):
        env.reset(options={"reset_mask": mask})
    with pytest.raises(ValueError, match="seed must be 2, one a game"):
        env.reset(seed=1, options={"reset_mask": np.array([True, False])})
    assert env.batch.states.tobytes() == before


def test_call_get_attr_and_set_attr_work_as_in_gymnasium() -> None:
    env = six_card_v0.vector_env(3, opponent="greedy")
    _, info = env.reset(seed=1)
    assert np.array_equal(env.call("action_masks"), info["action_mask"].astype(bool))
    assert env.get_attr("reward") == ("win",) * 3
    assert [agent.name for agent in env.get_attr("opponent")] == ["greedy"] * 3
    env.set_attr("opponent", ["greedy", "random", "rule_based"])
    assert [agent.name for agent in env.opponent] == ["greedy", "random", "rule_based"]
    env.set_attr("opponent", "random")
    assert env.call("set_opponent", "greedy", [0]) == (None,) * 3
    assert [agent.name for agent in env.opponent] == ["greedy", "random", "random"]
    with pytest.raises(ValueError, match="no agent is called 'nobody'"):
        env.set_attr("opponent", ["rule_based", "rule_based", "nobody"])
    assert [agent.name for agent in env.opponent] == ["greedy", "random", "random"]
    with pytest.raises(NotImplementedError, match="cannot set 'reward'"):
        env.set_attr("reward", "points")
    with pytest.raises(AttributeError, match="no method 'step'"):
        env.call("step", 3)


def test_threads_default_is_the_cores_of_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 128)
    monkeypatch.delattr(os, "process_cpu_count", raising=False)
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {3, 5, 7}, raising=False)
    assert usable_cores() == 3
    assert six_card_v0.vector_env(1 << 14, opponent=lowest).batch.threads == 3
    monkeypatch.setattr(os, "process_cpu_count", lambda: 2, raising=False)
    assert usable_cores() == 2


def test_make_vec_takes_id_with_module() -> None:
    assert gymnasium.make_vec("crib_env:crib_env/SixCard-v0", num_envs=2).num_envs == 2


def test_step_returns_copies_by_default() -> None:
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


def anything(view: Any, rng: np.random.Generator) -> int:
    return int(rng.choice(legal_cards(view)))


@pytest.mark.parametrize(
    ("module", "keywords"),
    [
        (six_card_v0, {"opponent": anything, "seat": None}),
        (six_card_v0, {"opponent": "random", "seat": None}),
        (six_card_v0, {"opponent": THREE, "seat": None, "episode": "deal"}),
        (discard_v0, {"opponent": "random", "pegging_policy": "random"}),
        (pegging_v0, {"opponent": "random", "discard_policy": "random"}),
    ],
)
def test_equal_seeds_give_equal_batches_for_any_threads(module: Any, keywords: dict[str, Any]) -> None:
    one, two, many = (module.vector_env(37, threads=threads, reward="points", **keywords) for threads in (1, 2, 5))
    expected = picture(one, seed=5, steps=60)
    assert picture(two, seed=5, steps=60) == expected
    assert picture(many, seed=5, steps=60) == expected
    assert picture(one, seed=5, steps=60) == expected  # reseeding restarts every game
    assert picture(one, seed=6, steps=60) != expected


def test_reset_without_a_seed_continues_the_generators_or_takes_fresh_entropy() -> None:
    env, twin, other = (six_card_v0.vector_env(4, opponent=lowest) for _ in range(3))
    env.reset(seed=8)
    twin.reset(seed=8)
    begun = [one.reset()[0].tobytes() for _ in range(3) for one in (env, twin, other)]
    assert begun[::3] == begun[1::3]
    assert len(set(begun)) == 6


def test_seat_none_draws_the_seat_for_each_episode() -> None:
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
    assert (drawn > 0).all()  # in every game the learner has had both seats


@pytest.mark.parametrize("opponent", [lowest, "greedy"])
def test_reset_decks_apply_to_the_first_episode_only(opponent: Any) -> None:
    """The next episode is dealt by the game's generator from its first deal to its last."""
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
            pone, dealer = (state["dealt"][6 * s : 6 * s + 6] for s in (1 - state["dealer"], state["dealer"]))
            dealt = tuple(int(c) for pair in zip(pone, dealer, strict=True) for c in pair)
            met[episode[lane]].add(dealt in given)
        if (episode >= 2).all():
            break
    assert met[0] == {True}
    assert met[1] == {False}


def test_opponent_agent_gets_batches_and_function_single_views() -> None:
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


def test_named_opponent_randomness_differs_by_game_and_seed() -> None:
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
def test_batch_copies_continue_alike(opponent: Any) -> None:
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


# --- Gymnasium's own vector of single environments gives the same results and info keys -----------


SEEDS = [5, 6, 7, 8, 9]
CASES: dict[str, tuple[Any, dict[str, Any]]] = {
    "compiled": (six_card_v0, {"opponent": "random", "episode": "deal", "seat": None}),
    "points": (five_card_v0, {"opponent": "greedy", "episode": "deal", "reward": "points"}),
    "asked": (six_card_v0, {"opponent": lowest, "episode": "deal", "seat": None}),
    "phased": (pegging_v0, {"opponent": "random", "discard_policy": "random", "seat": None}),
    "four": (table_top_v0, {"opponent": "greedy", "players": 4, "episode": "round"}),
    "replaced": (six_card_v0, {"opponent": "random", "episode": "deal", "on_illegal": "random"}),
}
every_case = pytest.mark.parametrize("case", CASES)
modes = pytest.mark.parametrize("mode", [AutoresetMode.SAME_STEP, AutoresetMode.NEXT_STEP])


def both(case: str, mode: AutoresetMode) -> tuple[Any, Any]:
    """Return the native batch, and Gymnasium's vector of equally many single environments."""
    module, keywords = CASES[case]
    native = module.vector_env(len(SEEDS), autoreset_mode=mode, **keywords)
    singles = [lambda: module.gym_env(**keywords) for _ in SEEDS]
    return native, SyncVectorEnv(singles, autoreset_mode=mode)


def check_same(ours: Any, theirs: Any, where: str) -> None:
    if isinstance(theirs, dict):
        assert ours.keys() == theirs.keys(), where
        for key in theirs:
            check_same(ours[key], theirs[key], f"{where} {key}")
        return
    if isinstance(theirs, str):
        assert ours == theirs, where
        return
    assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape), where
    if theirs.dtype != object:
        assert np.array_equal(ours, theirs), where
        return
    for lane, (one, other) in enumerate(zip(ours, theirs, strict=True)):
        assert (one is None) == (other is None), where
        if other is not None:
            check_same(one, other, f"{where} {lane}")


@every_case
@modes
def test_native_batch_equals_gymnasiums_sync_vector_env(case: str, mode: AutoresetMode) -> None:
    native, own = both(case, mode)
    rng = np.random.default_rng(1)
    ours, theirs = (env.reset(seed=SEEDS) for env in (native, own))
    check_same(ours[0], theirs[0], "reset")
    check_same(ours[1], theirs[1], "reset info")
    ends = 0
    for step in range(60):
        actions = rng.integers(-1, 60, 5) if case == "replaced" else pick(ours[-1], rng)
        ours, theirs = native.step(actions), own.step(actions)
        ended = theirs[2]
        ends += int(ended.sum())
        info = ours[4]
        if mode == AutoresetMode.NEXT_STEP:  # the next action is ignored, so the mask allows all
            assert (info["action_mask"][ended] == 1).all()
            assert not theirs[4]["action_mask"][ended].any()
            info = {**info, "action_mask": np.where(ended[:, None], 0, info["action_mask"])}
            info["action_mask"] = info["action_mask"].astype(np.int8)
        for name, one, other in zip(("obs", "reward", "end", "cut"), ours, theirs, strict=False):
            check_same(one, other, f"step {step} {name}")
        check_same(info, theirs[4], f"step {step} info")
    assert ends > 5


def test_reset_seed_none_continues_that_games_generator() -> None:
    native, other = (CASES["compiled"][0].vector_env(2, opponent="random") for _ in range(2))
    native.reset(seed=[1, 2])
    other.reset(seed=[1, 2])
    first = native.reset(seed=[1, None])[0]
    again, goes_on = other.reset(seed=[1, 2])[0], first[1]
    assert np.array_equal(first[0], again[0])
    assert not np.array_equal(goes_on, again[1])


@pytest.mark.parametrize("seeds", [[1], [1, 2, 3], [1, -1], [1, 2.0], [1, "2"], np.array(5)])
def test_reset_invalid_seeds_change_nothing(seeds: Any) -> None:
    env = six_card_v0.vector_env(2, opponent=lowest)
    env.reset(seed=3)
    before = env.batch.states.tobytes()
    with pytest.raises(ValueError, match="seed must be"):
        env.reset(seed=seeds)
    assert env.batch.states.tobytes() == before


def test_gymnasiums_vector_wrappers_take_the_next_step_mode() -> None:
    """Gymnasium's `NormalizeObservation` refuses any other mode."""
    keywords = {"num_envs": 4, "opponent": lowest, "episode": "deal", "reward": "points"}
    with pytest.raises((AssertionError, ValueError), match="NEXT_STEP"):
        NormalizeObservation(gymnasium.make_vec("crib_env/SixCard-v0", **keywords))
    env = gymnasium.make_vec("crib_env/SixCard-v0", autoreset_mode=AutoresetMode.NEXT_STEP, **keywords)
    assert env.metadata["autoreset_mode"] == AutoresetMode.NEXT_STEP
    env = NormalizeObservation(env)
    for observations, *_ in walk(env, seed=2, steps=40):
        assert np.isfinite(observations).all()


# ---------------------------------------------------------------- fork


def play_in_child(env: Any, answer: Any) -> None:
    _, info = env.reset(seed=3)
    seen = [env.step(info["action_mask"].argmax(axis=1))[0].tobytes() for _ in range(2)]
    answer.put(seen)


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # Python 3.12+: this has threads
@pytest.mark.parametrize(
    "keywords", [{"opponent": "greedy"}, {"opponent": "greedy", "discard_policy": "greedy"}], ids=str
)
def test_fork_after_threaded_steps_can_step(keywords: dict[str, Any]) -> None:
    module = pegging_v0 if "discard_policy" in keywords else six_card_v0
    env = module.vector_env(4, threads=2, on_illegal="terminate", **keywords)
    _, info = env.reset(seed=1)
    env.step(info["action_mask"].argmax(axis=1))  # the threads have started
    context = multiprocessing.get_context("fork")
    answer = context.Queue()
    child = context.Process(target=play_in_child, args=(env, answer), daemon=True)
    child.start()
    try:
        seen = answer.get(timeout=60)
    finally:
        child.kill()
        child.join()
    _, info = env.reset(seed=3)  # and the parent's own threads still do
    assert seen == [env.step(info["action_mask"].argmax(axis=1))[0].tobytes() for _ in range(2)]


# --- in tensors: the same games as in arrays, in the batch's own memory ---------------------------


KEYWORDS: dict[str, Any] = {"opponent": "greedy", "episode": "deal", "reward": "points"}


@pytest.mark.parametrize(
    ("name", "features"), [(name, features) for name in sorted(ENVIRONMENTS) for features in (None, True)]
)
def test_tensors_equal_the_arrays(name: str, features: bool | None) -> None:
    module = env_module(name)
    keywords = KEYWORDS | {"features": features}
    arrays, tensors = module.vector_env(16, **keywords), module.torch_env(16, **keywords)
    rng, ended = np.random.default_rng(2), 0
    expected, info = arrays.reset(seed=2)
    found, about = tensors.reset(seed=2)
    for _ in range(40):
        assert np.array_equal(found, expected)
        assert found.dtype == torch.as_tensor(expected).dtype
        assert about["action_mask"].dtype == torch.bool
        for key in ("action_mask", "seat", "opponent"):
            assert np.array_equal(about[key], info[key]), key
        actions = sample_legal(info["action_mask"], rng)
        expected, rewards, terminations, _, info = arrays.step(actions)
        found, paid, over, cut, about = tensors.step(torch.from_numpy(actions))
        assert np.array_equal(paid, rewards.astype(np.float32))
        assert paid.dtype == torch.float32
        assert np.array_equal(over, terminations)
        assert not cut.any()
        assert ("final_info" in about) == ("final_info" in info)
        if "final_info" in about:
            ended += int(over.sum())
            for key, part in about["final_info"].items():
                assert np.array_equal(part, info["final_info"][key]), key
    assert ended > 16


def test_tensors_of_every_step_share_the_batchs_memory() -> None:
    envs = six_card_v0.torch_env(8, features=True, **KEYWORDS)
    observations, info = envs.reset(seed=1)
    first = observations.clone()
    stored = [observations, info["action_mask"], envs.rewards, envs.dones]
    assert observations.data_ptr() == envs.batch.observations.ctypes.data
    assert info["action_mask"].data_ptr() == envs.batch.masks.ctypes.data
    for _ in range(20):
        envs.set_opponent("rule_based")
        result = envs.step(info["action_mask"].int().argmax(dim=1))
        info = result[-1]
        now = [result[0], info["action_mask"], result[1], result[2]]
        assert all(one is other for one, other in zip(stored, now, strict=True))
        assert np.array_equal(observations, envs.batch.observations)
    envs.reset(seed=1)
    assert torch.equal(observations, first)


@pytest.mark.parametrize("way", [copy.deepcopy, lambda envs: pickle.loads(pickle.dumps(envs))])
def test_tensors_of_a_copy_are_separate(way: Any) -> None:
    envs = six_card_v0.torch_env(8, **KEYWORDS)
    _, info = envs.reset(seed=1)
    envs.step(info["action_mask"].int().argmax(dim=1))
    twin = way(envs)
    assert torch.equal(twin.observations, envs.observations)
    assert torch.equal(twin.rewards, envs.rewards)
    before = envs.observations.clone()
    twin.step(twin.masks.int().argmax(dim=1))
    assert torch.equal(envs.observations, before)
    assert twin.observations.data_ptr() == twin.batch.observations.ctypes.data
    envs.step(envs.masks.int().argmax(dim=1))
    assert torch.equal(twin.observations, envs.observations)


def test_torch_env_actions_may_have_gradients_or_be_numpy() -> None:
    envs = six_card_v0.torch_env(4, **KEYWORDS)
    _, info = envs.reset(seed=1)
    envs.step(info["action_mask"].int().argmax(dim=1).numpy())
    logits = torch.zeros(4, 52, requires_grad=True).masked_fill(~envs.masks, -1e9)
    envs.step(torch.distributions.Categorical(logits=logits).sample())
    with pytest.raises(ValueError, match="actions must be 4 whole numbers"):
        envs.step(logits)


def test_torch_env_has_the_spaces_of_make_vec() -> None:
    envs = six_card_v0.torch_env(4)
    made: Any = gymnasium.make_vec("crib_env/SixCard-v0", num_envs=4)
    assert (envs.observation_space, envs.action_space) == (made.observation_space, made.action_space)


@pytest.mark.parametrize(
    ("keywords", "error", "why"),
    [
        ({"device": "cuda"}, ValueError, r"played on the CPU.*tensor\.to\(device\)"),
        ({"mask_in_observation": True}, TypeError, "masks are in info"),
        ({"copy": True}, TypeError, "tensors share the batch's memory"),
        ({"autoreset_mode": None}, TypeError, "reset in the same step"),
    ],
)
def test_torch_env_rejects_unsupported_keywords(keywords: dict[str, Any], error: type[Exception], why: str) -> None:
    with pytest.raises(error, match=why):
        crib_env.six_card_v0.torch_env(4, **keywords)
