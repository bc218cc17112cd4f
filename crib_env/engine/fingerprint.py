"""A digest of everything that is compiled into a kernel: its code, its helpers', their constants.

Numba keys its own cache by the file of the function alone, so an edit to a helper in another file
would leave stale machine code behind. This module walks the functions a kernel calls, wherever they
are written, and the values of the globals, closures and defaults they read, also those read as
``package.module.name``. An edit anywhere that could change the machine code changes the digest; an
edit of a comment does not.

Digests of whole modules and their imports would take less code. But then an edit of
`crib_env.rules`, which holds no kernel, would recompile 51 of the 67 entries, and a table read from
a file would go unseen.

The walk knows a fixed list of kinds of values and hashes each of them completely. Any other kind,
and any extension of Numba by another package, raises `CannotFingerprint`: such code is compiled in
every process, and is never read from disk.
"""

from __future__ import annotations

import builtins
import dis
import enum
import hashlib
import inspect
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from types import CodeType, EllipsisType, FunctionType, ModuleType, NoneType
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary, ref

import llvmlite
import numba
import numpy as np
from numba.core import config, types
from numba.extending import intrinsic, overload_attribute

from crib_env.engine import private
from crib_env.engine.linked import LinkedCompiler

# The code of these packages is not walked: their versions stand for it.
VERSIONS = (sys.version, numba.__version__, llvmlite.__version__, np.__version__)
# Numba settings that affect generated code but not Numba's cache key.
SETTINGS = ("OPT", "BOUNDSCHECK", "DEBUGINFO_DEFAULT", "LOOP_VECTORIZE", "SLP_VECTORIZE", "USING_SVML")
# A helper that leaves these open takes them from the first caller that compiles it, which differs
# from process to process. So no helper may set them otherwise than the kernels do.
INHERITED = {"error_model": "numpy", "fastmath": False}
INHERITED |= {name: False for name in ("forceinline", "_nrt") if hasattr(private.CPUTargetOptions, name)}
OPTIONS = {"nopython", "nogil", "boundscheck", "inline", *INHERITED}  # those of a helper

PLAIN = {bool, int, float, complex, str, bytes, NoneType, EllipsisType}
DYNAMIC = {"open", "eval", "exec", "compile", "__import__", "globals", "vars", "input"}
DTYPES = "biufcSUMmV"
# Numba's types, and the parts of each that its text does not show.
TYPES: dict[str, Callable[[Any], Iterable[Any]]] = {
    **dict.fromkeys(("Integer", "Float", "Complex", "Boolean", "NoneType", "UnicodeType"), lambda _: ()),
    **dict.fromkeys(("Array", "NestedArray", "UniTuple"), lambda value: (value.dtype,)),
    **dict.fromkeys(("NamedTuple", "NamedUniTuple"), lambda value: (value.instance_class, *value.types)),
    "Tuple": lambda value: value.types,
    "Record": lambda value: [field[1] for field in value.members],
}


class CannotFingerprint(TypeError):
    """The code depends on something whose changes the digest cannot detect."""


def fingerprint(function: Callable[..., Any], *more: object) -> str:
    """Return 64 hexadecimal digits that name the code of ``function`` and all it calls."""
    walk = _Walk()
    walk.value((*VERSIONS, *(str(getattr(config, name)) for name in SETTINGS), *more))
    walk.part()
    walk.number(function)
    for reached in walk.functions:  # the list grows during the loop
        walk.function(reached)
    if extension := find_extension(walk.names, walk.outside):
        raise CannotFingerprint(f"{extension.home} extends {_describe(extension.key)} in Numba")
    return walk.result()


# The digest of each function at its first walk, and the functions that it called. Numba compiles a
# helper once in a process: if its constants change later, its machine code does not.
_first: WeakKeyDictionary[FunctionType, tuple[object, ...]] = WeakKeyDictionary()


