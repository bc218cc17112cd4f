"""A function's bytecode: its instructions, and the names by which it reads values."""

from __future__ import annotations

import builtins
import dis
import hashlib
import inspect
import sys
from collections.abc import Iterator
from functools import cache
from types import CodeType, FunctionType
from typing import Any, NamedTuple

MISSING = object()
_GLOBAL, _CLOSURE, _IMPORT = (
    dis.opmap[name] for name in ("LOAD_GLOBAL", "LOAD_DEREF", "IMPORT_NAME")
)
# By how much an attribute's number is shifted: from Python 3.12 on a bit says if it is called.
_ATTRIBUTES = (
    {dis.opmap["LOAD_ATTR"]: 0, dis.opmap["LOAD_METHOD"]: 0}
    if "LOAD_METHOD" in dis.opmap and sys.version_info < (3, 12)
    else {dis.opmap["LOAD_ATTR"]: 1}
)
_IDLE = (0, dis.opmap["NOP"])  # 0: room for the interpreter's own notes
# Of a function's flags; the others do not count, and a profiler clears some of them.
_FLAGS = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS | inspect.CO_GENERATOR


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
    """What a code object says, with the functions defined in it.

    Attributes:
        digest: of the instructions and constants, without the docstring and the numbers of lines.
        reads: the globals and the values of the closure that it reads.
        names: all names of globals and attributes in it.
        imports: whether it imports anything while it runs.
    """

    digest: bytes
    reads: tuple[Read, ...]
    names: frozenset[str]
    imports: bool


@cache
def read_bytecode(code: CodeType) -> Bytecode:
    """Return what ``code`` says."""
    steps = list(_steps(code.co_code))
    reads = dict.fromkeys(_chains(code, steps))
    names = set(code.co_names)
    imports = any(operation == _IMPORT for operation, _ in steps)
    # Without instructions that load it, the first constant is the docstring.
    loaded = any(operation in dis.hasconst and not number for operation, number in steps)
    facts: list[object] = [
        code.co_code, code.co_exceptiontable, code.co_flags & _FLAGS,
        code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount,
        code.co_names, code.co_varnames, code.co_cellvars, code.co_freevars,
    ]  # fmt: skip
    for constant in code.co_consts if loaded else code.co_consts[1:]:
        if isinstance(constant, CodeType):
            inner = read_bytecode(constant)
            facts.append(inner.digest)
            reads.update(dict.fromkeys(inner.reads))
            names |= inner.names
            imports |= inner.imports
        else:
            facts.append(_text(constant))
    digest = hashlib.sha256(repr(facts).encode()).digest()
    return Bytecode(digest, tuple(reads), frozenset(names), imports)


def _steps(code: bytes) -> Iterator[tuple[int, int]]:
    """Yield the instructions and their arguments, as `dis` does in ten times the time."""
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
