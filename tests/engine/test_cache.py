"""Machine code on disk: kept privately, read only if it is the sources' own, never in the way."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba import int32, int64
from numba.core import config

from checkout import ROOT, import_path, python
from crib_env.engine import cache
from crib_env.engine.cache import ENDING, KernelCache, cache_folder
from crib_env.engine.fingerprint import fingerprint
from crib_env.engine.jit import Entry, kernel
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
    """No folder named, sources that cannot be written: the home folder and a temporary one."""
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


def adding(n: int) -> Callable[[int], int]:
    def add(x):
        return x + n

    return add


def compiled(n: int, name: str = "test.add") -> Entry:
    return Entry(adding(n), SIGNATURE, name)


class Counted:
    """How many machine codes were read from the cache, and how many were compiled."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.read = self.made = 0
        load, save = KernelCache.load_overload, KernelCache.save_overload

        def load_overload(own: KernelCache, *args: Any) -> Any:
            found = load(own, *args)
            self.read += found is not None
            return found

        def save_overload(own: KernelCache, *args: Any) -> None:
            self.made += 1
            save(own, *args)

        monkeypatch.setattr(KernelCache, "load_overload", load_overload)
        monkeypatch.setattr(KernelCache, "save_overload", save_overload)


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Counted:
    return Counted(monkeypatch)


def files(folder: Path) -> list[Path]:
    return sorted(folder.glob(f"*{ENDING}"))


# ---------------------------------------------------------------- which code is stored


def test_cache_compiles_once_then_reads(folder: Path, counted: Counted) -> None:
    assert compiled(3)(4) == 7
    assert compiled(3)(4) == 7
    assert (counted.made, counted.read, len(files(folder))) == (1, 1, 1)
    assert stat.S_IMODE(files(folder)[0].stat().st_mode) & 0o022 == 0


def test_cache_leaves_numba_settings_unchanged(places: tuple[Path, Path]) -> None:
    assert compiled(3)(4) == 7
    assert len(files(places[0] / ".cache" / "crib_env")) == 1
    assert config.CACHE_DIR == ""


@pytest.mark.parametrize("damage", ["empty", "cut", "other bytes", "another's", "a folder"])
def test_cache_damaged_file_is_recompiled_and_replaced(folder: Path, counted: Counted, damage: str) -> None:
    compiled(3)(4)
    (path,) = files(folder)
    whole = path.read_bytes()
    if damage == "a folder":
        path.unlink()
        path.mkdir()
    else:
        path.write_bytes(
            {
                "empty": b"",
                "cut": whole[: len(whole) // 2],
                "other bytes": np.random.default_rng(1).bytes(len(whole)),
                "another's": whole[:-1] + bytes([whole[-1] ^ 1]),
            }[damage]
        )
    assert compiled(3)(4) == 7
    assert counted.made == 2
    if damage != "a folder":
        assert compiled(3)(4) == 7
        assert (counted.made, counted.read) == (2, 1)


def test_cache_renamed_file_is_not_read(folder: Path, counted: Counted) -> None:
    assert (compiled(3, "test.three")(0), compiled(4, "test.four")(0)) == (3, 4)
    four, three = files(folder)
    for one in (three, four):
        shutil.copy(one, one.with_suffix(".copy"))
    four.with_suffix(".copy").replace(three)
    three.with_suffix(".copy").replace(four)
    assert (compiled(3, "test.three")(0), compiled(4, "test.four")(0)) == (3, 4)
    assert (counted.made, counted.read) == (4, 0)
    assert (compiled(3, "test.three")(0), compiled(4, "test.four")(0)) == (3, 4)
    assert (counted.made, counted.read) == (4, 2)  # mended


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EROFS, errno.EACCES])
def test_cache_unwritable_folder_still_runs(folder: Path, monkeypatch: pytest.MonkeyPatch, error: int) -> None:
    def full(*_: Any, **__: Any) -> Any:
        raise OSError(error, os.strerror(error))

    cache_folder()
    monkeypatch.setattr(os, "replace", full)
    assert compiled(5)(1) == 6
    monkeypatch.setattr(tempfile, "mkstemp", full)
    assert compiled(6)(1) == 7
    assert list(folder.iterdir()) == []  # no half-written files either
    cache._folder.cache_clear()
    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    assert cache_folder() is None
    assert compiled(7)(1) == 8