class _Walk:
    """One walk through the functions that can be reached; each is visited once."""

    def __init__(self) -> None:
        self.functions: list[FunctionType] = []
        self.numbers: dict[int, int] = {}
        self.calls: list[int] = []  # the numbers of the functions, in the order they are read
        self.parts: list[bytes] = []  # the digest of each function without its callees
        self.names: set[str] = set()
        self.outside: list[object] = []
        self.facts: list[object] = []  # of the current part, all plain values
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
        """Record the function's index and queue it."""
        if id(function) not in self.numbers:
            self.numbers[id(function)] = len(self.functions)
            self.functions.append(function)
        self.calls.append(self.numbers[id(function)])

    def function(self, function: FunctionType) -> None:
        self.where = f"{function.__module__}.{function.__qualname__}"
        before = len(self.calls)
        code = read_bytecode(function.__code__)
        if not DYNAMIC.isdisjoint(code.names):
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
        """Record a value that a function reads by a chain of names, such as ``module.NAME``."""
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
        elif kind is private.CPUDispatcher:
            self.dispatcher(value)
        elif kind is private.Intrinsic:  # Python that generates the machine code; walked too
            self.facts += ("intrinsic", value._prefer_literal)
            self.value(tuple(value._ctor_kwargs.items()))
            self.number(value._defn)
        elif isinstance(value, np.ndarray | np.generic | np.dtype):
            self.numpy(value)
        elif isinstance(value, types.Type):
            self.type(value)
        elif kind is private.Signature:
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
        """Record a compiled helper: its function and its compile options."""
        options = value.targetoptions
        for name, ours in INHERITED.items():
            if options.get(name, ours) != ours:
                raise CannotFingerprint(f"{_describe(value)} is compiled with {name}={options[name]!r}")
        if unknown := ", ".join(sorted(options.keys() - OPTIONS)):
            raise CannotFingerprint(f"{_describe(value)} is compiled with {unknown}")
        if value.locals or value._compiler.pipeline_class not in (private.Compiler, LinkedCompiler):
            raise CannotFingerprint(f"{_describe(value)} is compiled in a way of its own")
        if value.stats.cache_path is not None:  # which does not see its helpers' edits
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
        if kind.__name__ not in TYPES or getattr(types, kind.__name__, None) is not kind:
            raise CannotFingerprint(f"{self.where} reads {_describe(value)}")
        self.facts += (kind.__name__, repr(value))
        for part in TYPES[kind.__name__](value):
            self.value(part)

    def class_(self, value: Any) -> None:
        """Record an enumeration with its members, or a named tuple with its fields."""
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
    """Return the name of an object of Python, NumPy or Numba; None for any other object.

    A name that does not lead back to the same object is borrowed, as by `functools.wraps`.
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


# --- a function's bytecode: its instructions, and the names by which it reads values -------------

MISSING = object()
_GLOBAL, _CLOSURE, _IMPORT = (dis.opmap[name] for name in ("LOAD_GLOBAL", "LOAD_DEREF", "IMPORT_NAME"))
# By how much an attribute's number is shifted: from Python 3.12 on a bit says if it is called.
_ATTRIBUTES = (
    {dis.opmap["LOAD_ATTR"]: 0, dis.opmap["LOAD_METHOD"]: 0}
    if "LOAD_METHOD" in dis.opmap and sys.version_info < (3, 12)
    else {dis.opmap["LOAD_ATTR"]: 1}
)
_IDLE = (0, dis.opmap["NOP"])  # 0: the interpreter's inline caches
# The flags of a function that matter; a profiler clears some of the others.
_FLAGS = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS | inspect.CO_GENERATOR
_PARTS = ("argcount", "posonlyargcount", "kwonlyargcount", "names", "varnames", "cellvars", "freevars")


class Read(NamedTuple):
    """A name that is read, with the attributes that follow it: ``package.module.helper``."""

    names: tuple[str, ...]
    closure: bool  # else a global

    def root(self, function: FunctionType) -> Any:
        """Return the value of the first name in ``function``; `MISSING` if it has none."""
        name = self.names[0]
        if self.closure:
            cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
            return next((cell.cell_contents for own, cell in cells if own == name), MISSING)
        return function.__globals__.get(name, getattr(builtins, name, MISSING))


class Bytecode(NamedTuple):
    """The contents of a code object and of the functions defined in it.

    Attributes:
        digest: of the instructions and constants, without the docstring and the numbers of lines.
        reads: the globals and the values of the closure that it reads.
        names: all names of globals and attributes in it, and ``__import__`` if it imports anything.
    """

    digest: bytes
    reads: tuple[Read, ...]
    names: frozenset[str]


@cache
def read_bytecode(code: CodeType) -> Bytecode:
    """Return the `Bytecode` of a code object."""
    steps = list(_steps(code.co_code))
    reads = dict.fromkeys(_chains(code, steps))
    names = {*code.co_names, *("__import__" for operation, _ in steps if operation == _IMPORT)}
    # Without instructions that load it, the first constant is the docstring.
    loaded = any(operation in dis.hasconst and not number for operation, number in steps)
    facts: list[object] = [code.co_code, code.co_exceptiontable, code.co_flags & _FLAGS]
    facts += (getattr(code, f"co_{name}") for name in _PARTS)
    for constant in code.co_consts if loaded else code.co_consts[1:]:
        if isinstance(constant, CodeType):
            inner = read_bytecode(constant)
            facts.append(inner.digest)
            reads.update(dict.fromkeys(inner.reads))
            names |= inner.names
        else:
            facts.append(_text(constant))
    digest = hashlib.sha256(repr(facts).encode()).digest()
    return Bytecode(digest, tuple(reads), frozenset(names))


def _steps(code: bytes) -> Iterator[tuple[int, int]]:
    """Yield the instructions and their arguments; `dis` takes ten times as long."""
    argument = 0
    for operation, low in zip(code[::2], code[1::2], strict=True):
        argument = argument << 8 | low
        if operation == dis.EXTENDED_ARG:
            continue
        if operation not in _IDLE:
            yield operation, argument
        argument = 0


def _chains(code: CodeType, steps: list[tuple[int, int]]) -> Iterator[Read]:
    for at, (root, number) in enumerate(steps):
        if root == _GLOBAL:
            names = [code.co_names[number >> 1]]
        elif root == _CLOSURE:
            names = [code._varname_from_oparg(number)]  # type: ignore[attr-defined]
        else:
            continue
        for operation, number in steps[at + 1 :]:
            if operation not in _ATTRIBUTES:
                break
            names.append(code.co_names[number >> _ATTRIBUTES[operation]])
        yield Read(tuple(names), root == _CLOSURE)


def _text(constant: object) -> str:
    """Return a constant's ``repr``, with the items of a set in the same order in every process."""
    if isinstance(constant, tuple):
        return f"({', '.join(map(_text, constant))},)"
    if isinstance(constant, frozenset):
        return f"{{{', '.join(sorted(map(_text, constant)))}}}"
    return repr(constant)


