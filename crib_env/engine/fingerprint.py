"""A digest of everything that is compiled into a kernel: its code, its helpers', their constants.

Numba keys its own cache by the file of the function alone, so an edit to a helper in another file
would leave stale machine code behind. This walks the functions a kernel calls, wherever they are
written, and the values of the globals, closures and defaults they read, also those read as
``package.module.name``. An edit anywhere that could change the machine code changes the digest; an
edit of a comment does not.

The walk knows a fixed list of kinds of values and takes each of them in whole. Any other kind, and
whatever Numba was taught by others, raises `CannotFingerprint`: such code is compiled in every
process, and is never read from disk.
"""

from __future__ import annotations

import enum
import hashlib
import sys
from collections.abc import Callable
from types import EllipsisType, FunctionType, ModuleType, NoneType
from typing import Any
from weakref import WeakKeyDictionary, ref

import llvmlite
import numba
import numpy as np
from numba.core import config, types
from numba.core.caching import NullCache
from numba.core.compiler import Compiler
from numba.core.extending import _Intrinsic
from numba.core.registry import CPUDispatcher
from numba.core.typing.templates import Signature

from crib_env.engine.bytecode import MISSING, Read, read_bytecode
from crib_env.engine.extensions import find_extension, is_outside

# The code of these packages is not walked: their versions stand for it.
VERSIONS = (sys.version, numba.__version__, llvmlite.__version__, np.__version__)
# Settings of Numba that change the code; its cache knows none of them.
SETTINGS = ("OPT", "BOUNDSCHECK", "DEBUGINFO_DEFAULT", "LOOP_VECTORIZE", "SLP_VECTORIZE",
            "USING_SVML")  # fmt: skip
# A helper that leaves these open takes them from whichever caller compiles it first, which differs
# from process to process. So no helper may set them otherwise than the kernels do.
INHERITED = {"error_model": "numpy", "fastmath": False, "forceinline": False, "_nrt": False}
OPTIONS = {"nopython", "nogil", "boundscheck", "inline", *INHERITED}  # what a helper may set

PLAIN = {bool, int, float, complex, str, bytes, NoneType, EllipsisType}
DYNAMIC = {"open", "eval", "exec", "compile", "__import__", "globals", "vars", "input"}
DTYPES = "biufcSUMmV"
# Numba's types whose text says everything about them.
_types: Any = types
SPOKEN = (_types.Integer, _types.Float, _types.Complex, _types.Boolean, _types.NoneType,
          _types.UnicodeType)  # fmt: skip


class CannotFingerprint(TypeError):
    """Something is compiled in whose edits the digest would not show."""


def fingerprint(function: Callable[..., Any], *more: object) -> str:
    """Return 64 hexadecimal digits that name the code of ``function`` and all it calls."""
    walk = _Walk()
    walk.value((*VERSIONS, *(str(getattr(config, name, "")) for name in SETTINGS), *more))
    walk.part()
    walk.number(function)
    for reached in walk.functions:  # which grows as they are gone through
        walk.function(reached)
    if extension := find_extension(walk.names, walk.outside):
        raise CannotFingerprint(f"{extension.home} extends {_describe(extension.key)} in Numba")
    return walk.result()


# What a function was when it was first walked, and which functions it called. Numba compiles a
# helper once in a process: if its constants change later, its machine code does not.
_first: WeakKeyDictionary[FunctionType, tuple[object, ...]] = WeakKeyDictionary()


