"""Many games at once through `crib web`: every answer, and every table kept, is its player's."""

from __future__ import annotations

import os

import pytest

from benchmarks.web import GAMES, measure


@pytest.mark.slow
def test_games_played_at_once_are_not_mixed_up() -> None:
    """`measure` itself asserts what belongs to whom; the server is killed before it is checked."""
    found = measure(games=24, seconds=15.0, think=0.5)
    assert found["answers"] > 24 * 3
    assert found["memory"] - found["memory_before"] < 64
    assert len(GAMES) > 3


@pytest.mark.slow
def test_players_are_answered_within_a_second_beside_hostile_and_slow_clients() -> None:
    found = measure(games=8, seconds=20.0, think=0.5, hostile=True)
    assert found["hostile 429"] > 100
    assert found["hostile half open"] > 5
    busy = max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))  # by what else the machine does
    assert found["p99"] < 1000 * busy
