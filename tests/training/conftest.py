"""Fixtures of several of these tests."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from functools import partial

import pytest


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """Have Ctrl-C raise, as in a terminal: a job in the background ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def small_deck(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have `crib solve` solve three ranks of four suits."""
    from crib_training.solve import run, settings
    from crib_training.solve.solver import Solver

    from exploit_toys import DECK, RULES

    monkeypatch.setattr(run, "Solver", partial(Solver, deck=DECK))
    monkeypatch.setattr(settings, "find_game", lambda *_: (None, RULES))
