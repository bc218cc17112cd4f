"""Pytest looks for garbage neither while it collects thousands of tests nor in them afterwards."""

from __future__ import annotations

import gc

gc.disable()


def pytest_collection_finish() -> None:
    """Leave what the tests are made of out of every later search."""
    gc.collect()
    gc.freeze()
    gc.enable()