class _Walk:
    """One walk through the functions that can be reached; each is gone through once."""

    def __init__(self) -> None:
        self.functions: list[FunctionType] = []
        self.numbers: dict[int, int] = {}
        self.calls: list[int] = []  # the numbers of the functions, in the order they are read
        self.parts: list[bytes] = []  # what each function is by itself
        self.names: set[str] = set()
        self.outside: list[object] = []
        self.facts: list[object] = []  # of the part now gone through, all plain values
        self.where = "its signature"

    def part(self) -> bytes:
        """End a part of the walk; return its digest."""
        self.parts.append(hashlib.sha256(repr(self.facts).encode()).digest())
        self.facts.clear()
        return self.parts[-1]

    def result(self) -> str:
        numbers = repr((len(self.parts), self.calls)).encode()
        return hashlib.sha256(b"".join((*self.parts, numbers))).hexdigest()

    def number(self, function: Any) -> None:
        """Note a function by its place in the walk, and have it gone through."""
        if id(function) not in self.numbers:
            self.numbers[id(function)] = len(self.functions)
            self.functions.append(function)
        self.calls.append(self.numbers[id(function)])

    def function(self, function: FunctionType) -> None:
        self.where = f"{function.__module__}.{function.__qualname__}"
        before = len(self.calls)
        code = read_bytecode(function.__code__)
        if code.imports or not DYNAMIC.isdisjoint(code.names):
            raise CannotFingerprint(f"{self.where} looks for what it uses while it runs")
        self.names |= code.names
        self.facts.append(code.digest)
        self.value(function.__defaults__)
        self.value(tuple((function.__kwdefaults__ or {}).items()))
        for read in code.reads:
            self.read(function, read)
        called = (self.functions[number] for number in self.calls[before:])
        now = (self.part(), *map(ref, called))
        if _first.setdefault(function, now) != now:
            raise CannotFingerprint(f"{self.where} has changed since it was first compiled")

    def read(self, function: FunctionType, read: Read) -> None:
        """Note what a function reads by a chain of names, through modules to what is no module."""
        value = read.root(function)
        path = [read.names[0]]
        for name in read.names[1:]:
            if not isinstance(value, ModuleType):
                break
            path.append(name)
            value = getattr(value, name, MISSING)
        self.facts.append(".".join(path))
        if value is MISSING:
            self.facts.append("missing")
        elif isinstance(value, ModuleType):
            raise CannotFingerprint(f"{self.where} hands on the module {value.__name__}")
        else:
            self.value(value)

    def value(self, value: Any) -> None:
        kind = type(value)
        if kind in PLAIN:
            self.facts.append((value,))
        elif outside := _outside(value):
            self.facts += ("outside", outside)
            self.outside.append(value)
        elif kind in (tuple, list):
            self.facts += (kind.__name__, len(value))
            for item in value:
                self.value(item)
        elif kind is CPUDispatcher:
            self.dispatcher(value)
        elif kind is _Intrinsic:  # Python that writes the machine code, and is walked the same
            self.facts += ("intrinsic", value._prefer_literal)
            self.value(tuple(value._ctor_kwargs.items()))
            self.number(value._defn)
        elif isinstance(value, np.ndarray | np.generic | np.dtype):
            self.numpy(value)
        elif isinstance(value, types.Type):
            self.type(value)
        elif kind is Signature:
            self.facts.append("signature")
            self.value((value.return_type, *value.args))
        elif isinstance(value, type) and issubclass(value, enum.Enum | tuple):
            self.class_(value)
        elif isinstance(value, enum.Enum):
            self.class_(kind)
            self.facts.append(value.name)
        elif isinstance(value, tuple) and hasattr(kind, "_fields"):
            self.class_(kind)
            self.value(tuple(value))
        else:
            raise CannotFingerprint(f"{self.where} reads {_describe(value)}")

    def dispatcher(self, value: Any) -> None:
        """Note a compiled helper: its function, and what it is compiled with."""
        options = value.targetoptions
        for name, ours in INHERITED.items():
            if options.get(name, ours) != ours:
                raise CannotFingerprint(
                    f"{_describe(value)} is compiled with {name}={options[name]!r}"
                )
        if unknown := ", ".join(sorted(options.keys() - OPTIONS)):
            raise CannotFingerprint(f"{_describe(value)} is compiled with {unknown}")
        if value.locals or value._compiler.pipeline_class is not Compiler:
            raise CannotFingerprint(f"{_describe(value)} is compiled in a way of its own")
        if type(value._cache) is not NullCache:  # which does not see its helpers' edits
            raise CannotFingerprint(f"{_describe(value)} is stored in Numba's own cache")
        if not value._can_compile:  # for given signatures, when it was defined
            raise CannotFingerprint(f"{_describe(value)} is compiled before it is called")
        self.facts.append("compiled")
        self.value(tuple(sorted(options.items())))
        self.number(value.py_func)

    def numpy(self, value: Any) -> None:
        dtype = value if isinstance(value, np.dtype) else value.dtype
        if dtype.hasobject or dtype.kind not in DTYPES:
            raise CannotFingerprint(f"{self.where} reads {_describe(value)}")
        self.facts += (type(dtype).__name__, repr(dtype))
        if type(value) is np.ndarray:
            flags = value.flags
            self.facts += (value.shape, flags.c_contiguous, flags.f_contiguous, value.tobytes())
        elif isinstance(value, np.generic):
            self.facts += ("scalar", value.tobytes())
        elif value is not dtype:
            raise CannotFingerprint(f"{self.where} reads {_describe(value)}")

    def type(self, value: Any) -> None:
        kind = type(value)
        self.facts += (kind.__name__, repr(value))
        if kind in (_types.Array, _types.NestedArray, _types.UniTuple):
            self.type(value.dtype)
        elif kind is _types.Tuple:
            for item in value.types:
                self.type(item)
        elif kind in (_types.NamedTuple, _types.NamedUniTuple):
            self.class_(value.instance_class)
            for item in value.types:
                self.type(item)
        elif kind is _types.Record:
            for field in value.members:
                self.type(field[1])
        elif kind not in SPOKEN:
            raise CannotFingerprint(f"{self.where} reads {_describe(value)}")

    def class_(self, value: Any) -> None:
        """Note an enumeration with its members, or a named tuple with its fields."""
        self.facts.append([base.__qualname__ for base in value.__mro__])
        if issubclass(value, enum.Enum):
            for name, member in value.__members__.items():
                self.facts += (name, member.name, int(member) if isinstance(member, int) else "")
                self.value(member.value)
        elif hasattr(value, "_fields"):
            self.value((value._fields, tuple(value._field_defaults.items())))
        else:
            raise CannotFingerprint(f"{self.where} reads {_describe(value)}")


def _outside(value: Any) -> str | None:
    """Return the name of what belongs to Python, NumPy or Numba; None if it is somebody else's.

    A name that does not lead back to the very object is borrowed, as by `functools.wraps`.
    """
    module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    if not (isinstance(name, str) and is_outside(module)):
        return None
    found: Any = sys.modules.get(str(module))
    for part in name.split("."):
        found = getattr(found, part, None)
    return f"{module}.{name}" if found is value else None


def _describe(value: Any) -> str:
    name = getattr(value, "__qualname__", None)
    return f"{name} (a {type(value).__name__})" if name else f"a {type(value).__name__}"
