"""Fixtures of several of these tests."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """Have Ctrl-C raise, as in a terminal: a job in the background ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def small_deck() -> Iterator[None]:
    """Have `python -m research.solve` solve three ranks of four suits."""
    import recordings

    with recordings.small_deck():
        yield
