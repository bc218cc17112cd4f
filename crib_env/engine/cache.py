"""Where machine code is stored between starts.

One file an entry, named after the entry and the fingerprint of its code, so that sources of
different versions can share a folder and nothing stale is ever read. A file that is damaged or
renamed, or a folder that cannot be written, costs a compilation and nothing else. Code that has no
fingerprint is compiled in every process, and so is code with helpers that were compiled before
(`own_symbols`).

Code is written to the first of these folders that can be written: ``NUMBA_CACHE_DIR`` if that is
set, ``__pycache__`` beside the engine's sources, ``crib_env`` in the user's cache folder
(``XDG_CACHE_HOME``, else ``~/.cache``), and one in the temporary directory that belongs to this
user alone. It is read from all of them: what root compiled into an image serves every user. Stored
code will be run, so a folder that others can write is not used unless the user names it.
"""

from __future__ import annotations

import contextlib
import glob
import hashlib
import itertools
import logging
import multiprocessing
import os
import pickle
import re
import secrets
import stat
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from numba.core.bytecode import FunctionIdentity
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.compiler_lock import global_compiler_lock
from numba.core.serialize import dumps

from crib_env.engine.fingerprint import fingerprint

MOST_FILES = 32  # files of one entry, by last use: versions and kinds of CPU that share a folder
USED_SECONDS = 3600.0  # between two notes that a file is in use
SEAL = hashlib.sha256().digest_size
DIGITS = 24  # of the fingerprint in a file's name; the seal has all
ENDING = ".kernel"
FORM = 3  # version of the file format; since 3 the seal covers the entry's name

OWN = 1 << 62  # the least number of a function that is stored; Numba's own count starts at 1
_NUMBER = re.compile(r"B\d+v(\d+)")  # in the symbol of a function
_logger = logging.getLogger(__name__)


COMPILING = "crib-env: compiling {name}, about {seconds} s for the first use"
AHEAD = " (`crib warmup` compiles everything ahead)"
UNSTORED = (
    "crib-env: compiled code is not stored ({why}), so every start compiles again: set "
    "NUMBA_CACHE_DIR to a folder that can be written"
)
_said: set[str] = set()


def say_once(text: str, key: str) -> None:
    """Log a warning once per key; without logging set up, that goes to stderr.

    Processes that Python has started leave it to their parent.
    """
    if key not in _said and multiprocessing.parent_process() is None:
        _said.add(key)
        _logger.warning(text)


def _places() -> Iterator[tuple[Path, int, tuple[int, ...] | None]]:
    """Yield the folders that may hold the cache, the best first.

    With each the permissions it is made with, and the owners it may have besides this user and
    root; None: the user has named it, and any owner is accepted.
    """
    public, private = 0o755, 0o700  # code beside the sources is readable by every user
    if chosen := os.environ.get("NUMBA_CACHE_DIR"):
        yield Path(chosen).absolute(), public, None
    yield Path(__file__).parent / "__pycache__", public, (Path(__file__).stat().st_uid,)
    with contextlib.suppress(RuntimeError):
        named = Path(os.environ.get("XDG_CACHE_HOME", ""))  # relative ones are to be ignored
        folder = (named if named.is_absolute() else Path.home() / ".cache") / "crib_env"
        yield folder, private, ()
    with contextlib.suppress(OSError):  # there may be no temporary folder either
        user = os.getuid() if hasattr(os, "getuid") else os.environ.get("USERNAME", "")
        yield Path(tempfile.gettempdir()) / f"crib_env-{user}", private, ()


