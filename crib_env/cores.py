"""How many cores this process may use."""

from __future__ import annotations

import os


def usable_cores() -> int:
    """Return how many cores this process may run on: in a container or a job fewer than there are.

    As Python 3.13's ``os.process_cpu_count``.
    """
    if hasattr(os, "process_cpu_count"):
        return os.process_cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
