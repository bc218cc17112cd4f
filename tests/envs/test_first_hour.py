"""Surprises of the first hour: each error names the remedy, or the obvious meaning is accepted."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
import torch
from gymnasium.error import DependencyNotInstalled

from checkout import python
from crib_env import CompiledAgent, Game, GameBatch, IllegalActionError, Rules, TwoHandRules, six_card_v0, table_top_v0
from crib_env.engine.cache import AHEAD, COMPILING
from crib_env.rules import find_rules
from crib_env.scoring import score_hand

# --- names that are meant -----------------------------------------------------------------------


@pytest.mark.parametrize("form", ["raw_env", "gym_env", "vector_env"])
@pytest.mark.parametrize("module", [six_card_v0, table_top_v0])
@pytest.mark.parametrize("word", ["deal", "round"])
def test_episode_deal_and_round_are_synonyms_everywhere(form: str, module: Any, word: str) -> None:
    env = getattr(module, form)(episode=word)
    game = env.game if form == "raw_env" else env.batch.games
    assert game.episode == ("round" if module is table_top_v0 else "deal")
    assert Game(game.rules, episode=word).episode == game.episode
    assert GameBatch(game.rules, 2, episode=word).episode == game.episode


# --- numbers ------------------------------------------------------------------------------------


def test_integers_may_be_numpy_scalars_everywhere() -> None:
    one, two, seed = np.int64(1), np.int32(2), np.uint8(7)
    plain = table_top_v0.gym_env(opponent="greedy", seat=1, players=2)
    scalar = table_top_v0.gym_env(opponent="greedy", seat=one, players=two)
    first, _ = plain.reset(seed=7)
    second, _ = scalar.reset(seed=seed)
    assert np.array_equal(first, second)
    assert (type(scalar.players), type(scalar.batch.config.seat)) == (int, int)
    for env in (table_top_v0.env(players=two), table_top_v0.vector_env(two, players=two)):
        env.reset(seed=seed)
    game = Game("table_top", players=two, seed=seed)
    assert type(game.players) is int
    assert game.notation() == Game("table_top", players=2, seed=7).notation()


KINDS: dict[str, Any] = {"torch": torch.tensor, "numpy": np.array, "scalar": np.int64, "list": lambda x: np.array([x])}


@pytest.mark.parametrize("kind", KINDS)
def test_step_takes_any_single_integer_type(kind: str) -> None:
    made = KINDS[kind]

    def played(how: Any) -> tuple[Any, Any, Game]:
        env, aec, game = six_card_v0.gym_env(opponent="greedy"), six_card_v0.raw_env(), Game(seed=1)
        for one in (env, aec):
            one.reset(seed=1)
            one.step(how(one.game.legal_actions[2]))
        game.step(how(game.legal_actions[2]))
        return env, aec, game

    env, aec, game = played(made)
    expected = [one.notation() for one in played(int)]
    assert [one.notation() for one in (env, aec, game)] == expected
    wrong = [made(1.0), made(True)] if kind != "scalar" else [1.0, True, np.bool_(True), "1", None]
    for action in wrong:
        for act in (env.step, aec.step, game.step, game.push):
            with pytest.raises(IllegalActionError, match="whole number from 0 to 51"):
                act(action)
    assert [one.notation() for one in (env, aec, game)] == expected


# --- rules by their names -----------------------------------------------------------------------


@pytest.mark.parametrize(("rules", "target"), [("hoyle", 121), ("hoyle[target=91]", 91), ("five_card[target=31]", 31)])
def test_rules_names_work_alike_everywhere(rules: str, target: int) -> None:
    expected = Rules.preset(rules)
    assert expected.target == target
    for found in (
        Game(rules).rules,
        GameBatch(rules, 2).rules,
        six_card_v0.raw_env(rules=rules).rules,
        six_card_v0.gym_env(rules=rules).rules,
        six_card_v0.vector_env(2, rules=rules).rules,
        TwoHandRules.preset(rules),
        find_rules(rules, TwoHandRules),
    ):
        assert found == expected
    held = ["5H", "5D", "5C", "JS"][: expected.dealt - 2]
    assert score_hand(held, "5S", rules=rules).points == (29 if expected.dealt == 6 else 20)


def test_rules_name_with_invalid_changes_is_rejected() -> None:
    for rules, says in (
        ("hoyle[target=91", "'hoyle\\[target=91\\]'"),
        ("hoile[target=91]", "no rules for this game are called 'hoile'.*did you mean 'hoyle'"),
        ("hoyle[targt=91]", "targt"),
        ("table_top[target=31]", "five_card"),
        ("hoyle[target=1000]", "target"),
        ("hoyle[target=91,target=61]", "^'target' is changed twice: 'hoyle"),
    ):
        with pytest.raises(ValueError, match=says):
            six_card_v0.env(rules=rules)
    with pytest.raises(TypeError, match="name of a preset"):
        GameBatch(3, 2)  # type: ignore[arg-type]
    assert Rules.preset("hoyle[target=91]", target=61).target == 61


# --- opponents ----------------------------------------------------------------------------------


class OfViews:
    name = "of views"

    def act(self, views: Any) -> Any:
        return views


@pytest.mark.parametrize(
    ("opponent", "says"),
    [
        (lambda view: 1, r"takes \(view, rng\); .* takes \(view\)"),
        (lambda: 1, r"takes \(view, rng\)"),
        (lambda view, rng, more: 1, r"takes \(view, rng\); .*more"),
        (OfViews(), r"act of the agent 'of views' takes \(views, rng\); .* takes \(views\)"),
    ],
)
def test_make_rejects_opponent_with_wrong_signature(opponent: Any, says: str) -> None:
    for make in (six_card_v0.gym_env, six_card_v0.vector_env):
        with pytest.raises(TypeError, match=says):
            make(opponent=opponent)
    env = six_card_v0.gym_env(opponent="greedy")
    with pytest.raises(TypeError, match=says):
        env.set_opponent(opponent)
    assert env.opponent.name == "greedy"


def test_make_rejects_compiled_agent_with_wrong_signature() -> None:
    class Short(CompiledAgent):
        name = "short"
        acts: ClassVar[dict[str, Any]] = {"two_hand": lambda view, rng: 1}

    with pytest.raises(TypeError, match=r"takes \(view, rng, table, weights\)"):
        six_card_v0.gym_env(opponent=Short())


# --- missing extras ----------------------------------------------------------------------------


WITHOUT = """
import sys
for module, code in {cases!r}:
    there = {{name: found for name, found in sys.modules.items() if name.startswith(module)}}
    sys.modules.update(dict.fromkeys([*there, module]))
    try:
        exec(code)
    except ImportError as error:
        print(error)
    del sys.modules[module]
    sys.modules.update(there)