def _writable(folder: Path, mode: int) -> bool:
    try:
        folder.mkdir(mode=mode, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _trusted(folder: Path, owners: tuple[int, ...] | None) -> bool:
    """Return whether only this user, root and ``owners`` can write into the folder."""
    if owners is None or not hasattr(os, "getuid"):
        return True
    try:
        about = folder.lstat()  # of a link itself, which anyone may have laid
    except OSError:
        return False
    mine = about.st_uid in (os.getuid(), 0, *owners) and stat.S_ISDIR(about.st_mode)
    # Beside the sources their permissions decide; elsewhere reject group-writable folders.
    others = stat.S_IWOTH if owners else stat.S_IWOTH | stat.S_IWGRP
    return mine and not about.st_mode & others


@cache
def _folder(chosen: str | None) -> tuple[Path | None, tuple[Path, ...]]:
    """Return the folder to write to, and those to read from."""
    places = list(_places())
    usable = (folder for folder, mode, owners in places if _writable(folder, mode) and _trusted(folder, owners))
    written = next(usable, None)  # and made, before it is asked which can be read
    return written, tuple(folder for folder, _, owners in places if _trusted(folder, owners))


def cache_folder() -> Path | None:
    """Return the folder that machine code is stored in, or None where there is no such place."""
    return _folder(os.environ.get("NUMBA_CACHE_DIR"))[0]


class KernelCache(NullCache):
    """The cache of one entry, in the form that Numba's dispatchers ask for.

    ``identity`` is the fingerprint of the code and all it depends on; None if it has none, and so
    must not be stored.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        name: str,
        options: Mapping[str, object],
        signature: object,
        codegen: Any,
        seconds: int = 0,
    ) -> None:
        self._function = function
        self._name = name
        self._seconds = seconds
        self._depends = FORM, signature, tuple(sorted(options.items())), codegen.magic_tuple()
        self.identity = self._identify()

    def _identify(self) -> str | None:
        found = find_fingerprint(self._function, *self._depends)
        if isinstance(found, Exception):
            _logger.info("%s is compiled in every process: %s", self._name, found)
            return None
        return found

    @property
    def _file(self) -> str:
        assert self.identity is not None
        return f"{self._name}-{self.identity[:DIGITS]}{ENDING}"

    def _seal(self, packed: bytes) -> bytes:
        """Return the digest of bytes, name and identity, so that a renamed file is rejected."""
        return hashlib.sha256(f"{self._name}\0{self.identity}\0".encode() + packed).digest()

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the compiled code if it is stored, whole and readable; else None."""
        target_context.refresh()
        if self.identity is not None:
            for folder in _folder(os.environ.get("NUMBA_CACHE_DIR"))[1]:  # the best first
                if (stored := self._load(folder / self._file, target_context)) is not None:
                    return stored
        if self._seconds:
            hint = "" if AHEAD in _said else AHEAD  # the first time
            say_once(COMPILING.format(name=self._name, seconds=self._seconds) + hint, self._name)
            _said.add(AHEAD)
        return None

    def _load(self, path: Path, target_context: Any) -> Any:
        try:
            data = path.read_bytes()
            if self._seal(data[SEAL:]) != data[:SEAL]:
                return None
            rebuilt = CompileResult._rebuild(target_context, *pickle.loads(data[SEAL:]))
        except Exception:  # no file, or a damaged one: compile again
            return None
        with contextlib.suppress(OSError):  # another's file
            if time.time() - path.stat().st_mtime > USED_SECONDS:
                os.utime(path)
        return rebuilt

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep compiled code, if there is a place for it; remove the version unused for longest."""
        try:
            if self.identity is None or data.lifted or data.library.has_dynamic_globals:
                return
            if self._identify() != self.identity:  # something has changed while it was compiled
                return
            if foreign := foreign_symbol(data.library):
                _logger.info("%s is not stored: %s was compiled elsewhere", self._name, foreign)
                return
            folder = cache_folder()
            if folder is None:
                say_once(UNSTORED.format(why="no folder for it can be written"), UNSTORED)
                return
            packed = dumps(data._reduce())
            _write(folder / self._file, self._seal(packed) + packed)
            versions = f"{glob.escape(self._name)}-{'?' * DIGITS}{ENDING}"
            for old in sorted(folder.glob(versions), key=_age)[MOST_FILES:]:
                old.unlink(missing_ok=True)
        except OSError as error:  # full, or no longer to be written: it runs all the same
            say_once(UNSTORED.format(why=error), UNSTORED)
        except Exception:  # nothing that can be packed
            return


def find_fingerprint(function: Callable[..., Any], *more: object) -> str | Exception:
    """Return the fingerprint of a function, or why it has none."""
    try:
        return fingerprint(function, *more)
    except Exception as error:  # inspecting a user's global can raise anything
        return error


@contextlib.contextmanager
def own_symbols() -> Iterator[None]:
    """Give the functions compiled meanwhile numbers that no other compilation uses.

    Numba tells functions of one name apart by a number that each process counts from 1. Read from
    the cache, code of two processes would share symbols, and one be called for the other (numba
    issue 10486). The numbers also mark functions that must not be stored: one numbered by Numba was
    compiled elsewhere, perhaps with other options or for constants since changed.
    """
    with global_compiler_lock:
        before = FunctionIdentity._unique_ids
        FunctionIdentity._unique_ids = itertools.count(OWN + secrets.randbits(62))
        try:
            yield
        finally:
            FunctionIdentity._unique_ids = before


def foreign_symbol(library: Any) -> str | None:
    """Return the symbol of a function in ``library`` that was not compiled under `own_symbols`.

    All linked libraries are searched, because the finished code has no symbols of inlined
    functions.
    """
    libraries = [library]
    for each in libraries:
        for function in each.get_defined_functions():
            if any(int(number) < OWN for number in _NUMBER.findall(function.name)):
                return str(function.name)
        libraries.extend(more for more in each._linking_libraries if more not in libraries)
    return None


def _age(path: Path) -> float:
    try:
        return -path.stat().st_mtime
    except OSError:
        return 0.0


def _write(path: Path, data: bytes) -> None:
    """Write a temporary file and rename it, so that no reader sees half a file."""
    handle, beside = tempfile.mkstemp(dir=path.parent, prefix=path.name)
    try:
        with open(handle, "wb") as file:
            file.write(data)
        os.chmod(beside, 0o644)  # as it is, its owner alone may read it
        os.replace(beside, path)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(beside)
        raise
