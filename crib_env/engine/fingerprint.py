"""A digest of everything that is compiled into a kernel: its code, its helpers', their constants.

Numba keys its own cache by the file of the function alone, so an edit to a helper in another file
would leave stale machine code behind. This walks the functions a kernel calls, wherever they are
written, and the values of the globals and closures they read. An edit anywhere that could change
the machine code changes the digest; an edit of a comment does not.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any

import llvmlite
import numba
import numpy as np

# Code of these is not walked: their versions stand for it.
VERSIONS = (sys.version, numba.__version__, llvmlite.__version__, np.__version__)
DIGITS = 24
OUTSIDE = ("numba", "numpy", "builtins", "math", "llvmlite")


def fingerprint(function: Callable[..., Any], *more: object) -> str:
    """Return `DIGITS` hexadecimal digits that name the code of ``function`` and all it calls.

    Args:
        function: a plain function, not yet compiled.
        more: what else the machine code depends on, such as a signature; their ``repr`` counts.
    """
    walk = _Walk()
    walk.function(function)
    for part in (*VERSIONS, *map(repr, more)):
        walk.note(part)
    return walk.digest.hexdigest()[:DIGITS]


class _Walk:
    """One walk through the functions that can be reached; each is gone through once."""

    def __init__(self) -> None:
        self.digest = hashlib.sha256()
        self.seen: dict[int, int] = {}

    def note(self, text: str) -> None:
        self.digest.update(text.encode() + b"\0")

    def function(self, function: Any) -> None:
        number = self.seen.get(id(function))
        if number is not None:
            self.note(f"function {number}")
            return
        self.seen[id(function)] = len(self.seen)
        self.code(function.__code__)
        self.note(repr(function.__defaults__))
        self.note(repr(function.__kwdefaults__))
        for name, value in _reads(function):
            self.note(name)
            self.value(value)

    def code(self, code: CodeType) -> None:
        self.digest.update(code.co_code)
        self.note(repr(code.co_names))
        self.note(repr(code.co_varnames))
        for constant in code.co_consts[1:] if _documented(code) else code.co_consts:
            if isinstance(constant, CodeType):
                self.code(constant)
            elif isinstance(constant, frozenset):  # in an order of its own in each process
                self.note(repr(sorted(map(repr, constant))))
            else:
                self.note(repr(constant))

    def value(self, value: Any) -> None:
        plain = getattr(value, "py_func", value)
        if isinstance(plain, FunctionType):
            if plain.__module__.partition(".")[0] in OUTSIDE:
                self.note(f"{plain.__module__}.{plain.__qualname__}")
            else:
                self.function(plain)
        elif isinstance(value, np.ndarray):
            self.note(f"{value.dtype} {value.shape}")
            self.digest.update(np.ascontiguousarray(value).tobytes())
        elif isinstance(value, (tuple, list)):
            self.note(f"{type(value).__name__} of {len(value)}")
            for item in value:
                self.value(item)
        elif isinstance(value, ModuleType):
            self.note(value.__name__)
        elif hasattr(value, "__qualname__"):  # a class, or a function of another language
            self.note(f"{getattr(value, '__module__', '')}.{value.__qualname__}")
        elif getattr(type(value), "__repr__", None) is object.__repr__:  # it would show an address
            self.note(type(value).__qualname__)
        else:
            self.note(repr(value))


def _documented(code: CodeType) -> bool:
    """Return whether the first constant is the docstring, which compiles to nothing."""
    return bool(code.co_consts) and isinstance(code.co_consts[0], str)


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _reads(function: Any) -> Iterator[tuple[str, Any]]:
    """Yield what the function reads of its globals, of modules among them, and of its closure."""
    names = list(dict.fromkeys(_names(function.__code__)))
    for name in names:
        value = function.__globals__.get(name, _MISSING)
        if value is _MISSING:
            continue
        yield name, value
        if isinstance(value, ModuleType) and value.__name__.partition(".")[0] not in OUTSIDE:
            for attribute in names:
                if hasattr(value, attribute):
                    yield f"{name}.{attribute}", getattr(value, attribute)
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        yield name, cell.cell_contents


_MISSING = object()
