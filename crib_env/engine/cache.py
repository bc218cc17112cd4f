"""Where machine code is kept between starts.

One file an entry, named after the entry and the fingerprint of its code, so that sources of
different versions can share a folder and nothing stale is ever read. A file that is damaged, or a
folder that cannot be written, costs a compilation and nothing else.

The folder is ``NUMBA_CACHE_DIR`` if that is set, else ``__pycache__`` beside the engine's sources,
else (a read-only installation) the user's own cache folder, else one in the temporary directory
that belongs to this user alone; where there is none of them, nothing is kept. What is kept is code
that will be run, so a folder that somebody else can write is not used unless the user names it.
"""

from __future__ import annotations

import contextlib
import glob
import hashlib
import multiprocessing
import os
import pickle
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from numba.core.caching import CompileResultCacheImpl, NullCache
from numba.core.serialize import dumps

from crib_env.engine.fingerprint import DIGITS, fingerprint

KEPT = 8  # files of one entry: so many versions may share a folder
SEAL = hashlib.sha256().digest_size
ENDING = ".kernel"
FORM = 2  # of what is kept; since 2 no two entries share a symbol


SAID = (
    "crib-env: compiling for the first use, 10 to 50 s of one core "
    "(`crib warmup` compiles everything ahead)"
)


@cache
def say_compiling() -> None:
    """Say once that compiling takes a while, if somebody may be waiting at a terminal."""
    if multiprocessing.parent_process() is None and sys.stderr and sys.stderr.isatty():
        print(SAID, file=sys.stderr, flush=True)


def _folders() -> Iterator[Path]:
    """Yield the folders that may hold the cache and can be written, the best first."""
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    if chosen and _writable(Path(chosen).absolute()):  # the user's word, whoever owns it
        yield Path(chosen).absolute()
    beside = Path(__file__).parent / "__pycache__"
    if _writable(beside) and _trusted(beside, Path(__file__).stat().st_uid):
        yield beside
    for folder in _own_folders():
        if _writable(folder) and _trusted(folder):
            yield folder


def _own_folders() -> Iterator[Path]:
    """Yield folders of this user: of the home folder, if there is one, and a temporary one."""
    with contextlib.suppress(RuntimeError):
        yield Path.home() / ".cache" / "crib_env"
    with contextlib.suppress(OSError):  # there may be no temporary folder either
        user = os.getuid() if hasattr(os, "getuid") else os.environ.get("USERNAME", "")
        yield Path(tempfile.gettempdir()) / f"crib_env-{user}"


def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _trusted(folder: Path, *owners: int) -> bool:
    """Return whether nobody but this user, root and ``owners`` can put code into the folder."""
    if not hasattr(os, "getuid"):
        return True
    try:
        about = folder.lstat()  # of a link itself, which anyone may have laid
    except OSError:
        return False
    mine = about.st_uid in (os.getuid(), 0, *owners) and stat.S_ISDIR(about.st_mode)
    # What lies beside the sources is as safe as they are; elsewhere a group may be anybody.
    others = stat.S_IWOTH if owners else stat.S_IWOTH | stat.S_IWGRP
    return mine and not about.st_mode & others


@cache
def _folder(chosen: str | None) -> Path | None:
    return next(_folders(), None)


def cache_folder() -> Path | None:
    """Return the folder that machine code is kept in, or None where there is no such place."""
    return _folder(os.environ.get("NUMBA_CACHE_DIR"))


class _Pack(CompileResultCacheImpl):
    """Numba's own way to take compiled code apart and put it together again."""

    class _Place:
        def __init__(self, file: str) -> None:
            self._py_file = file

    def __init__(self, function: Callable[..., Any]) -> None:
        self._lineno = function.__code__.co_firstlineno
        self._locator = self._Place(function.__code__.co_filename)


class KernelCache(NullCache):
    """The cache of one entry, in the form that Numba's dispatchers ask for.

    Args:
        function: the entry's function. name: the first part of its file's name.
        options: what it is compiled with.
    """

    def __init__(
        self, function: Callable[..., Any], name: str, options: Mapping[str, object]
    ) -> None:
        self._function = function
        self._name = name
        self._options = dict(options)
        self._pack = _Pack(function)

    def _path(self, signature: object, codegen: Any) -> Path | None:
        folder = cache_folder()
        if folder is None:
            return None
        more = FORM, self._options, signature, codegen.magic_tuple()
        return folder / f"{self._name}-{fingerprint(self._function, *more)}{ENDING}"

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the compiled code if it is kept, whole and readable; else None."""
        kept = self._load(sig, target_context)
        if kept is None:
            say_compiling()
        return kept

    def _load(self, sig: Any, target_context: Any) -> Any:
        target_context.refresh()
        try:
            path = self._path(sig, target_context.codegen())
            if path is None:
                return None
            data = path.read_bytes()
            if hashlib.sha256(data[SEAL:]).digest() != data[:SEAL]:
                return None
            return self._pack.rebuild(target_context, pickle.loads(data[SEAL:]))
        except FileNotFoundError:
            return None
        except Exception:  # whatever is wrong with what is kept: compile anew
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep compiled code, if there is a place for it; remove the oldest of its versions."""
        try:
            path = self._path(sig, data.codegen)
            if path is None or not self._pack.check_cachable(data):
                return
            packed = dumps(self._pack.reduce(data))
            _write(path, hashlib.sha256(packed).digest() + packed)
            versions = f"{glob.escape(self._name)}-{'?' * DIGITS}{ENDING}"
            for old in sorted(path.parent.glob(versions), key=_age)[KEPT:]:
                old.unlink(missing_ok=True)
        except Exception:  # full or unwritable, or nothing that can be packed: it runs all the same
            return


def _age(path: Path) -> float:
    try:
        return -path.stat().st_mtime
    except OSError:
        return 0.0


def _write(path: Path, data: bytes) -> None:
    """Write a file beside its place and move it there: nobody reads half a file."""
    handle, beside = tempfile.mkstemp(dir=path.parent, prefix=path.name)
    try:
        with open(handle, "wb") as file:
            file.write(data)
        os.replace(beside, path)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(beside)
        raise
