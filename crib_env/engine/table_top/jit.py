"""The Table Top engine's `entry` decorator; its `kernel` is the two-hand engine's."""

from __future__ import annotations

from pathlib import Path

from crib_env.engine.jit import ENGINE, entry_for, kernel

__all__ = ["entry", "kernel"]

# The cache is named after the sources of both engines, for this one calls into the other.
entry = entry_for(Path(__file__).parent, ENGINE)
