"""Play stays what it was: digests of whole trajectories, recorded once and compared for ever.

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
def test_whole_games_are_what_they_were(name: str, policy: str) -> None:
    known = json.loads(FILE.read_text())
    assert play_games(name, policy, QUICK) == known[f"{name}, {policy}, 1/{QUICK}"]


@pytest.mark.slow
@every_game
def test_whole_games_of_all_seeds_are_what_they_were(name: str, policy: str) -> None:
    assert play_games(name, policy) == json.loads(FILE.read_text())[f"{name}, {policy}"]


@pytest.mark.parametrize(("name", "opponent"), MET)
def test_batches_are_what_they_were(name: str, opponent: str) -> None:
    assert play_batch(name, opponent) == json.loads(FILE.read_text())[f"{name} against {opponent}"]