def test_cache_key_includes_captured_values(folder: Path) -> None:
    assert [compiled(n)(0) for n in (1, 2, 1)] == [1, 2, 1]
    assert len(files(folder)) == 2


CLOSURES = """
import sys
from numba import int64
from crib_env.engine.jit import Entry, kernel

def adding(n):
    @kernel
    def helper(x):  # too long to be put in where it is called
        for i in range(x):
            if x % (i + 2) == n:
                x += i * n
        return x + n

    helper(1)

    def add(x):
        return helper(x) - helper(-1) + n

    return Entry(add, int64(int64), f"test.add{n}")

print([adding(int(n))(0) for n in sys.argv[1:]])
"""


def run(code: str, folder: Path, *arguments: object) -> str:
    """Run code in a fresh process with a folder of machine code."""
    code = f"import sys; sys.argv[1:] = {list(map(str, arguments))}\n{code}"
    return python(code, NUMBA_CACHE_DIR=str(folder))


def test_cache_of_several_processes_keeps_code_apart(tmp_path: Path) -> None:
    """Closures from one text share symbols unless the compiler separates them."""
    assert [run(CLOSURES, tmp_path, n) for n in (5, 7)] == ["[6]", "[8]"]
    assert run(CLOSURES, tmp_path, 5, 7) == "[6, 8]"
    assert len(files(tmp_path)) == 2


OTHERS = """
import sys
import numba
from numba import float64, int64
from crib_env.engine.jit import Entry, kernel

@numba.njit
def divide(x, y):
    return x // y

@kernel
def total(x):
    y = 0.0
    for i in range(100):
        y += x / (i + 1)
    return y

@numba.njit(fastmath=True)
def fast(x):
    return total(x)

@numba.njit
def python(x, y):
    return divide(x, y)

if "others" in sys.argv:
    fast(1.1)
    python(1, 1)

def divides(x):
    return divide(1, x)

def totals(x):
    return total(x)

print(Entry(divides, int64(int64), "test.divides")(0),
      Entry(totals, float64(float64), "test.totals")(1.1).hex())
"""


def test_cache_skips_code_compiled_for_other_callers(tmp_path: Path) -> None:
    """A compiled helper takes error model and fastmath from the first caller that compiles it."""
    alone = run(OTHERS, tmp_path / "empty")
    with contextlib.suppress(AssertionError):  # there, a division by 0 is an error
        run(OTHERS, tmp_path / "shared", "others")
    assert run(OTHERS, tmp_path / "shared") == alone


def test_cache_key_separates_compiled_in_values() -> None:
    def of(value: Any) -> str:
        def reads():
            return value

        return fingerprint(reads)

    def helper(x):
        return x + 1

    def other(x):
        return x + 2

    values = [1, 2, 1.0, "a", (1, 2), (1, 3), int64, int32, np.int64, np.int32, np.dtype("i8"),
              np.arange(3), np.arange(4), kernel(helper), kernel(other), np.add, min]  # fmt: skip
    prints = [of(value) for value in values]
    assert len(set(prints)) == len(values)
    assert prints == [of(value) for value in values]


def test_fingerprints_are_the_same_in_every_process() -> None:
    code = (
        "from crib_env.engine.fingerprint import fingerprint\n"
        "def f(x):\n    return x in {'a', 'b', 'c', 'd'}\n"
        "print(fingerprint(f))"
    )
    assert len({python(code, PYTHONHASHSEED=str(seed)) for seed in range(2)}) == 1


