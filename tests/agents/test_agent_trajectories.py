"""Agents choose as they did: digests of batches that they play in, and of games with themselves.

Where a change of their choices is meant, `python tests/support/trajectories.py agents` writes
`tests/data/agent_trajectories.json` from the present code. `expert` has two digests in some games,
on an Intel Xeon and on an AMD EPYC: it chooses between nearly equal values there.
"""

from __future__ import annotations

import json

import pytest

from trajectories import AGENT_BATCHES, AGENT_PLAYED, AGENTS_FILE, QUICK, play_batch, play_games


def known(name: str) -> list[str]:
    """Return the recorded digests of a name."""
    found = json.loads(AGENTS_FILE.read_text())[name]
    return found if isinstance(found, list) else [found]


every_game = pytest.mark.parametrize(("name", "agent"), AGENT_PLAYED)


@pytest.mark.parametrize(("name", "agent"), AGENT_BATCHES)
def test_agent_actions_match_recorded_digests(name: str, agent: str) -> None:
    assert play_batch(name, agent) in known(f"{name} against {agent}")


@every_game
def test_agent_games_match_recorded_digests(name: str, agent: str) -> None:
    assert play_games(name, agent, QUICK) in known(f"{name}, {agent}, 1/{QUICK}")


@pytest.mark.slow
@every_game
def test_agent_games_of_all_seeds_match_recorded_digests(name: str, agent: str) -> None:
    assert play_games(name, agent) in known(f"{name}, {agent}")
