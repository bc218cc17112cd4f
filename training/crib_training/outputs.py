"""Where results are written: looked at before the work, so that none is lost to a bad path."""

from __future__ import annotations

import os
from pathlib import Path


def check_file(path: Path) -> None:
    """Raise unless a file can be written there.

    Raises:
        ValueError: it is a folder, its folder is not there, or neither may be written to.
    """
    if path.is_dir():
        raise ValueError(f"{path} is a folder: name a file")
    if not path.parent.is_dir():
        raise ValueError(f"there is no folder {path.parent} to write {path.name} to")
    _check_access(path if path.exists() else path.parent)


def check_folder(path: Path) -> None:
    """Raise unless a folder is there, or can be made, and files can be written to it.

    Raises:
        ValueError: a file is in its place, or it may not be written to.
    """
    nearest = path.absolute()
    while not nearest.exists():
        nearest = nearest.parent
    if not nearest.is_dir():
        raise ValueError(f"{nearest} is a file: name a folder")
    _check_access(nearest)


def _check_access(path: Path) -> None:
    if not os.access(path, os.W_OK):
        raise ValueError(f"{path} may not be written to")
