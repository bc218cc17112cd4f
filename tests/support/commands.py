"""The command `crib` run in this process, and a disk that is full."""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from crib_training.command_line import main


class Ran(NamedTuple):
    """Exit status and output of a command."""

    returncode: int
    stdout: str
    stderr: str


def crib(*words: str, folder: Path | None = None) -> Ran:
    """Run a command in ``folder``, by default the current one."""
    out, err, path, code = io.StringIO(), io.StringIO(), list(sys.path), 0
    with contextlib.chdir(folder or Path.cwd()), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main(list(words))
        except SystemExit as end:
            code = int(end.code or 0)
        finally:
            sys.path[:] = path
    return Ran(code, out.getvalue(), err.getvalue())


@contextlib.contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """Limit the size of files in bytes, as on a full disk."""
    resource = pytest.importorskip("resource", reason="Windows sets no limits")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
