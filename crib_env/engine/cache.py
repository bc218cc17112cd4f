"""Where machine code is stored between starts.

One file an entry, named after the entry and the fingerprint of its code, so that sources of
different versions can share a folder and nothing stale is ever read. A file that is damaged or
renamed, or a folder that cannot be written, costs a compilation and nothing else. Code that has no
fingerprint is compiled in every process, and so is code with helpers that were compiled before
(`own_symbols`).

The folder is ``NUMBA_CACHE_DIR`` if that is set, else ``__pycache__`` beside the engine's sources,
else (a read-only installation) the user's own cache folder, else one in the temporary directory
that belongs to this user alone; where there is none of them, nothing is stored. What is stored is
code that will be run, so a folder that somebody else can write is not used unless the user names
it.
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

MOST_FILES = 8  # files of one entry: so many versions may share a folder
SEAL = hashlib.sha256().digest_size
DIGITS = 24  # of the fingerprint in a file's name; the seal has all
ENDING = ".kernel"
FORM = 3  # of what is stored; since 3 the seal says whose code it is

OWN = 1 << 62  # the least number of a function that is stored; Numba's own count starts at 1
_NUMBER = re.compile(r"B\d+v(\d+)")  # in the symbol of a function
_logger = logging.getLogger(__name__)


COMPILING = (
    "crib-env: compiling for the first use, 10 to 50 s of one core "
    "(`crib warmup` compiles everything ahead)"
)


@cache
def announce_compiling() -> None:
    """Log once that compiling takes a while; without logging set up, that goes to stderr.

    Processes that Python has started leave it to their parent.
    """
    if multiprocessing.parent_process() is None:
        _logger.warning(COMPILING)


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
    """Return the folder that machine code is stored in, or None where there is no such place."""
    return _folder(os.environ.get("NUMBA_CACHE_DIR"))


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
    ) -> None:
        self._function = function
        self._name = name
        self._depends = FORM, signature, tuple(sorted(options.items())), codegen.magic_tuple()
        self.identity = self._identify()

    def _identify(self) -> str | None:
        found = find_fingerprint(self._function, *self._depends)
        if isinstance(found, Exception):
            _logger.info("%s is compiled in every process: %s", self._name, found)
            return None
        return found

    def _path(self) -> Path | None:
        folder = cache_folder()
        if folder is None or self.identity is None:
            return None
        return folder / f"{self._name}-{self.identity[:DIGITS]}{ENDING}"

    def _seal(self, packed: bytes) -> bytes:
        """Return the digest of what is stored and of whose it is: a renamed file is not read."""
        return hashlib.sha256(f"{self._name}\0{self.identity}\0".encode() + packed).digest()

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the compiled code if it is stored, whole and readable; else None."""
        stored = self._load(target_context)
        if stored is None:
            announce_compiling()
        return stored

    def _load(self, target_context: Any) -> Any:
        target_context.refresh()
        try:
            path = self._path()
            if path is None:
                return None
            data = path.read_bytes()
            if self._seal(data[SEAL:]) != data[:SEAL]:
                return None
            return CompileResult._rebuild(target_context, *pickle.loads(data[SEAL:]))
        except Exception:  # nothing is stored, or whatever is wrong with it: compile again
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep compiled code, if there is a place for it; remove the oldest of its versions."""
        try:
            path = self._path()
            if path is None or data.lifted or data.library.has_dynamic_globals:
                return
            if self._identify() != self.identity:  # something has changed while it was compiled
                return
            if foreign := foreign_symbol(data.library):
                _logger.info("%s is not stored: %s was compiled elsewhere", self._name, foreign)
                return
            packed = dumps(data._reduce())
            _write(path, self._seal(packed) + packed)
            versions = f"{glob.escape(self._name)}-{'?' * DIGITS}{ENDING}"
            for old in sorted(path.parent.glob(versions), key=_age)[MOST_FILES:]:
                old.unlink(missing_ok=True)
        except Exception:  # full or unwritable, or nothing that can be packed: it runs all the same
            return


def find_fingerprint(function: Callable[..., Any], *more: object) -> str | Exception:
    """Return the fingerprint of a function, or why it has none."""
    try:
        return fingerprint(function, *more)
    except Exception as error:  # whatever a global of anybody's does when it is looked at
        return error


@contextlib.contextmanager
def own_symbols() -> Iterator[None]:
    """Number the functions compiled meanwhile so that no other compilation anywhere has theirs.

    Numba tells functions of one name apart by a number that each process counts from 1. Read from
    the cache, code of two processes would share symbols, and one be called for the other (numba
    issue 10486). The numbers also say what must not be stored: a function with one of Numba's own
    was compiled for somebody else, perhaps with other options or for constants since changed.
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

    All libraries that went into it are gone through: of what was put in where it is called, the
    finished code has no symbol.
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
