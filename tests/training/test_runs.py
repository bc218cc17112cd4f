"""Runs: stopped ones resume to the same result, others are refused, diverging ones end; folders."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from itertools import chain, product
from pathlib import Path
from shutil import copytree
from typing import Any
from zipfile import ZipFile

import numpy as np
import pytest
import torch
from crib_agents.files import BESIDE, SEAL
from crib_agents.learned import MonteCarloAgent, Weights
from crib_agents.loading import load_agent
from crib_training.evaluation.chunks import Setup
from crib_training.learn import demo
from crib_training.learn.curve import Strength, read_points
from crib_training.learn.run import POLICY, Checkpoint, DivergedError, Run, Screen, step_optimizer
from crib_training.loading import find_env
from crib_training.methods import ppo
from crib_training.methods.deep_monte_carlo import find_self_play, train
from crib_training.outputs import CHECKPOINT, LOCK, MODEL, FolderInUseError, claimed, run_folder
from crib_training.tournament import tournament
from crib_training.workers import ThisProcess
from stable_baselines3.common.vec_env import VecNormalize

from commands import crib
from crib_env import PRESETS
from crib_env.batch import GameBatch
from learned_nets import drawn_weights
from small_runs import BASELINES, begun, learner_of, small, small_ppo, tensors_of

GAMES = {"six_card_v0": "hoyle", "five_card_v0": "five_card", "table_top_v0": "table_top"}
# Stopped in its second period, where it mixes two policies.
IN_A_PERIOD: dict[str, dict[str, Any]] = {"r_nad": {"period": 200}}
# Table Top learns from its lines in the first of eight updates, then from its sides.
TABLE_TOP = {"env": "table_top_v0", "deals": 80, "num_envs": 10}
ALL_CARDS = {"all_cards": True, "num_envs": 8}
Finished = Callable[..., Path]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    """Return a function that returns the folder of an uninterrupted run, made once."""

    @cache
    def folder(method: str, **changes: Any) -> Path:
        out = tmp_path_factory.mktemp(method)
        Run(learner_of(method, out=out, **changes)).go()
        return out

    return folder


@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.parametrize(
    ("method", "changes"),
    [
        *((one, IN_A_PERIOD.get(one, {})) for one in (*BASELINES, "deep_monte_carlo")),
        ("deep_monte_carlo", TABLE_TOP),
        ("monte_carlo", ALL_CARDS),
    ],
)
def test_stopped_run_resumes_to_the_same_result(
    method: str, changes: dict[str, Any], finished: Finished, tmp_path: Path
) -> None:
    learner = learner_of(method, out=tmp_path, **changes)
    iterate = learner.iterate

    def stop_at_a_third() -> dict[str, float]:
        if learner.done >= learner.total / 3:
            signal.raise_signal(signal.SIGINT)
        return iterate()

    learner.iterate = stop_at_a_third  # type: ignore[method-assign]
    with pytest.raises(KeyboardInterrupt, match="--resume"):
        Run(learner).go()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert Checkpoint.load(tmp_path).about[learner.unit] < learner.total
    Run(learner_of(method, out=tmp_path, resume=tmp_path, **changes)).go()
    whole = finished(method, **changes)
    assert tensors_of(tmp_path) == tensors_of(whole)
    assert (tmp_path / POLICY).read_bytes() == (whole / POLICY).read_bytes()


@pytest.mark.parametrize(
    ("method", "changes", "message"),
    [
        ("vrpo", {}, "holds a run of mmd, not of vrpo"),
        ("mmd", {"hidden_sizes": (24, 24)}, r"hidden_sizes was \[16, 16\], not \[24, 24\]"),
        ("mmd", {"num_envs": 16}, "num_envs was 32, not 16"),
        ("mmd", {"learning_rate": 1e-3}, "learning_rate was 0.004, not 0.001"),
        ("mmd", {"env": "six_card_v0"}, "env was five_card_v0, not six_card_v0"),
        ("mmd", {"decisions": 1024, "seed": 2}, "seed was 1, not 2; decisions was 768, not 1024"),
    ],
)
def test_resume_refuses_another_method_or_settings(
    method: str, changes: dict[str, Any], message: str, finished: Finished
) -> None:
    folder = finished("mmd")
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    with pytest.raises(ValueError, match=message):
        Run(learner_of(method, out=folder, resume=folder, **changes)).go()
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("method", ["mmd", "deep_monte_carlo"])
def test_resume_refuses_an_empty_folder(method: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=f"there is no run to resume in {tmp_path}"):
        Run(learner_of(method, out=tmp_path, resume=tmp_path)).go()


def one_step(method: str) -> dict[str, Any]:
    """Return settings that learn from a batch once: weights become large, but stay finite."""
    passes = "updates" if method in ("nfsp", "escher", "deep_cfr") else "epochs"
    return {"batch_size": 4096} if method == "monte_carlo" else {"batch_size": 4096, passes: 1}


@pytest.mark.parametrize(
    ("method", "changes"),
    [
        *((name, {}) for name in BASELINES),
        ("monte_carlo", ALL_CARDS),
        *((name, one_step(name)) for name in BASELINES),
        *(("deep_monte_carlo", {"env": env}) for env in GAMES),
    ],
)
def test_diverged_run_ends_with_the_last_checkpoint(method: str, changes: dict[str, Any], tmp_path: Path) -> None:
    learner = learner_of(method, out=tmp_path, learning_rate=1e30, **changes)
    saved = f"the last good checkpoint is {tmp_path}/checkpoint.safetensors, after 0 {learner.unit}"
    with pytest.raises(DivergedError, match=saved):
        Run(learner).go()
    assert Checkpoint.load(tmp_path).about[learner.unit] == 0
    assert load_agent(str(tmp_path / POLICY))


# --- folders: one command at a time, nothing overwritten, checkpoints as they were written --------


HOLD = """
import sys, time
from pathlib import Path
from crib_training.outputs import claimed
with claimed(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(600)
"""


deep = partial(small, deals=200, num_envs=100, workers=1)

WRITERS: dict[str, Callable[[Path], object]] = {
    "deep_monte_carlo": lambda out: train(deep(out)),
    "ppo": lambda out: ppo.train(small_ppo(out)),
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run by each of two methods, to be copied from."""
    folder = tmp_path_factory.mktemp("runs")
    train(deep(folder / "deep"))
    ppo.train(small_ppo(folder / "ppo"))
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name != LOCK
    }