def test_save_overload_keeps_versions_that_are_in_use(
    folder: Path, counted: Counted, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of each entry the oldest go; files still read are kept, and those of other entries."""
    assert cache.MOST_FILES >= 32
    monkeypatch.setattr(cache, "MOST_FILES", most := 6)
    others = [compiled(0, name)(0) for name in ("test.add-more", "test.ad")]
    apart = files(folder)
    compiled(0)(0)
    (used,) = set(files(folder)) - set(apart)
    for n in range(1, most + 3):
        for path in files(folder):  # a day later
            os.utime(path, (path.stat().st_atime, path.stat().st_mtime - 86400))
        assert compiled(0)(0) == 0
        compiled(n)(0)
    assert {used, *apart} < set(files(folder))
    assert len(files(folder)) == most + len(others)
    made = counted.made
    for n in range(4, most + 3):
        compiled(n)(0)
    assert counted.made == made  # it is the oldest that went


def test_cache_threads_compile_same_code_once(folder: Path, counted: Counted) -> None:
    entry, start, found = compiled(9), threading.Barrier(8), []

    def call() -> None:
        start.wait()
        found.append(entry(1))

    threads = [threading.Thread(target=call) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [10] * 8
    assert (counted.made, counted.read) == (1, 0)


FORKS = """
import os, signal, threading, time, warnings
warnings.simplefilter("ignore")
import numba
from numba import int64
from crib_env.engine.jit import Entry

def add(x):
    return x + 1

def compile_until_done():
    while not done:
        numba.njit(int64(int64))(lambda x: x + 1)
        Entry(lambda x: x + 1, int64(int64), 'test.thread')(1)

done = False
thread = threading.Thread(target=compile_until_done)
thread.start()
wrong = 0
for n in range(6):
    time.sleep(0.05)
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        os._exit(Entry(add, int64(int64), "test.fork")(n))
    wrong += os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != n + 1
done = True
thread.join()
print(wrong)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_cache_fork_during_compilation_child_can_compile() -> None:
    """A child hung where the thread held a lock of Numba's or of llvmlite's."""
    assert python(FORKS, timeout=150) == "0"


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
    places: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, counted: Counted
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
    assert (counted.made, counted.read) == (1, 1)
    compiled(2)(1)
    assert len(files(places[0] / ".cache" / "crib_env")) == 1
    beside.chmod(0o777)  # then it may hold anybody's code
    cache._folder.cache_clear()
    compiled(1)(1)
    assert (counted.made, counted.read) == (3, 1)


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
import json, sys
from numba.core import event
from trajectories import play_batch

with event.install_recorder("numba:compile") as recorder:
    played = {f"{name} against {other}": play_batch(name, other)
              for name, other in json.loads(sys.argv[1])}
print(json.dumps({"played": played, "compiled": len(recorder.buffer)}))
"""


def start(folder: Path, plays: list[tuple[str, str]]) -> subprocess.Popen[str]:
    """Start a process that plays against some opponents, with machine code in a folder."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder), "PYTHONPATH": import_path(ROOT)}
    return subprocess.Popen(
        [sys.executable, "-c", CODE, json.dumps(plays)],
        env=environment,
        cwd=ROOT,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def end(process: subprocess.Popen[str]) -> dict[str, Any]:
    """Wait for a process; return its digests of the games and its number of compilations."""
    output, errors = process.communicate(timeout=LIMIT)
    assert process.returncode == 0, errors
    found: dict[str, Any] = json.loads(output)
    return found


@pytest.mark.slow
def test_cache_simultaneous_cold_starts_store_complete_equal_code(tmp_path: Path) -> None:
    """Six processes fill the folder at once, each in another order."""
    recorded = json.loads(FILE.read_text())
    known = {key: recorded[key] for key in (f"{name} against {other}" for name, other in PLAYS)}
    starts = []
    for i in range(STARTS):
        turn = i % len(PLAYS)
        order = PLAYS[turn:] + PLAYS[:turn]
        starts.append(start(tmp_path, order if i % 2 else order[::-1]))
    for process in starts:
        assert end(process)["played"] == known
    for order in (PLAYS, PLAYS[::-1]):
        assert end(start(tmp_path, order)) == {"played": known, "compiled": 0}
