"""Storage of machine code between starts.

Each entry has one file, named after the entry and the fingerprint of its code, so that sources of
different versions can share a folder and nothing stale is ever read. A file that is damaged or
renamed, or a folder that cannot be written, costs a compilation and nothing else. Code that has no
fingerprint is compiled in every process, and so is code with helpers that were compiled before
(`own_symbols`), and all code with a version of Numba that lacks parts for storing (`find_fault`).

Code is written to the first of these folders that can be written: ``NUMBA_CACHE_DIR`` if that is
set, ``__pycache__`` beside the engine's sources, ``crib_env`` in the user's cache folder
(``XDG_CACHE_HOME``, else ``~/.cache``), and one in the temporary directory that belongs to this
user alone. It is read from all of them, so code that root compiled into an image serves every user.
Stored code is executed, so a folder that others can write is not used unless the user names it.
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
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numba

from crib_env.engine import private
from crib_env.engine.fingerprint import check_numba, fingerprint

MOST_FILES = 32  # files kept of one entry, the last used: versions and kinds of CPU in one folder
USED_SECONDS = 3600.0  # between two updates of a file's time of last use
SEAL = hashlib.sha256().digest_size
DIGITS = 24  # of the fingerprint in a file's name; the seal covers all of it
ENDING = ".kernel"
FORM = 3  # version of the file format; since 3 the seal covers the entry's name

OWN = 1 << 62  # the least number of a function that may be stored; Numba counts from 1
_NUMBER = re.compile(r"B\d+v(\d+)")  # in the symbol of a function
_logger = logging.getLogger(__name__)


COMPILING = "crib-env: compiling {name}, about {seconds} s for the first use"
AHEAD = " (`crib warmup` compiles everything ahead)"
UNSTORED = "crib-env: compiled code is not stored ({why}), so every start compiles again"
ELSEWHERE = ": set NUMBA_CACHE_DIR to a folder that can be written"
_said: set[str] = set()


def say_once(text: str, key: str) -> None:
    """Log a warning once per key; without logging set up, it goes to stderr.

    Child processes of `multiprocessing` leave it to their parent.
    """
    if key not in _said and multiprocessing.parent_process() is None:
        _said.add(key)
        _logger.warning(text)


def say_compiling(name: str, seconds: int) -> None:
    """Log that an entry compiles now, with a hint the first time."""
    say_once(COMPILING.format(name=name, seconds=seconds) + ("" if AHEAD in _said else AHEAD), name)
    _said.add(AHEAD)


def _places() -> Iterator[tuple[Path, int, tuple[int, ...] | None]]:
    """Yield the folders that may hold the cache, the best first.

    Each comes with the permissions to create it with, and the owners accepted besides this user and
    root; None, for a folder that the user names, accepts any owner.
    """
    everyone, owner = 0o755, 0o700  # code beside the sources is readable by every user
    if chosen := os.environ.get("NUMBA_CACHE_DIR"):
        yield Path(chosen).absolute(), everyone, None
    yield Path(__file__).parent / "__pycache__", everyone, (Path(__file__).stat().st_uid,)
    with contextlib.suppress(RuntimeError):
        named = Path(os.environ.get("XDG_CACHE_HOME", ""))  # XDG says to ignore a relative path
        folder = (named if named.is_absolute() else Path.home() / ".cache") / "crib_env"
        yield folder, owner, ()
    with contextlib.suppress(OSError):  # there may be no temporary folder either
        user = os.getuid() if hasattr(os, "getuid") else os.environ.get("USERNAME", "")
        yield Path(tempfile.gettempdir()) / f"crib_env-{user}", owner, ()


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
        about = folder.lstat()  # of a link itself, which any user may have made
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
    written = next(usable, None)  # this creates the folder, so that it is also read from
    return written, tuple(folder for folder, _, owners in places if _trusted(folder, owners))


def cache_folder() -> Path | None:
    """Return the folder that machine code is written to, or None if there is no such folder."""
    return _folder(os.environ.get("NUMBA_CACHE_DIR"))[0]


class KernelFile:
    """The file of one entry, with the machine code of its dispatcher.

    ``identity`` is the fingerprint of the code and all it depends on. Code without one (None) must
    not be stored.
    """

    def __init__(self, dispatcher: Any, name: str, *depends: object) -> None:
        self._dispatcher = dispatcher
        self._name = name
        self._depends = FORM, *depends
        self.identity = self._identify()

    def _identify(self) -> str | None:
        found = find_fingerprint(self._dispatcher, *self._depends)
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

    def load(self) -> bool:
        """Load stored, undamaged code into the dispatcher; return whether there was any."""
        if self.identity is None:
            return False
        return any(self._read(folder / self._file) for folder in _folder(os.environ.get("NUMBA_CACHE_DIR"))[1])

    def _read(self, path: Path) -> bool:
        try:
            data = path.read_bytes()
        except OSError:
            return False
        if self._seal(data[SEAL:]) != data[:SEAL]:  # damaged
            return False
        try:
            target = self._dispatcher.targetctx
            target.refresh()
            self._dispatcher.add_overload(private.CompileResult._rebuild(target, *pickle.loads(data[SEAL:])))
        except Exception as error:
            _say_unstored(error)
            return False
        with contextlib.suppress(OSError):  # another user's file
            if time.time() - path.stat().st_mtime > USED_SECONDS:
                os.utime(path)
        return True

    def save(self) -> None:
        """Store compiled code if a folder can be written; keep the last used `MOST_FILES` files."""
        if self.identity is None:
            return
        try:
            (code,) = self._dispatcher.overloads.values()
            if code.lifted or code.library.has_dynamic_globals:
                return
            if self._identify() != self.identity:  # something has changed while it was compiled
                return
            if foreign := foreign_symbol(code.library):
                _logger.info("%s is not stored: %s was compiled elsewhere", self._name, foreign)
                return
            folder = cache_folder()
            if folder is None:
                raise OSError("no folder for it can be written")
            packed = private.dumps(code._reduce())
            _write(folder / self._file, self._seal(packed) + packed)
            versions = f"{glob.escape(self._name)}-{'?' * DIGITS}{ENDING}"
            for old in sorted(folder.glob(versions), key=_age)[MOST_FILES:]:
                old.unlink(missing_ok=True)
        except Exception as error:  # such as a full disk: the code still runs
            _say_unstored(error)


def _say_unstored(error: Exception) -> None:
    """Log why code is not stored, once per cause: a full disk is not hidden by a fault of Numba."""
    if isinstance(error, OSError):
        say_once(UNSTORED.format(why=error) + ELSEWHERE, UNSTORED)
    else:
        text = UNSTORED.format(why=f"Numba {numba.__version__}: {error}")
        say_once(text, text)


@cache
def find_fault() -> Exception | None:
    """Return and log why code cannot be stored with this version of Numba; None if it can."""
    try:
        check_numba()
        with own_symbols():
            number = private.FunctionIdentity.from_function(say_once).unique_id
        if number < OWN:
            raise LookupError("the numbers of functions cannot be set")
        asked: list[object] = []
        dispatcher, result = numba.njit(say_once), private.CompileResult
        target = dispatcher.targetctx
        # Reading them raises an error if one is missing.
        _ = dispatcher.add_overload, target.refresh, target.codegen().magic_tuple, result._rebuild, result._reduce
        dispatcher.compile = asked.append  # as `kernel` sets it
        dispatcher.get_call_template((numba.int64,) * 2, {})
        if asked != [(numba.int64,) * 2]:
            raise LookupError("helpers are not compiled by their attribute `compile`")
    except Exception as error:
        _say_unstored(error)
        return error
    return None


def find_fingerprint(dispatcher: Any, *more: object) -> str | Exception:
    """Return the fingerprint of a dispatcher's function, or why it has none."""
    if fault := find_fault():
        return fault
    try:
        codegen = dispatcher.targetctx.codegen()
        return fingerprint(dispatcher.py_func, *more, codegen.magic_tuple())
    except Exception as error:  # inspecting a user's global can raise anything
        return error


