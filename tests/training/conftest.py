"""Fixtures of several of these tests."""

from __future__ import annotations

from functools import partial

import pytest


@pytest.fixture
def small_deck(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have `crib solve` solve three ranks of four suits."""
    from crib_training.solve import run, settings
    from crib_training.solve.solver import Solver

    from exploit_toys import DECK, RULES

    monkeypatch.setattr(run, "Solver", partial(Solver, deck=DECK))
    monkeypatch.setattr(settings, "find_game", lambda *_: (None, RULES))
