"""The `entry` decorator of these kernels; a folder of their own keeps their cache apart."""

from __future__ import annotations

from pathlib import Path

import agents
from crib_env.engine.jit import ENGINE, entry_for

__all__ = ["entry"]

AGENTS = Path(agents.__file__).parent

entry = entry_for(
    Path(__file__).parent, AGENTS / "table_top" / "expert", AGENTS / "table_top", AGENTS,
    ENGINE / "table_top", ENGINE,
)  # fmt: skip
