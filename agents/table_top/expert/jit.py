"""The `entry` decorator of the Table Top expert's kernels, whose sources lie in five folders."""

from __future__ import annotations

from pathlib import Path

from crib_env.engine.jit import ENGINE, entry_for

__all__ = ["entry"]

HERE = Path(__file__).parent

entry = entry_for(HERE, HERE.parent, HERE.parents[1], ENGINE / "table_top", ENGINE)