def test_claimed_refuses_a_second_command(tmp_path: Path) -> None:
    message = f"another command writes to {tmp_path}: wait until it has ended, or choose another"
    setup = Setup(agents=("greedy", "random"), env="five_card_v0", chunk=2)
    others: dict[str, Callable[[Path], object]] = {
        "tournament": lambda out: tournament(setup, 2, out, ThisProcess()),
        "demo": lambda out: demo.run(demo.Settings(out=out)),
    }
    with claimed(tmp_path):
        for name, write in (WRITERS | others).items():
            with pytest.raises(FolderInUseError, match=message):
                write(tmp_path)
            assert not contents(tmp_path), name
        run = crib("train", "--deals", "100", "--out", str(tmp_path))
    assert (run.returncode, run.stderr.count("\n")) == (1, 1), run.stderr
    assert f"another command writes to {tmp_path}" in run.stderr


def test_claimed_folder_is_free_after_a_kill(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        with pytest.raises(FolderInUseError, match=f"another command writes to {tmp_path}"), claimed(tmp_path):
            pass
        process.kill()
    with claimed(tmp_path):
        pass


def test_claimed_folder_is_free_after_end_or_failure(tmp_path: Path) -> None:
    for _ in range(2):
        with pytest.raises(KeyError), claimed(tmp_path):
            raise KeyError
    with claimed(tmp_path), pytest.raises(FolderInUseError, match=f"writes to {tmp_path}"), claimed(tmp_path):
        pass


@pytest.mark.parametrize(("name", "found"), [*zip(WRITERS, (CHECKPOINT, MODEL), strict=True)])
def test_train_refuses_to_overwrite_a_run(name: str, found: str, tmp_path: Path) -> None:
    (tmp_path / found).write_bytes(b"another's")
    before = contents(tmp_path)
    with pytest.raises(ValueError, match=f"holds a run: resume it with --resume {tmp_path}, or"):
        WRITERS[name](tmp_path)
    assert contents(tmp_path) == before


def test_resume_refuses_a_folder_with_another_run(runs: Path, tmp_path: Path) -> None:
    """The run to resume is in another folder: the run in this one would be lost."""
    mine, taken = runs / "deep", copytree(runs / "deep", tmp_path / "taken")
    before = contents(taken)
    for write in (
        lambda: train(deep(taken, resume=mine)),
        lambda: ppo.train(small_ppo(taken, resume=mine, trust=True)),
    ):
        with pytest.raises(ValueError, match=f"{taken} holds a run"):
            write()
    assert contents(taken) == before


def test_ppo_resumes_only_in_its_own_folder(runs: Path, tmp_path: Path) -> None:
    copytree(runs / "ppo", tmp_path, dirs_exist_ok=True)
    with pytest.raises(ValueError, match="holds a run"):
        ppo.train(small_ppo(tmp_path))
    for name in (POLICY, "curve.csv"):  # without its lost curve
        (tmp_path / name).unlink()
    ppo.train(small_ppo(tmp_path, resume=tmp_path, trust=True))
    assert {POLICY, "curve.csv"} <= contents(tmp_path).keys()
    ppo.train(small_ppo(tmp_path, resume=tmp_path / MODEL, trust=True))
    with pytest.raises(ValueError, match=f"resume: there is no {tmp_path}/new/{MODEL}"):
        small_ppo(tmp_path / "new", resume=tmp_path / "new" / MODEL, trust=True)
    (tmp_path / "new").mkdir()
    with pytest.raises(ValueError, match=f"no run to resume in {tmp_path}/new: it has no mod"):
        ppo.train(small_ppo(tmp_path / "new", resume=tmp_path / "new", trust=True))


def test_ppo_resume_counts_on_from_the_saved_model(tmp_path: Path) -> None:
    """It starts from the saved model, not the curve's last point, and keeps the reward scale."""
    few = small_ppo(tmp_path, env="table_top_v0", eval_pairs=2, num_evals=1)

    def run_of(settings: ppo.Settings) -> tuple[ppo.RunCallback, VecNormalize]:
        games: VecNormalize = ppo.games_of(settings)
        curve = Strength(find_env(few.env), PRESETS["table_top"], 2, "a test", settings)
        curve.points = read_points(tmp_path) if settings.resume else []
        screen = Screen("decisions", 1, 0, 0, tmp_path, False)
        return ppo.RunCallback(settings, ppo.model_of(settings, games), curve, screen), games

    run, games = run_of(few)
    run.measure(0, 2)
    run.model.learn(512, callback=run)
    run.save()  # as on Ctrl-C
    again, resumed = run_of(replace(few, resume=tmp_path, trust=True))
    assert again.deals == run.deals > run.curve.points[-1].deals
    assert again.cpu_seconds == run.cpu_seconds > run.curve.points[-1].cpu_seconds
    assert (resumed.ret_rms.mean, resumed.ret_rms.var) == (games.ret_rms.mean, games.ret_rms.var)
    del vars(run.model)["learned"], vars(run.model)["reward_scale"]  # as of an earlier version
    run.model.save(tmp_path / MODEL)
    again, _ = run_of(replace(few, resume=tmp_path, trust=True))
    assert again.deals == run.curve.points[-1].deals


def test_ppo_resume_refuses_other_settings(runs: Path, tmp_path: Path) -> None:
    copytree(runs / "ppo", tmp_path, dirs_exist_ok=True)
    before = contents(tmp_path)
    for changes, words in (
        ({"env": "five_card_v0"}, "env was six_card_v0, not five_card_v0"),
        ({"env": "table_top_v0"}, "env was six_card_v0, not table_top_v0"),
        ({"rules": "hoyle[target=91]"}, r"rules was None, not hoyle\[target=91\]"),
        ({"learning_rate": 0.1, "seed": 2}, "seed was 1, not 2; learning_rate was 0.002, not 0.1"),
        ({"hidden_sizes": (32, 16)}, r"hidden_sizes was \[16, 16\], not \[32, 16\]"),
    ):
        with pytest.raises(ValueError, match=f"{tmp_path} is another: {words}"):
            ppo.train(small_ppo(tmp_path, resume=tmp_path, trust=True, **changes))
    assert {name: contents(tmp_path)[name] for name in before} == before
    with ZipFile(tmp_path / MODEL, "a") as model:
        about = json.loads(model.read("data"))
        del about["run"]
        with warnings.catch_warnings(action="ignore"):  # two parts have one name
            model.writestr("data", json.dumps(about))
    with pytest.raises(ValueError, match="is not of a run of `crib train ppo`"):
        ppo.train(small_ppo(tmp_path, resume=tmp_path, trust=True))


@pytest.mark.usefixtures("pictures")
def test_finished_run_rewrites_missing_files_from_its_checkpoint(runs: Path, tmp_path: Path) -> None:
    folder = copytree(runs / "deep", tmp_path / "deep")
    written = {name: data for name, data in contents(folder).items() if "tb/" not in name}
    names = sorted(written.keys() - {CHECKPOINT})
    for stale in (names[::2], names[1::2]):  # each file is stale once, and missing once
        for name in names:
            (folder / name).unlink()
        for name in stale:
            (folder / name).write_bytes(b"stale")
        train(deep(folder, resume=folder))
        assert {name: (folder / name).read_bytes() for name in written} == written
    elsewhere = tmp_path / "elsewhere"
    train(deep(elsewhere, resume=folder))
    assert {name: (elsewhere / name).read_bytes() for name in written} == written


def test_demo_run_twice_learns_the_same(tmp_path: Path) -> None:
    settings = demo.Settings(deals=64, pairs=2, out=tmp_path)
    written = []
    for _ in range(2):
        demo.learn(settings, "deep_monte_carlo")
        policy = tmp_path / "deep_monte_carlo" / "policy.safetensors"
        written.append(policy.read_bytes())
        policy.write_bytes(b"of the first demo")
    assert written[0] == written[1]


def test_resume_removes_partial_files_of_a_killed_run(tmp_path: Path) -> None:
    half = tmp_path / f"{CHECKPOINT}.0123abcd{BESIDE}"
    half.write_bytes(b"half")
    with run_folder(tmp_path, None):
        assert not half.exists()


def flipped(data: bytes) -> bytes:
    """Return a file's bytes with a bit of the one in the middle changed."""
    at = len(data) // 2
    return data[:at] + bytes([data[at] ^ 4]) + data[at + 1 :]


def test_resume_refuses_an_altered_checkpoint(runs: Path, tmp_path: Path) -> None:
    """Other faults of files are tested in tests/agents/test_files.py."""
    data = (runs / "deep" / CHECKPOINT).read_bytes()
    path = tmp_path / CHECKPOINT
    unsealed = data.replace(SEAL.encode(), b"sha257", 1)
    more_deals = data.replace(b'\\"deals\\": 200', b'\\"deals\\": 900')
    for altered in (unsealed, more_deals, flipped(data), data[:-1]):
        assert altered != data
        path.write_bytes(altered)
        with pytest.raises(ValueError, match=f"^{path} is not a safetensors file of ours: "):
            train(deep(tmp_path, resume=tmp_path))


def test_resume_refuses_a_damaged_model(runs: Path, tmp_path: Path) -> None:
    path = tmp_path / MODEL
    path.write_bytes(flipped((runs / "ppo" / MODEL).read_bytes()))
    with pytest.raises(ValueError, match=f"{path} cannot be read"):
        ppo.train(small_ppo(tmp_path, resume=tmp_path, trust=True))


# --- diverging networks ---------------------------------------------------------------------------


VALUES = (np.nan, np.inf, -np.inf, 3e38, -3e38, -1e9)


def spoilt(preset: str, value: float, constant: bool) -> Weights:
    """Return nets whose numbers, or if ``constant`` whose outputs, all equal ``value``."""
    weights = drawn_weights(PRESETS[preset])
    for layers in weights.nets.values():
        for part in chain(*layers):
            part[:] = 0.0 if constant else value
        layers[-1][1][:] = value
    for table in weights.tables.values():
        table[:] = value
    return weights


@pytest.mark.parametrize("env", GAMES)
def test_agents_with_nan_nets_play_legally(env: str) -> None:
    episode = "round" if env == "table_top_v0" else "deal"
    for value, constant in product(VALUES, (False, True)):
        agent = MonteCarloAgent([spoilt(GAMES[env], value, constant)])
        games = GameBatch(PRESETS[GAMES[env]], 4, episode=episode, seed=4)
        games.reset()
        with np.errstate(all="ignore"):
            for _ in games.play(agent, np.random.default_rng(1)):  # it refuses an illegal action
                pass
        assert games.states["over"].all()


@pytest.mark.parametrize("env", GAMES)
def test_self_play_is_legal_for_any_net_output(env: str) -> None:
    _, self_play = find_self_play(deep(Path(), env=env))
    for value in VALUES:
        with torch.no_grad():
            for parameter in self_play.nets.parameters():
                parameter.fill_(value)
        with np.errstate(all="ignore"):
            samples = self_play.play(6, 0.5, np.random.default_rng(1))
        assert samples.decisions >= 6


def test_diverged_weights_are_not_saved(tmp_path: Path) -> None:
    training = begun(deep(tmp_path))
    training.learn_batch()
    training.save()
    with torch.no_grad():
        next(training.learner.nets.average.parameters()).view(-1)[0] = np.nan
    with pytest.raises(DivergedError, match="after 100 deals"):
        training.learn_batch()
    assert Checkpoint.load(tmp_path).about["deals"] == 100


def test_ppo_diverged_run_keeps_the_last_good_model(tmp_path: Path) -> None:
    few = small_ppo(tmp_path, learning_rate=1e30)
    with pytest.raises(DivergedError, match=f"is {tmp_path}/model.zip, after 0 decisions"):
        ppo.train(few)
    games: VecNormalize = ppo.games_of(few)
    model = ppo.model_of(replace(few, resume=tmp_path, trust=True), games)
    assert all(torch.isfinite(one).all() for one in model.policy.parameters())


def test_model_file_with_non_finite_weights_is_refused(tmp_path: Path) -> None:
    few = small_ppo(tmp_path)
    model = ppo.model_of(few, ppo.games_of(few))
    with torch.no_grad():
        next(model.policy.parameters()).view(-1)[0] = np.nan
    model.save(tmp_path / "model.zip")
    with pytest.raises(ValueError, match=r"model\.zip holds weights that are not finite: "):
        load_agent(f"trust:{tmp_path / 'model.zip'}")
    with pytest.raises(ValueError, match=r"model\.zip holds weights that are not finite"):
        ppo.train(replace(few, resume=tmp_path, trust=True, out=tmp_path / "new"))


def test_step_optimizer_keeps_the_weights_without_denormals() -> None:
    """Also for an input that comes back; afterwards denormals are computed again."""
    tiny = torch.finfo(torch.float32).tiny
    weights, means = [], []
    for step in (torch.optim.Adam.step, step_optimizer):
        weight = torch.nn.Parameter(torch.tensor([0.5, 0.0]))
        adam = torch.optim.Adam([weight], fused=True)
        for k in range(1500):
            weight.grad = torch.tensor([0.1, 0.1 if k in (0, 1400) else 0.0])
            if k == 1400:
                means.append(adam.state[weight]["exp_avg"][1].item())
            step(adam)
        weights.append(weight.detach())
    assert 0.0 < means[0] < tiny
    assert means[1] == 0.0
    assert torch.equal(*weights)
    assert torch.tensor(tiny) / 2 > 0.0


def test_step_optimizer_failure_leaves_denormals() -> None:
    """The flag is reset where the step raises an error."""
    weight = torch.nn.Parameter(torch.zeros(1))

    def closure() -> float:
        raise FloatingPointError

    adam = torch.optim.Adam([weight])
    adam.step = partial(adam.step, closure)  # type: ignore[method-assign]
    with pytest.raises(FloatingPointError):
        step_optimizer(adam)
    assert torch.tensor(torch.finfo(torch.float32).tiny) / 2 > 0.0
