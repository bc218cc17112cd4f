"""Machine code on disk: private, read only if it matches the sources, never an obstacle."""

from __future__ import annotations

import errno
import importlib
import inspect
import json
import os
import re
import stat
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numba import int64, types
from numba.core import codegen, config, cpu
from numba.core.typing import templates

from checkout import python
from crib_env.engine import cache, fingerprint, private
from crib_env.engine.cache import ENDING, KernelFile, cache_folder
from crib_env.engine.jit import Entry
from trajectories import FILE

pytestmark = pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")
posix = pytest.mark.skipif(not hasattr(os, "getuid"), reason="no owners of files")

SIGNATURE = int64(int64)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A separate cache folder, set by the environment variable."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "code"))
    cache._folder.cache_clear()
    yield tmp_path / "code"
    cache._folder.cache_clear()


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Path, Path]]:
    """The home folder and a temporary one; no folder is named and the sources are unwritable."""
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    (tmp_path / "sources").mkdir()
    (tmp_path / "sources" / "__pycache__").write_text("in the way")  # root may write anything
    (tmp_path / "sources" / "cache.py").touch()
    monkeypatch.setattr(cache, "__file__", str(tmp_path / "sources" / "cache.py"))
    home, temporary = tmp_path / "home", tmp_path / "tmp"
    home.mkdir()
    temporary.mkdir(mode=0o777)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    cache._folder.cache_clear()
    yield home, temporary
    cache._folder.cache_clear()


def compiled(n: int, name: str = "test.add") -> Entry:
    return Entry(lambda x: x + n, SIGNATURE, name)


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether each entry's code was found in a file, in the order of their use."""
    every: list[bool] = []
    load = KernelFile.load
    monkeypatch.setattr(KernelFile, "load", lambda file: every.append(load(file)) or every[-1])
    return every


def files(folder: Path) -> list[Path]:
    return sorted(folder.glob(f"*{ENDING}"))


# ---------------------------------------------------------------- which code is stored


def test_cache_compiles_captured_values_once_then_reads(folder: Path, found: list[bool]) -> None:
    assert [compiled(n)(0) for n in (1, 2, 1)] == [1, 2, 1]
    assert found == [False, False, True]
    assert [stat.S_IMODE(path.stat().st_mode) & 0o022 for path in files(folder)] == [0, 0]


