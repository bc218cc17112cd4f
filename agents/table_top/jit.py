"""The `entry` decorator of the agents' Table Top kernels."""

from __future__ import annotations

from pathlib import Path

from crib_env.engine.jit import ENGINE, entry_for

__all__ = ["entry"]

HERE = Path(__file__).parent

# The cache is named after all the sources that are compiled in. A folder of its own keeps it
# apart from the two-hand agents' cache, which is named after fewer.
entry = entry_for(HERE, HERE.parent, ENGINE / "table_top", ENGINE)
