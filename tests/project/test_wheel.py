"""The wheel: installs beside other packages, and every file in it has a licence."""

from __future__ import annotations

import fnmatch
import re
import subprocess
import sys
from pathlib import Path

import pytest

from checkout import ROOT


def run(*command: str | Path, cwd: Path) -> str:
    done = subprocess.run(command, capture_output=True, text=True, cwd=cwd)
    assert done.returncode == 0, f"{' '.join(map(str, command))}:\n{done.stdout}{done.stderr}"
    return done.stdout.strip()


PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check")


def base_install(place: Path) -> Path:
    """Install the wheel into an empty environment, without extras; return its Python."""
    run(*PIP, "wheel", "--quiet", "--no-deps", "--wheel-dir", place, ROOT, cwd=place)
    (wheel,) = place.glob("crib_env-*.whl")
    run(sys.executable, "-m", "venv", place / "venv", cwd=place)
    python = place / "venv/bin/python"
    constraints = ROOT / "constraints.txt"
    run(*PIP, "--python", python, "install", "--quiet", "--constraint", constraints, wheel, cwd=place)
    return python


@pytest.mark.slow
def test_wheel_installs_beside_openai_agents(tmp_path: Path) -> None:
    """Theirs is the top-level name ``agents``; ours must leave it alone (needs a network)."""
    python = base_install(tmp_path)
    # Without the project's constraints, which other packages need not satisfy.
    run(*PIP, "--python", python, "install", "--quiet", "openai-agents", cwd=tmp_path)
    code = """import agents, crib_agents, crib_env, gymnasium
print(agents.Agent.__module__)
env = gymnasium.make('crib_env/SixCard-v0', opponent='rule_based')
env.reset(seed=1)
print(*crib_env.agent_names())"""
    output = run(python, "-c", code, cwd=tmp_path).splitlines()
    names = "equilibrium expert greedy learned learned_mixed master random rule_based"
    assert output == ["agents.agent", names]
    run(*PIP, "--python", python, "check", cwd=tmp_path)


# --- licences -------------------------------------------------------------------------------------


SOURCES = {
    "crib_env": "crib_env",
    "agents/crib_agents": "crib_agents",
    "play/crib_play": "crib_play",
    "training/crib_training": "crib_training",
    "leaderboard": "crib_training/leaderboard",
}


def test_wheel_files_have_a_licence_on_the_page() -> None:
    listed = subprocess.run(["git", "ls-files", *SOURCES], capture_output=True, text=True, cwd=ROOT).stdout.split()
    if not listed:
        pytest.skip("what is shipped is known in a git checkout")
    shipped = [
        inside + path.removeprefix(outside)
        for path in listed
        for outside, inside in SOURCES.items()
        if path.startswith(f"{outside}/")
    ]
    page = (ROOT / "docs" / "versions.md").read_text("utf-8").partition("## Licences")[2]
    patterns = [one for row in re.findall(r"^\|(.*?)\|", page, re.MULTILINE) for one in re.findall(r"`([^`]+)`", row)]
    matched = {pattern: set(fnmatch.filter(shipped, pattern)) for pattern in patterns}
    assert all(matched.values()), "each row names a file"
    assert not [one for one in set(shipped).difference(*matched.values()) if not one.endswith("LICENSE")]


def test_pages_load_no_external_resources() -> None:
    for name, first in (("web", "index.html"), ("replay", "page.html")):
        paths = [*(ROOT / "play/crib_play" / name / "page").rglob("*.*")]
        assert first in {path.name for path in paths}
        for path in paths:
            text = path.read_text("utf-8").replace("http://www.w3.org/2000/svg", "")
            assert not re.search(r"https?:|//[\w-]+\.\w", text), path
