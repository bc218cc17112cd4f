"""Agents that search or learn choose as they did: digests of batches that they play in.

Where a change of their choices is meant, `python tests/support/trajectories.py agents` writes
`tests/data/agent_trajectories.json` from the present code.
"""

from __future__ import annotations

import json

import pytest

from trajectories import AGENT_BATCHES, AGENTS_FILE, play_batch


@pytest.mark.parametrize(("name", "agent"), AGENT_BATCHES)
def test_agents_choose_as_they_did(name: str, agent: str) -> None:
    assert play_batch(name, agent) == json.loads(AGENTS_FILE.read_text())[f"{name} against {agent}"]
