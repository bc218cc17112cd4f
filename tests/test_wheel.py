"""The wheel beside other people's packages."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def run(*command: str | Path, cwd: Path) -> str:
    done = subprocess.run(command, capture_output=True, text=True, cwd=cwd)
    assert done.returncode == 0, f"{' '.join(map(str, command))}:\n{done.stdout}{done.stderr}"
    return done.stdout.strip()


@pytest.mark.slow
def test_the_wheel_and_openai_agents_are_installed_side_by_side(tmp_path: Path) -> None:
    """Theirs is the top-level name ``agents``; ours must leave it alone (needs a network)."""
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check")
    run(*pip, "wheel", "--quiet", "--no-deps", "--wheel-dir", tmp_path, ROOT, cwd=tmp_path)
    (wheel,) = tmp_path.glob("crib_env-*.whl")
    run(sys.executable, "-m", "venv", tmp_path / "venv", cwd=tmp_path)
    python = tmp_path / "venv/bin/python"
    constraints = ROOT / "constraints.txt"
    run(*pip, "--python", python, "install", "--quiet", "--constraint", constraints, wheel,
        cwd=tmp_path)  # fmt: skip
    # Without our constraints: they are no promise about what others need.
    run(*pip, "--python", python, "install", "--quiet", "openai-agents", cwd=tmp_path)
    said = run(
        python, "-c",
        "import agents, crib_agents, crib_env, gymnasium\n"
        "print(agents.Agent.__module__)\n"
        "env = gymnasium.make('crib_env/SixCard-v0', opponent='rule_based')\n"
        "env.reset(seed=1)\n"
        "print(*crib_env.agent_names())",
        cwd=tmp_path,
    ).splitlines()  # fmt: skip
    names = "equilibrium expert greedy learned learned_search master random rule_based"
    assert said == ["agents.agent", names]
    run(*pip, "--python", python, "check", cwd=tmp_path)
