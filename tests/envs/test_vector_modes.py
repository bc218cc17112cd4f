"""The native batch beside Gymnasium's own vector of single environments: the same to the key."""

from __future__ import annotations

import multiprocessing
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers.vector import NormalizeObservation, RecordEpisodeStatistics

from crib_env import five_card_v0, pegging_v0, six_card_v0, table_top_v0
from vector_walks import lowest, pick

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
    """Return the native batch, and Gymnasium's own of as many single environments."""
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
def test_native_batch_and_gymnasiums_own_say_the_same(case: str, mode: AutoresetMode) -> None:
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
        if mode == AutoresetMode.NEXT_STEP:  # no action is noticed there: every one is allowed
            assert (info["action_mask"][ended] == 1).all()
            assert not theirs[4]["action_mask"][ended].any()
            info = {**info, "action_mask": np.where(ended[:, None], 0, info["action_mask"])}
            info["action_mask"] = info["action_mask"].astype(np.int8)
        for name, one, other in zip(("obs", "reward", "end", "cut"), ours, theirs, strict=False):
            check_same(one, other, f"step {step} {name}")
        check_same(info, theirs[4], f"step {step} info")
    assert ends > 5


def test_a_lane_without_a_seed_goes_on_with_its_generator() -> None:
    native, other = (CASES["compiled"][0].vector_env(2, opponent="random") for _ in range(2))
    native.reset(seed=[1, 2])
    other.reset(seed=[1, 2])
    first = native.reset(seed=[1, None])[0]
    again, goes_on = other.reset(seed=[1, 2])[0], first[1]
    assert np.array_equal(first[0], again[0])
    assert not np.array_equal(goes_on, again[1])


@pytest.mark.parametrize("seeds", [[1], [1, 2, 3], [1, -1], [1, 2.0], [1, "2"]])
def test_seeds_that_do_not_fit_change_nothing(seeds: list[Any]) -> None:
    env = six_card_v0.vector_env(2, opponent=lowest)
    env.reset(seed=3)
    before = env.batch.states.tobytes()
    with pytest.raises(ValueError, match="seed must be"):
        env.reset(seed=seeds)
    assert env.batch.states.tobytes() == before


def test_gymnasiums_vector_wrappers_take_the_next_step_mode() -> None:
    """One of them refuses any other mode; the first counts an episode's steps by it."""
    keywords = {"num_envs": 4, "opponent": lowest, "episode": "deal", "reward": "points"}
    with pytest.raises((AssertionError, ValueError), match="NEXT_STEP"):
        NormalizeObservation(gymnasium.make_vec("crib_env/SixCard-v0", **keywords))
    env = gymnasium.make_vec(
        "crib_env/SixCard-v0", autoreset_mode=AutoresetMode.NEXT_STEP, **keywords
    )
    assert env.metadata["autoreset_mode"] == AutoresetMode.NEXT_STEP
    env = NormalizeObservation(RecordEpisodeStatistics(env))
    rng = np.random.default_rng(2)
    observations, info = env.reset(seed=2)
    totals, lengths, finished = np.zeros(4), np.zeros(4, dtype=int), 0
    begun = np.zeros(4, dtype=bool)
    for _ in range(60):
        observations, rewards, ends, _, info = env.step(pick(info, rng))
        assert np.isfinite(observations).all()
        assert not rewards[begun].any()
        totals += rewards
        lengths += ~begun
        for lane in np.flatnonzero(ends):
            assert info["episode"]["r"][lane] == totals[lane]
            assert info["episode"]["l"][lane] == lengths[lane]
            totals[lane], lengths[lane], finished = 0.0, 0, finished + 1
        begun = ends
    assert finished >= 20


def test_a_mode_that_is_not_played_is_refused() -> None:
    with pytest.raises(ValueError, match="autoreset_mode must be one of"):
        six_card_v0.vector_env(2, opponent=lowest, autoreset_mode=AutoresetMode.DISABLED)


# ---------------------------------------------------------------- fork


def play_in_child(env: Any, answer: Any) -> None:
    _, info = env.reset(seed=3)
    seen = [env.step(info["action_mask"].argmax(axis=1))[0].tobytes() for _ in range(2)]
    answer.put(seen)


@pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods(), reason="this system does not fork"
)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # Python 3.12+: this has threads
@pytest.mark.parametrize(
    "keywords",
    [{"opponent": "greedy"}, {"opponent": "greedy", "discard_policy": "greedy"}],
    ids=str,
)
def test_a_fork_after_threads_have_stepped_steps_too(keywords: dict[str, Any]) -> None:
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
