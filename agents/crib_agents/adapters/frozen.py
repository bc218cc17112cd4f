"""Copies of agents that later training does not change."""

from __future__ import annotations

import dis
import sys
from collections.abc import Iterator
from copy import copy, deepcopy
from functools import partial
from types import CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from crib_agents.adapters.nets import TorchScore
from crib_agents.adapters.sb3 import SB3Score
from crib_env.policy import Agent

Memo = dict[int, Any]


def frozen(agent: Agent) -> Agent:
    """Return a copy of an agent, with copies of all networks, arrays and objects that it reads."""
    try:
        copied: Agent = _frozen(agent, {})
    except Exception as error:  # an object of any class is copied in its own way
        why = " ".join(f"{type(error).__name__}: {error}".split()).partition(". ")[0]
        raise ValueError(
            f"{agent.name!r} cannot be copied ({why}), and without a copy later training changes "
            "it: give an agent that copy.deepcopy can copy, such as from_torch of a module"
        ) from error
    return copied


def _frozen(value: Any, memo: Memo, module: str | None = None) -> Any:
    """Return a deep copy, also of what functions read: copy.deepcopy copies no function."""
    if id(value) in memo:
        return memo[id(value)]
    torch = sys.modules.get("torch")
    if isinstance(value, ModuleType):
        return value
    if isinstance(value, MethodType):
        return MethodType(value.__func__, _frozen(value.__self__, memo, module))
    if isinstance(value, partial):
        args, keywords = (_frozen(part, memo, module) for part in (value.args, value.keywords))
        return partial(_frozen(value.func, memo, module), *args, **keywords)
    if isinstance(value, FunctionType):
        constant = value.__closure__ is None and module not in (None, value.__module__)
        return value if constant else _frozen_function(value, memo)
    if torch is not None and isinstance(value, torch.nn.Module):
        # deepcopy refuses tensors computed from others, such as the weight of a weight_norm.
        for held in (one for part in value.modules() for one in vars(part).values()):
            if isinstance(held, torch.Tensor) and not held.is_leaf:
                memo[id(held)] = held.detach().clone()
    elif not isinstance(value, type) and isinstance(value, Agent | TorchScore | SB3Score):
        copied = memo[id(value)] = copy(value)
        for name, part in vars(value).items():
            object.__setattr__(copied, name, _frozen(part, memo))  # scores are read-only
        return copied
    return deepcopy(value, memo)


def _frozen_function(function: FunctionType, memo: Memo) -> FunctionType:
    """Return a function that reads copies of the variables that this one reads."""
    known, module = dict(function.__globals__), function.__module__
    cells = tuple(CellType() for _ in function.__closure__ or ())
    copied = FunctionType(function.__code__, known, function.__name__, None, cells)
    memo[id(function)] = copied
    vars(copied).update(vars(function))
    copied.__module__ = module
    copied.__defaults__ = _frozen(function.__defaults__, memo, module)
    copied.__kwdefaults__ = _frozen(function.__kwdefaults__, memo, module)
    for cell, given in zip(cells, function.__closure__ or (), strict=True):
        if given != CellType():  # one that is still empty
            cell.cell_contents = _frozen(given.cell_contents, memo, module)
    for name in known.keys() & set(_globals_of(function.__code__)):
        known[name] = _frozen(known[name], memo, module)
    return copied


def _globals_of(code: CodeType) -> Iterator[str]:
    """Yield the names of the globals that code reads, with the functions inside it."""
    for line in dis.get_instructions(code):
        if line.opname == "LOAD_GLOBAL":
            yield line.argval
        elif isinstance(line.argval, CodeType):
            yield from _globals_of(line.argval)
