"""How kernels are compiled and where their machine code is kept.

Two decorators. `kernel` marks a helper: compiled lazily into whatever calls it, never cached by
itself. `entry` marks one of the few functions called from Python: compiled for one explicit
signature at its first use and cached on disk. (Measured: any other arrangement
compiles slower or starts slower.)

Numba keys its cache by the entry's own file, so an edit to a helper in another file would leave
stale machine code behind. We therefore keep the cache in a folder named after a digest of every
kernel source: an edit anywhere names a new folder, and the old one is removed.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba.core import config

F = TypeVar("F", bound=Callable[..., Any])

ENGINE = Path(__file__).parent


# Kernels allocate nothing, and their callers hold every array they are passed, so they count no
# references: counting is atomic, and would take much of a decision's time.
OPTIONS: dict[str, Any] = {"error_model": "numpy", "nogil": True, "_nrt": False}


def kernel(function: F) -> F:
    """Compile a helper lazily, into each entry that calls it."""
    return cast(F, numba.njit(**OPTIONS)(function))


def source_digest(*folders: Path) -> str:
    """Return a digest of every ``.py`` file directly in the folders, and of Numba's version."""
    digest = hashlib.sha256(numba.__version__.encode())
    for folder in folders:
        for path in sorted(folder.glob("*.py")):
            digest.update(path.name.encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def cache_folder(*folders: Path) -> Path:
    """Return the folder for machine code compiled from the sources in ``folders``.

    It lies under ``NUMBA_CACHE_DIR`` if that is set, else beside the first folder's sources, else
    (a read-only installation) under the user's cache folder. Folders of other digests beside it,
    left by sources that have since changed, are removed.
    """
    name = f"{folders[0].parent.name}-{folders[0].name}-"
    bases = [folders[0] / "__pycache__", Path.home() / ".cache" / "crib_env"]
    if os.environ.get("NUMBA_CACHE_DIR"):
        bases.insert(0, Path(os.environ["NUMBA_CACHE_DIR"]))
    base = next((b for b in bases if _writable(b)), Path(tempfile.gettempdir()))
    folder = base / (name + source_digest(*folders))
    if not folder.exists():
        for old in base.glob(name + "*"):
            shutil.rmtree(old, ignore_errors=True)
    return folder


class Entry:
    """A compiled function for one signature, compiled or read from the cache at its first use."""

    def __init__(self, function: Callable[..., Any], signature: Any, folder: str) -> None:
        self.function = function
        self.signature = signature
        self.folder = folder
        self.__doc__ = function.__doc__
        self.__name__ = function.__name__

    @cached_property
    def compiled(self) -> Callable[..., Any]:
        """The machine code, compiled or read from the cache now."""
        before = config.CACHE_DIR
        config.CACHE_DIR = self.folder
        try:
            compile_ = numba.njit(self.signature, cache=True, **OPTIONS)
            return cast(Callable[..., Any], compile_(self.function))
        finally:
            config.CACHE_DIR = before

    @cached_property
    def direct(self) -> Callable[..., Any]:
        """The machine code without Numba's choice by the arguments' types, for hot loops.

        With many arrays that choice takes most of the call, and one signature leaves none. The
        arguments must be of the very types of the signature: what users give goes through the
        entry itself, which checks.
        """
        if config.DISABLE_JIT:
            return self.compiled
        (overload,) = cast(Any, self.compiled).overloads.values()
        return cast(Callable[..., Any], overload.entry_point)

    def __call__(self, *args: Any) -> Any:
        """Call the compiled function."""
        return self.compiled(*args)


def entry_for(*folders: Path) -> Callable[[Any], Callable[[Callable[..., Any]], Entry]]:
    """Return the `entry` decorator for kernels whose sources lie in ``folders``.

    Args:
        folders: every folder whose code may be compiled into the entries, the entries' own first.
    """
    folder = str(cache_folder(*folders))

    def entry(signature: Any) -> Callable[[Callable[..., Any]], Entry]:
        return lambda function: Entry(function, signature, folder)

    return entry


entry = entry_for(ENGINE)
