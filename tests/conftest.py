"""Pytest looks for garbage neither while it collects thousands of tests nor in them afterwards."""

from __future__ import annotations

import gc

gc.disable()


def pytest_collection_finish() -> None:
    """Exclude the collected tests from later garbage collections."""
    gc.collect()
    gc.freeze()
    gc.enable()