@contextlib.contextmanager
def own_symbols() -> Iterator[None]:
    """Context: functions compiled in it get numbers that no other compilation uses.

    Numba tells functions of one name apart by a number that each process counts from 1. Cached code
    of two processes would share symbols, and one function could be called for the other (numba
    issue 10486). The numbers also mark functions that must not be stored: one numbered by Numba was
    compiled elsewhere, perhaps with other options or for constants since changed.
    """
    with private.compiler_lock:
        before = private.FunctionIdentity._unique_ids
        private.FunctionIdentity._unique_ids = itertools.count(OWN + secrets.randbits(62))
        try:
            yield
        finally:
            private.FunctionIdentity._unique_ids = before


def foreign_symbol(library: Any) -> str | None:
    """Return the symbol of a function in ``library`` that was not compiled under `own_symbols`.

    All linked libraries are searched, because the finished code has no symbols of inlined
    functions.
    """
    libraries, numbered = [library], False
    for each in libraries:
        for function in each.get_defined_functions():
            for number in _NUMBER.findall(function.name):
                if int(number) < OWN:
                    return str(function.name)
                numbered = True
        libraries.extend(more for more in each._linking_libraries if more not in libraries)
    if not numbered:
        raise LookupError("the symbols of functions hold no numbers")
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
        os.chmod(beside, 0o644)  # mkstemp lets its owner alone read it
        os.replace(beside, path)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(beside)
        raise