# --- extensions of Numba by other packages: overloads of functions, attributes of types ----------
# Numba finds these by the types of the arguments. So a kernel may use one without naming it, and an
# edit of it does not show in the kernel's code.

# The packages whose code is known by their versions.
OUTSIDE = ("numba", "numpy", "llvmlite", "builtins", "math", "cmath", "_operator")
IMPLICIT = ("builtins", "_operator")  # called by syntax, without being named
MADE = (None, "abc")  # the module of classes that Numba makes of a function


class Extension(NamedTuple):
    """One overload: of a function ``key``, or of the attribute of a type ``key``."""

    key: Any
    attribute: str | None
    home: str


_extensions: list[Extension] = []
_scanned = {"functions": 0, "attributes": 0, "globals": 0}


def find_extension(names: set[str], reached: Iterable[object]) -> Extension | None:
    """Return an extension that could be compiled into code; None if there is none."""
    _scan()
    called = {id(value) for value in reached}
    for extension in _extensions:
        key = extension.key
        if extension.attribute is not None:
            matches = extension.attribute in names
        elif callable(key) and not isinstance(key, type):
            matches = id(key) in called or getattr(key, "__module__", None) in IMPLICIT
        else:
            matches = True
        if matches:
            return extension
    return None


@cache
def is_outside(module: object) -> bool:
    """Return whether a module's name is one of the packages `OUTSIDE`, or in one."""
    return isinstance(module, str) and module.partition(".")[0] in OUTSIDE


def _scan() -> None:
    """Read the entries registered since the last scan: the lists only grow."""
    for name, begin in _scanned.items():
        items = getattr(private.builtin_registry, name)
        for each in _overloads(items[begin:]):
            if is_outside(getattr(each.key, "__module__", "builtins")):  # else it must be named
                _extensions.append(each)
        _scanned[name] = len(items)


def _overloads(items: Iterable[Any]) -> Iterator[Extension]:
    """Yield the overloads by other packages among entries of a registry."""
    for item in items:
        pair = isinstance(item, tuple)  # in the registry of globals
        for template in getattr(item[1], "templates", ()) if pair else (item,):
            if home := _home(template):
                yield Extension(item[0] if pair else item.key, getattr(template, "_attr", None), home)


def _home(template: Any) -> str | None:
    """Return the module of another package in which a template was written, else None."""
    for source in (getattr(template, "_overload_func", None), template, *template.__bases__):
        module: str | None = getattr(source, "__module__", None)
        if not (module in MADE or is_outside(module)):
            return module
    return None


# --- check that Numba and Python store all this in the form read here -----------------------------


def check_numba() -> None:
    """Raise an error if a private part is missing or works in another way; compile nothing."""
    if private.missing:
        raise AttributeError(f"no {', '.join(private.missing)}")
    one = 1

    def sample(x):
        return types.int64(x) + one

    class Sample(types.Type):
        pass

    if read_bytecode(sample.__code__).reads != (Read(("types", "int64"), False), Read(("one",), True)):
        raise LookupError("the names in bytecode are not found")
    helpers = numba.njit(boundscheck=False)(sample), numba.njit(boundscheck=True)(sample), intrinsic(sample)
    if len({fingerprint(sample, numba.int64(numba.int64), helper) for helper in helpers}) < len(helpers):
        raise LookupError("the options of helpers are not found")
    sizes = {name: len(getattr(private.builtin_registry, name)) for name in _scanned}
    overload_attribute(Sample, "sample")(sample)  # which also makes `sample` an overload of itself
    function, attribute = Extension(sample, None, __name__), Extension(Sample, "sample", __name__)
    for name, made in {"functions": function, "globals": function, "attributes": attribute}.items():
        if made not in list(_overloads(getattr(private.builtin_registry, name)[sizes[name] :])):
            raise LookupError(f"overloads are not found among the registered {name}")
