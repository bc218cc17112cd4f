"""Agents in files: who reads a file is found by its ending, through an entry-point group."""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import Any

FILES = "crib_env.agent_files"


def read_agent_file(name: str) -> Any:
    """Return the agent of the file that a name is the path of.

    Args:
        name: a path, whose ending is that of an entry point of the group; the entry point is a
            function of the whole name.

    Returns:
        the agent, or None if no package reads files of such an ending.

    Raises:
        ValueError: the file does not fit; the message is the reader's.
    """
    for point in entry_points(group=FILES):
        if name.endswith(f".{point.name}"):
            return point.load()(name)
    return None