"""


def test_missing_extra_error_names_the_install_command() -> None:
    cases = [
        ("stable_baselines3", "train", "import crib_env; crib_env.six_card_v0.sb3_env(2)"),
        ("torch", "train", "import crib_env; crib_env.six_card_v0.torch_env(2)"),
        ("onnx", "onnx", "import crib_agents; crib_agents.to_onnx('greedy', 'x.onnx')"),
        ("onnxruntime", "onnx", "import crib_agents; crib_agents.from_onnx('x.onnx')"),
        ("torch", "train", "import crib_agents; crib_agents.from_torch(print)"),
    ]
    lines = python(WITHOUT.format(cases=[(module, code) for module, _, code in cases])).splitlines()
    for (module, extra, _), message in zip(cases, lines, strict=True):
        assert f'{module} is not installed: pip install "crib-env[{extra}]"' in message


@pytest.mark.parametrize("form", ["gym_env", "raw_env"])
def test_make_rejects_or_warns_of_modes_without_their_extra(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """SB3's make_vec_env asks for pixels whether it draws or not, so for them it only warns."""
    make = getattr(six_card_v0, form)
    for module in ("pygame", "resvg_py"):
        monkeypatch.setitem(sys.modules, module, None)
        with pytest.raises(DependencyNotInstalled, match=rf'{module}.*"crib-env\[render\]"'):
            make(render_mode="human")
        monkeypatch.undo()
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    with pytest.warns(UserWarning, match=r'resvg_py.*"crib-env\[render\]"'):
        assert make(render_mode="rgb_array").render_mode == "rgb_array"


# --- the first compilation ----------------------------------------------------------------------


COMPILES = """
from numba import int64
from crib_env.engine.jit import Entry

Entry(lambda x: x + 1, int64(int64), "test.slow", 9).compiled
Entry(lambda x: x + 2, int64(int64), "test.slow", 9).compiled
Entry(lambda x: x + 3, int64(int64), "test.quick").compiled
Entry(lambda x: x + 4, int64(int64), "test.other", 5).compiled
"""
SAID = [COMPILING.format(name="test.slow", seconds=9) + AHEAD, COMPILING.format(name="test.other", seconds=5)]


def compile_with_stderr(cache: Path, theirs: int) -> None:
    """Compile four entries, two by one name, in a process whose stderr goes to a file."""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache), "NUMBA_DISABLE_JIT": "0"}
    subprocess.run([sys.executable, "-c", COMPILES], stderr=theirs, env=environment, check=True)
    os.close(theirs)


def test_compilation_notice_names_each_slow_entry_once(tmp_path: Path) -> None:
    pty = pytest.importorskip("pty", reason="Windows has no such terminals")
    ours, theirs = pty.openpty()
    compile_with_stderr(tmp_path, theirs)
    assert os.read(ours, 4096).decode().splitlines() == SAID
    ours, theirs = os.pipe()
    compile_with_stderr(tmp_path, theirs)
    assert os.read(ours, 4096) == b""


def test_compilation_notice_goes_to_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr("crib_env.engine.cache._said", set())
    exec(COMPILES, {})
    assert caplog.record_tuples == [("crib_env.engine.cache", logging.WARNING, text) for text in SAID]
