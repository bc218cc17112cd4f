"""Self-play in workers: a run repeats from its seed and number of workers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from multiprocessing import active_children
from pathlib import Path

import numpy as np
import pytest
from crib_agents.process_pool import Child, ProcessPool
from crib_training.learn.run import Checkpoint, LostError
from crib_training.methods import deep_monte_carlo
from crib_training.methods.deep_monte_carlo import Actor, Learner, SparseArray, fit, joined, split_round, train
from crib_training.outputs import CHECKPOINT as FILE
from crib_training.outputs import command

from small_runs import played_here, small, tensors_of


def workers() -> list[Child]:
    """Return the processes of self-play; other tests may have agents in other processes."""
    return [child for child in active_children() if isinstance(child, Child)]


@pytest.mark.parametrize("env", ["six_card_v0", "table_top_v0"])
def test_self_play_resumes_from_any_round_to_the_same_bits(env: str, tmp_path: Path) -> None:
    settings = small(tmp_path / "alone", env=env, deals=200)
    training = played_here(settings)
    assert (training.deals, training.rounds) == (200, 4)
    for updates in (0, 3):
        out = tmp_path / str(updates)
        played_here(replace(settings, out=out), updates)
        played_here(replace(settings, out=out, resume=out))
        assert tensors_of(out) == tensors_of(settings.out)


def test_self_play_depends_on_workers_and_seed(tmp_path: Path) -> None:
    found = []
    for changes in ({}, {"workers": 3}, {"seed": 2}):
        played_here(small(tmp_path, deals=100, **changes))
        found.append(tensors_of(tmp_path))
        (tmp_path / FILE).unlink()
    assert found[0] != found[1]
    assert found[0] != found[2]


def test_round_learns_from_games_of_the_previous_nets(tmp_path: Path) -> None:
    """By its definition, one round after another in one process."""
    settings = small(tmp_path, deals=150)
    found = played_here(settings)
    training = Learner(settings)
    actor = Actor(settings)
    nets = [training._nets()]  # the first two rounds are played by these
    for number in range(3):
        nets.append(training._nets())
        by = nets[number]
        parts = split_round(number, 50, number / 3, 2)
        samples, share = joined([actor.play(part, by) for part in parts]), 1 - number / 3
        fit(training.self_play, training.nets, samples, settings.batch_size, share, training.rng)
    for name, array in training._nets().items():
        assert array.tobytes() == found._nets()[name].tobytes()


def test_self_play_parts_differ_by_one_deal_at_most() -> None:
    assert [part.deals for part in split_round(0, 11, 0.0, 3)] == [4, 4, 3]
    assert [part.deals for part in split_round(0, 2, 0.0, 3)] == [1, 1]


def test_packed_samples_round_trip() -> None:
    rng = np.random.default_rng(1)
    for shape in ((5, 7), (3, 4, 5), (0, 9)):
        for dtype in (np.float32, np.int64, np.bool_):
            array = (rng.random(shape) * 3).astype(dtype) * (rng.random(shape) < 0.2)
            found = np.zeros_like(array)
            SparseArray.of(array).unpack(found)
            assert (found == array).all()


def test_self_play_killed_worker_ends_the_run_and_keeps_the_checkpoint(tmp_path: Path) -> None:
    class Killing(Learner):
        def iterate(self) -> dict[str, float]:
            figures = super().iterate()
            if self.rounds == 3:
                workers()[0].kill()
            return figures

    settings = small(tmp_path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(deep_monte_carlo, "Learner", Killing)
        patch.setattr(deep_monte_carlo, "ProcessPool", lambda _: ProcessPool(1))  # it plays both parts
        with pytest.raises(LostError) as lost:
            train(settings)
    message = str(lost.value)
    assert "a process of self-play died" in message
    assert "resume with crib train deep_monte_carlo " in message
    for option in ("--deals 400", "--num-envs 50", "--workers 2", f"--out {tmp_path}"):
        assert f" {option} " in message
    assert message.endswith(f"--resume {tmp_path}")
    assert not workers()
    deals = Checkpoint.load(tmp_path).about["deals"]
    assert deals in range(150, 400, 50)  # rounds already begun may have finished
    played_here(replace(settings, resume=tmp_path))
    played_here(replace(settings, out=tmp_path / "alone"))
    assert tensors_of(tmp_path) == tensors_of(tmp_path / "alone")


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("moment", ["start", "work"])
def test_self_play_ctrl_c_and_sigterm_leave_no_workers(moment: str, number: signal.Signals, tmp_path: Path) -> None:
    words = command("", small(tmp_path, deals=10_000_000, num_envs=500), ("resume",), ()).split()
    program = [sys.executable, "-m", "crib_training.command_line", "train", *words]
    run = subprocess.Popen(
        program,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    deadline = time.monotonic() + 120
    while not (children := started(run.pid)) or (moment == "work" and not Checkpoint.load(tmp_path).about["deals"]):
        assert time.monotonic() < deadline
        assert run.poll() is None
        time.sleep(0.01)
    os.killpg(run.pid, number)  # as a terminal or a cluster does: to all of them
    _, message = run.communicate(timeout=120)
    assert run.returncode == {signal.SIGINT: 1, signal.SIGTERM: 143}[number]
    assert message.startswith("stopped: the run is saved after ")
    assert message.count("\n") == 1
    while any(Path(f"/proc/{pid}").exists() for pid in children):
        assert time.monotonic() < deadline
        time.sleep(0.01)


CUT_SHORT = """
import sys
import time
from concurrent.futures import wait
from multiprocessing import current_process
from pathlib import Path
from crib_agents.process_pool import ProcessPool

