"""Fixtures of several of these tests."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from io import BytesIO
from typing import Any

import pytest


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """Make Ctrl-C raise KeyboardInterrupt, as in a terminal; a background job ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def pictures() -> None:
    """Draw the pictures of results in the runs of this test."""


@pytest.fixture(autouse=True)
def _no_pictures(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw no pictures unless a test uses `pictures`: half the time of a small tournament."""

    def savefig(_: Any, image: BytesIO, **__: Any) -> None:
        image.write(b"not drawn")

    if "pictures" not in request.fixturenames:
        monkeypatch.setattr("matplotlib.figure.Figure.savefig", savefig)
