"""How kernels are compiled.

`kernel` marks a helper: compiled lazily into its callers, never cached alone. `entry`
marks one of the few functions called from Python: compiled for one explicit signature at its first
use, its machine code stored on disk (see `crib_env.engine.cache`). Measured: any other arrangement
compiles slower or starts slower.

Entries and kernels may be closures, so that one source serves every family of games and every
agent: captured values are compiled in like constants.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, TypeVar, cast

import numba
from numba.core import config

from crib_env.engine import private
from crib_env.engine.cache import KernelFile, find_fingerprint, own_symbols, say_compiling
from crib_env.engine.fingerprint import INHERITED
from crib_env.engine.linked import linked

F = TypeVar("F", bound=Callable[..., Any])

# Kernels allocate nothing, and their callers hold every array they are passed, so they count no
# references (`_nrt`): counting is atomic, and would take much of a decision's time.
OPTIONS: dict[str, Any] = {"nogil": True, **INHERITED}

# Numba compiles one function at a time anyway; this keeps two threads from compiling the same one.
_compiling = threading.RLock()


# A child of `fork` has copies of locks but not of the threads that hold them: it would wait for
# ever. So a fork waits for all threads that compile, or that call LLVM to load or to free code.
_FORK_WAITS_FOR = (_compiling, private.compiler_lock, private.llvm_lock)


def _acquire_locks() -> None:
    for lock in _FORK_WAITS_FOR:
        lock.__enter__()


def _release_locks() -> None:
    for lock in reversed(_FORK_WAITS_FOR):
        lock.__exit__(None, None, None)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_acquire_locks, after_in_parent=_release_locks, after_in_child=_release_locks)


def kernel(function: F) -> F:
    """Compile a helper lazily, into each entry that calls it."""
    if config.DISABLE_JIT:
        return function
    dispatcher = linked(function, OPTIONS)
    dispatcher.compile = _keepable(dispatcher)
    return cast(F, dispatcher)


def shared_kernel(function: F) -> F:
    """Compile a helper as `kernel` does, but once for all constants that its callers pass.

    Numba compiles a kernel again for each constant: `peg` nine times, by reason, which took a fifth
    of a cold start. That speeds up loops over networks, but not pegging kernels.
    """
    dispatcher: Any = kernel(function)
    if not config.DISABLE_JIT:
        compile_ = dispatcher.compile
        dispatcher.compile = lambda signature: compile_(tuple(map(numba.types.unliteral, signature)))
    return cast(F, dispatcher)


def plain(helper: Callable[..., Any]) -> Callable[..., Any]:
    """Return the Python function of a kernel. Called from Python, a kernel is compiled first."""
    return cast(Callable[..., Any], getattr(helper, "py_func", helper))


def _keepable(dispatcher: Any) -> Callable[[Any], Any]:
    """Return a ``compile`` for a kernel whose code entries may store.

    Any caller may compile the kernel first, Python or any function, so the kernel itself sets all
    options that it would otherwise take from that caller.
    """
    compile_ = dispatcher.compile

    def compiled(signature: Any) -> Any:
        if signature in dispatcher.overloads or isinstance(find_fingerprint(dispatcher), Exception):
            return compile_(signature)
        with own_symbols():
            return compile_(signature)

    return compiled


class Entry:
    """A compiled function for one signature, compiled or read from the cache at its first use.

    Args:
        function: the function to compile.
        signature: Numba's types of its arguments and its result.
        name: the name of its file in the cache; closures made from one source need different names.
        seconds: about how long it compiles, in CPU seconds; 0 for less than two, not announced.
    """

    def __init__(self, function: Callable[..., Any], signature: Any, name: str, seconds: int = 0) -> None:
        self.function = function
        self.signature = signature
        self.name = name
        self.seconds = seconds
        self._compiled: Callable[..., Any] | None = None
        self._unchecked: Callable[..., Any] | None = None
        self._address: Any = None
        self.__doc__ = function.__doc__
        self.__name__ = function.__name__

    @property
    def compiled(self) -> Callable[..., Any]:
        """The machine code, compiled or read from the cache now."""
        if self._compiled is None:
            with _compiling:
                if self._compiled is None:
                    self._compiled = self._compile()
        return self._compiled

    def _compile(self) -> Callable[..., Any]:
        if config.DISABLE_JIT:
            return self.function
        dispatcher = numba.njit(**OPTIONS)(self.function)
        file = KernelFile(dispatcher, self.name, self.signature, tuple(sorted(OPTIONS.items())))
        with own_symbols() if file.identity else nullcontext():
            if not file.load():
                if self.seconds:
                    say_compiling(self.name, self.seconds)
                dispatcher.compile(self.signature)
                file.save()
        dispatcher.disable_compile()
        return cast(Callable[..., Any], dispatcher)

    # Not `cached_property`: in Python 3.11 it has a lock that a fork would not wait for.
    @property
    def unchecked(self) -> Callable[..., Any]:
        """The machine code without Numba's choice by the arguments' types, for hot loops.

        With many arrays that choice takes most of the call, though an entry has one signature. The
        arguments must have the signature's types exactly: users' arguments go through the entry
        itself, which checks them.
        """
        if self._unchecked is None:
            self._unchecked = self.compiled if config.DISABLE_JIT else self._code().entry_point
        return self._unchecked

    @property
    def address(self) -> Any:
        """Where the machine code is in this process, for `crib_env.engine.acts`.

        Uncompiled, it is the function itself.
        """
        if self._address is None:
            code = None if config.DISABLE_JIT else self._code()
            self._address = code.library.get_pointer_to_function(code.fndesc.llvm_func_name) if code else self.function
        return self._address

    def _code(self) -> Any:
        (code,) = cast(Any, self.compiled).overloads.values()
        return code

    def __call__(self, *args: Any) -> Any:
        """Call the compiled function."""
        return self.compiled(*args)


def entry(signature: Any, name: str = "", *, seconds: int = 0) -> Callable[[Callable[..., Any]], Entry]:
    """Return the decorator of an entry; its file in the cache is named after its module and it."""

    def decorate(function: Callable[..., Any]) -> Entry:
        place = function.__module__.rpartition(".")[2]
        return Entry(function, signature, name or f"{place}.{function.__name__}", seconds)

    return decorate
