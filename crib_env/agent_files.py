"""Agents from files and from models in memory, made by readers in entry-point groups.

A file's reader is found by the ending of its name, a model's by its class.
"""

from __future__ import annotations

import sys
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

FILES = "crib_env.agent_files"
MODELS = "crib_env.agent_models"


def installed(group: str) -> tuple[EntryPoint, ...]:
    """Return the entry points of a group, read once: all packages' files take 10 ms and more."""
    return _read(group, tuple(sys.path))


@cache
def _read(group: str, path: tuple[str, ...]) -> tuple[EntryPoint, ...]:
    return tuple(entry_points(group=group))


def read_agent_file(name: str) -> Any:
    """Return the agent of the file that a name is the path of."""
    for point in installed(FILES):
        if name.endswith(f".{point.name}"):
            return point.load()(name)
    return None


def agent_of_model(model: Any) -> Any:
    """Return the agent of a model in memory: a network, or what a library has trained."""
    classes = {f"{one.__module__}.{one.__qualname__}" for one in type(model).__mro__}
    for point in installed(MODELS):
        if point.name in classes:
            return point.load()(model)
    return None
