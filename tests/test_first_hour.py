"""What surprised people in their first hour: each place says what to do, or takes what is meant."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from crib_training.command_line import COMMANDS, read

import crib_env
from crib_env import Game, Games, Rules, six_card_v0, table_top_v0
from crib_env.engine.cache import SAID

# --- names that are meant -----------------------------------------------------------------------


@pytest.mark.parametrize("form", ["raw_env", "gym_env", "vector_env"])
@pytest.mark.parametrize("module", [six_card_v0, table_top_v0])
@pytest.mark.parametrize("word", ["deal", "round"])
def test_an_episode_of_one_deal_is_called_deal_or_round_everywhere(
    form: str, module: Any, word: str
) -> None:
    env = getattr(module, form)(episode=word)
    game = env.game if form == "raw_env" else env.batch.games
    assert game.episode == ("round" if module is table_top_v0 else "deal")
    assert Game(game.rules, episode=word).episode == game.episode
    assert Games(game.rules, 2, episode=word).episode == game.episode


@pytest.mark.parametrize(
    ("ask", "meant"),
    [
        (lambda: six_card_v0.env(rules="hoile"), "hoyle"),
        (lambda: Rules.preset("fivecard"), "five_card"),
        (lambda: six_card_v0.env(episode="games"), "game"),
        (lambda: six_card_v0.env(reward="point"), "points"),
        (lambda: six_card_v0.gym_env(opponent="rulebased"), "rule_based"),
        (lambda: crib_env.observation_layout("six_card"), "six_card_v0"),
    ],
)
def test_an_error_names_the_nearest_of_the_choices(ask: Any, meant: str) -> None:
    with pytest.raises(ValueError, match=f"did you mean '{meant}'"):
        ask()


# --- numbers ------------------------------------------------------------------------------------


def test_scalars_of_numpy_are_taken_wherever_a_whole_number_is() -> None:
    one, two, seed = np.int64(1), np.int32(2), np.uint8(7)
    plain = table_top_v0.gym_env(opponent="greedy", seat=1, players=2)
    scalar = table_top_v0.gym_env(opponent="greedy", seat=one, players=two)
    first, _ = plain.reset(seed=7)
    second, _ = scalar.reset(seed=seed)
    assert np.array_equal(first, second)
    assert (type(scalar.batch.players), type(scalar.batch.seat)) == (int, int)
    for env in (table_top_v0.env(players=two), table_top_v0.vector_env(two, players=two)):
        env.reset(seed=seed)
    game = Game("table_top", players=two, seed=seed)
    assert type(game.players) is int
    assert game.notation() == Game("table_top", players=2, seed=7).notation()


@dataclass(frozen=True)
class Numbers:
    """Numbers.

    Attributes:
        timesteps: whole.
        rate: any.
    """

    timesteps: int = 1
    rate: float = 1.0


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--timesteps", "1e6"], Numbers(timesteps=1_000_000)),
        (["--timesteps=2.5e5"], Numbers(timesteps=250_000)),
        (["--timesteps", "1_000"], Numbers(timesteps=1000)),
        (["--rate", "3e-4"], Numbers(rate=3e-4)),
        (["--rate", "1e2"], Numbers(rate=100.0)),
    ],
)
def test_a_whole_number_may_be_written_with_an_exponent(
    words: list[str], expected: Numbers
) -> None:
    assert read(Numbers, words, "crib test") == expected


def test_half_a_step_is_none() -> None:
    with pytest.raises(SystemExit):
        read(Numbers, ["--timesteps", "1.55e1"], "crib test")


# --- what is missing ----------------------------------------------------------------------------


def without(module: str, code: str) -> str:
    """Return what Python says of ``code`` where a module is not installed."""
    block = f"import sys; sys.modules[{module!r}] = None\n"
    done = subprocess.run([sys.executable, "-c", block + code], capture_output=True, text=True)
    return done.stderr.strip().splitlines()[-1]


@pytest.mark.parametrize(
    ("module", "extra", "code"),
    [
        ("stable_baselines3", "train", "import crib_env; crib_env.six_card_v0.sb3_env(2)"),
        ("onnxruntime", "onnx", "import crib_agents; crib_agents.from_onnx('x.onnx')"),
        ("torch", "train", "import crib_agents; crib_agents.from_torch(print)"),
    ],
)
def test_what_is_not_installed_says_how_to_install_it(module: str, extra: str, code: str) -> None:
    said = without(module, code)
    assert f'{module} is not installed: pip install "crib-env[{extra}]"' in said


def test_a_command_without_its_extra_says_so_in_one_line() -> None:
    said = without("torch", "from crib_training.command_line import main; main(['train'])")
    assert said == 'error: torch is not installed: pip install "crib-env[train]"'
    assert "rate" in COMMANDS


# --- the first compilation ----------------------------------------------------------------------


def compile_with_stderr(cache: Path, terminal: bool) -> str:
    """Return what is said on stderr by a process that has nothing compiled."""
    code = "from crib_env.engine.sampling import nth_legal; nth_legal.compiled"
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache), "NUMBA_DISABLE_JIT": "0"}
    ours, theirs = pty.openpty() if terminal else os.pipe()
    process = subprocess.Popen([sys.executable, "-c", code], stderr=theirs, env=environment)
    os.close(theirs)
    assert process.wait() == 0
    try:
        said = os.read(ours, 4096).decode()
    except OSError:  # a terminal that was closed with nothing in it
        said = ""
    os.close(ours)
    return said


def test_the_first_compilation_says_so_once_where_a_terminal_is(tmp_path: Path) -> None:
    assert compile_with_stderr(tmp_path / "a", terminal=False) == ""
    assert compile_with_stderr(tmp_path / "b", terminal=True).strip() == SAID
    assert compile_with_stderr(tmp_path / "b", terminal=True) == ""
