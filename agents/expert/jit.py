"""The `entry` decorator of the expert's kernels, whose sources lie in three folders."""

from __future__ import annotations

from pathlib import Path

from crib_env.engine.jit import ENGINE, entry_for

entry = entry_for(Path(__file__).parent, Path(__file__).parents[1], ENGINE)
