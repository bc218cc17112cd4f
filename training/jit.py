"""The `entry` decorator of the training scripts' kernels, which compile those of all agents in."""

from __future__ import annotations

from pathlib import Path

import agents
from agents import expert
from crib_env.engine.jit import ENGINE, entry_for

entry = entry_for(
    Path(__file__).parent, Path(expert.__file__).parent, Path(agents.__file__).parent, ENGINE
)
