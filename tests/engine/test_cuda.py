"""The GPU batch plays the games that the CPU plays, and its kernels compile for a real GPU.

The entries run in numba-cuda's simulator, in a separate process; where a GPU is present the same
walks also run on it.
"""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import batch
from checkout import python
from crib_env.batch import GameBatch
from crib_env.encoding import encode
from crib_env.engine.entries import ILLEGAL, entries_of
from crib_env.engine.family import find_family
from crib_env.engine.learners import replace_illegal
from crib_env.engine.record import LOG_SIZE, NO_DECKS, NONE
from crib_env.engine.rng import seed_states
from crib_env.engine.show import show_table
from crib_env.rules import PRESETS

pytestmark = pytest.mark.skipif(find_spec("numba_cuda") is None, reason="numba-cuda is not installed (extra `cuda`)")

SIMULATED = {"NUMBA_ENABLE_CUDASIM": "1", "NUMBA_DISABLE_JIT": "1"}
LANES = 4
STEPS = 32
DRAWN = 20  # steps of random play
SEED = 11
RANDOM = ("six_card match", "five_card game", "table_top game for 4", "three sides")
SEEN = ("obs", "masks", "movers", "rewards", "dones")

# preset, changes to it, and arguments of the batch
CASES: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "six_card game": ("hoyle", {"target": 31}, {"reward": "points"}),
    "six_card match": ("hoyle", {"target": 9, "match_target": 2}, {"episode": "match"}),
    "six_card deal": ("hoyle", {}, {"episode": "deal", "autoreset": False}),
    "five_card game": ("five_card", {"target": 21}, {"reward": "points"}),
    "table_top game for 4": ("table_top", {}, {"players": 4, "reward": "points"}),
    "table_top round for 4": ("table_top", {}, {"players": 4, "episode": "round", "autoreset": False}),
    "table_top_ship game": ("table_top_ship", {"target": 1}, {}),
    "three sides": ("three_hand", {"target": 15}, {"players": 3}),
    "points of three sides": ("three_hand", {}, {"players": 3, "episode": "deal", "reward": "points"}),
}


def made(case: str) -> tuple[Any, Any, dict[str, Any]]:
    """Return a case's family, rules and keywords."""
    preset, changes, keywords = CASES[case]
    rules = replace(PRESETS[preset], **changes)
    return find_family(rules.family), rules, keywords


def chosen(masks: np.ndarray, step: int) -> np.ndarray:
    """Return legal actions spread over all there are, and an illegal one now and then."""
    actions = np.zeros(len(masks), dtype=np.int64)
    for lane, mask in enumerate(masks):
        legal = np.flatnonzero(mask)
        if len(legal):
            actions[lane] = legal[(7 * step + 13 * lane) % len(legal)]
    for at, lane, illegal in ((11, 1, -1), (17, 2, 2**40), (23, 3, int(np.argmin(masks[3])))):
        if step == at:
            actions[lane] = illegal
    return actions


