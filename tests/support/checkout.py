"""Where this checkout lies, and fresh interpreters that import from it as the tests do."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
TESTS = ROOT / "tests"
DATA = TESTS / "data"
SUPPORT = TESTS / "support"
# Folders from which helpers and test modules are imported.
FOLDERS = [TESTS, *sorted({path.parent for path in TESTS.glob("*/test_*.py")}), SUPPORT]


def import_path(*first: Path) -> str:
    """Return the PYTHONPATH of a process: some folders, the tests', then this process's own."""
    given = filter(None, [os.environ.get("PYTHONPATH")])
    return os.pathsep.join([*map(str, first), *map(str, FOLDERS), *given])


def python(code: str, *, path: Path = ROOT, timeout: int = 600, **variables: str) -> str:
    """Run code in a fresh interpreter; return its output.

    Args:
        code: what to run.
        path: the folder of the checkout whose packages it imports.
        timeout: seconds until it is killed.
        **variables: of its environment; by default Numba compiles and chooses its cache folder.
    """
    ours = import_path(path, path / "agents", path / "play", path / "training")
    environment = {**os.environ, "PYTHONPATH": ours}
    for name in ("NUMBA_DISABLE_JIT", "NUMBA_CACHE_DIR"):
        environment.pop(name, None)
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment | variables,
        cwd=path,
        timeout=timeout,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()