def send_half():
    current_process()._args[1]._writer._send(b"\\0\\0\\1\\0")  # the length of what does not follow
    Path("sent").touch()
    time.sleep(60)

if __name__ == "__main__":
    with ProcessPool(int(sys.argv[1])) as pool:
        asked = [pool.submit(time.sleep, 60) for _ in range(1, int(sys.argv[1]))]
        asked.append(pool.submit(send_half))
        while not Path("sent").exists():
            time.sleep(0.1)
        time.sleep(1)
        if sys.argv[2] == "interrupt":
            raise KeyboardInterrupt
        pool._context.children[-1].kill()
        wait(asked)
        print(*(type(one.exception()).__name__ for one in [*asked, pool.submit(time.sleep, 0)]))
"""


def cut_short(processes: int, how: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a pool in which a process stops after sending part of its result; return the run."""
    (folder / "cut_short.py").write_text(CUT_SHORT)
    program = [sys.executable, "cut_short.py", str(processes), how]
    return subprocess.run(program, cwd=folder, capture_output=True, text=True, timeout=60, check=False)


def test_process_pool_ends_though_a_process_died_while_it_sent(tmp_path: Path) -> None:
    assert "KeyboardInterrupt" in cut_short(1, "interrupt", tmp_path).stderr


@pytest.mark.parametrize("processes", [1, 3])
def test_process_pool_is_broken_once_a_process_died_while_it_sent(processes: int, tmp_path: Path) -> None:
    """Calls that wait for its result once hung."""
    run = cut_short(processes, "kill", tmp_path)
    assert run.stdout.split() == ["BrokenProcessPool"] * (processes + 1), run.stderr


INTERRUPTED = """
import time
import numpy as np
from crib_training.methods.deep_monte_carlo import Actors, Settings, split_round

if __name__ == "__main__":
    with Actors(Settings(env="six_card_v0", workers=2)) as actors:
        for number in range(3):
            actors.begin(split_round(number, 2, 0.0, 2), {"more than a pipe holds": np.zeros(1_000_000)})
        time.sleep(1)
        raise KeyboardInterrupt
"""


def test_actors_interrupted_before_the_first_result_let_python_end(tmp_path: Path) -> None:
    """Python 3.11 once hung at exit, because the waiting parts had been cancelled."""
    (tmp_path / "interrupted.py").write_text(INTERRUPTED)
    program = [sys.executable, "interrupted.py"]
    run = subprocess.run(program, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert run.stderr.endswith("KeyboardInterrupt\n")
    assert run.stderr.count("Traceback") == 1


def started(pid: int) -> list[int]:
    """Return the processes that a process has started to play."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(c) for c in children if b"spawn_main" in command_line(c)]


def command_line(pid: str) -> bytes:
    """Return the command line of a process, b"" if it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return b""
