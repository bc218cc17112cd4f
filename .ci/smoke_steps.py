"""Run an installed crib-env, one step per part that is installed; `.ci/smoke` starts this file.

    python -I .ci/smoke_steps.py

It imports only packages of its Python's environment, and works in a temporary folder.
"""

import importlib.util
import re
import subprocess
import sys
import sysconfig
import tempfile
import urllib.request
from collections.abc import Callable
from pathlib import Path

SUFFIX = ".exe" if sys.platform == "win32" else ""
CRIB = Path(sysconfig.get_path("scripts")) / f"crib{SUFFIX}"


def crib(*arguments: object) -> str:
    """Run the command; return its output."""
    command = [str(CRIB), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 0, f"{' '.join(command)}:\n{done.stdout}{done.stderr}"
    return done.stdout


def environments() -> None:
    """Games through PettingZoo, Gymnasium and the batch, from a seed."""
    import gymnasium
    import numpy as np

    import crib_env
    from crib_env import Game, six_card_v0, table_top_v0

    for page in (six_card_v0, table_top_v0):
        env = page.env(render_mode="ansi")
        env.reset(seed=1)
        rng = np.random.default_rng(1)
        for seat in env.agent_iter():
            observation, _, ended, cut, _ = env.last()
            legal = observation["action_mask"].nonzero()[0]
            env.step(None if ended or cut else int(rng.choice(legal)))
            assert ended or cut or seat.startswith("player_")
        assert "player_0" in str(env.render())
    game = Game("hoyle", seed=7)
    line = game.notation()
    game.push(game.legal_actions[0])
    game.set_position(line)
    assert game.notation() == line
    envs = gymnasium.make_vec("crib_env/SixCard-v0", num_envs=64, opponent="rule_based")
    _, info = envs.reset(seed=1)
    for _ in range(200):
        envs_step = envs.step(crib_env.sample_legal(info["action_mask"], np.random.default_rng(2)))
        info = envs_step[-1]


def commands() -> None:
    """The commands of the base install."""
    assert crib("--version").startswith("crib-env ")
    output = crib("evaluate", "rule_based", "greedy", "--pairs", 20, "--json", "result.json")
    assert "six_card_v0: 20 pairs" in output
    assert "expert" in crib("evaluate", "--help")


def pixels() -> None:
    """A picture of a position."""
    from crib_env import six_card_v0

    env = six_card_v0.env(render_mode="rgb_array")
    env.reset(seed=1)
    picture = env.render()
    assert picture.ndim == 3
    assert picture.std() > 0


def video() -> None:
    """A game recorded by Gymnasium's own wrapper."""
    import gymnasium

    import crib_env  # noqa: F401

    env = gymnasium.make("crib_env/Discard-v0", render_mode="rgb_array")
    env = gymnasium.wrappers.RecordVideo(env, "videos")
    _, info = env.reset(seed=1)
    over = False
    while not over:
        _, _, over, _, info = env.step(int(info["action_mask"].argmax()))
    env.close()
    assert list(Path("videos").glob("*.mp4"))


def terminal() -> None:
    """Two agents watched in a pipe, and a replay."""
    assert "greedy" in crib("play", "greedy", "random", "--seed", 1, "--speed", 1, "--env", "five_card_v0")
    crib("replay", "greedy", "random", "--env", "five_card_v0", "--no-opinions", "--out", "replay.html")
    assert "<html" in Path("replay.html").read_text("utf-8")


def browser() -> None:
    """The page that `crib web` serves."""
    command = [str(CRIB), "web", "--port", "0", "--games", "games.db", "--agents", "greedy"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, encoding="utf-8") as server:
        try:
            assert server.stdout is not None
            address = None
            while address is None:
                line = server.stdout.readline()
                assert line, "crib web ended"
                address = re.search(r"http://\S+:\d+", line)
            with urllib.request.urlopen(address[0], timeout=60) as answer:
                assert b"<html" in answer.read()
        finally:
            server.terminate()


def training() -> None:
    """A policy learned, read and evaluated."""
    crib("train", "--deals", 2000, "--seed", 1, "--out", "trained", "--eval-pairs", 10, "--final-eval-pairs", 10)
    crib("evaluate", "trained/policy.safetensors", "random", "--pairs", 10)


STEPS: tuple[tuple[Callable[[], None], tuple[str, ...]], ...] = (
    (environments, ()),
    (commands, ()),
    (pixels, ("PIL", "resvg_py")),
    (video, ("PIL", "resvg_py", "moviepy")),
    (terminal, ("rich", "platformdirs")),
    (browser, ("uvicorn", "starlette", "platformdirs")),
    (training, ("torch", "stable_baselines3", "matplotlib")),
)


def main() -> None:
    """Run each step whose modules are installed."""
    import os

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        os.chdir(folder)
        for step, needs in STEPS:
            installed = all(importlib.util.find_spec(name) for name in needs)
            if installed:
                step()
            print(f"{step.__name__}: {'works' if installed else 'not installed'}", flush=True)
        os.chdir(Path(folder).anchor)


if __name__ == "__main__":
    main()
