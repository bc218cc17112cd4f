"""Where results are written: looked at before the work, so that none is lost to a bad path."""

from __future__ import annotations

import os
from pathlib import Path


def check_file(path: Path) -> None:
    """Raise unless a file can be written there.

    Raises:
        OSError: it is a folder, its folder is not there, or neither may be written to.
    """
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder: name a file")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"No such file or directory: {path.parent}, for {path.name}")
    _check_access(path if path.exists() else path.parent)


def check_folder(path: Path) -> None:
    """Raise unless a folder is there, or can be made, and files can be written to it.

    Raises:
        OSError: a file is in its place, or it may not be written to.
    """
    nearest = path.absolute()
    while not nearest.exists():
        nearest = nearest.parent
    if not nearest.is_dir():
        raise NotADirectoryError(f"{nearest} is a file: name a folder")
    _check_access(nearest)


def _check_access(path: Path) -> None:
    if not os.access(path, os.W_OK):
        raise PermissionError(f"{path} may not be written to")