def test_cache_damaged_file_is_recompiled_and_replaced(folder: Path, found: list[bool]) -> None:
    compiled(3)(4)
    (path,) = files(folder)
    whole = path.read_bytes()
    changed = whole[:-1] + bytes([whole[-1] ^ 1])
    for damaged in (b"", whole[: len(whole) // 2], np.random.default_rng(1).bytes(len(whole)), changed):
        path.write_bytes(damaged)
        assert compiled(3)(4) == 7
        assert path.read_bytes() != damaged
    assert compiled(3)(4) == 7
    path.unlink()
    path.mkdir()
    assert compiled(3)(4) == 7
    assert found == [False] * 5 + [True, False]


def test_cache_renamed_file_is_not_read(folder: Path, found: list[bool]) -> None:
    def play() -> list[int]:
        return [compiled(3, "test.three")(0), compiled(4, "test.four")(0)]

    assert play() == [3, 4]
    four, three = files(folder)
    aside = three.rename(folder / "aside")
    four.rename(three)
    aside.rename(four)
    assert play() == [3, 4]
    assert play() == [3, 4]  # from mended files
    assert found == [False] * 4 + [True] * 2


def test_cache_unwritable_folder_still_runs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(error: int) -> Callable[..., Any]:
        def full(*_: Any, **__: Any) -> Any:
            raise OSError(error, os.strerror(error))

        return full

    cache_folder()
    monkeypatch.setattr(os, "replace", fail(errno.ENOSPC))
    assert compiled(5)(1) == 6
    monkeypatch.setattr(tempfile, "mkstemp", fail(errno.EROFS))
    assert compiled(6)(1) == 7
    assert list(folder.iterdir()) == []  # no half-written files either
    cache._folder.cache_clear()
    monkeypatch.setattr(tempfile, "TemporaryFile", fail(errno.EACCES))
    assert cache_folder() is None
    assert compiled(7)(1) == 8


def test_save_keeps_versions_that_are_in_use(folder: Path, found: list[bool], monkeypatch: pytest.MonkeyPatch) -> None:
    """The oldest files of an entry are removed; files still read and other entries' files stay."""
    assert cache.MOST_FILES >= 32
    monkeypatch.setattr(cache, "MOST_FILES", most := 3)
    others = [compiled(0, name)(0) for name in ("test.add-more", "test.ad")]
    compiled(0)(0)
    kept = files(folder)
    for n in range(1, most + 3):
        for path in files(folder):  # a day later
            os.utime(path, (path.stat().st_atime, path.stat().st_mtime - 86400))
        assert compiled(0)(0) == 0
        compiled(n)(0)
    assert set(kept) < set(files(folder))
    assert len(files(folder)) == most + len(others)
    found.clear()
    assert [compiled(n)(0) for n in range(4, most + 3)] == [4, 5]
    assert all(found)  # the oldest one was removed


def test_cache_threads_compile_same_code_once(folder: Path, found: list[bool]) -> None:
    entry, start = compiled(9), threading.Barrier(8)

    def call(_: int) -> int:
        start.wait()
        return int(entry(1))

    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(call, range(8))) == [10] * 8
    assert found == [False]


FORKS = """
import os, signal, threading, time, warnings
import numba
from numba import int64
from crib_env.engine.jit import Entry

def compile_until_done():
    while not done:
        numba.njit(int64(int64))(lambda x: x + 1)
        Entry(lambda x: x + 1, int64(int64), 'test.thread').unchecked(1)

warnings.simplefilter("ignore")
done = False
thread = threading.Thread(target=compile_until_done)
thread.start()
for n in range(6):
    time.sleep(0.05)
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        os._exit(Entry(lambda x: x + 1, int64(int64), "test.fork").unchecked(n))
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), end=" ")
done = True
thread.join()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_cache_fork_during_compilation_child_can_compile() -> None:
    """A child once hung because a thread of its parent held a lock of Numba or llvmlite."""
    assert python(FORKS, timeout=150) == "1 2 3 4 5 6"


# ---------------------------------------------------------------- a Numba that lacks private parts


class Hidden:
    """An attribute that Numba finds and crib_env does not."""

    def __init__(self, owner: type, name: str) -> None:
        self.name, self.found = name, inspect.getattr_static(owner, name, None)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if sys._getframe(1).f_globals["__name__"].startswith("crib_env"):
            raise AttributeError(self.name)
        if self.name in getattr(instance, "__dict__", ()):
            return instance.__dict__[self.name]
        return self.found.__get__(instance, owner) if hasattr(self.found, "__get__") else self.found

    def __set__(self, instance: Any, value: Any) -> None:
        instance.__dict__[self.name] = value


def hiding(make: Callable[..., Any], name: str) -> Callable[..., Any]:
    """Return ``make`` with one attribute of its templates hidden."""

    def made(*args: Any, **keywords: Any) -> Any:
        template = make(*args, **keywords)
        setattr(template, name, Hidden(template, name))
        return template

    return made


IMPORTED = re.findall(r'_find\("(.+)", "(.+)"\)', inspect.getsource(private))
HIDDEN = {
    private.FunctionIdentity: "_unique_ids from_function",
    private.CompileResult: "_rebuild _reduce lifted",
    private.CPUDispatcher: "_can_compile _compiler add_overload get_call_template locals stats targetctx targetoptions",
    private.Intrinsic: "_ctor_kwargs _defn _prefer_literal",
    templates.Registry: "attributes functions globals",
    codegen.JITCodeLibrary: "_linking_libraries get_defined_functions has_dynamic_globals",
    codegen.JITCPUCodegen: "magic_tuple",
    cpu.CPUContext: "codegen refresh",
}
OTHERWISE = [
    (private, "FunctionIdentity", SimpleNamespace(_unique_ids=0, from_function=private.FunctionIdentity.from_function)),
    (private, "builtin_registry", templates.Registry()),
    (private.CPUDispatcher, "compile", property(private.CPUDispatcher.compile.__get__, lambda *_: None)),
    (templates, "make_overload_template", hiding(templates.make_overload_template, "_overload_func")),
    (templates, "make_overload_attribute_template", hiding(templates.make_overload_attribute_template, "_attr")),
    (types.Function, "templates", Hidden(types.Function, "templates")),
    (fingerprint, "config", SimpleNamespace()),
    (cache, "_NUMBER", re.compile("no number")),
]
PARTS = [
    *(pytest.param(path, path[1], id=path[1]) for path in IMPORTED),
    *(pytest.param((o, n, Hidden(o, n)), n, id=n) for o, names in HIDDEN.items() for n in names.split()),
    *(pytest.param(part, "", id=f"{part[1]} otherwise") for part in OTHERWISE),
]


@pytest.fixture
def other_numba(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(cache, "_said", set())
    cache.find_fault.cache_clear()
    yield
    importlib.reload(private)
    cache.find_fault.cache_clear()


@pytest.mark.parametrize(("part", "name"), PARTS)
def test_cache_other_numba_compiles_in_every_process_and_says_so(
    part: Any,
    name: str,
    other_numba: None,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    if len(part) == 2:
        with monkeypatch.context() as imported:
            imported.delattr(".".join(part))
            importlib.reload(private)
    else:
        monkeypatch.setattr(*part, raising=False)
    assert compiled(2)(1) == 3
    assert not files(folder)
    (warning,) = caplog.messages
    assert warning.startswith("crib-env: compiled code is not stored (Numba ")
    assert name in warning


OTHER = """
from numba import int64
from numba.core import cpu, registry
del registry.CPUDispatcher, cpu._options_mixin._nrt
from crib_env.engine.jit import Entry, kernel
helper = kernel(lambda x: x + 1)
print(Entry(lambda x: helper(x) + 1, int64(int64), "test.other")(1))
"""


def test_cache_other_numba_is_imported(tmp_path: Path) -> None:
    assert python(OTHER, NUMBA_CACHE_DIR=str(tmp_path)) == "3"
    assert not files(tmp_path)


# ---------------------------------------------------------------- cache location


def test_cache_folder_named_by_user_is_used_for_any_owner(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.mkdir()
    folder.chmod(0o777)
    assert cache_folder() == folder
    monkeypatch.setattr(cache.os, "getuid", lambda: 12345)
    cache._folder.cache_clear()
    assert cache_folder() == folder
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NUMBA_CACHE_DIR", "relative")
    assert cache_folder() == tmp_path / "relative"


@posix
def test_cache_folder_without_home_is_private_temporary(
    places: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", homeless)
    found = cache_folder()
    assert found == places[1] / f"crib_env-{os.getuid()}"
    assert stat.S_IMODE(found.stat().st_mode) == 0o700
    assert compiled(1)(1) == 2
    assert len(files(found)) == 1
    assert config.CACHE_DIR == ""  # Numba's own setting
    monkeypatch.setattr(tempfile, "tempdir", None)  # nor any temporary folder
    monkeypatch.setattr(tempfile, "_candidate_tempdir_list", lambda: [])
    cache._folder.cache_clear()
    assert cache_folder() is None
    assert compiled(2)(1) == 3


@posix
@pytest.mark.parametrize("trap", ["another's", "open to all", "open to a group", "a link", "a file"])
def test_cache_folder_temporary_not_private_is_rejected(
    places: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, trap: str
) -> None:
    home, temporary = places
    (home / ".cache").write_text("in the way")
    planted = temporary / f"crib_env-{os.getuid()}"
    if trap == "a link":
        (temporary / "theirs").mkdir(mode=0o700)
        planted.symlink_to(temporary / "theirs")
    elif trap == "a file":
        planted.touch()
    else:
        planted.mkdir(mode=0o700)
        planted.chmod({"open to all": 0o707, "open to a group": 0o770}.get(trap, 0o700))
    if trap == "another's":
        user = os.getuid()
        real = os.lstat
        theirs = os.stat_result([*real(planted)[:4], user + 1 if user else 1000, *real(planted)[5:]])
        monkeypatch.setattr(Path, "lstat", lambda path: theirs if path == planted else real(path))
    assert cache_folder() is None
    assert compiled(1)(1) == 2
    assert not planted.is_dir() or not list(planted.iterdir())


def test_cache_folder_honours_xdg_cache_home_and_skips_unusable_names(
    places: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", "/dev/null/nowhere")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder() == tmp_path / "xdg" / "crib_env"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")  # which its specification says to ignore
    cache._folder.cache_clear()
    assert cache_folder() == places[0] / ".cache" / "crib_env"


@posix
def test_cache_reads_code_from_unwritable_folder(
    places: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, found: list[bool]
) -> None:
    """Code that root compiles into an image serves every user; each stores the rest at home."""
    beside = Path(cache.__file__).parent / "__pycache__"
    beside.unlink()
    beside.mkdir(mode=0o775)
    beside.chmod(0o775)
    assert cache_folder() == beside  # as open to a group as the sources
    beside.rmdir()
    cache._folder.cache_clear()
    compiled(1)(1)
    assert stat.S_IMODE(beside.stat().st_mode) == 0o755
    assert [stat.S_IMODE(path.stat().st_mode) for path in files(beside)] == [0o644]
    cache._folder.cache_clear()
    real = tempfile.TemporaryFile

    def only_elsewhere(*args: Any, dir: Path, **keywords: Any) -> Any:
        if dir == beside:
            raise PermissionError
        return real(*args, dir=dir, **keywords)

    monkeypatch.setattr(tempfile, "TemporaryFile", only_elsewhere)
    assert compiled(1)(1) == 2
    compiled(2)(1)
    assert len(files(places[0] / ".cache" / "crib_env")) == 1
    beside.chmod(0o777)  # then it may hold foreign code
    cache._folder.cache_clear()
    compiled(1)(1)
    assert found == [False, True, False, False]


def test_cache_without_storage_warns_once(
    places: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(cache, "_said", set())
    monkeypatch.setattr(cache, "_places", list)
    assert [compiled(n, f"test.add{n}")(1) for n in range(3)] == [1, 2, 3]
    (warning,) = caplog.messages
    assert "not stored" in warning
    assert "NUMBA_CACHE_DIR" in warning


# --- one folder shared by many processes ----------------------------------------------------------


PLAYS = [("six_card", "random"), ("six_card", "greedy"), ("six_card", "rule_based"), ("table_top two", "greedy")]
STARTS = 6
LIMIT = 1200  # seconds, for all starts together

CODE = """
import json
from numba.core import event
from trajectories import play_batch

with event.install_recorder("numba:compile") as recorder:
    played = {{f"{{name}} against {{other}}": play_batch(name, other) for name, other in {plays}}}
print(json.dumps({{"played": played, "compiled": len(recorder.buffer)}}))
"""


@pytest.mark.slow
def test_cache_simultaneous_cold_starts_store_complete_equal_code(tmp_path: Path) -> None:
    """Six processes fill the folder at once, each in another order."""

    def start(plays: list[tuple[str, str]]) -> Any:
        return json.loads(python(CODE.format(plays=plays), timeout=LIMIT, NUMBA_CACHE_DIR=str(tmp_path)))

    recorded = json.loads(FILE.read_text())
    known = {key: recorded[key] for key in (f"{name} against {other}" for name, other in PLAYS)}
    turned = [PLAYS[i % len(PLAYS) :] + PLAYS[: i % len(PLAYS)] for i in range(STARTS)]
    with ThreadPoolExecutor(STARTS) as threads:
        found = list(threads.map(start, [order if i % 2 else order[::-1] for i, order in enumerate(turned)]))
    assert [each["played"] for each in found] == [known] * STARTS
    for order in (PLAYS, PLAYS[::-1]):
        assert start(order) == {"played": known, "compiled": 0}
