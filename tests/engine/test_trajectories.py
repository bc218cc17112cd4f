"""Play is unchanged: digests of whole trajectories, compared with recorded ones.

A change of the rules, the encoding, the generators or the simple agents' choices shows here. Where
it is meant, the environment's version goes up and `python tests/support/trajectories.py` writes
`tests/data/trajectories.json` again.
"""

from __future__ import annotations

import json

import pytest

from trajectories import FILE, MET, PLAYED, QUICK, play_batch, play_games

every_game = pytest.mark.parametrize(("name", "policy"), PLAYED)


@every_game
def test_trajectories_match_recorded_digests(name: str, policy: str) -> None:
    known = json.loads(FILE.read_text())
    assert play_games(name, policy, QUICK) == known[f"{name}, {policy}, 1/{QUICK}"]


@pytest.mark.slow
@every_game
def test_trajectories_of_all_seeds_match_recorded_digests(name: str, policy: str) -> None:
    assert play_games(name, policy) == json.loads(FILE.read_text())[f"{name}, {policy}"]


@pytest.mark.parametrize(("name", "opponent"), MET)
def test_batch_trajectories_match_recorded_digests(name: str, opponent: str) -> None:
    assert play_batch(name, opponent) == json.loads(FILE.read_text())[f"{name} against {opponent}"]