def seeded(family: Any, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return states and generators as every batch starts them."""
    deals, players, _ = np.random.SeedSequence(seed).spawn(3)
    states = np.zeros(LANES, dtype=family.state)
    seed_states(states, deals)
    return states, players.generate_state(4 * LANES).reshape(-1, 4).astype(np.int64)


def paid_for_illegal(case: str) -> float:
    """Return the reward of an illegal action."""
    family, rules, keywords = made(case)
    names = {"episode": "game", "reward": "win", "players": None}
    return family.illegal_reward(rules, **{name: keywords.get(name, names[name]) for name in names})


@cache
def cpu_walk(case: str) -> dict[str, np.ndarray]:
    """Walk game by game with the AEC environments' entries; return the arrays of every step."""
    family, rules, keywords = made(case)
    entries, players = entries_of(family), keywords.get("players", 2)
    margins = np.zeros(players, dtype=np.int64)
    record = family.rules_record(rules, keywords.get("episode", "game"), players)
    points, autoreset = keywords.get("reward") == "points", keywords.get("autoreset", True)
    illegal_reward = paid_for_illegal(case)
    states, _ = seeded(family, SEED)
    view, log = np.zeros(1, dtype=family.view), np.zeros(LOG_SIZE, dtype=np.int64)
    obs = np.zeros((LANES, family.obs_size), dtype=np.uint8)
    masks = np.zeros((LANES, family.actions), dtype=np.int8)
    seen: dict[str, list[np.ndarray]] = {key: [] for key in SEEN}

    def begin(lane: int) -> None:
        state = states[lane : lane + 1]
        entries.begin(state, record, NO_DECKS, NONE, log)
        seat = int(state["to_move"][0])
        entries.observe(state, record, seat, view, obs[lane], masks[lane])

    def note(rewards: np.ndarray, dones: np.ndarray) -> None:
        arrays = (obs, masks, states["to_move"], rewards, dones)
        for key, array in zip(seen, arrays, strict=True):
            seen[key].append(array.copy())

    for lane in range(LANES):
        begin(lane)
    dones = np.zeros(LANES, dtype=bool)
    note(np.zeros((LANES, players)), dones)
    for step in range(STEPS):
        actions = chosen(masks, step)
        rewards = np.zeros((LANES, players))
        for lane in range(LANES):
            if dones[lane] and not autoreset:
                continue
            state = states[lane : lane + 1]
            mover = int(state["to_move"][0])
            packed = entries.step(
                state, record, NO_DECKS, show_table(), log, view, obs[lane], masks[lane], margins, int(actions[lane])
            )
            if packed == ILLEGAL:
                rewards[lane, mover] = illegal_reward
                state["over"] = 1
                masks[lane] = 0
            else:
                won = entries.returns(state, record)[0]
                rewards[lane] = margins / family.units(record) if points else won
            dones[lane] = bool(state["over"][0])
            if dones[lane] and autoreset:
                begin(lane)
        note(rewards, dones)
    return {key: np.array(arrays) for key, arrays in seen.items()} | {"states": states}


def cuda_walk(case: str) -> dict[str, np.ndarray]:
    """Walk with the GPU batch; return the arrays of every step."""
    from crib_env.engine.cuda import CudaBatch

    _, rules, keywords = made(case)
    batch = CudaBatch(rules, LANES, seed=SEED, **keywords)
    seen: dict[str, list[np.ndarray]] = {key: [] for key in SEEN}
    for step in range(STEPS + 1):
        if step:
            batch.step(chosen(seen["masks"][-1], step - 1))
        for key in SEEN:
            seen[key].append(getattr(batch, key).copy_to_host())
    return {key: np.array(arrays) for key, arrays in seen.items()} | {"states": batch.states.copy_to_host()}


@cache
def cpu_rollout(case: str) -> dict[str, np.ndarray]:
    """Play at random with the CPU's entry, and observe where that ends."""
    family, rules, keywords = made(case)
    record = family.rules_record(rules, keywords.get("episode", "game"), keywords.get("players", 2))
    states, rngs = seeded(family, SEED)
    views, log = np.zeros(LANES, dtype=family.view), np.zeros(LOG_SIZE, dtype=np.int64)
    obs = np.zeros((LANES, family.obs_size), dtype=np.uint8)
    masks = np.zeros((LANES, family.actions), dtype=np.int8)
    lanes, dealers = np.arange(LANES), np.full(LANES, NONE)
    lanes_of = entries_of(family)
    lanes_of.begin_games(states, record, NO_DECKS, lanes, dealers, log)
    batch.rollout_of(family)(
        states, record, NO_DECKS, show_table(), rngs, views, log, 0, LANES, NONE, DRAWN, obs, masks
    )
    lanes_of.view_games(states, record, lanes, states["to_move"].copy(), views)
    lanes_of.encode(views, obs, masks)
    return {"states": states, "obs": obs, "masks": masks, "movers": states["to_move"].copy()}


@cache
def cpu_draws(case: str) -> dict[str, np.ndarray]:
    """Play at random on the CPU by actions drawn from the masks, and observe where that ends."""
    family, rules, keywords = made(case)
    episode, players = keywords.get("episode", "game"), keywords.get("players", 2)
    games, lanes = GameBatch(rules, LANES, players=players, episode=episode, family=family), np.arange(LANES)
    games.states[:], rngs = seeded(family, SEED)
    games.reset()
    for _ in range(DRAWN):
        actions = np.full(LANES, NONE)
        replace_illegal(encode(games.views(lanes))[1], rngs, actions, np.zeros_like(actions))
        games.step(lanes, actions)
        games.reset(np.flatnonzero(games.states["over"]))
    obs, masks = encode(games.views(lanes))
    return {"states": games.states, "obs": obs, "masks": masks, "movers": games.states["to_move"].copy()}


EXPECTED = {"cuda": cpu_walk, "cuda rollout": cpu_rollout, "cuda draws": cpu_draws}


def cuda_rollout(case: str, at_once: bool) -> dict[str, np.ndarray]:
    """Play at random on the GPU: in one launch, or draw by draw."""
    from crib_env.engine.cuda import CudaBatch

    _, rules, keywords = made(case)
    batch = CudaBatch(rules, LANES, seed=SEED, **keywords | {"autoreset": True})
    if at_once:
        assert batch.rollout(DRAWN) == DRAWN * LANES
    else:
        for _ in range(DRAWN):
            batch.step(batch.sample())
    keys = ("states", "obs", "masks", "movers")
    return {key: getattr(batch, key).copy_to_host() for key in keys}


def save(folder: str, walks: tuple[str, ...]) -> None:
    """Write every case's walks into a folder, for the tests' other processes."""
    makers = {
        "cuda": cuda_walk,
        "cuda rollout": lambda case: cuda_rollout(case, at_once=True),
        "cuda draws": lambda case: cuda_rollout(case, at_once=False),
    }
    for case in CASES:
        for walk in walks if case in RANDOM else walks[:1]:
            np.savez(Path(folder) / f"{case}, {walk}.npz", **makers[walk](case))


ON_A_GPU = tuple(EXPECTED)


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of walks in the simulator, which runs the kernels as plain Python."""
    folder = tmp_path_factory.mktemp("simulated")
    walks = f"test_cuda.save({str(folder)!r}, {ON_A_GPU!r})"
    code = f"import test_cuda; {walks}; test_cuda.print_refusals()"
    (folder / "refusals").write_text(python(code, **SIMULATED))
    return folder


@cache
def has_device() -> bool:
    from numba import cuda

    return bool(cuda.is_available())


@pytest.fixture(scope="module")
def on_device(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of walks on a real GPU."""
    if not has_device():
        pytest.skip("no CUDA device here")
    folder = tmp_path_factory.mktemp("device")
    python(f"import test_cuda; test_cuda.save({str(folder)!r}, {ON_A_GPU!r})")
    return folder


def assert_alike(folder: Path, case: str, walk: str, expected: dict[str, np.ndarray]) -> None:
    found = np.load(folder / f"{case}, {walk}.npz")
    assert set(found) == set(expected)
    for key, array in expected.items():
        if key == "states":
            for field in array.dtype.names:
                if field != "gain":  # the rollout of the CPU never clears it
                    np.testing.assert_array_equal(found[key][field], array[field], f"{key} {field}")
        else:
            np.testing.assert_array_equal(found[key], array, key)


@pytest.mark.parametrize("case", CASES)
def test_simulator_matches_compiled_games(case: str, simulated: Path) -> None:
    assert_alike(simulated, case, "cuda", cpu_walk(case))


@pytest.mark.parametrize("walk", ["cuda rollout", "cuda draws"])
@pytest.mark.parametrize("case", RANDOM)
def test_simulator_random_play_matches_compiled(case: str, walk: str, simulated: Path) -> None:
    assert_alike(simulated, case, walk, EXPECTED[walk](case))


@pytest.mark.parametrize("walk", ON_A_GPU)
def test_gpu_games_match_compiled_code(walk: str, on_device: Path) -> None:
    for case in CASES if walk == "cuda" else RANDOM:
        assert_alike(on_device, case, walk, EXPECTED[walk](case))


def print_refusals() -> None:
    """Print the batch's errors for impossible arguments."""
    from crib_env.engine.cuda import CudaBatch

    _, rules, _ = made("six_card game")
    CudaBatch("table_top", 1, episode="deal", seed=1)  # either word, as everywhere
    batch = CudaBatch(rules, 2, seed=1)
    for attempt in (
        lambda: CudaBatch(rules, 0),
        lambda: CudaBatch(rules, 2, reward="score"),
        lambda: CudaBatch(rules, 2, players=4),
        lambda: CudaBatch(rules, 2, seed=-1),
        lambda: batch.reset(seed=1.5),
        lambda: batch.step(np.zeros(3, dtype=np.int64)),
        lambda: batch.step(np.zeros(2)),
    ):
        try:
            attempt()
        except ValueError as error:
            print(error)


def test_cuda_batch_impossible_arguments_are_rejected_by_name(simulated: Path) -> None:
    assert (simulated / "refusals").read_text().splitlines() == [
        "num_envs must be a whole number from 1 up, got 0",
        "reward must be one of 'win', 'points', got 'score'",
        "a game by rules='hoyle' has 2 players, got players=4",
        "seed must be None or a whole number from 0 up, got -1",
        "seed must be None or a whole number from 0 up, got 1.5",
        "actions must be int64[2], one a game, got int64[3]",
        "actions must be int64[2], one a game, got float64[2]",
    ]


# ---------------------------------------------------------------- machine code for a real GPU


def print_ptx(entry: str, name: str) -> None:
    """Print as JSON an entry's assembly for sm_90 in a family, or why none could be made.

    numba-cuda asks the driver for the present device and NVRTC for the architectures there are,
    before it hands the kernels to libnvvm, the compiler. Neither is needed for sm_90.
    """
    from types import SimpleNamespace

    import numba.cuda.dispatcher as dispatcher
    from cuda import pathfinder
    from numba import cuda, float64, from_dtype, int8, int64, types, uint8, void
    from numba.cuda.cudadrv import nvvm

    from crib_env.engine.cuda import entries

    try:
        compiler = Path(pathfinder.load_nvidia_dynamic_lib("nvvm").abs_path)
    except pathfinder.DynamicLibNotFoundError:
        print(json.dumps({"missing": "libnvvm (nvidia-nvvm on PyPI, or a CUDA toolkit)"}))
        return
    bitcode = [
        path
        for folder in compiler.resolve().parents[:3]
        for path in (folder / "libdevice", folder / "nvvm" / "libdevice")
        if (path / "libdevice.10.bc").exists()
    ]
    if not bitcode:
        print(json.dumps({"missing": f"libdevice.10.bc beside {compiler}"}))
        return
    nvvm.LibDevice._cache_ = (bitcode[0] / "libdevice.10.bc").read_bytes()
    dispatcher.get_current_device = lambda: SimpleNamespace(compute_capability=(9, 0))
    family = find_family(name)
    record = family.rules_record(PRESETS[{"two_hand": "hoyle"}.get(name, name)], "game", 2)
    s, r = (types.Array(from_dtype(d), 1, "C") for d in (family.state, record.dtype))
    flat, wide, table = int64[::1], int64[:, ::1], uint8[::1]
    seen = (flat, uint8[:, ::1], int8[:, ::1])
    paid = (float64[:, ::1], types.boolean[::1])
    signatures = {
        "reset": void(s, r, wide, flat, *seen, *paid),
        "step": void(s, r, wide, table, int64, float64, int64, flat, *seen, *paid),
        "sample": void(int8[:, ::1], wide, flat),
        "rollout": void(s, r, wide, table, wide, int64, *seen),
    }
    function = getattr(entries(family), entry).py_func
    print(json.dumps({"ptx": cuda.compile_ptx(function, signatures[entry], cc=(9, 0))[0]}))


@pytest.mark.slow
@pytest.mark.parametrize("entry", ["step", "reset", "sample", "rollout"])
@pytest.mark.parametrize("name", ["two_hand", "table_top"])
def test_entries_compile_for_sm_90_without_a_gpu(entry: str, name: str) -> None:
    variables = {"NUMBA_FORCE_CUDA_CC": "9.0"}
    printed = python(f"import test_cuda; test_cuda.print_ptx({entry!r}, {name!r})", **variables)
    found: dict[str, str] = json.loads(printed.splitlines()[-1])
    if "missing" in found:
        pytest.skip(f"cannot compile PTX here without {found['missing']}")
    code = found["ptx"]
    assert ".target sm_90" in code
    assert ".visible .entry" in code
    assert "NRT_" not in code  # nothing is allocated
    for line in code.splitlines():
        if ".local" in line and ".align" in line:  # the view: all its fields are 64 bits wide
            assert int(line.split(".align")[1].split()[0]) >= 8


# ---------------------------------------------------------------- with PyTorch


def print_shared_with_torch() -> None:
    """Print whether PyTorch sees the batch's own memory."""
    import torch

    from crib_env.engine.cuda import CudaBatch

    _, rules, _ = made("six_card game")
    batch = CudaBatch(rules, LANES, seed=SEED)
    before = {name: torch.as_tensor(getattr(batch, name), device="cuda") for name in SEEN}
    for _ in range(STEPS):
        batch.step(torch.multinomial(before["masks"].float(), 1).flatten())
    for name, tensor in before.items():
        array = getattr(batch, name)
        assert tensor.data_ptr() == array.__cuda_array_interface__["data"][0], name
        assert np.array_equal(tensor.cpu().numpy(), array.copy_to_host()), name
    print("shared")


def test_cuda_arrays_are_shared_with_pytorch() -> None:
    if not has_device():
        pytest.skip("no CUDA device here")
    if find_spec("torch") is None:
        pytest.skip("PyTorch is not installed (extra `train`)")
    if not python("import torch; print(torch.cuda.is_available())").endswith("True"):
        pytest.skip("this PyTorch was built without CUDA")
    assert python("import test_cuda; test_cuda.print_shared_with_torch()") == "shared"


def test_benchmark_without_gpu_reports_no_measurement() -> None:
    if has_device():
        pytest.skip("there is a CUDA device here")
    assert batch.measure_gpu().notes[0].startswith("GPU: unmeasured, for lack of a CUDA device")
